//! The compatibility verdict: can a package run here, on which engine, with which rights?
//!
//! It is made by reading, before anything of the package runs. It follows the static imports from the
//! package's entry; what a package decides while it runs shows only then.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fmt,
};

use pinza_core::{capability, visible};
use serde::{Deserialize, Serialize};

use super::{
    imports::{Seen, look},
    installed::Installed,
    parse::MOST_SOURCE,
    resolve::{Platform, Resolver, Target, Wanted},
    tree::package_of,
};

/// How a package wants to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModuleSystem {
    Esm,
    #[serde(rename = "cjs")]
    CommonJs,
    Both,
}

/// The engine that a package will run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunsOn {
    Embedded,
    Node,
}

/// One of Node's own modules that the package uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuiltinUse {
    pub name: String,
    /// The embedded engine has it.
    pub embedded: bool,
    /// It is asked for when the package is loaded, not only by one of its functions.
    pub at_load: bool,
    /// One of the files that ask.
    pub file: String,
}

/// Something that whoever adds the package should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    pub message: String,
    /// It is a reason not to run the package at all.
    pub refused: bool,
}

/// What is known of an installed package before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackageVerdict {
    pub package: String,
    pub version: Option<String>,
    pub license: Option<String>,
    pub module_system: ModuleSystem,
    pub runs_on: RunsOn,
    /// On the embedded engine it must be its build for browsers (the `browser` condition and field).
    pub browser_build: bool,
    /// Why it cannot run on the embedded engine.
    pub because: Vec<String>,
    pub capabilities: Vec<String>,
    pub builtins: Vec<BuiltinUse>,
    /// Signs of native addons.
    pub native: Vec<String>,
    /// Of the package and all that it brings.
    pub bytes: u64,
    pub files: usize,
    pub packages: usize,
    pub concerns: Vec<Concern>,
}

impl PackageVerdict {
    pub fn is_refused(&self) -> bool {
        self.concerns.iter().any(|concern| concern.refused)
    }
}

/// What only a process of its own can have.
const NODE_ONLY: [&str; 6] = ["child_process", "cluster", "dgram", "net", "tls", "worker_threads"];
const NETWORK: [&str; 7] = ["dgram", "dns", "http", "http2", "https", "net", "tls"];
const SERVERS: [&str; 4] = ["http", "http2", "https", "net"];
/// Packages whose work it is to load or build native addons.
const LOADERS: [&str; 10] = [
    "@mapbox/node-pre-gyp",
    "bindings",
    "ffi-napi",
    "koffi",
    "nan",
    "node-addon-api",
    "node-gyp-build",
    "node-pre-gyp",
    "prebuild-install",
    "prebuildify",
];
/// Words of a script that builds or fetches a native addon.
const BUILDERS: [&str; 7] = ["gyp", "prebuild", "napi", "cmake", "neon", "cargo", "node-pre"];
/// Builds that are shorter than this have nothing in them, in bytes.
const STUB: usize = 1000;
/// Examples of a kind that are named; the rest is counted.
const SHOWN: usize = 3;

pub(super) fn verdict(package: &Installed) -> PackageVerdict {
    let node = read(package, Platform::Node);
    if node.runs_on == RunsOn::Embedded || node.is_refused() || !node.native.is_empty() {
        return node;
    }
    // Sockets are often only in the build for Node; the one for browsers may do without.
    let browser = read(package, Platform::Browser);
    let is_better = browser.runs_on == RunsOn::Embedded && !browser.is_refused() && !is_stub(package);
    if is_better { browser } else { node }
}

fn read(package: &Installed, platform: Platform) -> PackageVerdict {
    let mut reading = Reading::new(package, platform);
    let module_system = reading.entries();
    reading.follow();
    reading.tree_signs();
    reading.finish(module_system)
}

/// A build for browsers that only says that there is none.
fn is_stub(package: &Installed) -> bool {
    let resolver = Resolver::new(&package.tree, Platform::Browser);
    let Target::File(entry) = resolver.package(&package.name, ".", Wanted::Require) else { return false };
    let text = package.tree.text(&entry).unwrap_or_default();
    text.len() < STUB && text.contains("throw ")
}

/// How certainly a file is used; a path through the files is as certain as its weakest step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// The package can do without.
    Optional,
    /// Only by a function that may be called later.
    Later,
    AtLoad,
}

