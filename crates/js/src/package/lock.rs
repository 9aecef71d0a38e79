//! `module.lock.json`: which packages a module was made with, to the byte.
//!
//! npm's own integrity says what the registry sent; our digests say what lies on disk, which is what
//! will run. A module whose packages differ from its lock is reported and not run; a module without a
//! lock runs. [`check_lock`] compares everything; [`LockedFiles`](super::LockedFiles) compares what is read, as it
//! is read, which is all that the embedded engine needs to know.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    fs,
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    json::PackageJson,
    tree::{Tree, TreeFault, package_of},
};

/// The lock's name, beside `module.json`.
pub const LOCK_FILE: &str = "module.lock.json";

/// 2: each file has its digest.
const LOCK_VERSION: u32 = 2;

/// What a lock writes for a link, before the place where it points.
pub(super) const LINK: &str = "link:";

/// Why a lock cannot be made, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockFault {
    #[error("the installed packages cannot be read: {0}")]
    Tree(#[from] TreeFault),
    #[error("{path} cannot be {what}: {reason}")]
    File { path: String, what: &'static str, reason: String },
    #[error("{path} is damaged: {reason}")]
    Damaged { path: String, reason: String },
    #[error("{path} was written by a newer Pinza (lock version {version})")]
    Newer { path: String, version: u32 },
}

/// What a module was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    lock_version: u32,
    /// By place below `node_modules`: `a`, `@s/b`, `a/node_modules/c`.
    pub packages: BTreeMap<String, LockedPackage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    #[serde(default)]
    lock_version: u32,
}

/// What each file of a package is, by its place there.
type Files = BTreeMap<String, String>;

/// One package of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockedPackage {
    pub version: Option<String>,
    /// What npm checked the download against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// Over its files as they lie on disk.
    pub digest: String,
    /// By place in the package: a file's SHA-256, or `link:` and where it points. Empty in the
    /// first version's locks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: Files,
}

/// One way in which the installed packages are not the locked ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Difference {
    Missing {
        package: String,
    },
    /// Nothing locked it.
    Added {
        package: String,
    },
    Version {
        package: String,
        locked: Option<String>,
        found: Option<String>,
    },
    /// The version is the same, the files are not.
    Changed {
        package: String,
    },
}

/// How a module stands to its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockState {
    /// There is no lock.
    Free,
    Same,
    Differs(Vec<Difference>),
}

impl Lock {
    /// The lock of what is installed below a module's directory now.
    pub fn of(directory: &Path) -> Result<Self, LockFault> {
        let modules = directory.join("node_modules");
        if !modules.is_dir() {
            return Ok(Self { lock_version: LOCK_VERSION, packages: BTreeMap::new() });
        }
        let tree = Tree::list(&modules)?;
        let integrities = integrities(directory);
        let mut packages = BTreeMap::new();
        for (place, (digest, files)) in digests(&tree)? {
            let json = tree.text(&format!("{place}/package.json")).ok();
            let json = json.and_then(|text| PackageJson::parse(&text).ok()).unwrap_or_default();
            let version = json.text("version").map(str::to_owned);
            let integrity = integrities.get(&place).cloned();
            packages.insert(place, LockedPackage { version, integrity, digest, files });
        }
        Ok(Self { lock_version: LOCK_VERSION, packages })
    }

