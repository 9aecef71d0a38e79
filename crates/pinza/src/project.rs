//! A project's own `.pinza/`: read only after `pinza trust`, and even then it may only narrow.
//!
//! Cloning a repository must not give its author any right here. Trust is a promise about
//! content: a path and a hash of everything below `.pinza/`. What changed since is not read.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use pinza::{
    Rule, Verdict,
    js::{Guard, Standing},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    config::{LimitsTable, write_whole},
    home::Home,
    upstreams::McpTable,
};

/// What of a `.pinza/` is Pinza's to read; `out/` holds results and is not.
const PARTS: [&str; 3] = ["config.toml", "tools", "skills"];

/// Larger projects are no projects' configuration.
const MOST_FILES: usize = 2000;
const MOST_BYTES: u64 = 32 << 20;

/// What is said of a project that is not read.
pub(crate) const UNKNOWN: &str =
    "the project is not trusted, and nothing of it was read; trust it with: pinza trust";
pub(crate) const CHANGED: &str =
    "the project changed since it was trusted, and was not read; look at it, then: pinza trust";

#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The `.pinza` directory itself.
    pub(crate) path: PathBuf,
}

/// Whether a project may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Trusted,
    Unknown,
    /// It was trusted, and is not what it was.
    Changed,
}

/// What a project may say: rules and limits that narrow, tools to switch off, and servers, which are held until they
/// are accepted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProjectConfig {
    policy: PolicyTable,
    tools: ToolsTable,
    pub(crate) mcp: McpTable,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyTable {
    rule: Vec<Rule>,
    limits: LimitsTable,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToolsTable {
    disabled: Vec<String>,
}

impl ProjectConfig {
    /// Rules that ask or deny; an allow is not a project's to give.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.policy.rule.iter().filter(|rule| rule.effect != Verdict::Allow)
    }

    /// The numbers, from 0, of rules that would widen.
    pub(crate) fn refused(&self) -> impl Iterator<Item = usize> {
        let numbered = self.policy.rule.iter().enumerate();
        numbered.filter(|(_, rule)| rule.effect == Verdict::Allow).map(|(index, _)| index)
    }

    /// As far as they are below the user's.
    pub(crate) fn limits(&self) -> &LimitsTable {
        &self.policy.limits
    }

    pub(crate) fn disabled(&self) -> &[String] {
        &self.tools.disabled
    }
}

impl Project {
    /// The project around: of the workspace, else of the current directory.
    pub(crate) fn find(workspace: &Path, home: &Home) -> Option<Self> {
        let here = std::env::current_dir().ok();
        let home = home.path.canonicalize().unwrap_or_else(|_| home.path.clone());
        let places =
            [Some(workspace.to_owned()), here].into_iter().flatten().map(|place| place.join(".pinza"));
        let real = places.filter(|path| has_parts(path)).map(|path| path.canonicalize().unwrap_or(path));
        // A home that somebody calls `.pinza` is no project.
        real.into_iter().find(|path| *path != home).map(|path| Self { path })
    }

    /// The one of this directory, whether there is one yet or not.
    pub(crate) fn at(directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Self { path: directory.join(".pinza") }
    }

    /// What of a project's directory is read.
    pub(crate) fn parts(path: &Path) -> impl Iterator<Item = PathBuf> {
        PARTS.iter().map(|part| path.join(part))
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.path.join("tools")
    }

    pub(crate) fn skills(&self) -> PathBuf {
        self.path.join("skills")
    }

    pub(crate) fn config(&self) -> Result<ProjectConfig> {
        let place = || format!("{} is not a valid project configuration", self.config_file().display());
        let config: ProjectConfig = toml_edit::de::from_str(&self.config_text()?)
            .map_err(|error| anyhow::anyhow!("{}", error.to_string().trim_end()))
            .with_context(place)?;
        config.mcp.check().with_context(place)?;
        Ok(config)
    }