struct Reading<'p> {
    package: &'p Installed,
    platform: Platform,
    resolver: Resolver<'p>,
    seen: HashMap<String, Seen>,
    reached: BTreeMap<String, Reach>,
    queue: VecDeque<String>,
    builtins: BTreeMap<String, (Reach, String)>,
    /// What only Node can do, and where it is asked for.
    because: BTreeSet<String>,
    capabilities: BTreeSet<&'static str>,
    native: BTreeSet<String>,
    concerns: BTreeSet<(bool, String)>,
}

impl<'p> Reading<'p> {
    fn new(package: &'p Installed, platform: Platform) -> Self {
        Self {
            package,
            platform,
            resolver: Resolver::new(&package.tree, platform),
            seen: HashMap::new(),
            reached: BTreeMap::new(),
            queue: VecDeque::new(),
            builtins: BTreeMap::new(),
            because: BTreeSet::new(),
            capabilities: BTreeSet::new(),
            native: BTreeSet::new(),
            concerns: BTreeSet::new(),
        }
    }

    fn concern(&mut self, message: String) {
        self.concerns.insert((false, message));
    }

    fn refuse(&mut self, message: String) {
        self.concerns.insert((true, message));
    }

    /// Begins at the package's entries; their forms are the package's module system.
    fn entries(&mut self) -> ModuleSystem {
        let name = &self.package.name;
        let mut forms = BTreeSet::new();
        for wanted in [Wanted::Import, Wanted::Require] {
            match self.resolver.package(name, ".", wanted) {
                Target::File(file) => {
                    forms.insert(self.is_module(&file));
                    self.reach(file, Reach::AtLoad);
                }
                Target::Outside(path) => {
                    let path = visible(&path);
                    self.refuse(format!("its entry '{path}' leads out of the package"));
                }
                Target::Missing | Target::Empty | Target::Builtin(_) => {}
            }
        }
        if forms.is_empty() && !self.concerns.iter().any(|(refused, _)| *refused) {
            let types = self.resolver.package(name, ".", Wanted::Types);
            let also = if matches!(types, Target::File(_)) { ", only declarations of types" } else { "" };
            self.refuse(format!("it has no entry that can be loaded{also}"));
        }
        // A bundler's field, but the file is there.
        let bundled = self
            .package
            .json
            .text("module")
            .is_some_and(|path| path.ends_with(".mjs") || path.contains("es"));
        match (forms.contains(&true), forms.contains(&false) || forms.is_empty()) {
            (true, false) => ModuleSystem::Esm,
            (false, true) if !bundled => ModuleSystem::CommonJs,
            _ => ModuleSystem::Both,
        }
    }

    /// Is a file an ES module: by its ending, its `package.json`, or what stands in it.
    fn is_module(&mut self, file: &str) -> bool {
        match file.rsplit_once('.').map(|(_, ending)| ending) {
            Some("mjs") => true,
            Some("js") => self.resolver.is_module_scope(file) || self.seen(file).is_module,
            _ => false,
        }
    }

    fn seen(&mut self, file: &str) -> Seen {
        if let Some(seen) = self.seen.get(file) {
            return seen.clone();
        }
        let is_code = [".js", ".mjs", ".cjs"].iter().any(|ending| file.ends_with(ending));
        let text = if is_code { self.package.tree.text(file) } else { Ok(String::new()) };
        let seen = match text {
            Ok(text) => look(&text),
            Err(fault) => {
                self.refuse(fault.to_string());
                Seen::default()
            }
        };
        if is_code && self.package.tree.files.get(file).is_some_and(|size| *size > MOST_SOURCE) {
            let size = size(self.package.tree.files[file]);
            self.concern(format!("{} is too large ({size}) to be examined in full", visible(file)));
        }
        self.seen.insert(file.to_owned(), seen.clone());
        seen
    }

    fn reach(&mut self, file: String, reach: Reach) {
        let known = self.reached.get(&file).copied();
        if known.is_none_or(|known| known < reach) {
            self.reached.insert(file.clone(), reach);
            self.queue.push_back(file);
        }
    }

