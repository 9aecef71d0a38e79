//! Which files of a place are manifests, which are scripts, and which belong together.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use super::{Place, Problem, files, files::io_reason};
use crate::{
    manifest::MANIFEST_LIMIT,
    source::{SOURCE_LIMIT, SourceKind},
};

/// What other programs keep beside tools.
const FOREIGN: [&str; 6] =
    ["module.json", "package.json", "package-lock.json", "tsconfig.json", "jsconfig.json", "deno.json"];

/// A file whose text is read when it is needed.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// As people see it.
    pub(super) file: String,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Known(&'static str),
}

impl Text {
    pub(super) fn read(&self, limit: u64) -> Result<Cow<'static, str>, Problem> {
        match &self.source {
            Source::Known(text) => Ok(Cow::Borrowed(text)),
            Source::File(path) => {
                files::read(path, limit).map(Cow::Owned).map_err(|reason| Problem::new(&self.file, reason))
            }
        }
    }

    pub(super) fn read_manifest(&self) -> Result<Cow<'static, str>, Problem> {
        self.read(MANIFEST_LIMIT)
    }

    pub(super) fn read_script(&self) -> Result<Cow<'static, str>, Problem> {
        self.read(SOURCE_LIMIT)
    }
}

/// The files of one base name.
#[derive(Debug, Default)]
pub(super) struct Set {
    pub(super) manifest: Option<Text>,
    pub(super) javascript: Option<Text>,
    pub(super) typescript: Option<Text>,
}

impl Set {
    /// The one script of the set. `base` names it in the message.
    pub(super) fn script(&self, base: &str) -> Result<(SourceKind, &Text), String> {
        match (&self.javascript, &self.typescript) {
            (Some(script), None) => Ok((SourceKind::JavaScript, script)),
            (None, Some(script)) => Ok((SourceKind::TypeScript, script)),
            (Some(_), Some(_)) => Err(format!("Both {base}.js and {base}.ts are there; keep one of them")),
            (None, None) => Err(format!("Missing corresponding .js file: {base}.js")),
        }
    }
}

/// What a place holds.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By base name.
    pub(super) sets: BTreeMap<String, Set>,
    pub(super) problems: Vec<Problem>,
}

/// Lists a place. An error means that nobody knows what it holds; a directory that is gone holds nothing.
pub(super) fn list(place: &Place) -> Result<Listing, Problem> {
    match place {
        Place::Builtin(texts) => {
            let mut listing = Listing::default();
            for (name, text) in *texts {
                let text = || Text { file: (*name).to_owned(), source: Source::Known(text) };
                add(&mut listing.sets, name, text);
            }
            Ok(listing)
        }
        Place::Directory(directory) => list_directory(directory, Absence::Problem),
        Place::Optional(directory) => list_directory(directory, Absence::Fine),
        Place::Guarded(guard) => list_directory(guard.directory(), Absence::Fine),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Absence {
    Fine,
    Problem,
}

fn list_directory(directory: &Path, absence: Absence) -> Result<Listing, Problem> {
    let mut listing = Listing::default();
    let names = match names(directory) {
        Ok(names) => names,
        Err(error) => {
            let reason = format!("Cannot read the directory: {}", io_reason(&error));
            let problem = Problem::new(directory.display().to_string(), reason);
            if error.kind() != io::ErrorKind::NotFound {
                return Err(problem);
            }
            listing.problems.extend((absence == Absence::Problem).then_some(problem));
            return Ok(listing);
        }
    };
    for name in names {
        let path = directory.join(&name);
        let file = path.display().to_string();
        match name.to_str() {
            Some(name) => add(&mut listing.sets, name, || Text { file, source: Source::File(path) }),
            // A script without a manifest is nothing that somebody waits for.
            None if path.extension().is_some_and(|extension| extension == "json") => {
                listing.problems.push(Problem::new(file, "The file's name is not valid UTF-8"));
            }
            None => {}
        }
    }
    Ok(listing)
}

fn names(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn add(sets: &mut BTreeMap<String, Set>, name: &str, text: impl FnOnce() -> Text) {
    let Some((base, extension)) = name.rsplit_once('.') else { return };
    // A test of a tool, a schema for editors: no tool has a dot in its name.
    let is_beside = base.ends_with(".test") || base.ends_with(".schema");
    let is_foreign = name.starts_with('.') || is_beside || FOREIGN.contains(&name);
    if is_foreign || (extension == "ts" && base.ends_with(".d")) {
        return;
    }
    let set: fn(&mut Set) -> &mut Option<Text> = match extension {
        "json" => |set| &mut set.manifest,
        "js" => |set| &mut set.javascript,
        "ts" => |set| &mut set.typescript,
        _ => return,
    };
    *set(sets.entry(base.to_owned()).or_default()) = Some(text());
}
