//! A package's files: where `require` and `import` lead, and what lies there.
//!
//! Nothing is found beyond the module's own directory and the `node_modules` that holds its package,
//! whatever a package's `main`, its links or its code say. Of a locked module, nothing is handed out that is
//! not as it was locked.

use std::{
    collections::HashMap,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use oxc_resolver::{ResolveError, ResolveOptions, ResolverGeneric};
use pinza_core::{ErrorKind, ToolError, visible};
use serde::{Deserialize, Serialize};

use super::disk::Disk;
use crate::{
    cache,
    package::{Difference, LockedFiles},
};

/// One file, and all files that a worker reads of one package.
const FILE_LIMIT: u64 = 12 << 20;
const TOTAL_LIMIT: usize = 40 << 20;

/// Which of a package's files are meant for this engine. Neither is right for all packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conditions {
    Browser,
    Node,
}

impl Conditions {
    fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Node => "node",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Require,
    Import,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Esm,
    Cjs,
    Json,
}

/// Where a specifier leads; no file for what the package leaves out on purpose.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Resolved {
    file: Option<PathBuf>,
    format: Option<Format>,
}

/// What a library finds at a path of its own.
pub(crate) enum OwnFile {
    Text(Vec<u8>),
    Directory(Vec<String>),
}

/// A library as a module names it, seen from the module's directory.
pub(crate) struct Package {
    directory: PathBuf,
    /// What it may read, with all links followed.
    roots: Vec<PathBuf>,
    pub(crate) specifier: String,
    conditions: Conditions,
    requiring: ResolverGeneric<Disk>,
    importing: ResolverGeneric<Disk>,
    /// What a lock says of its files.
    locked: Option<Arc<LockedFiles>>,
    /// A std lock, held for a look.
    known: Mutex<HashMap<PathBuf, Format>>,
    read: AtomicUsize,
}

impl std::fmt::Debug for Package {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Package").field("specifier", &self.specifier).finish_non_exhaustive()
    }
}

impl Package {
    pub(crate) fn new(
        directory: &Path,
        specifier: &str,
        conditions: Conditions,
        locked: Option<LockedFiles>,
    ) -> io::Result<Self> {
        let names = |kind: &str| -> Vec<String> {
            [conditions.name(), kind, "module-sync", "default"].map(str::to_owned).into()
        };
        let options = |kind: &str| {
            let browser = conditions == Conditions::Browser;
            let main_fields: &[&str] = if browser { &["browser", "main"] } else { &["main"] };
            ResolveOptions {
                condition_names: names(kind),
                alias_fields: if browser { vec![vec!["browser".into()]] } else { Vec::new() },
                main_fields: main_fields.iter().map(|field| (*field).to_owned()).collect(),
                extensions: [".js", ".json", ".cjs", ".mjs", ".node"].map(str::to_owned).into(),
                ..ResolveOptions::default()
            }
        };
        let directory = fs::canonicalize(directory)?;
        let modules = node_modules(&directory, specifier).map(fs::canonicalize).transpose()?;
        let locked = locked.map(Arc::new);
        let requiring =
            ResolverGeneric::new_with_file_system(Disk { locked: locked.clone() }, options("require"));
        Ok(Self {
            roots: std::iter::once(directory.clone()).chain(modules).collect(),
            directory,
            specifier: specifier.to_owned(),
            conditions,
            importing: requiring.clone_with_options(options("import")),
            requiring,
            locked,
            known: Mutex::default(),
            read: AtomicUsize::new(0),
        })
    }

    /// Where a specifier in `from` leads; without one, in the module itself.
    pub(crate) fn resolve(
        &self,
        specifier: &str,
        from: Option<&str>,
        kind: Kind,
    ) -> Result<Resolved, ToolError> {
        let directory = match from.map(Path::new).and_then(Path::parent) {
            Some(directory) if self.may_read(directory) => directory,
            _ => &self.directory,
        };
        let resolver = match kind {
            Kind::Require => &self.requiring,
            Kind::Import => &self.importing,
        };
        // A fragment or a query belongs to the address of a module, not to its file.
        match resolver.resolve(directory, specifier) {
            Ok(found) => {
                let file = self.inside(found.full_path(), specifier)?;
                let format = self.format(&file)?;
                Ok(Resolved { file: Some(file), format: Some(format) })
            }
            Err(ResolveError::Ignored(_)) => Ok(Resolved::default()),
            Err(error) => Err(self.not_found(specifier, from, &error.to_string())),
        }
    }

