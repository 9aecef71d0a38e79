//! The borders between crates, kept by asking cargo what depends on what.

use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Which of our own crates each crate may stand on; `pinza` may stand on all of them. A crate
/// that is not written yet is listed all the same, so that its first line already obeys.
const DIRECTIONS: [(&str, &[&str]); 11] = [
    ("pinza-core", &[]),
    ("pinza-host", &["pinza-core"]),
    ("pinza-state", &["pinza-core"]),
    ("pinza-js", &["pinza-core", "pinza-host"]),
    ("pinza-agent", &["pinza-core", "pinza-host", "pinza-state"]),
    ("pinza-mcp", &["pinza-core", "pinza-host", "pinza-state"]),
    ("pinza-tools", &["pinza-core", "pinza-host", "pinza-js", "pinza-state"]),
    ("pinza-web", &["pinza-core", "pinza-agent", "pinza-mcp", "pinza-state"]),
    ("pinza-testkit", &[]),
    (
        "pinza",
        &[
            "pinza-core",
            "pinza-host",
            "pinza-state",
            "pinza-js",
            "pinza-agent",
            "pinza-mcp",
            "pinza-tools",
            "pinza-web",
        ],
    ),
    ("embed", &["pinza"]),
];

/// Foreign worlds, and the one crate that knows each.
const FENCES: [(&str, &str); 4] =
    [("rquickjs", "pinza-js"), ("rmcp", "pinza-mcp"), ("rusqlite", "pinza-state"), ("axum", "pinza-web")];

/// All that the core may stand on: data, schemas and the clock, nothing that does I/O.
const CORE: [&str; 12] = [
    "futures-util",
    "indexmap",
    "jsonschema",
    "rust-stemmers",
    "saphyr-parser",
    "schemars",
    "serde",
    "serde_json",
    "strsim",
    "thiserror",
    "tokio",
    "tokio-util",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn workspace() -> Metadata {
    MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap()
}

/// What a crate needs to be built or run; tests may use what they like.
fn needs(package: &Package) -> impl Iterator<Item = &str> {
    let needed =
        package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    needed.map(|dependency| dependency.name.as_str())
}

#[test]
fn our_crates_depend_in_one_direction() {
    for package in workspace().packages {
        let name = package.name.as_str();
        let row = DIRECTIONS.iter().find(|(known, _)| *known == name);
        let (_, allowed) = row.unwrap_or_else(|| panic!("say in DIRECTIONS what {name} may stand on"));
        for needed in needs(&package).filter(|needed| DIRECTIONS.iter().any(|(known, _)| known == needed)) {
            assert!(allowed.contains(&needed), "{name} must not depend on {needed}");
        }
    }
}

#[test]
fn foreign_worlds_stay_behind_their_fence() {
    for package in workspace().packages {
        for (foreign, owner) in FENCES {
            let knows = package.dependencies.iter().any(|dependency| dependency.name == foreign);
            assert!(
                !knows || package.name.as_str() == owner,
                "only {owner} may know {foreign}, not {}",
                package.name
            );
        }
    }
}

#[test]
fn the_core_does_no_io() {
    let packages = workspace().packages;
    let core = packages.iter().find(|package| package.name.as_str() == "pinza-core").unwrap();
    let mut needed: Vec<&str> = needs(core).collect();
    needed.sort_unstable();
    assert_eq!(needed, CORE);
    for dependency in core.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal)
    {
        let harmless = |feature: &String| matches!(feature.as_str(), "macros" | "rt" | "sync" | "time");
        let tokio = dependency.name == "tokio";
        assert!(!tokio || dependency.features.iter().all(harmless), "{:?}", dependency.features);
        assert!(!tokio || !dependency.uses_default_features, "tokio's default features");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let file = root().join("docs/dependencies.md");
    let reasons = std::fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!("{} says why each dependency is there, but it cannot be read: {error}", file.display())
    });
    let words: Vec<&str> =
        reasons.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').collect();
    let manifest: toml_edit::DocumentMut =
        std::fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
    let foreign = dependencies.iter().filter(|(_, entry)| entry.get("path").is_none());
    let untold: Vec<&str> = foreign.map(|(name, _)| name).filter(|name| !words.contains(name)).collect();
    assert!(untold.is_empty(), "say in docs/dependencies.md why these are there: {}", untold.join(", "));
}
