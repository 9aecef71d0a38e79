//! The variable store: what it keeps, what it refuses, and what it never overwrites.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
};

use pinza_host::secrets::{KeySource, SecretsError, VariableStore};
use serde_json::Value;
use tempfile::TempDir;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn store(&self) -> VariableStore {
        self.with(KeySource::File)
    }

    fn with(&self, key: KeySource) -> VariableStore {
        VariableStore::open(&self.path(), key).unwrap()
    }

    fn entries(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path()) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Changes one field of the stored JSON.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut json: Value = serde_json::from_slice(&fs::read(self.file("env.enc")).unwrap()).unwrap();
        change(&mut json);
        fs::write(self.file("env.enc"), json.to_string()).unwrap();
    }
}

fn given(key: &str) -> KeySource {
    KeySource::Given(key.into())
}

fn value(store: &VariableStore, name: &str) -> Option<String> {
    store.get(name).unwrap().map(|secret| secret.expose().to_owned())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, SecretsError>, words: &str) -> SecretsError {
    let error = result.unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    assert!(error.hint().is_some(), "{error}");
    error
}

/// Every call must fail in this way and leave the home's files as they are.
#[track_caller]
fn all_refused(home: &Home, key: KeySource, words: &str) {
    let before: Vec<_> =
        home.entries().iter().map(|name| (name.clone(), fs::read(home.file(name)).unwrap())).collect();
    let store = home.with(key);
    refused(store.names(), words);
    refused(store.get("TOKEN"), words);
    refused(store.remove("TOKEN"), words);
    refused(store.set("TOKEN", "new"), words);
    let after: Vec<_> =
        home.entries().iter().map(|name| (name.clone(), fs::read(home.file(name)).unwrap())).collect();
    assert!(before == after, "files changed");
}

#[test]
fn variables_are_kept_and_removed() {
    let home = Home::new();
    for key in [KeySource::File, given(KEY), given("correct horse")] {
        let home = Home::new();
        let store = home.with(key.clone());
        store.set("ZED", "last").unwrap();
        store.set("_a1", "Grüße\n\"quoted\"").unwrap();
        store.set("EMPTY", "").unwrap();
        store.set("ZED", "changed").unwrap();
        let again = home.with(key);
        assert_eq!(again.names().unwrap(), ["EMPTY", "ZED", "_a1"]);
        assert_eq!(value(&again, "ZED").as_deref(), Some("changed"));
        assert_eq!(value(&again, "_a1").as_deref(), Some("Grüße\n\"quoted\""));
        assert_eq!(value(&again, "EMPTY").as_deref(), Some(""));
        assert_eq!(value(&again, "NONE"), None);
        assert!(again.remove("ZED").unwrap());
        assert!(!again.remove("ZED").unwrap());
        assert_eq!(store.names().unwrap(), ["EMPTY", "_a1"]);
    }
    assert_eq!(home.entries(), [""; 0]);
}

#[test]
fn reading_an_absent_store_creates_nothing() {
    let home = Home::new();
    fs::create_dir(home.path()).unwrap();
    let store = home.store();
    assert_eq!(store.names().unwrap(), [""; 0]);
    assert_eq!(value(&store, "TOKEN"), None);
    assert!(!store.remove("TOKEN").unwrap());
    assert_eq!(home.entries(), [""; 0]);
}