    /// A file's text. What it costs is counted, for a package may be of any size.
    pub(crate) fn source(&self, file: &str) -> Result<Vec<u8>, ToolError> {
        let text = self.text(file)?;
        let total = self.read.fetch_add(text.len(), Ordering::Relaxed) + text.len();
        if total > TOTAL_LIMIT {
            return Err(ToolError::execution(format!(
                "{} cannot be read: the package has more than {} MB of source",
                visible(file),
                TOTAL_LIMIT >> 20
            )));
        }
        Ok(text)
    }

    fn text(&self, file: &str) -> Result<Vec<u8>, ToolError> {
        let file = self.inside(PathBuf::from(file), file)?;
        let fault =
            |reason: String| ToolError::execution(format!("{} cannot be read: {reason}", file.display()));
        let open = fs::File::open(&file).map_err(|error| fault(error.to_string()))?;
        let mut text = Vec::new();
        open.take(FILE_LIMIT + 1).read_to_end(&mut text).map_err(|error| fault(error.to_string()))?;
        if text.len() as u64 > FILE_LIMIT {
            return Err(fault(format!("it has more than {} MB", FILE_LIMIT >> 20)));
        }
        self.verify(&file, &text).map_err(|error| fault(error.to_string()))?;
        Ok(text)
    }

    /// How it is not what was locked, as far as it has been read.
    pub(crate) fn difference(&self) -> Option<&Difference> {
        self.locked.as_ref()?.difference()
    }

    /// Its name where compiled code is kept: no other package's, wherever that has its files from.
    pub(crate) fn cache_name(&self) -> String {
        let parts = [
            self.directory.as_os_str().as_encoded_bytes(),
            self.specifier.as_bytes(),
            self.conditions.name().as_bytes(),
        ];
        cache::hex(&parts.join(&0))
    }

    /// What lies at an absolute path among the package's own files, as data: templates, word lists, schemas.
    /// Nothing for a path elsewhere, or where nothing is.
    pub(crate) fn own(&self, path: &str) -> Result<Option<OwnFile>, ToolError> {
        let Ok(real) = fs::canonicalize(path) else { return Ok(None) };
        if !self.may_read(&real) || self.is_secret(&real) {
            return Ok(None);
        }
        if !real.is_dir() {
            return self.source(path).map(OwnFile::Text).map(Some);
        }
        let entries = fs::read_dir(&real).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(Some(OwnFile::Directory(names)))
    }

    /// A worker begins to read anew.
    pub(crate) fn begin(&self) {
        self.read.store(0, Ordering::Relaxed);
    }

    /// Whether these bytes are what was locked.
    fn verify(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        self.locked.as_ref().map_or(Ok(()), |locked| locked.read(file, bytes))
    }

