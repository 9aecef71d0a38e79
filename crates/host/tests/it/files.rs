//! The jail, attacked: hostile paths as data, then what a table cannot say.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "helpers of tests")]

mod entries;
mod race;

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use pinza_core::{FileType, FsBridge, FsError, FsVerb, WriteMode};
use pinza_host::files::{Hardlinks, Jail, Workspace, WorkspaceError, WorkspaceOptions};
use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, mknodat, renameat_with};
use serde::Deserialize;
use tempfile::TempDir;

const SECRET: &str = "the secret outside";

/// A workspace among neighbours, with every trap that the table of paths names.
struct World {
    base: TempDir,
    _socket: UnixListener,
}

impl World {
    fn build() -> Self {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        for directory in [
            "ws/sub",
            "ws/.pinza/tools",
            "ws/.pinza/skills",
            "ws/.pinza/out",
            "ws/home/logs",
            "ws/later",
            "ws-evil",
            "outside",
        ] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for (file, text) in [
            ("ws/hello.txt", "hello"),
            ("ws/sub/inner.txt", "inner"),
            ("ws/.pinza/config.toml", "# policy"),
            ("ws/.pinza/out/kept.txt", "kept"),
            ("ws/home/key", SECRET),
            ("ws-evil/secret.txt", SECRET),
            ("outside/secret.txt", SECRET),
        ] {
            fs::write(at(file), text).unwrap();
        }
        let absolute = |path: &str| at(path).to_str().unwrap().to_owned();
        for (link, target) in [
            ("to-secret", "../outside/secret.txt"),
            ("to-absolute", &absolute("outside/secret.txt")),
            ("to-nothing-outside", "../outside/new.txt"),
            ("to-directory", "../outside"),
            ("to-parent", ".."),
            ("chain-1", "sub/chain-2"),
            ("sub/chain-2", "../chain-3"),
            ("chain-3", "../outside/secret.txt"),
            ("to-home-absolute", &absolute("ws/hello.txt")),
            ("loop-1", "loop-2"),
            ("loop-2", "loop-1"),
            ("to-inner", "sub/inner.txt"),
            ("sub/to-hello", "../hello.txt"),
            ("to-sub", "sub"),
            ("to-none", "sub/none"),
            ("zero", "/dev/zero"),
            ("null", "/dev/null"),
            ("environ", "/proc/self/environ"),
            ("proc", "/proc"),
            ("to-fifo", "fifo"),
            ("to-project", ".pinza"),
            ("to-config", "sub/../.pinza/config.toml"),
            (".pinza/out/to-config", "../config.toml"),
            (".pinza/out/to-tools", "../tools"),
            ("to-home", "home"),
            ("to-key", "home/key"),
            ("to-later", "later"),
        ] {
            symlink(target, at("ws").join(link)).unwrap();
        }
        fs::hard_link(at("outside/secret.txt"), at("ws/hardlink")).unwrap();
        mkfifoat(CWD, at("ws/fifo"), Mode::RWXU).unwrap();
        let _socket = UnixListener::bind(at("ws/socket")).unwrap();
        Self { base, _socket }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.base.path().join(path)
    }

    fn open(&self) -> Workspace {
        let protected = vec![self.path("ws/home"), self.path("ws/later/home")];
        open(&self.path("ws"), WorkspaceOptions { protected, ..Default::default() })
    }
}

fn open(root: &Path, options: WorkspaceOptions) -> Workspace {
    Workspace::open(root, options).unwrap()
}

/// A workspace of its own, with nothing in it.
fn empty() -> (TempDir, Workspace) {
    let base = tempfile::tempdir().unwrap();
    let workspace = open(&base.path().join("ws"), WorkspaceOptions::default());
    (base, workspace)
}

/// Every file and directory beneath, with a file's text; links are not followed.
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        let text = kind.is_file().then(|| fs::read(entry.path()).unwrap());
        found.insert(entry.path(), text);
        if kind.is_dir() {
            found.extend(tree(&entry.path()));
        }
    }
    found
}