    /// The lock beside a `module.json`; `None` where there is none.
    pub fn read(directory: &Path) -> Result<Option<Self>, LockFault> {
        let file = directory.join(LOCK_FILE);
        let path = || file.display().to_string();
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(LockFault::File { path: path(), what: "read", reason: error.to_string() });
            }
        };
        let damaged =
            |error: serde_json::Error| LockFault::Damaged { path: path(), reason: error.to_string() };
        // A newer lock may look different in all other places.
        let Version { lock_version } = serde_json::from_str(&text).map_err(damaged)?;
        if lock_version > LOCK_VERSION {
            return Err(LockFault::Newer { path: path(), version: lock_version });
        }
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    pub fn write(&self, directory: &Path) -> Result<(), LockFault> {
        let file = directory.join(LOCK_FILE);
        let fault =
            |reason: String| LockFault::File { path: file.display().to_string(), what: "written", reason };
        let text = serde_json::to_string_pretty(self).map_err(|error| fault(error.to_string()))?;
        fs::write(&file, format!("{text}\n")).map_err(|error| fault(error.to_string()))
    }

    /// How `found` is not what was locked here.
    pub fn differences(&self, found: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (place, locked) in &self.packages {
            let package = place.clone();
            match found.packages.get(place) {
                None => differences.push(Difference::Missing { package }),
                Some(now) if now.version != locked.version => {
                    let (locked, found) = (locked.version.clone(), now.version.clone());
                    differences.push(Difference::Version { package, locked, found });
                }
                Some(now) if now.digest != locked.digest => differences.push(Difference::Changed { package }),
                Some(_) => {}
            }
        }
        let added = found.packages.keys().filter(|place| !self.packages.contains_key(*place));
        differences.extend(added.map(|place| Difference::Added { package: place.clone() }));
        differences
    }
}

/// Compares what is installed below a module's directory with its lock.
pub fn check_lock(directory: &Path) -> Result<LockState, LockFault> {
    let Some(lock) = Lock::read(directory)? else { return Ok(LockState::Free) };
    let differences = lock.differences(&Lock::of(directory)?);
    Ok(if differences.is_empty() { LockState::Same } else { LockState::Differs(differences) })
}

/// One digest for each package, over its sorted paths and what is in them; and one for each file.
fn digests(tree: &Tree) -> Result<BTreeMap<String, (String, Files)>, TreeFault> {
    let mut packages: BTreeMap<&str, (Sha256, Files)> = BTreeMap::new();
    for path in tree.files.keys().filter(|path| counts(path)) {
        let content = Sha256::digest(tree.read(path)?);
        let (hash, files) = packages.entry(package_of(path)).or_default();
        add(hash, path, b"file", &content);
        files.insert(below(path).to_owned(), hex(&content));
    }
    // npm makes none; one that appears is a change like any other.
    for (path, target) in tree.links.iter().filter(|(path, _)| counts(path)) {
        let (hash, files) = packages.entry(package_of(path)).or_default();
        add(hash, path, b"link", target.as_bytes());
        files.insert(below(path).to_owned(), format!("{LINK}{target}"));
    }
    let finished = |(place, (hash, files)): (&str, (Sha256, _))| {
        (place.to_owned(), (format!("sha256-{}", hex(&hash.finalize())), files))
    };
    Ok(packages.into_iter().map(finished).collect())
}

/// A path seen from its package; nothing for what stands in a package's place itself.
fn below(path: &str) -> &str {
    path[package_of(path).len()..].trim_start_matches('/')
}

/// npm's own notes and `.bin` differ from machine to machine, and no package imports them.
pub(super) fn counts(path: &str) -> bool {
    let package = package_of(path);
    !package.rsplit('/').next().unwrap_or(package).starts_with('.')
}