#[test]
fn files_are_private_and_hold_no_plain_text() {
    let home = Home::new();
    home.store().set("TOKEN_NAME", "hunter2-hunter2").unwrap();
    assert_eq!(home.entries(), ["env.enc", "env.lock", "key"]);
    for name in home.entries() {
        assert_eq!(mode(&home.file(&name)), 0o600, "{name}");
        let content = String::from_utf8(fs::read(home.file(&name)).unwrap()).unwrap();
        assert!(!content.contains("hunter2") && !content.contains("TOKEN_NAME"), "{name}: {content}");
    }
    assert_eq!(mode(&home.path()), 0o700);
    let key = fs::read_to_string(home.file("key")).unwrap();
    assert_eq!(key.len(), 65);
    assert!(key.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn a_given_key_needs_no_key_file() {
    let home = Home::new();
    home.with(given(KEY)).set("TOKEN", "x").unwrap();
    assert_eq!(home.entries(), ["env.enc", "env.lock"]);
    // The same key as a file, as `PINZA_KEY` would have it.
    fs::write(home.file("key"), format!("{KEY}\n")).unwrap();
    fs::set_permissions(home.file("key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(value(&home.store(), "TOKEN").as_deref(), Some("x"));
}

#[test]
fn each_write_uses_a_new_nonce_and_a_passphrase_keeps_its_salt() {
    let home = Home::new();
    let fields = || {
        let json: Value = serde_json::from_slice(&fs::read(home.file("env.enc")).unwrap()).unwrap();
        (json["salt"].clone(), json["nonce"].clone(), json["check"].clone())
    };
    let store = home.with(given("correct horse"));
    store.set("A", "1").unwrap();
    let first = fields();
    store.set("A", "1").unwrap();
    let second = fields();
    assert!(first.0.is_string());
    assert_eq!(first.0, second.0);
    assert_ne!(first.1, second.1);
    assert_ne!(first.2, second.2);
}

#[test]
fn a_wrong_key_opens_nothing() {
    let other = KEY.replace("00", "01");
    for (right, wrong) in [
        (given(KEY), given(&other)),
        (given(KEY), given("a passphrase")),
        (given("a passphrase"), given("another one")),
        (given("a passphrase"), given(KEY)),
    ] {
        let home = Home::new();
        home.with(right).set("TOKEN", "x").unwrap();
        all_refused(&home, wrong, "encrypted with another one");
    }
}

#[test]
fn a_lost_key_file_is_not_made_again() {
    let home = Home::new();
    home.store().set("TOKEN", "x").unwrap();
    fs::remove_file(home.file("key")).unwrap();
    all_refused(&home, KeySource::File, "is missing");
    assert!(!home.file("key").exists());
}

#[test]
fn a_key_file_that_others_can_read_is_refused() {
    let home = Home::new();
    home.store().set("TOKEN", "x").unwrap();
    for exposed in [0o640, 0o604, 0o660, 0o777] {
        fs::set_permissions(home.file("key"), fs::Permissions::from_mode(exposed)).unwrap();
        all_refused(&home, KeySource::File, "can be read by others");
    }
}

#[test]
fn a_key_file_without_a_key_is_refused() {
    let home = Home::new();
    home.store().set("TOKEN", "x").unwrap();
    for content in ["", "short\n", &"g".repeat(64), &"é".repeat(32)] {
        fs::write(home.file("key"), content).unwrap();
        all_refused(&home, KeySource::File, "does not hold a key");
    }
    // Nor is it replaced for a store that does not exist yet.
    fs::remove_file(home.file("env.enc")).unwrap();
    refused(home.store().set("TOKEN", "x"), "does not hold a key");
}

#[test]
fn a_changed_store_is_noticed() {
    let flip = |json: &mut Value, field: &str| {
        let text = json[field].as_str().unwrap();
        let first = if text.starts_with('A') { "B" } else { "A" };
        json[field] = format!("{first}{}", &text[1..]).into();
    };
    for field in ["nonce", "data"] {
        let home = Home::new();
        home.with(given(KEY)).set("TOKEN", "x").unwrap();
        home.edit(|json| flip(json, field));
        all_refused(&home, given(KEY), "changed by something else");
    }
    // Without its check a wrong key cannot be told from a changed file; the data still opens.
    let home = Home::new();
    home.with(given(KEY)).set("TOKEN", "x").unwrap();
    home.edit(|json| flip(json, "check"));
    assert_eq!(value(&home.with(given(KEY)), "TOKEN").as_deref(), Some("x"));
}

#[test]
fn a_check_cannot_stand_in_for_data() {
    use base64::{Engine, prelude::BASE64_STANDARD};
    let home = Home::new();
    home.with(given(KEY)).set("TOKEN", "x").unwrap();
    home.edit(|json| {
        let check = BASE64_STANDARD.decode(json["check"].as_str().unwrap()).unwrap();
        json["nonce"] = BASE64_STANDARD.encode(&check[..24]).into();
        json["data"] = BASE64_STANDARD.encode(&check[24..]).into();
    });
    all_refused(&home, given(KEY), "changed by something else");
}

#[test]
fn garbage_and_newer_stores_are_refused() {
    let home = Home::new();
    home.with(given(KEY)).set("TOKEN", "x").unwrap();
    for garbage in ["", "not json", "[]", "{}", "{\"version\":1}", "{\"version\":\"1\"}"] {
        fs::write(home.file("env.enc"), garbage).unwrap();
        all_refused(&home, given(KEY), "is not a variable store");
    }
    fs::write(home.file("env.enc"), "{\"version\":2}").unwrap();
    all_refused(&home, given(KEY), "newer Pinza");
}

#[test]
fn fields_of_a_wrong_length_are_refused() {
    for field in ["salt", "nonce"] {
        let home = Home::new();
        home.with(given("a passphrase")).set("TOKEN", "x").unwrap();
        home.edit(|json| json[field] = "AAAA".into());
        all_refused(&home, given("a passphrase"), "wrong length");
    }
}

#[test]
fn something_else_than_a_file_does_not_hang() {
    let home = Home::new();
    fs::create_dir(home.path()).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(home.file("env.enc")).status().unwrap();
    assert!(fifo.success());
    let error = home.store().names().unwrap_err();
    assert!(error.to_string().contains("not a file"), "{error}");
}

#[test]
fn bad_names_and_empty_keys_are_refused() {
    let home = Home::new();
    for name in ["", "1A", "A-B", "A=B", "A B", "Ä", "A\0"] {
        refused(home.store().set(name, "x"), "is not the name of a variable");
    }
    assert_eq!(home.entries(), [""; 0]);
    for empty in ["", "  \n"] {
        refused(VariableStore::open(&home.path(), given(empty)), "key is empty");
    }
}

#[test]
fn what_a_crashed_writer_left_is_ignored() {
    let home = Home::new();
    let store = home.store();
    store.set("A", "1").unwrap();
    fs::write(home.file("env.enc.tmp"), "half a sto").unwrap();
    fs::write(home.file("key.tmp"), "half a k").unwrap();
    assert_eq!(store.names().unwrap(), ["A"]);
    store.set("B", "2").unwrap();
    assert_eq!(store.names().unwrap(), ["A", "B"]);
    assert!(!home.file("env.enc.tmp").exists());

    // Also before there is a key.
    let home = Home::new();
    fs::create_dir(home.path()).unwrap();
    fs::write(home.file("key.tmp"), "half a k").unwrap();
    home.store().set("A", "1").unwrap();
    assert_eq!(home.entries(), ["env.enc", "env.lock", "key"]);
}

#[test]
fn a_link_in_place_of_the_temporary_file_is_not_followed() {
    let home = Home::new();
    let store = home.store();
    store.set("A", "1").unwrap();
    let victim = home.0.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, home.file("env.enc.tmp")).unwrap();
    store.set("B", "2").unwrap();
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    assert_eq!(store.names().unwrap(), ["A", "B"]);
}

#[test]
fn a_store_too_large_to_read_back_is_not_written() {
    let home = Home::new();
    let store = home.store();
    store.set("A", "1").unwrap();
    refused(store.set("HUGE", &"x".repeat(9 << 20)), "larger than");
    assert_eq!(store.names().unwrap(), ["A"]);
}

#[test]
fn writers_lose_nothing() {
    let home = Home::new();
    // From nothing, so that making the key is raced too; two handles, as two processes have.
    let stores = [home.store(), home.store()];
    thread::scope(|scope| {
        for writer in 0..8 {
            let stores = &stores;
            scope.spawn(move || {
                for round in 0..4 {
                    for (handle, store) in stores.iter().enumerate() {
                        store.set(&format!("V_{writer}_{round}_{handle}"), &format!("{writer}")).unwrap();
                    }
                }
            });
        }
    });
    let names = home.store().names().unwrap();
    assert_eq!(names.len(), 8 * 4 * 2, "{names:?}");
}

#[test]
fn secrets_are_not_shown() {
    let home = Home::new();
    let store = home.with(given("correct horse"));
    store.set("TOKEN", "hunter2").unwrap();
    let shown = format!("{:?} {:?} {:?}", store.get("TOKEN").unwrap(), store, given("correct horse"));
    assert!(!shown.contains("hunter2") && !shown.contains("horse"), "{shown}");
    assert!(shown.contains("[secret]"));
}
