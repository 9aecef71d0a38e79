//! lodash, fetched from npm once and kept under `target/`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The library as one file; `None`, after a line that says why, where it cannot be had.
pub(crate) fn file() -> Option<&'static Path> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    FILE.get_or_init(|| package().map(|package| package.join("lodash.js"))).as_deref()
}

/// The package as npm has it.
pub(crate) fn package() -> Option<&'static Path> {
    static PACKAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let package = PACKAGE.get_or_init(|| match fetch() {
        Ok(package) => Some(package),
        Err(reason) => {
            println!("lodash cannot be fetched ({reason}): its figures are left out");
            None
        }
    });
    package.as_deref()
}

fn fetch() -> Result<PathBuf, String> {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lodash-4");
    if kept.exists() {
        return Ok(kept);
    }
    // Beside it, so that it can be moved there when it is whole.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    run(Command::new("npm")
        .args(["pack", "lodash@4", "--silent", "--fetch-retries=0", "--fetch-timeout=20000"])
        .current_dir(&directory))?;
    let packed = fs::read_dir(&directory)
        .ok()
        .and_then(|mut files| files.next()?.ok())
        .ok_or("npm pack left no file")?
        .path();
    run(Command::new("tar").arg("-xzf").arg(packed).current_dir(&directory))?;
    fs::rename(directory.path().join("package"), &kept).map_err(|error| error.to_string())?;
    Ok(kept)
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}", said.lines().next().unwrap_or("it failed")))
}
