//! Paths that try to leave the workspace or to reach Pinza's own files, end to end. The files
//! crate has the long list; this says that the program stands behind the same wall.

use std::os::unix::fs::symlink;

use crate::support::{check_call, fine, pinza};

const OUTSIDE: (&str, &str) = ("path_not_allowed", "Access denied: path is outside the workspace");

#[test]
fn no_path_leads_out() {
    let pinza = pinza();
    let directory = pinza.directory().canonicalize().unwrap();
    let outside = directory.join("outside");
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::fs::create_dir_all(directory.join("home/workspace-sibling")).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    std::fs::write(directory.join("home/workspace-sibling/secret"), "secret").unwrap();
    symlink(outside.join("secret"), pinza.workspace().join("link")).unwrap();
    symlink(&outside, pinza.workspace().join("parent")).unwrap();
    symlink("../../outside/secret", pinza.workspace().join("relative")).unwrap();
    let absolute = outside.join("secret").display().to_string();
    let sibling = directory.join("home/workspace-sibling/secret").display().to_string();
    for path in [
        "../../outside/secret",
        "..",
        "a/../../../outside/secret",
        &absolute,
        &sibling,
        "../workspace-sibling/secret",
        "link",
        "relative",
        "parent/secret",
        "/proc/self/environ",
        "/dev/null",
        "/",
    ] {
        for tool in ["read_file", "read", "write_file", "write", "edit"] {
            let path = format!("path={path}");
            let more: &[&str] = match tool {
                "write_file" | "write" => &["content=overwritten"],
                "edit" => &["oldText=secret", "newText=overwritten"],
                _ => &[],
            };
            // `a/..` needs an `a`: without one there is nothing to be outside of.
            if path.contains("a/../..") {
                std::fs::create_dir_all(pinza.workspace().join("a")).unwrap();
            }
            check_call(&pinza, &[&[tool, &path], more].concat(), Err(OUTSIDE));
        }
    }
    check_call(&pinza, &["write_file", "path=parent/new", "content=x"], Err(OUTSIDE));
    check_call(&pinza, &["write_file", "path=parent/made/new", "content=x"], Err(OUTSIDE));
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 2, "nothing was made there");
}

#[test]
fn what_is_no_regular_file() {
    let pinza = pinza();
    let fifo = pinza.workspace().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(pinza.workspace().join("socket")).unwrap();
    for path in ["path=fifo", "path=socket"] {
        let expected = Err(("path_not_allowed", "Access denied: not a regular file [..]"));
        check_call(&pinza, &["read_file", path], expected);
        check_call(&pinza, &["write_file", path, "content=x", "mode=append"], expected);
    }
    drop(socket);
    pinza.put("one", "x");
    std::fs::hard_link(pinza.workspace().join("one"), pinza.workspace().join("two")).unwrap();
    let expected = Err(("path_not_allowed", "Access denied: the file has 2 hard links, [..]"));
    check_call(&pinza, &["read_file", "path=two"], expected);
    fine(&pinza, &["config", "set", "files.hardlinks", "allow"]);
    check_call(&pinza, &["read_file", "path=two"], Ok("x"));
}

#[test]
fn odd_paths() {
    let pinza = pinza();
    for (path, kind, message) in [
        (r"a\u0000b".to_owned(), "validation_error", "Invalid path: [..]"),
        (String::new(), "validation_error", "Invalid path: [..]"),
        ("x".repeat(5000), "validation_error", "Invalid path: [..]"),
        ("x/".repeat(2500) + "x", "validation_error", "Invalid path: [..]"),
    ] {
        let arguments = format!(r#"{{"path": "{path}"}}"#);
        check_call(&pinza, &["read_file", &arguments], Err((kind, message)));
    }
    let expected = Err(("file_not_found", r"File not found: \u{1b}[2J\u{202e}x"));
    check_call(&pinza, &["read_file", r#"{"path": "\u001b[2J\u202ex"}"#], expected);
}

#[test]
fn pinzas_own_files_are_not_for_tools() {
    let pinza = pinza();
    // The home inside the workspace, as it happens to whoever works in `~`.
    let workspace = format!("--workspace={}", pinza.directory().display());
    fine(&pinza, &["env", "set", "TOKEN=secret"]);
    let home = Err(("path_not_allowed", "Access denied: Pinza's home belongs to Pinza"));
    for path in ["path=home/key", "path=home/config.toml", "path=home/new/file", "path=./home/../home/key"] {
        if path != "path=home/new/file" {
            check_call(&pinza, &["read_file", path, &workspace], home);
        }
        check_call(&pinza, &["write_file", path, "content=x", &workspace], home);
    }
    assert!(!pinza.config_file().exists());

    let project = Err(("path_not_allowed", "Access denied: .pinza belongs to Pinza"));
    check_call(&pinza, &["write_file", "path=.pinza/config.toml", "content=x"], project);
    assert!(!pinza.workspace().join(".pinza").exists(), "not even before it is there");
    pinza.put(".pinza/config.toml", "# mine\n");
    pinza.put(".pinza/out/kept.txt", "kept");
    for path in ["path=.pinza/config.toml", "path=.pinza/tools/x.js", "path=.pinza/out/../config.toml"] {
        check_call(&pinza, &["write_file", path, "content=x"], project);
    }
    let edit = ["edit", "path=.pinza/config.toml", "oldText=mine", "newText=yours"];
    check_call(&pinza, &edit, project);
    assert_eq!(pinza.text(".pinza/config.toml"), "# mine\n");
    check_call(&pinza, &["read_file", "path=.pinza/config.toml"], Ok("# mine\n"));
    check_call(&pinza, &["read_file", "path=.pinza/out/kept.txt"], Ok("kept"));
    check_call(
        &pinza,
        &["write_file", "path=.pinza/out/new.txt", "content=x"],
        Ok("Successfully wrote [..]"),
    );
}

#[test]
fn the_home_cannot_be_the_workspace() {
    let pinza = pinza();
    let workspace = format!("--workspace={}", pinza.home().display());
    let run = pinza.run(&["call", "read_file", "path=key", &workspace]);
    assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{run:?}");
    assert!(run.stderr.starts_with("error: cannot use the workspace "), "{run:?}");
}
