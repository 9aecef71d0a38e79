//! npm, which installs packages. None of their scripts is run.

use std::{
    io::ErrorKind as IoKind,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::channel,
    time::Duration,
};

use anyhow::{Context, Result};
use pinza::{
    ToolError,
    core::{ErrorKind, visible},
};
use serde_json::Value;

/// The largest trees on a slow line take minutes.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What is to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `name`, or `name@range`.
    Registry { name: String, range: Option<String> },
    /// A directory or an archive.
    Local(PathBuf),
}

impl Wanted {
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let path = text.strip_prefix("file:").unwrap_or(text);
        let is_path = path.starts_with(['.', '/']) || path.ends_with(".tgz") || path.len() < text.len();
        if is_path {
            let found = std::path::absolute(path).ok().filter(|path| path.exists());
            let missing = || {
                let message = format!("There is no directory or file '{}'", visible(path));
                ToolError::new(ErrorKind::NotFound, message)
            };
            return found.map(Self::Local).ok_or_else(missing);
        }
        let (name, range) = match text.char_indices().skip(1).find(|(_, c)| *c == '@') {
            Some((at, _)) => (&text[..at], Some(text[at + 1..].to_owned())),
            None => (text, None),
        };
        let is_name = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
            !part.is_empty() && part.chars().all(plain) && !part.starts_with(['.', '_', '-'])
        };
        let is_package = match name.strip_prefix('@') {
            Some(scoped) => {
                scoped.split_once('/').is_some_and(|(scope, name)| is_name(scope) && is_name(name))
            }
            None => is_name(name),
        };
        // Addresses (git, https) can bring settings of their own, with which npm runs other programs.
        let is_range = |range: &String| !range.is_empty() && !range.contains([':', '/', '\\']);
        if !is_package || !range.as_ref().is_none_or(is_range) {
            let message = format!("'{}' is no package of the npm registry", visible(text));
            let hint = "Write NAME, NAME@RANGE, or the path of a directory or .tgz file.";
            return Err(ToolError::validation(message).hint(hint));
        }
        Ok(Self::Registry { name: name.to_owned(), range })
    }

    /// The range as it was asked for, if it is one.
    pub(super) fn range(&self) -> Option<String> {
        let Self::Registry { range, .. } = self else { return None };
        // `latest` and other tags say nothing about versions.
        range.clone().filter(|range| range.contains(|c: char| c.is_ascii_digit()))
    }

    /// The name of the package; of a directory, what its `package.json` says.
    pub(super) fn package_name(&self) -> Option<String> {
        match self {
            Self::Registry { name, .. } => Some(name.clone()),
            Self::Local(path) => {
                let text = std::fs::read_to_string(path.join("package.json")).ok()?;
                let json: Value = serde_json::from_str(&text).ok()?;
                Some(json.get("name")?.as_str()?.to_owned())
            }
        }
    }

    fn argument(&self) -> String {
        match self {
            Self::Registry { name, range: None } => name.clone(),
            Self::Registry { name, range: Some(range) } => format!("{name}@{range}"),
            Self::Local(path) => format!("file:{}", path.display()),
        }
    }
}

/// Installs into a directory and returns the package's name.
pub(super) fn install(directory: &Path, module: &str, wanted: &Wanted) -> Result<String> {
    let json = serde_json::json!({ "name": format!("pinza-module-{module}"), "private": true });
    let file = directory.join("package.json");
    std::fs::write(&file, format!("{json:#}\n"))
        .with_context(|| format!("cannot write {}", file.display()))?;
    run(directory, &["--save-exact"], &wanted.argument())?;
    let text = std::fs::read_to_string(&file)?;
    let json: Value = serde_json::from_str(&text)?;
    let installed = json.get("dependencies").and_then(Value::as_object).and_then(|all| all.keys().next());
    Ok(installed.context("npm installed nothing")?.clone())
}

/// Declarations of types that others wrote for a package. Most packages have none: that is no error.
pub(super) fn install_types(directory: &Path, package: &str) {
    let name = package.strip_prefix('@').map_or_else(|| package.to_owned(), |name| name.replace('/', "__"));
    let _ = run(directory, &["--save-dev", "--save-exact"], &format!("@types/{name}"));
}