fn assert_no_temporary_files(root: &Path) {
    let left: Vec<_> =
        tree(root).into_keys().filter(|path| path.to_string_lossy().contains(".pinza-")).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

fn code(error: &FsError) -> &'static str {
    match error {
        FsError::Outside => "outside",
        FsError::Forbidden { .. } => "forbidden",
        FsError::NotFound => "not_found",
        FsError::IsDirectory => "is_directory",
        FsError::NotADirectory => "not_a_directory",
        FsError::TooLarge { .. } => "too_large",
        FsError::BadPath(_) => "bad_path",
        FsError::NotEmpty => "not_empty",
        FsError::Unsupported(_) => "unsupported",
        FsError::PermissionDenied => "permission_denied",
        FsError::Io(_) => "io",
    }
}

fn outcome<T>(result: Result<T, FsError>) -> &'static str {
    result.as_ref().map_or_else(code, |_| "ok")
}

const VERBS: [&str; 5] = ["stat", "read", "replace", "append", "mkdirp"];

fn perform(jail: &Jail, verb: &str, path: &str) -> &'static str {
    match verb {
        "stat" => outcome(jail.stat(path)),
        "read" => {
            let result = jail.read(path, 1 << 20);
            assert_ne!(result.as_deref(), Ok(SECRET.as_bytes()), "{path} gave the secret away");
            outcome(result)
        }
        "replace" => outcome(jail.write(path, b"pwned", WriteMode::Replace)),
        "append" => outcome(jail.write(path, b"pwned", WriteMode::Append)),
        _ => outcome(jail.mkdirp(path)),
    }
}

/// One line of `fixtures/hostile/paths.json`: the answer to every verb, and exceptions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    path: String,
    #[serde(default = "once")]
    times: usize,
    why: String,
    all: String,
    stat: Option<String>,
    read: Option<String>,
    replace: Option<String>,
    append: Option<String>,
    mkdirp: Option<String>,
}

fn once() -> usize {
    1
}

impl Case {
    fn expected(&self, verb: &str) -> &str {
        let own = match verb {
            "stat" => &self.stat,
            "read" => &self.read,
            "replace" => &self.replace,
            "append" => &self.append,
            _ => &self.mkdirp,
        };
        own.as_deref().unwrap_or(&self.all)
    }
}