    fn follow(&mut self) {
        while let Some(file) = self.queue.pop_front() {
            let reach = self.reached[&file];
            if file.ends_with(".node") {
                self.native.insert(visible(&file));
                continue;
            }
            let seen = self.seen(&file);
            self.signs(&file, &seen, reach);
            for import in &seen.imports {
                let step = match (import.optional, import.at_load) {
                    (true, _) => Reach::Optional,
                    (false, false) => Reach::Later,
                    (false, true) => Reach::AtLoad,
                };
                let step = step.min(reach);
                let wanted = if import.by_import { Wanted::Import } else { Wanted::Require };
                match self.resolver.resolve(&file, &import.specifier, wanted) {
                    Target::File(found) => self.reach(found, step),
                    Target::Builtin(name) => self.builtin(name, &file, step),
                    Target::Outside(path) => {
                        self.refuse(format!(
                            "{} imports '{}', outside of node_modules",
                            visible(&file),
                            visible(&path)
                        ));
                    }
                    Target::Missing if step == Reach::AtLoad => {
                        let (file, specifier) = (visible(&file), visible(&import.specifier));
                        self.concern(format!("{file} imports '{specifier}', which is not installed"));
                    }
                    Target::Missing | Target::Empty => {}
                }
            }
        }
    }

    /// What a file does, beyond its imports.
    fn signs(&mut self, file: &str, seen: &Seen, reach: Reach) {
        let is_own = package_of(file) == self.package.name;
        let imports = |names: &[&str]| {
            seen.imports.iter().any(|import| {
                let name = import.specifier.strip_prefix("node:").unwrap_or(&import.specifier);
                names.contains(&name)
            })
        };
        if imports(&["fs", "fs/promises", "graceful-fs"]) {
            self.capabilities.insert(capability::FS_READ);
            if seen.writes {
                self.capabilities.insert(capability::FS_WRITE);
            }
        }
        if is_own && seen.fetches {
            self.capabilities.insert(capability::NET);
        }
        if is_own && seen.serves && imports(&SERVERS) && reach >= Reach::Later {
            self.because.insert(format!("{} opens a server", visible(file)));
        }
        if is_own && seen.is_wasm && reach == Reach::AtLoad {
            self.because.insert(format!("{} needs WebAssembly", visible(file)));
        }
    }

    fn builtin(&mut self, specifier: String, file: &str, reach: Reach) {
        let name = specifier.split_once('/').map_or(&*specifier, |(name, _)| name).to_owned();
        if NETWORK.contains(&&*name) && reach >= Reach::Later {
            self.capabilities.insert(capability::NET);
        }
        // A dependency may have functions that the package never calls; what it says itself counts.
        let counts =
            reach == Reach::AtLoad || (reach == Reach::Later && package_of(file) == self.package.name);
        if counts && NODE_ONLY.contains(&&*name) {
            self.because.insert(format!("{} needs '{name}'", visible(file)));
        }
        let known = self.builtins.entry(name).or_insert_with(|| (reach, file.to_owned()));
        if known.0 < reach {
            *known = (reach, file.to_owned());
        }
    }

    /// Native addons, scripts and links, wherever they lie.
    fn tree_signs(&mut self) {
        let tree = &self.package.tree;
        for file in tree.files.keys() {
            let name = file.rsplit('/').next().unwrap_or(file);
            if name.ends_with(".node") || name == "binding.gyp" {
                self.native.insert(visible(file));
            }
        }
        let jsons = tree.files.keys().filter_map(|file| file.strip_suffix("/package.json"));
        let packages: Vec<&str> = jsons.filter(|directory| package_of(directory) == *directory).collect();
        for directory in packages {
            let name = directory.rsplit_once("node_modules/").map_or(directory, |(_, name)| name);
            if LOADERS.contains(&name) {
                self.native.insert(format!("{name}, which loads native addons"));
            }
            if let Some(json) = self.resolver.package_json(directory) {
                self.package_signs(directory, &json);
            }
        }
        let links: Vec<_> = tree.links_outside().map(|(path, to)| (visible(path), visible(to))).collect();
        for (path, target) in links {
            self.refuse(format!("the link {path} leads out of node_modules, to {target}"));
        }
        for path in &tree.odd {
            self.concerns.insert((true, format!("{} is neither a file nor a directory", visible(path))));
        }
    }

    fn package_signs(&mut self, directory: &str, json: &super::json::PackageJson) {
        if json.0.get("gypfile").and_then(serde_json::Value::as_bool) == Some(true) {
            self.native.insert(format!("{} has a gypfile", visible(directory)));
        }
        let scripts = json.0.get("scripts");
        for name in ["preinstall", "install", "postinstall"] {
            let Some(script) = scripts.and_then(|all| all.get(name)?.as_str()) else { continue };
            if name == "install" || BUILDERS.iter().any(|word| script.contains(word)) {
                self.native.insert(format!("the {name} script of {}", visible(directory)));
            }
            self.concern(format!("the {name} script of {} was not run", visible(directory)));
        }
    }

