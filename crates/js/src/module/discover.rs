//! Where modules are: `module.json` in a directory or up to three below it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::loader::Problem;

const FILE: &str = "module.json";
const DEEPEST: usize = 3;

/// Directories that one look visits; more are somebody's whole disk.
const MOST: usize = 10_000;

/// The `module.json` files of a directory, sorted. One that does not exist has none.
pub fn discover(directory: &Path) -> (Vec<PathBuf>, Vec<Problem>) {
    let (mut found, mut problems, mut visited) = (Vec::new(), Vec::new(), 0);
    walk(directory, 0, &mut found, &mut problems, &mut visited);
    if visited > MOST {
        let message = format!("More than {MOST} directories: the rest was not looked at for modules");
        problems.push(Problem::new(directory.display().to_string(), message));
    }
    found.sort();
    (found, problems)
}

fn walk(
    directory: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    problems: &mut Vec<Problem>,
    visited: &mut usize,
) {
    *visited += 1;
    if *visited > MOST {
        return;
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let message = format!("Cannot read the directory: {error}");
            return problems.push(Problem::new(directory.display().to_string(), message));
        }
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        // A link is not followed: it could lead anywhere, and in a circle.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_file() && name == FILE {
            found.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST {
            let hidden = name.as_encoded_bytes().starts_with(b".");
            if !hidden && name != "node_modules" {
                walk(&entry.path(), depth + 1, found, problems, visited);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_three_deep_and_not_among_packages() {
        let root = tempfile::tempdir().unwrap();
        for (path, is_found) in [
            ("module.json", true),
            ("a/module.json", true),
            ("a/b/c/module.json", true),
            ("a/b/c/d/module.json", false),
            (".hidden/module.json", false),
            ("a/node_modules/p/module.json", false),
            ("other.json", false),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "{}").unwrap();
            assert_eq!(discover(root.path()).0.contains(&path), is_found, "{}", path.display());
        }
        std::os::unix::fs::symlink(root.path(), root.path().join("a/round")).unwrap();
        let (found, problems) = discover(root.path());
        assert_eq!((found.len(), problems.len()), (3, 0));
        assert_eq!(discover(&root.path().join("nowhere")).0.len(), 0);
    }
}
