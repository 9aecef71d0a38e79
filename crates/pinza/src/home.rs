//! Where Pinza keeps its own things, and where each place came from.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf, absolute},
};

use anyhow::{Context, Result, bail};
use serde::Serialize;

/// Where a value comes from; later ones give way to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    Flag,
    Environment,
    User,
    BuiltIn,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::User => "user",
            Self::BuiltIn => "built-in",
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
}

impl Home {
    pub(crate) fn find(flag: Option<&Path>) -> Result<Self> {
        let (path, origin) = match (flag, std::env::var_os("PINZA_HOME").filter(|value| !value.is_empty())) {
            (Some(path), _) => (path.to_owned(), Origin::Flag),
            (None, Some(path)) => (path.into(), Origin::Environment),
            (None, None) => (data_directory()?.join("pinza"), Origin::BuiltIn),
        };
        let path = absolute(&path).with_context(|| format!("cannot use {} as home", path.display()))?;
        Ok(Self { path, origin })
    }

    /// Makes sure the home exists, readable by nobody else.
    pub(crate) fn create(&self) -> Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.path)
            .with_context(|| format!("cannot create the home {}", self.path.display()))
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }
}

fn data_directory() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(data) = variable("XDG_DATA_HOME") {
        return Ok(data);
    }
    match variable("HOME") {
        Some(home) if cfg!(target_os = "macos") => Ok(home.join("Library/Application Support")),
        Some(home) => Ok(home.join(".local/share")),
        None => bail!("there is no home directory: set PINZA_HOME or give --home"),
    }
}