#[test]
fn every_hostile_path_gets_its_answer() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hostile/paths.json");
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (case, verb) in cases.iter().flat_map(|case| VERBS.map(|verb| (case, verb))) {
        let world = World::build();
        let outside =
            || (tree(&world.path("outside")), tree(&world.path("ws-evil")), tree(&world.path("ws/home")));
        let before = outside();
        let path = case.path.repeat(case.times);
        let path = path.replace("{ws}", world.path("ws").to_str().unwrap());
        let path = path.replace("{outside}", world.path("outside").to_str().unwrap());
        let answer = perform(world.open().jail(), verb, &path);
        if answer != case.expected(verb) {
            let shown: String = case.path.chars().take(40).collect();
            wrong.push(format!("{verb} {shown:?} ({}): {answer}, not {}", case.why, case.expected(verb)));
        }
        assert_eq!(outside(), before, "{verb} {} changed something outside", case.path);
        assert!(!world.path("ws/later/home").exists());
        let config = fs::read_to_string(world.path("ws/.pinza/config.toml")).unwrap();
        assert_eq!(config, "# policy", "{verb} {}", case.path);
        assert_no_temporary_files(world.base.path());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_kernels_files_are_refused_where_the_workspace_is_everything() {
    let everything = open(Path::new("/"), WorkspaceOptions::default());
    let jail = everything.jail();
    for path in ["/proc/self/environ", "proc/self/environ", "/sys/kernel/notes", "/proc/new", "/proc"] {
        for verb in VERBS {
            let answer = perform(jail, verb, path);
            let not_made = verb == "mkdirp" && answer == "not_a_directory";
            assert!(answer == "forbidden" || not_made, "{verb} {path}: {answer}");
        }
    }
    // Magic links lead to where no path leads.
    for path in ["/proc/self/root/etc/passwd", "/proc/self/cwd/Cargo.toml", "/proc/self/fd/0"] {
        let answer = perform(jail, "read", path);
        assert!(matches!(answer, "bad_path" | "forbidden" | "outside"), "{path}: {answer}");
    }
    // Only read: were the defence broken, a replace would take the machine's devices away.
    for path in ["/dev/zero", "/dev/null", "/dev/tty"].iter().filter(|path| Path::new(path).exists()) {
        assert_eq!(perform(jail, "read", path), "forbidden", "{path}");
    }
}

#[test]
fn a_device_node_inside_is_refused() {
    let (_base, workspace) = empty();
    let zero = rustix::fs::makedev(1, 5);
    let made =
        mknodat(CWD, workspace.root().join("zero"), rustix::fs::FileType::CharacterDevice, Mode::RWXU, zero);
    if made.is_err() {
        // Only root may make one.
        return;
    }
    for verb in ["read", "replace", "append"] {
        assert_eq!(perform(workspace.jail(), verb, "zero"), "forbidden", "{verb}");
    }
    assert_eq!(workspace.jail().stat("zero").unwrap().unwrap().file_type, FileType::Other);
}

#[test]
fn hard_links_are_refused_with_a_hint_and_allowed_by_choice() {
    let world = World::build();
    let error = world.open().jail().read("hardlink", 100).unwrap_err();
    let answer = error.answer(FsVerb::Read, "hardlink");
    let hint = answer.hint.unwrap();
    assert!(hint.contains("[files]") && hint.contains("hardlinks = \"allow\""), "{hint}");

    let allowed = WorkspaceOptions { hardlinks: Hardlinks::Allow, ..Default::default() };
    let allowed = open(&world.path("ws"), allowed);
    assert_eq!(allowed.jail().read("hardlink", 100).unwrap(), SECRET.as_bytes());
    allowed.jail().write("hardlink", b"!", WriteMode::Append).unwrap();
    allowed.jail().write("hardlink", b"own", WriteMode::Replace).unwrap();
    // Replacing gives this name a file of its own.
    assert_eq!(fs::read_to_string(world.path("outside/secret.txt")).unwrap(), format!("{SECRET}!"));
}

#[test]
fn the_limit_holds_while_a_file_grows() {
    const LIMIT: u64 = 64 << 10;
    let (_base, workspace) = empty();
    let jail = workspace.jail();
    let grown = fs::File::create(workspace.root().join("log")).unwrap();
    grown.set_len(LIMIT + 1).unwrap();
    assert_eq!(jail.read("log", LIMIT), Err(FsError::TooLarge { size: LIMIT + 1, limit: LIMIT }));
    grown.set_len(LIMIT).unwrap();
    assert_eq!(jail.read("log", LIMIT).unwrap().len() as u64, LIMIT);

    let done = Arc::new(AtomicBool::new(false));
    let grower = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            while !done.load(Ordering::Relaxed) {
                grown.set_len(LIMIT).unwrap();
                grown.set_len(16 * LIMIT).unwrap();
            }
        }
    });
    for _ in 0..3_000 {
        match jail.read("log", LIMIT) {
            Ok(data) => assert!(data.len() as u64 <= LIMIT, "{} bytes", data.len()),
            Err(error) => assert!(matches!(error, FsError::TooLarge { size, limit: LIMIT } if size > LIMIT)),
        }
    }
    done.store(true, Ordering::Relaxed);
    grower.join().unwrap();
}

#[test]
fn replace_keeps_the_mode_and_follows_links_that_stay() {
    let (_base, workspace) = empty();
    let (jail, root) = (workspace.jail(), workspace.root());
    fs::write(root.join("run.sh"), "old").unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o4751)).unwrap();
    symlink("run.sh", root.join("link")).unwrap();
    let before = fs::metadata(root.join("run.sh")).unwrap();

    jail.write("link", b"new", WriteMode::Replace).unwrap();
    let after = fs::symlink_metadata(root.join("run.sh")).unwrap();
    assert_eq!(fs::read(root.join("run.sh")).unwrap(), b"new");
    // Set-user-id would lend the owner's rights to text that a tool wrote.
    assert_eq!(after.mode() & 0o7777, 0o751);
    assert_ne!(after.ino(), before.ino(), "replaced, not written over");
    assert!(fs::symlink_metadata(root.join("link")).unwrap().is_symlink());

    jail.write("fresh", b"", WriteMode::Replace).unwrap();
    jail.write("fresh-log", b"", WriteMode::Append).unwrap();
    for name in ["fresh", "fresh-log"] {
        let mode = fs::metadata(root.join(name)).unwrap().mode() & 0o777;
        assert_eq!(mode & !0o644, 0, "{name} has mode {mode:o}");
    }
}