fn run(directory: &Path, more: &[&str], package: &str) -> Result<()> {
    let mut command = Command::new("npm");
    command
        .args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--install-links",
            "--allow-git=none",
        ])
        .args(["--package-lock=true", "--global=false", "--workspaces=false", "--no-progress"])
        .args(["--no-update-notifier", "--color=false", "--loglevel=error", "--fetch-retries=1"])
        .args(more)
        .args(["--", package])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| match error.kind() {
        IoKind::NotFound => ToolError::new(ErrorKind::NotFound, "npm is not installed")
            .hint("It comes with Node.js, from https://nodejs.org or your system's packages; Pinza itself does not need either.")
            .into(),
        _ => anyhow::Error::new(error).context("cannot start npm"),
    })?;
    let id = rustix::process::Pid::from_child(&child);
    let (done, waiting) = channel();
    std::thread::spawn(move || drop(done.send(child.wait_with_output())));
    let Ok(output) = waiting.recv_timeout(PATIENCE) else {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        return Err(ToolError::timed_out(PATIENCE).into());
    };
    let output = output.context("cannot wait for npm")?;
    if output.status.success() {
        return Ok(());
    }
    Err(failure(&String::from_utf8_lossy(&output.stderr), package).into())
}

/// npm's own words, without its decoration.
fn failure(stderr: &str, package: &str) -> ToolError {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("npm error "));
    let lines: Vec<&str> = lines.filter(|line| !line.contains("A complete log of this run")).collect();
    let code = lines.iter().find_map(|line| line.strip_prefix("code ")).unwrap_or_default();
    let reason = lines.iter().copied().find(|line| !line.starts_with("code ") && !line.trim().is_empty());
    let package = visible(package);
    match code {
        "E404" => ToolError::new(ErrorKind::NotFound, format!("npm knows no package '{package}'")),
        "ETARGET" => ToolError::new(
            ErrorKind::NotFound,
            format!("npm knows no such version of the package: '{package}'"),
        ),
        "ENOTFOUND" | "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ETIMEDOUT" | "ENOTCACHED" => {
            ToolError::network(format!("npm cannot reach its registry: {}", visible(reason.unwrap_or(code))))
        }
        _ => {
            let reason = reason.unwrap_or_else(|| stderr.lines().last().unwrap_or("no reason given"));
            ToolError::execution(format!("npm could not install '{package}': {}", visible(reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_installed() {
        for (text, name, range) in [
            ("dayjs", "dayjs", None),
            ("dayjs@1.11", "dayjs", Some("1.11")),
            ("@scope/name", "@scope/name", None),
            ("@scope/name@^2 || 3", "@scope/name", Some("^2 || 3")),
            ("name@latest", "name", Some("latest")),
        ] {
            let expected = Wanted::Registry { name: name.into(), range: range.map(str::to_owned) };
            assert_eq!(Wanted::parse(text), Ok(expected), "{text}");
        }
        assert_eq!(Wanted::parse("."), Ok(Wanted::Local(std::env::current_dir().unwrap())));
        for text in [
            "",
            "-g",
            "--foo",
            "a b",
            "@scope",
            "@/x",
            "user/repo",
            "git+https://x.y/z.git",
            "github:a/b",
            "npm:x",
            "x@npm:y",
            "x@git+ssh://h",
            "x@file:../y",
            "./missing",
            "x@",
            "..evil",
        ] {
            assert!(Wanted::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn failures_are_said_plainly() {
        for (stderr, expected) in [
            ("npm error code E404\nnpm error 404 Not Found - GET https://r/x", "npm knows no package 'x'"),
            (
                "npm error code ENOTFOUND\nnpm error syscall getaddrinfo",
                "npm cannot reach its registry: syscall getaddrinfo",
            ),
            ("npm error code EX\nnpm error it broke", "npm could not install 'x': it broke"),
            ("Segmentation fault", "npm could not install 'x': Segmentation fault"),
        ] {
            assert_eq!(failure(stderr, "x").message, expected);
        }
    }
}