    fn may_read(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// The module's variables are given to those that its manifest names them for, not to every dependency.
    fn is_secret(&self, real: &Path) -> bool {
        real.parent() == Some(&*self.directory) && real.file_name().is_some_and(|name| name == ".env")
    }

    fn inside(&self, file: PathBuf, specifier: &str) -> Result<PathBuf, ToolError> {
        let real =
            fs::canonicalize(&file).map_err(|error| self.not_found(specifier, None, &error.to_string()))?;
        if self.may_read(&real) && !self.is_secret(&real) {
            return Ok(real);
        }
        Err(ToolError::new(
            ErrorKind::PathNotAllowed,
            format!("'{}' leads to {}, outside the module's directory", visible(specifier), real.display()),
        ))
    }

    fn not_found(&self, specifier: &str, from: Option<&str>, reason: &str) -> ToolError {
        let place = from.map_or_else(|| self.directory.display().to_string(), str::to_owned);
        let error = ToolError::new(ErrorKind::NotFound, format!("{reason} (from {})", visible(&place)));
        if specifier == self.specifier {
            return error
                .hint(format!("Install it there: npm install --ignore-scripts {}", visible(specifier)));
        }
        error
    }

    fn format(&self, file: &Path) -> Result<Format, ToolError> {
        if let Some(format) = self.known().get(file) {
            return Ok(*format);
        }
        let format = match file.extension().and_then(|extension| extension.to_str()) {
            Some("mjs") => Format::Esm,
            Some("cjs") => Format::Cjs,
            Some("json") => Format::Json,
            Some("node") => {
                let message =
                    format!("{} is a native addon, which the embedded engine cannot load", file.display());
                return Err(ToolError::execution(message).hint("Say \"runtime\": \"node\" in module.json."));
            }
            _ => self.format_of_script(file),
        };
        self.known().insert(file.to_owned(), format);
        Ok(format)
    }

    /// A `.js` file is what its package says; where that says nothing, what its text is.
    fn format_of_script(&self, file: &Path) -> Format {
        #[derive(Deserialize)]
        struct Manifest {
            r#type: Option<String>,
        }
        let manifests = file.ancestors().skip(1).take_while(|directory| self.may_read(directory));
        for directory in manifests {
            let manifest = directory.join("package.json");
            let Ok(text) = fs::read(&manifest) else { continue };
            if self.verify(&manifest, &text).is_err() {
                // Nothing of it will run, whatever it is.
                return Format::Cjs;
            }
            match serde_json::from_slice(&text) {
                Ok(Manifest { r#type: Some(kind) }) if kind == "module" => return Format::Esm,
                Ok(Manifest { r#type: Some(kind) }) if kind == "commonjs" => return Format::Cjs,
                _ => break,
            }
        }
        let text = self.text(&file.to_string_lossy()).unwrap_or_default();
        if looks_like_module(&String::from_utf8_lossy(&text)) { Format::Esm } else { Format::Cjs }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Format>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The `node_modules` that holds a package: the module's, or one above it. A file of the module itself
/// uses the nearest one.
pub(super) fn node_modules(directory: &Path, specifier: &str) -> Option<PathBuf> {
    let mut above = directory.ancestors().map(|directory| directory.join("node_modules"));
    if specifier.starts_with(['.', '/']) {
        return above.find(|modules| modules.is_dir());
    }
    let name = super::package::name_of(specifier);
    above.find(|modules| modules.join(&name).is_dir())
}

/// Whether a text has `import` or `export` where statements begin. Looked at, not parsed: a hostile
/// text must not reach a parser in this process, and a wrong guess is only an error of that package.
fn looks_like_module(text: &str) -> bool {
    const AFTER: [char; 6] = [' ', '{', '*', '"', '\'', '\t'];
    let begins = |statement: &str| {
        let rest = statement.strip_prefix("import").or_else(|| statement.strip_prefix("export"));
        rest.is_some_and(|rest| rest.starts_with(AFTER))
    };
    let statements = text.split(['\n', ';', '}']).map(str::trim_start);
    let is_commonjs = || text.contains("module.exports") || text.contains("exports.");
    statements.into_iter().any(begins) && !is_commonjs()
}

#[cfg(test)]
mod tests {
    use super::looks_like_module;

    #[test]
    fn modules_are_told_by_their_statements() {
        for text in [
            "import a from 'a'",
            "// a comment\nexport const a = 1",
            "const a=1;export{a}",
            "function a(){}export default a",
            "import*as a from\"a\"",
            "import './a.js'",
        ] {
            assert!(looks_like_module(text), "{text}");
        }
        for text in [
            "",
            "module.exports = 1",
            "const a = require('a'); exports.a = a",
            "// export this\nvar a = 1",
            " * import it with\n",
            "importScripts('a')",
            "const a = import('a')",
            "var exported = 1; var importer = 2",
            "module.exports = `\nimport a from 'a'\n`",
        ] {
            assert!(!looks_like_module(text), "{text}");
        }
    }
}
