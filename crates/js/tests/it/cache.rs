//! Compiled code that one process leaves to the next.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use pinza_core::{CallScope, Caller, Engine, Policy, Registry, ToolCall, ToolContext};
use pinza_js::{
    Caps, Pool,
    module::{Mode, load_modules},
};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{World, worker_program};

/// A directory for code, and a module that shows all that could differ between code that was compiled
/// and code that was kept.
struct Place {
    directory: TempDir,
}

const FILES: &[(&str, &str)] = &[
    (
        "lib.mjs",
        "import { join } from 'node:path';
import part, { answer } from './part.mjs';
import data from './data.json' with { type: 'json' };
import common from './common.cjs';
export function say() { return [join('a', '..', 'b'), part(), answer, data.x, common.word, import.meta.filename.length]; }
export async function later() { return (await import('./late.mjs')).default; }
export function text() { return [say.toString(), String(common.place)]; }
export function place() { return [new Error('here').stack, common.place()]; }",
    ),
    ("part.mjs", "export const answer = 42; export default () => `part ${answer}`;"),
    ("late.mjs", "export default 'late';"),
    ("data.json", "{\"x\": [1]}"),
    (
        "common.cjs",
        "#!/usr/bin/env node
exports.word = require('util').format('%s', 'common');
exports.place = function place () { return new Error('there').stack }",
    ),
];

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Self { directory };
        let tool = |function: &str| json!({ "name": function, "description": "A function", "function": function, "parameters": {} });
        let tools = ALL.map(tool);
        let manifest = json!({
            "name": "shows", "version": "1.0.0", "description": "Shows.", "package": "./lib.mjs", "type": "static",
            "tools": tools,
        });
        fs::create_dir(place.module()).unwrap();
        fs::write(place.module().join("module.json"), manifest.to_string()).unwrap();
        for (name, text) in FILES {
            fs::write(place.module().join(name), text).unwrap();
        }
        place
    }

    fn module(&self) -> PathBuf {
        self.directory.path().join("module")
    }

    /// A host as a new process would have it.
    fn world(&self) -> World {
        World::with(Pool::new(worker_program()).cached(self.directory.path().join("code")))
    }

    /// The names of what is kept, the prelude's first.
    fn kept(&self) -> Vec<String> {
        let programs = fs::read_dir(self.directory.path().join("code")).into_iter().flatten();
        let files = programs.flat_map(|program| fs::read_dir(program.unwrap().path()).unwrap());
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_by_key(|name| (name != "prelude", name.clone()));
        names
    }
}

/// Calls tools of a module, one after the other.
async fn call(world: &World, module: &Path, tools: &[&str]) -> Vec<String> {
    let loaded = load_modules(&[module.to_owned()], Mode::Strict, Caps::default(), &world.host, None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut registry = Registry::new();
    for (tool, _) in loaded.modules[0].tools() {
        registry.register(Arc::new(tool), None).unwrap();
    }
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    let engine = Engine::new(Policy::new(world.rules.clone(), []));
    let scope = CallScope::new(Caller::Library, Arc::new(snapshot));
    let mut texts = Vec::new();
    for tool in tools {
        let outcome = engine.call(ToolCall::new("1", *tool, json!({})), &scope).await;
        texts.push(outcome.result.unwrap_or_else(|error| panic!("{tool}: {error}")).as_text());
    }
    texts
}

const ALL: [&str; 4] = ["say", "later", "text", "place"];

#[tokio::test]
async fn kept_code_does_what_the_text_says() {
    let place = Place::new();
    let plain = call(&World::new(), &place.module(), &ALL).await;
    assert!(plain[0].contains("\"part 42\",42,[1],\"common\""), "{plain:?}");
    assert_eq!(plain[1], "late");
    let first = call(&place.world(), &place.module(), &ALL).await;
    assert_eq!(place.kept().len(), 2, "{:?}", place.kept());
    let second = call(&place.world(), &place.module(), &ALL).await;
    assert_eq!((&first, &second), (&plain, &plain));

    fs::write(
        place.module().join("part.mjs"),
        "export const answer = 43; export default () => `new ${answer}`;",
    )
    .unwrap();
    let changed = call(&place.world(), &place.module(), &["say"]).await;
    assert!(changed[0].contains("\"new 43\",43,[1],\"common\""), "{changed:?}");
}

/// What a worker hands out after somebody else's script has run in it could be that script's work.
#[tokio::test]
async fn code_is_taken_from_new_workers_only() {
    let place = Place::new();
    let world = place.world();
    assert_eq!(world.text("function execute() { return 'first' }", json!({})).await, "first");
    call(&world, &place.module(), &["say"]).await;
    assert_eq!(place.kept(), ["prelude"]);
    call(&place.world(), &place.module(), &["say"]).await;
    assert_eq!(place.kept().len(), 2);
}