#[test]
fn a_read_only_file_is_not_replaced() {
    if rustix::process::geteuid().is_root() {
        // Root writes everything.
        return;
    }
    let (_base, workspace) = empty();
    let file = workspace.root().join("fixed");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    for mode in [WriteMode::Replace, WriteMode::Append] {
        assert_eq!(workspace.jail().write("fixed", b"new", mode), Err(FsError::PermissionDenied));
    }
}

#[test]
fn a_reader_never_sees_half_a_file() {
    const SIZE: usize = 256 << 10;
    let (_base, workspace) = empty();
    let file = workspace.root().join("page");
    fs::write(&file, vec![b'a'; SIZE]).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let reader = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            while !done.load(Ordering::Relaxed) {
                let text = fs::read(&file).unwrap();
                let whole = text.len() == SIZE && text.iter().all(|byte| *byte == text[0]);
                assert!(whole, "torn: {} bytes", text.len());
            }
        }
    });
    for round in 0..200 {
        let text = vec![b'a' + (round % 26) as u8; SIZE];
        workspace.jail().write("page", &text, WriteMode::Replace).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    reader.join().unwrap();
}

#[test]
fn a_failed_replace_leaves_nothing_behind() {
    let (_base, workspace) = empty();
    let root = workspace.root().to_owned();
    fs::write(root.join("a"), "file").unwrap();
    fs::create_dir_all(root.join("b/full")).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapper = thread::spawn({
        let (done, root) = (Arc::clone(&done), root.clone());
        move || {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, root.join("a"), CWD, root.join("b"), RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    for _ in 0..1_000 {
        // Fails where the directory takes the file's place between the look and the rename.
        let answer = perform(workspace.jail(), "replace", "a");
        assert!(matches!(answer, "ok" | "is_directory"), "{answer}");
    }
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_no_temporary_files(&root);
}

#[test]
fn append_adds_whole_pieces() {
    let (_base, workspace) = empty();
    thread::scope(|scope| {
        for piece in [b"aaaa", b"bbbb"] {
            let jail = workspace.jail();
            scope.spawn(move || (0..100).for_each(|_| jail.write("log", piece, WriteMode::Append).unwrap()));
        }
    });
    let log = workspace.jail().read("log", 1 << 20).unwrap();
    assert_eq!(log.len(), 800);
    assert!(log.chunks(4).all(|piece| piece == b"aaaa" || piece == b"bbbb"));
}

#[test]
fn mkdirp_makes_every_part_and_goes_through_links_that_stay() {
    let (_base, workspace) = empty();
    let (jail, root) = (workspace.jail(), workspace.root());
    jail.mkdirp("a/b/c").unwrap();
    jail.mkdirp("a/b/c").unwrap();
    symlink("../a", root.join("a/again")).unwrap();
    jail.mkdirp("a/again/b/d/../e").unwrap();
    assert!(root.join("a/b/c").is_dir() && root.join("a/b/d").is_dir() && root.join("a/b/e").is_dir());
    // As deep as a path can be written.
    jail.mkdirp(&"d/".repeat(2_000)).unwrap();
    assert_eq!(jail.stat(&"d/".repeat(2_000)).unwrap().unwrap().file_type, FileType::Directory);
}

#[test]
fn the_project_directory_is_protected_before_it_exists() {
    let (_base, workspace) = empty();
    let (jail, root) = (workspace.jail(), workspace.root());
    for path in [".pinza", ".PINZA", "{ws}/.pinza"] {
        let path = path.replace("{ws}", root.to_str().unwrap());
        for verb in ["replace", "append", "mkdirp"] {
            assert_eq!(perform(jail, verb, &path), "forbidden", "{verb} {path}");
        }
    }
    assert_eq!(perform(jail, "mkdirp", ".pinza/tools"), "forbidden");
    assert!(!root.join(".pinza").exists());
    // The free part may be made, and only as a directory.
    jail.mkdirp("./.pinza//out/mine").unwrap();
    jail.write(".pinza/out/mine/x", b"x", WriteMode::Replace).unwrap();
    fs::remove_dir_all(root.join(".pinza/out")).unwrap();
    assert_eq!(perform(jail, "replace", ".pinza/out"), "forbidden");

    // A link that leads nowhere yet stands for the place that it names.
    fs::remove_dir_all(root.join(".pinza")).unwrap();
    symlink("elsewhere", root.join(".pinza")).unwrap();
    assert_eq!(perform(jail, "mkdirp", "elsewhere"), "forbidden");
    fs::create_dir(root.join("elsewhere")).unwrap();
    assert_eq!(perform(jail, "replace", "elsewhere/config.toml"), "forbidden");
}

#[test]
fn a_link_named_out_frees_nothing() {
    let world = World::build();
    fs::remove_dir_all(world.path("ws/.pinza/out")).unwrap();
    symlink("tools", world.path("ws/.pinza/out")).unwrap();
    let workspace = world.open();
    for verb in ["replace", "append", "mkdirp"] {
        assert_eq!(perform(workspace.jail(), verb, ".pinza/out/new"), "forbidden", "{verb}");
    }
    assert!(matches!(workspace.keep_output("1.txt", b"x"), Err(FsError::Forbidden { .. })));
    assert!(tree(&world.path("ws/.pinza/tools")).is_empty());
}

#[test]
fn outputs_are_kept_and_never_led_astray() {
    let (base, workspace) = empty();
    let path = workspace.keep_output("call-1.txt", b"all of it").unwrap();
    assert_eq!(path, ".pinza/out/call-1.txt");
    assert_eq!(workspace.jail().read(&path, 100).unwrap(), b"all of it");
    let mode = fs::metadata(workspace.root().join(&path)).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600, "a result may hold what only its owner should see");
    for name in ["", ".", "..", "../x", "a/b", "/etc/x", "a\0b"] {
        assert!(matches!(workspace.keep_output(name, b"x"), Err(FsError::BadPath(_))), "{name:?}");
    }

    let outside = base.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("victim"), SECRET).unwrap();
    let out = workspace.root().join(".pinza/out");
    symlink(outside.join("victim"), out.join("call-2.txt")).unwrap();
    workspace.keep_output("call-2.txt", b"new").unwrap();
    assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), SECRET);

    fs::remove_dir_all(workspace.root().join(".pinza")).unwrap();
    symlink(&outside, workspace.root().join(".pinza")).unwrap();
    assert!(workspace.keep_output("call-3.txt", b"x").is_err());
    assert_eq!(tree(&outside).len(), 1);
}

