//! Where modules lie: `HOME/modules/NAME`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use pinza::ToolError;

use crate::home::Home;

/// Directories between `modules/` and a `module.json`.
const DEPTH: usize = 3;
/// What begins with a dot is not looked at: modules that are being added or removed.
const ADDING: &str = ".adding-";
const REMOVING: &str = ".removing-";

/// A module's name and directory.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) directory: PathBuf,
}

pub(super) fn modules(home: &Home) -> PathBuf {
    home.path.join("modules")
}

impl Place {
    /// A place that a new module could have. The name is that of a directory and a group: lowercase letters,
    /// digits, hyphens.
    pub(super) fn new(home: &Home, name: &str) -> Result<Self, ToolError> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts_well || !name.chars().all(is_plain) || name.len() > 64 {
            let name = pinza::core::visible(name);
            let message = format!("Module name '{name}' must be lowercase letters, digits and hyphens");
            return Err(ToolError::validation(message).hint("Choose one with --name."));
        }
        Ok(Self { name: name.to_owned(), directory: modules(home).join(name) })
    }

    /// The module of this name.
    pub(super) fn existing(home: &Home, name: &str) -> Option<Self> {
        Self::new(home, name).ok().filter(|place| place.directory.symlink_metadata().is_ok())
    }

    /// Takes the module away in one step, then its files.
    pub(super) fn remove(&self) -> Result<()> {
        let context = || format!("cannot remove {}", self.directory.display());
        let is_link = self.directory.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if is_link {
            // What it leads to is not ours.
            return fs::remove_file(&self.directory).with_context(context);
        }
        let aside = self.directory.with_file_name(format!("{REMOVING}{}-{}", self.name, std::process::id()));
        fs::rename(&self.directory, &aside).with_context(context)?;
        fs::remove_dir_all(&aside).with_context(|| format!("cannot remove {}", aside.display()))
    }
}

/// A directory beside the module's own where it is made ready; gone unless it is moved into place.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) directory: PathBuf,
}

impl Workshop {
    pub(super) fn new(home: &Home, place: &Place) -> Result<Self> {
        let modules = modules(home);
        fs::create_dir_all(&modules).with_context(|| format!("cannot create {}", modules.display()))?;
        sweep(&modules);
        let directory = modules.join(format!("{ADDING}{}-{}", place.name, std::process::id()));
        fs::create_dir(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        Ok(Self { directory })
    }

    /// The module is ready: it gets its place, all at once.
    pub(super) fn move_to(&self, place: &Place) -> Result<()> {
        let to = &place.directory;
        // An empty directory would be replaced, and somebody else's module must not be.
        anyhow::ensure!(to.symlink_metadata().is_err(), "{} exists already", to.display());
        fs::rename(&self.directory, to).with_context(|| format!("cannot move the module to {}", to.display()))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // After the move it is not there any more.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Removes what processes left behind that were killed in the middle.
fn sweep(modules: &Path) {
    for entry in fs::read_dir(modules).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name.starts_with(ADDING) || name.starts_with(REMOVING);
        let process = name.rsplit('-').next().and_then(|id| id.parse::<i32>().ok());
        let process = process.and_then(rustix::process::Pid::from_raw);
        let is_alive = |id| rustix::process::test_kill_process(id) != Err(rustix::io::Errno::SRCH);
        if ours && process.is_some_and(|id| !is_alive(id)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// All modules of the home, by name.
pub(super) fn all(home: &Home) -> Vec<Place> {
    let mut found = Vec::new();
    gather(&modules(home), DEPTH, &mut found);
    found.sort_by(|a, b| a.directory.cmp(&b.directory));
    found
}

fn gather(directory: &Path, depth: usize, found: &mut Vec<Place>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') || name == "node_modules" || !path.is_dir() {
            continue;
        }
        if path.join("module.json").is_file() || depth == DEPTH && path.join("node_modules").is_dir() {
            found.push(Place { name, directory: path });
        } else if depth > 1 {
            gather(&path, depth - 1, found);
        }
    }
}
