//! What a tool's path means, as text: nothing here touches the file system.
//!
//! `..` is left standing. Only the kernel knows what it means behind a symbolic link.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Component, Path},
};

use pinza_core::FsError;

/// The part of `text` that is relative to the workspace, whose root goes by the names `roots`.
/// How long it may be is the kernel's and the file system's to say.
pub(super) fn inside<'a>(text: &'a str, roots: &[&Path]) -> Result<&'a str, FsError> {
    if text.is_empty() {
        return Err(FsError::BadPath("it is empty".into()));
    }
    if text.contains('\0') {
        return Err(FsError::BadPath("it contains a NUL character".into()));
    }
    if !text.starts_with('/') {
        return Ok(text);
    }
    let rest = roots.iter().find_map(|root| strip(text, root)).ok_or(FsError::Outside)?;
    Ok(match rest.trim_start_matches('/') {
        "" => ".",
        rest => rest,
    })
}

/// The directory part and the last name; `None` where the path can only mean a directory.
pub(super) fn split(path: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = path.as_bytes();
    let (directory, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&bytes[..slash], &bytes[slash + 1..]),
        None => (&b"."[..], bytes),
    };
    let only_a_directory = matches!(name, b"" | b"." | b"..");
    (!only_a_directory).then(|| (OsStr::from_bytes(directory), OsStr::from_bytes(name)))
}

/// Where a symbolic link in `directory` leads. An absolute link leaves the workspace even
/// where it happens to lead back: the kernel says so of every other part of a path.
pub(super) fn follow(directory: &OsStr, target: &[u8]) -> Result<OsString, FsError> {
    if target.starts_with(b"/") {
        return Err(FsError::Outside);
    }
    Ok(OsString::from_vec([directory.as_bytes(), b"/", target].concat()))
}

/// The names in a path, without the parts that mean nothing.
pub(super) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Compares whole components, so that `/work-evil` is not beneath `/work`.
fn strip<'a>(text: &'a str, root: &Path) -> Option<&'a str> {
    let mut rest = text;
    for component in root.components().filter(|component| *component != Component::RootDir) {
        rest = rest.trim_start_matches('/').strip_prefix(component.as_os_str().to_str()?)?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_must_start_with_the_roots_components() {
        let roots = [Path::new("/data/work"), Path::new("/mnt/work")];
        let cases = [
            ("/data/work/a/b", Some("a/b")),
            ("//data///work//a", Some("a")),
            ("/mnt/work/a/", Some("a/")),
            ("/data/work", Some(".")),
            ("/data/work/../x", Some("../x")),
            ("/data/work-evil/a", None),
            ("/data", None),
            ("/", None),
            ("a/b", Some("a/b")),
        ];
        for (text, expected) in cases {
            assert_eq!(inside(text, &roots).ok(), expected, "{text}");
        }
        assert_eq!(inside("/etc", &[Path::new("/")]), Ok("etc"));
    }

    #[test]
    fn the_last_name_is_a_name() {
        let split = |path: &'static str| split(OsStr::new(path));
        assert_eq!(split("a/b/c"), Some((OsStr::new("a/b"), OsStr::new("c"))));
        assert_eq!(split("c"), Some((OsStr::new("."), OsStr::new("c"))));
        for directory in [".", "..", "a/", "a/.", "a/.."] {
            assert_eq!(split(directory), None, "{directory}");
        }
    }
}
