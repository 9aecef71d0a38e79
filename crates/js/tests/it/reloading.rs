//! Loading the same places again: what did not change stays the same, and nothing good is lost.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use pinza_js::{Guard, Loaded, LoadedTool, Loader, OnClash, Place, Standing};

fn put(directory: &Path, file: &str, text: &str) {
    fs::write(directory.join(file), text).unwrap();
}

fn single(directory: &Path, name: &str, script: &str) {
    put(directory, &format!("{name}.json"), &format!(r#"{{"name": "{name}", "description": "x"}}"#));
    put(directory, &format!("{name}.js"), script);
}

fn tool<'a>(loaded: &'a Loaded, name: &str) -> &'a LoadedTool {
    loaded.tools.iter().find(|tool| tool.definition.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn messages(loaded: &Loaded) -> Vec<&str> {
    loaded.problems.iter().map(|problem| problem.message.as_str()).collect()
}

#[test]
fn a_script_that_did_not_change_is_the_same_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    single(path, "a", "function execute() { return 1 }");
    single(path, "b", "function execute() { return 2 }");
    let mut loader = Loader::new(vec![Place::Directory(path.to_owned())], OnClash::KeepFirst);
    let first = loader.load();
    let is_same = |loaded: &Loaded, name: &str| {
        let (now, then) = (tool(loaded, name), tool(&first, name));
        (Arc::ptr_eq(&now.script, &then.script), now.version == then.version)
    };
    // Written again as it was.
    single(path, "a", "function execute() { return 1 }");
    let again = loader.load();
    assert_eq!((is_same(&again, "a"), is_same(&again, "b")), ((true, true), (true, true)));
    // Another manifest for the same script.
    put(path, "a.json", r#"{"name": "a", "description": "y"}"#);
    assert_eq!(is_same(&loader.load(), "a"), (true, false));
    // Another script, a broken one, and the first again.
    single(path, "b", "function execute() { return 3 }");
    let third = loader.load();
    assert_eq!((is_same(&third, "a"), is_same(&third, "b")), ((true, false), (false, false)));
    single(path, "b", "function execute() {");
    let broken = loader.load();
    assert!(Arc::ptr_eq(&tool(&broken, "b").script, &tool(&third, "b").script));
    assert_eq!(messages(&broken).len(), 1, "{:?}", messages(&broken));
    assert_eq!(messages(&broken), messages(&loader.load()), "it is said as long as it is so");
    single(path, "b", "function execute() { return 3 }");
    let mended = loader.load();
    assert!(Arc::ptr_eq(&tool(&mended, "b").script, &tool(&third, "b").script));
    assert_eq!(mended.problems, []);
}

#[test]
fn what_was_never_good_is_no_version_to_keep() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    single(path, "a", "function run() {}");
    let mut loader = Loader::new(vec![Place::Directory(path.to_owned())], OnClash::KeepFirst);
    for script in ["function run() {}", "function execute( {", ""] {
        single(path, "a", script);
        let loaded = loader.load();
        let problems = messages(&loaded);
        assert!(loaded.tools.is_empty() && problems.len() == 1, "{problems:?}");
        assert!(!problems[0].contains("stays in use"), "{problems:?}");
    }
    single(path, "a", "function execute() {}");
    assert_eq!(loader.load().tools.len(), 1);
}

/// A place whose tool is broken keeps it, and so keeps it from a later place.
#[test]
fn the_order_of_places_holds_for_what_stays_too() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    single(first.path(), "a", "function execute() { return 'first' }");
    single(second.path(), "a", "function execute() { return 'second' }");
    let places = [&first, &second].map(|place| Place::Directory(place.path().to_owned()));
    for (on_clash, winner) in [(OnClash::KeepFirst, "first"), (OnClash::Replace, "second")] {
        let mut loader = Loader::new(places.to_vec(), on_clash);
        loader.load();
        for place in [&first, &second] {
            let good = fs::read_to_string(place.path().join("a.js")).unwrap();
            put(place.path(), "a.js", "broken (");
            let loaded = loader.load();
            assert_eq!(loaded.tools.len(), 1);
            assert!(tool(&loaded, "a").script.code.contains(winner), "{on_clash:?}");
            put(place.path(), "a.js", &good);
        }
    }
}

/// Vouches for a directory once; then somebody writes to it, and it does not any more.
#[derive(Debug)]
struct Once {
    directory: PathBuf,
    asked: AtomicUsize,
}

impl Guard for Once {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn witnesses(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn standing(&self) -> Standing {
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            // Before and after the first load, and before the second.
            0..=2 => Standing::Good,
            _ => Standing::Changed("it changed".into()),
        }
    }
}

#[test]
fn what_changed_while_it_was_read_is_not_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    single(&path, "a", "function execute() { return 'good' }");
    let guard = Once { directory: path.clone(), asked: AtomicUsize::new(0) };
    let mut loader = Loader::new(vec![Place::Guarded(Arc::new(guard))], OnClash::KeepFirst);
    assert_eq!(loader.load().problems, []);
    single(&path, "a", "function execute() { return 'bad' }");
    single(&path, "b", "function execute() { return 'bad' }");
    let loaded = loader.load();
    assert!(loaded.tools.len() == 1 && tool(&loaded, "a").script.code.contains("good"), "{loaded:?}");
    assert!(messages(&loaded)[0].starts_with("it changed; the version of "), "{:?}", messages(&loaded));
}