    /// An absent file is an empty one.
    fn config_text(&self) -> Result<String> {
        let file = self.config_file();
        match fs::read_to_string(&file) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The files that trust is about, relative to `.pinza`, and the hash over all of them.
    pub(crate) fn contents(&self) -> Result<(Vec<PathBuf>, String)> {
        let mut files = Vec::new();
        for part in Self::parts(&self.path) {
            gather(&part, &mut files)?;
        }
        files.sort();
        let mut hash = Sha256::new();
        let mut left = MOST_BYTES;
        for file in &files {
            let mut bytes = Vec::new();
            fs::File::open(file)?.take(left + 1).read_to_end(&mut bytes)?;
            left = left.checked_sub(bytes.len() as u64).context("the project's .pinza is too large")?;
            let name = file.strip_prefix(&self.path)?.to_string_lossy().into_owned();
            // Lengths first, so that no two trees read the same.
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        let hash = hex(&hash.finalize());
        let names = files.iter().filter_map(|file| file.strip_prefix(&self.path).ok().map(Path::to_owned));
        Ok((names.collect(), hash))
    }

    pub(crate) fn trust(&self, home: &Home) -> Result<Trust> {
        // What could not be trusted now (a link, too many files) is not what it was either.
        let is_same = |hash: &String| self.contents().is_ok_and(|(_, now)| now == *hash);
        Ok(match read_trusted(home)?.get(&self.key()) {
            None => Trust::Unknown,
            Some(hash) if is_same(hash) => Trust::Trusted,
            Some(_) => Trust::Changed,
        })
    }

    /// Trusts what is there now; returns the files. A configuration that cannot be obeyed is not
    /// trusted: it would stop every command here.
    pub(crate) fn set_trusted(&self, home: &Home) -> Result<Vec<PathBuf>> {
        let (files, hash) = self.contents()?;
        self.config()?;
        let mut trusted = read_trusted(home)?;
        trusted.insert(self.key(), hash);
        write_trusted(home, &trusted)?;
        Ok(files)
    }

    /// Forgets the project; tells whether it was known.
    pub(crate) fn forget(&self, home: &Home) -> Result<bool> {
        let mut trusted = read_trusted(home)?;
        let known = trusted.remove(&self.key()).is_some();
        write_trusted(home, &trusted)?;
        Ok(known)
    }

    fn key(&self) -> String {
        self.path.display().to_string()
    }
}

/// A part of a project while it is watched: only what is trusted becomes live.
#[derive(Debug)]
pub(crate) struct TrustedPart {
    project: Project,
    home: Home,
    directory: PathBuf,
    /// As it is obeyed since the start.
    config: String,
}

impl TrustedPart {
    pub(crate) fn new(project: &Project, home: &Home, directory: PathBuf) -> Result<Self> {
        let config = project.config_text()?;
        Ok(Self { project: project.clone(), home: home.clone(), directory, config })
    }
}

impl Guard for TrustedPart {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn witnesses(&self) -> Vec<PathBuf> {
        vec![trust_file(&self.home), self.project.config_file()]
    }

    fn standing(&self) -> Standing {
        match self.project.trust(&self.home) {
            Ok(Trust::Trusted) => {}
            Ok(Trust::Unknown) => return Standing::Refused(UNKNOWN.into()),
            Ok(Trust::Changed) => return Standing::Changed(CHANGED.into()),
            Err(error) => return Standing::Changed(format!("{error:#}")),
        }
        // New tools without the new rules that came with them would have more rights than they were trusted with.
        if self.project.config_text().is_ok_and(|config| config == self.config) {
            Standing::Good
        } else {
            Standing::Changed("the project's config.toml is another one; start Pinza again to obey it".into())
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn has_parts(path: &Path) -> bool {
    Project::parts(path).any(|part| part.exists())
}

/// Regular files below a path, links not followed: what they lead to is not the project's.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    ensure!(files.len() < MOST_FILES, "the project's .pinza has more than {MOST_FILES} files");
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            gather(&entry?.path(), files)?;
        }
    } else if meta.is_file() {
        files.push(path.to_owned());
    } else {
        bail!("{} is neither a file nor a directory; a project's .pinza holds nothing else", path.display());
    }
    Ok(())
}

fn trust_file(home: &Home) -> PathBuf {
    home.path.join("trust.json")
}

fn read_trusted(home: &Home) -> Result<BTreeMap<String, String>> {
    let file = trust_file(home);
    match fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

fn write_trusted(home: &Home, trusted: &BTreeMap<String, String>) -> Result<()> {
    write_whole(&trust_file(home), format!("{}\n", serde_json::to_string_pretty(trusted)?))
}