#[test]
fn a_workspace_inside_the_home_works_and_the_home_is_out_of_reach() {
    let base = tempfile::tempdir().unwrap();
    let home = base.path().join("home");
    let options = WorkspaceOptions { protected: vec![home.clone()], ..Default::default() };
    let workspace = open(&home.join("workspace"), options.clone());
    assert_eq!(fs::metadata(&home).unwrap().mode() & 0o777, 0o700);
    let jail = workspace.jail();
    fs::write(home.join("key"), SECRET).unwrap();
    symlink("../key", workspace.root().join("to-key")).unwrap();
    jail.mkdirp("a/b").unwrap();
    jail.write("a/b/c", b"text", WriteMode::Replace).unwrap();
    assert_eq!(jail.read("a/b/c", 100).unwrap(), b"text");
    for path in ["../key", "to-key", home.join("key").to_str().unwrap()] {
        for verb in VERBS {
            assert_eq!(perform(jail, verb, path), "outside", "{verb} {path}");
        }
    }
    let error = Workspace::open(&home, options).unwrap_err();
    assert!(matches!(error, WorkspaceError::IsHome { .. }), "{error}");
}

#[test]
fn a_home_is_known_by_identity_not_by_its_path() {
    let world = World::build();
    // The home is named through a link, and moved after the workspace was opened.
    symlink(world.path("ws/home"), world.path("alias")).unwrap();
    let options = WorkspaceOptions { protected: vec![world.path("alias")], ..Default::default() };
    let workspace = open(&world.path("ws"), options);
    assert_eq!(perform(workspace.jail(), "read", "home/key"), "forbidden");
    fs::rename(world.path("ws/home"), world.path("ws/sub/moved")).unwrap();
    assert_eq!(perform(workspace.jail(), "read", "sub/moved/key"), "forbidden");
    fs::create_dir(world.path("ws/home")).unwrap();
    assert_eq!(perform(workspace.jail(), "replace", "home/key"), "forbidden", "a new home at the old path");
    fs::remove_file(world.path("alias")).unwrap();
    symlink(world.path("ws/sub/moved"), world.path("alias")).unwrap();
    assert_eq!(perform(workspace.jail(), "read", "sub/moved/key"), "forbidden");
}