/// Lengths first, so that no two trees read the same.
fn add(hash: &mut Sha256, path: &str, kind: &[u8], content: &[u8]) {
    for part in [path.as_bytes(), kind, content] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A String takes all that is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What npm wrote down about its downloads, by place below `node_modules`.
fn integrities(directory: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(directory.join("package-lock.json")).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let packages = value.get("packages").and_then(Value::as_object).into_iter().flatten();
    let integrity = |(path, package): (&String, &Value)| {
        let place = path.strip_prefix("node_modules/")?.to_owned();
        Some((place, package.get("integrity")?.as_str()?.to_owned()))
    };
    packages.filter_map(integrity).collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "no version".into());
        match self {
            Self::Missing { package } => write!(f, "{package} is locked, but not installed"),
            Self::Added { package } => write!(f, "{package} is installed, but not locked"),
            Self::Version { package, locked, found } => {
                write!(f, "{package} is {}, but {} is locked", shown(found), shown(locked))
            }
            Self::Changed { package } => write!(f, "the files of {package} are not the locked ones"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(directory: &Path, path: &str, text: &str) {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn module() -> tempfile::TempDir {
        let directory = tempfile::TempDir::new().unwrap();
        put(directory.path(), "node_modules/a/package.json", r#"{"version": "1.0.0"}"#);
        put(directory.path(), "node_modules/a/index.js", "exports.x = 1");
        put(directory.path(), "node_modules/a/node_modules/b/package.json", r#"{"version": "2.0.0"}"#);
        put(directory.path(), "node_modules/.package-lock.json", "{}");
        put(
            directory.path(),
            "package-lock.json",
            r#"{"packages": {"node_modules/a": {"version": "1.0.0", "integrity": "sha512-abc"}}}"#,
        );
        directory
    }

    #[test]
    fn a_lock_knows_every_package() {
        let module = module();
        let lock = Lock::of(module.path()).unwrap();
        let places: Vec<&String> = lock.packages.keys().collect();
        assert_eq!(places, ["a", "a/node_modules/b"]);
        assert_eq!(lock.packages["a"].integrity.as_deref(), Some("sha512-abc"));
        let files: Vec<&String> = lock.packages["a"].files.keys().collect();
        assert_eq!(files, ["index.js", "package.json"]);
        assert_eq!(check_lock(module.path()), Ok(LockState::Free));
        lock.write(module.path()).unwrap();
        assert_eq!(Lock::read(module.path()), Ok(Some(lock)));
        assert_eq!(check_lock(module.path()), Ok(LockState::Same));
    }

    #[test]
    fn what_differs_is_named() {
        let check = |change: &dyn Fn(&Path), expected: &[&str]| {
            let module = module();
            Lock::of(module.path()).unwrap().write(module.path()).unwrap();
            change(module.path());
            let LockState::Differs(found) = check_lock(module.path()).unwrap() else {
                panic!("no difference, but {expected:?}")
            };
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected);
        };
        check(
            &|module| put(module, "node_modules/a/index.js", "exports.x = 2"),
            &["the files of a are not the locked ones"],
        );
        check(
            &|module| put(module, "node_modules/a/more.js", ""),
            &["the files of a are not the locked ones"],
        );
        check(
            &|module| {
                fs::rename(module.join("node_modules/a/index.js"), module.join("node_modules/a/main.js"))
                    .unwrap()
            },
            &["the files of a are not the locked ones"],
        );
        check(
            &|module| std::os::unix::fs::symlink("/etc", module.join("node_modules/a/etc")).unwrap(),
            &["the files of a are not the locked ones"],
        );
        check(
            &|module| put(module, "node_modules/a/package.json", r#"{"version": "1.0.1"}"#),
            &["a is 1.0.1, but 1.0.0 is locked"],
        );
        check(
            &|module| fs::remove_dir_all(module.join("node_modules/a/node_modules")).unwrap(),
            &["a/node_modules/b is locked, but not installed"],
        );
        check(
            &|module| put(module, "node_modules/c/package.json", "{}"),
            &["c is installed, but not locked"],
        );
        check(&|module| put(module, "node_modules/loose.js", ""), &["loose.js is installed, but not locked"]);
    }

    #[test]
    fn a_lock_that_cannot_be_obeyed_is_an_error() {
        let module = module();
        put(module.path(), LOCK_FILE, "{");
        assert!(matches!(check_lock(module.path()), Err(LockFault::Damaged { .. })));
        put(module.path(), LOCK_FILE, r#"{"lockVersion": 3, "packages": "all"}"#);
        assert!(matches!(check_lock(module.path()), Err(LockFault::Newer { version: 3, .. })));
    }
}