    fn finish(mut self, module_system: ModuleSystem) -> PackageVerdict {
        // Those that only a process can have are there too, to say so when they are used.
        let has = |name: &str| crate::node::NAMES.contains(&name) && !NODE_ONLY.contains(&name);
        let builtins: Vec<BuiltinUse> = self
            .builtins
            .iter()
            .map(|(name, (reach, file))| BuiltinUse {
                name: name.clone(),
                embedded: has(name),
                at_load: *reach == Reach::AtLoad,
                file: file.clone(),
            })
            .collect();
        let mut because: Vec<String> = Vec::new();
        if !self.native.is_empty() {
            because.push(format!("it has native addons: {}", some(self.native.iter())));
        }
        if !self.because.is_empty() {
            because.push(some(self.because.iter()));
        }
        let runs_on = if because.is_empty() { RunsOn::Embedded } else { RunsOn::Node };
        if runs_on == RunsOn::Node {
            self.capabilities.insert(capability::NODE);
        } else {
            let absent = builtins.iter().filter(|one| !one.embedded && one.at_load);
            let absent: Vec<String> =
                absent.map(|one| format!("'{}' ({})", one.name, visible(&one.file))).collect();
            if !absent.is_empty() {
                self.concern(format!(
                    "the embedded engine has no {}; if it fails, set \"runtime\": \"node\"",
                    some(absent.iter())
                ));
            }
        }
        let packages: BTreeSet<&str> = self.package.tree.files.keys().map(|file| package_of(file)).collect();
        let is_package = |path: &&&str| !path.starts_with('.');
        PackageVerdict {
            package: self.package.name.clone(),
            version: self.package.version().map(str::to_owned),
            license: self.package.json.license(),
            module_system,
            runs_on,
            browser_build: self.platform == Platform::Browser,
            because,
            capabilities: self.capabilities.into_iter().map(str::to_owned).collect(),
            builtins,
            native: self.native.into_iter().collect(),
            bytes: self.package.tree.bytes,
            files: self.package.tree.files.len(),
            packages: packages.iter().filter(is_package).count(),
            concerns: self
                .concerns
                .into_iter()
                .rev()
                .map(|(refused, message)| Concern { message, refused })
                .collect(),
        }
    }
}

/// The first few, and how many more there are.
fn some<T: AsRef<str>>(all: impl ExactSizeIterator<Item = T>) -> String {
    let more = all.len().saturating_sub(SHOWN);
    let shown: Vec<String> = all.take(SHOWN).map(|one| one.as_ref().to_owned()).collect();
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} KB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

impl fmt::Display for ModuleSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Esm => "ES modules",
            Self::CommonJs => "CommonJS",
            Self::Both => "ES modules and CommonJS",
        })
    }
}

impl fmt::Display for RunsOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedded => "embedded",
            Self::Node => "node",
        })
    }
}

/// For people: one line a fact, no line break at the end.
impl fmt::Display for PackageVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        let version = self.version.as_deref().unwrap_or("(no version)");
        let license = self.license.as_deref().unwrap_or("no licence named");
        write!(f, "{} {} ({})", visible(&self.package), visible(version), visible(license))?;
        write!(
            f,
            "\n  runs on        {}",
            match self.runs_on {
                RunsOn::Embedded if self.browser_build => "the embedded engine, by its build for browsers",
                RunsOn::Embedded => "the embedded engine",
                RunsOn::Node => "Node",
            }
        )?;
        for reason in &self.because {
            write!(f, "\n                 because {reason}")?;
        }
        write!(
            f,
            "\n  needs          {}",
            or_none(self.capabilities.join(", ")).replace("none", "no capabilities")
        )?;
        write!(f, "\n  module system  {}", self.module_system)?;
        let builtins: Vec<&str> = self.builtins.iter().map(|one| one.name.as_str()).collect();
        write!(f, "\n  Node built-ins {}", or_none(builtins.join(", ")))?;
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(f, "\n  native addons  {}", if self.native.is_empty() { "none" } else { "yes" })?;
        let (files, packages) = (plural(self.files, "file"), plural(self.packages, "package"));
        write!(f, "\n  size           {} in {files}, {packages}", size(self.bytes))?;
        for concern in &self.concerns {
            let word = if concern.refused { "refused" } else { "note" };
            write!(f, "\n  {word}: {}", concern.message)?;
        }
        Ok(())
    }
}