#[test]
fn the_project_directory_may_be_the_home() {
    let base = tempfile::tempdir().unwrap();
    let home = base.path().join("ws/.pinza");
    let options = WorkspaceOptions { protected: vec![home.clone()], ..Default::default() };
    let workspace = open(&base.path().join("ws"), options);
    let kept = workspace.keep_output("1.txt", b"kept").unwrap();
    fs::write(home.join("key"), SECRET).unwrap();
    assert_eq!(workspace.jail().read(&kept, 100).unwrap(), b"kept");
    assert_eq!(perform(workspace.jail(), "read", ".pinza/key"), "forbidden");
}

#[test]
fn a_root_behind_a_link_goes_by_both_names() {
    let world = World::build();
    symlink(world.path("ws"), world.path("linked")).unwrap();
    let workspace = open(&world.path("linked"), WorkspaceOptions::default());
    assert_eq!(workspace.root(), world.path("ws").canonicalize().unwrap());
    for name in ["linked", "ws"] {
        let path = world.path(name).join("hello.txt");
        assert_eq!(workspace.jail().read(path.to_str().unwrap(), 100).unwrap(), b"hello");
    }
}

#[test]
fn a_file_cannot_be_a_workspace() {
    let world = World::build();
    let error = Workspace::open(&world.path("ws/hello.txt"), WorkspaceOptions::default()).unwrap_err();
    assert!(matches!(error, WorkspaceError::Unusable { .. }), "{error}");
}

#[test]
fn a_child_starts_in_the_directory_that_was_checked() {
    let world = World::build();
    let workspace = world.open();
    let directory = workspace.directory("sub").unwrap();
    fs::rename(world.path("ws/sub"), world.path("ws/moved")).unwrap();
    symlink(world.path("outside"), world.path("ws/sub")).unwrap();
    let output = std::process::Command::new("ls").current_dir(directory.path()).output().unwrap();
    let listing = String::from_utf8(output.stdout).unwrap();
    assert!(listing.contains("inner.txt") && !listing.contains("secret.txt"), "{listing}");

    assert!(workspace.directory(".").is_ok());
    for (path, expected) in [
        ("sub", "outside"),
        ("..", "outside"),
        ("home", "forbidden"),
        ("none", "not_found"),
        ("hello.txt", "not_a_directory"),
    ] {
        assert_eq!(outcome(workspace.directory(path)), expected, "{path}");
    }
}

#[tokio::test]
async fn the_bridge_does_the_same_without_blocking() {
    let (_base, workspace) = empty();
    let bridge: Arc<dyn FsBridge> = Arc::new(workspace.clone());
    bridge.mkdirp("a/b").await.unwrap();
    bridge.write("a/b/c", b"one", WriteMode::Replace).await.unwrap();
    bridge.write("a/b/c", b" two", WriteMode::Append).await.unwrap();
    assert_eq!(bridge.read("a/b/c", 100).await.unwrap(), b"one two");
    assert_eq!(bridge.read("a/b/c", 3).await, Err(FsError::TooLarge { size: 7, limit: 3 }));
    let stat = bridge.stat("a/b/c").await.unwrap().unwrap();
    assert_eq!((stat.file_type, stat.size), (FileType::File, 7));
    assert!(stat.modified.is_some());
    assert_eq!(bridge.stat("a/none").await, Ok(None));
    assert_eq!(bridge.read("../x", 1).await, Err(FsError::Outside));

    let mut long = fs::File::create(workspace.root().join("long")).unwrap();
    long.write_all(&[0; 10]).unwrap();
    let (stat, text) = tokio::join!(bridge.stat("long"), bridge.read("long", u64::MAX));
    assert_eq!((stat.unwrap().unwrap().size, text.unwrap().len()), (10, 10));
}
