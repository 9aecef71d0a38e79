//! `pinza bench tokens`: what it prints, and what it refuses.

use crate::support::{fine, keys, pinza, refused};

#[test]
fn the_measure_as_data() {
    let pinza = pinza();
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/catalogs/google");
    let report = fine(&pinza, &["--json", "bench", "tokens", "--catalog", catalog]).json();
    assert_eq!(keys(&report), ["tools", "groups", "rows", "mcp"]);
    let row = &report["rows"][0];
    let fields = [
        "provider",
        "reveal",
        "isDefault",
        "scenario",
        "everything",
        "groups",
        "savedPercent",
        "uses",
        "visible",
    ];
    assert_eq!(keys(row), fields);
    assert_eq!(keys(&row["groups"]), ["requests", "tokens", "cachedTokens", "requestBytes"]);
    let tokens = |arm: &str| row[arm]["tokens"].as_f64().unwrap();
    let saved = 100.0 * (1.0 - tokens("groups") / tokens("everything"));
    assert!((row["savedPercent"].as_f64().unwrap() - saved).abs() < 0.06, "{row}");
    assert_eq!(keys(&report["mcp"][0]), ["expose", "tools", "standingTokens"]);
}

#[test]
fn a_catalog_that_cannot_be_used() {
    let pinza = pinza();
    let directory = pinza.directory().join("catalog");
    let run = |reason: &str| {
        refused(&pinza, &["bench", "tokens", "--catalog", &directory.display().to_string()], reason);
    };
    run("error: cannot read the catalog [..]/catalog: No such file or directory (os error 2)\n");
    std::fs::create_dir(&directory).unwrap();
    run("error: [..]/catalog has no manifests of groups (NAME.json)\n");
    let file = directory.join("mail.json");
    std::fs::write(&file, r#"{"name": "mail", "description": "x"}"#).unwrap();
    run("error: mail.json is one tool; a catalog is made of groups\n");
    std::fs::write(&file, r#"[{"name": "mail_send", "description": "x"}]"#).unwrap();
    run("error: mail.json: [..]\n");
    std::fs::write(&file, r#"[{"name": "mail_send", "description": "x", "function": "send"}]"#).unwrap();
    run("error: the catalog has no tool '[..]', which a conversation uses\n");
}
