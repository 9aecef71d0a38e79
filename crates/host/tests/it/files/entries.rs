//! Names in directories: listed, removed and renamed, and nothing beyond.

use super::*;
use pinza_core::Removal;

#[test]
fn directories_are_listed() {
    let world = World::build();
    let jail = world.open();
    let jail = jail.jail();
    let listed = |path: &str| {
        let entries = jail.list(path).unwrap();
        entries.into_iter().map(|entry| (entry.name, entry.file_type)).collect::<Vec<_>>()
    };
    let expected =
        [("chain-2", FileType::Other), ("inner.txt", FileType::File), ("to-hello", FileType::Other)];
    assert_eq!(listed("sub"), expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(listed("to-sub"), listed("sub"));
    assert!(listed(".").contains(&("sub".to_owned(), FileType::Directory)));
    for (path, expected) in [
        ("none", "not_found"),
        ("hello.txt", "not_a_directory"),
        ("..", "outside"),
        ("to-parent", "outside"),
        ("to-directory", "outside"),
        ("proc", "outside"),
        ("home", "forbidden"),
        ("to-home", "forbidden"),
        ("fifo", "not_a_directory"),
    ] {
        assert_eq!(outcome(jail.list(path)), expected, "{path}");
    }
}

#[test]
fn only_what_is_free_is_removed() {
    let world = World::build();
    let workspace = world.open();
    let jail = workspace.jail();
    let outside = (tree(&world.path("outside")), tree(&world.path("ws-evil")));
    for (path, what, expected) in [
        ("none", Removal::File, "not_found"),
        ("sub", Removal::File, "is_directory"),
        ("sub", Removal::Directory, "not_empty"),
        ("hello.txt", Removal::Directory, "not_a_directory"),
        (".", Removal::Directory, "bad_path"),
        ("sub/..", Removal::Directory, "bad_path"),
        ("../outside/secret.txt", Removal::File, "outside"),
        ("to-directory/secret.txt", Removal::File, "outside"),
        ("to-parent/ws-evil/secret.txt", Removal::File, "outside"),
        ("home/key", Removal::File, "forbidden"),
        ("to-home/key", Removal::File, "forbidden"),
        ("home", Removal::Directory, "forbidden"),
        (".pinza/config.toml", Removal::File, "forbidden"),
        ("to-project/config.toml", Removal::File, "forbidden"),
        (".pinza/skills", Removal::Directory, "forbidden"),
        (".pinza/out", Removal::Directory, "forbidden"),
        ("fifo", Removal::File, "forbidden"),
        ("socket", Removal::File, "forbidden"),
        // A link goes, what it leads to stays.
        ("to-secret", Removal::File, "ok"),
        ("to-key", Removal::File, "ok"),
        ("to-sub", Removal::Directory, "not_a_directory"),
        ("hello.txt", Removal::File, "ok"),
        (".pinza/out/kept.txt", Removal::File, "ok"),
    ] {
        assert_eq!(outcome(jail.remove(path, what)), expected, "{path}");
    }
    assert_eq!((tree(&world.path("outside")), tree(&world.path("ws-evil"))), outside);
    assert!(world.path("ws/home/key").exists() && !world.path("ws/hello.txt").exists());
    jail.mkdirp("new/empty").unwrap();
    assert_eq!(outcome(jail.remove("new/empty/", Removal::Directory)), "ok");
}

#[test]
fn files_are_renamed_within_the_workspace() {
    let world = World::build();
    let workspace = world.open();
    let jail = workspace.jail();
    let outside = tree(&world.path("outside"));
    for (from, to, expected) in [
        ("none", "x", "not_found"),
        ("hello.txt", "none/x", "not_found"),
        ("hello.txt", "sub", "is_directory"),
        ("hello.txt", "../outside/x", "outside"),
        ("hello.txt", "to-directory/x", "outside"),
        ("../outside/secret.txt", "x", "outside"),
        ("home/key", "x", "forbidden"),
        ("hello.txt", "home/key", "forbidden"),
        ("hello.txt", ".pinza/config.toml", "forbidden"),
        ("hello.txt", "to-project/tools/new.js", "forbidden"),
        ("hello.txt", "later/home", "forbidden"),
        ("hello.txt", "fifo", "forbidden"),
        ("fifo", "x", "forbidden"),
        // Pinza's own could be inside a directory that moves.
        ("later", "earlier", "forbidden"),
        ("sub", "x", "forbidden"),
        ("hello.txt", "sub/inner.txt", "ok"),
        ("to-secret", "sub/still-a-link", "ok"),
    ] {
        assert_eq!(outcome(jail.rename(from, to)), expected, "{from} -> {to}");
    }
    assert_eq!(fs::read(world.path("ws/sub/inner.txt")).unwrap(), b"hello");
    assert_eq!(outcome(jail.read("sub/still-a-link", 99)), "not_found", "it leads to ws/outside now");
    assert_eq!(tree(&world.path("outside")), outside);
}
