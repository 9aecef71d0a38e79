//! One package: its `module.json` for either engine, and its calls.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use pinza::{Pinza, Policy, Rule, Verdict, core::Outcome};
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Embedded,
    Node,
    /// Nothing is said in `module.json`.
    Either,
}

pub(super) struct Call {
    tool: String,
    arguments: Value,
    /// The library refuses it, on either engine in the same words.
    fails: bool,
}

pub(super) struct Case {
    pub(super) name: String,
    /// Where it works.
    pub(super) engine: Engine,
    module: Value,
    pub(super) calls: Vec<Call>,
}

/// What a package said to its calls.
pub(super) struct Answers {
    /// Until the first answer, with the start of a worker or of Node.
    pub(super) first: Duration,
    pub(super) texts: Vec<Result<String, String>>,
}

impl Case {
    /// All cases, by name. `server` takes the place of `${SERVER}` in arguments.
    pub(super) fn all(server: &str) -> Vec<Self> {
        let files = fs::read_dir(super::fixtures()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files
            .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
            .filter(|file| {
                !file.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("package"))
            })
            .collect();
        files.sort();
        files.iter().map(|file| Self::read(file, server)).collect()
    }

    fn read(file: &Path, server: &str) -> Self {
        let text = fs::read_to_string(file).unwrap().replace("${SERVER}", server.trim_end_matches('/'));
        let mut module: Map<String, Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let name = module.remove("of").unwrap_or_else(|| module["package"].clone());
        let engine =
            if module.remove("engine") == Some("node".into()) { Engine::Node } else { Engine::Embedded };
        let calls: Vec<Call> = match module.remove("calls") {
            Some(Value::Array(calls)) => calls.iter().map(Call::read).collect(),
            _ => panic!("{} has no calls", file.display()),
        };
        assert!(calls.len() >= 3, "{} has few calls", file.display());
        let defaults = json!({
            "name": stem, "version": "1.0.0", "description": format!("Calls of {stem}"), "type": "static",
            "timeoutSeconds": 120
        });
        for (field, value) in defaults.as_object().unwrap() {
            module.entry(field).or_insert_with(|| value.clone());
        }
        for tool in module["tools"].as_array_mut().unwrap() {
            tool["description"] = "A call".into();
            tool["parameters"] = parameters(tool["name"].as_str().unwrap(), &calls);
        }
        let name = name.as_str().unwrap().to_owned();
        Self { name, engine, module: module.into(), calls }
    }

    /// Makes all calls, one after the other, as a new program would.
    pub(super) async fn run(&self, engine: Engine, installed: &Path) -> Answers {
        let mut module = self.module.clone();
        match engine {
            Engine::Embedded => module["runtime"] = "embedded".into(),
            Engine::Node => {
                module["runtime"] = "node".into();
                // One process for all calls; each would have its own otherwise.
                module["state"] = "session".into();
            }
            Engine::Either => module["state"] = "session".into(),
        }
        // Below the packages, so that they are found as those of any directory above are.
        let directory = tempfile::tempdir_in(installed).unwrap();
        fs::write(directory.path().join("module.json"), module.to_string()).unwrap();
        if let Some(wrapper) = self.module["package"].as_str().and_then(|package| package.strip_prefix("./"))
        {
            let copy = directory.path().join(wrapper);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(super::fixtures().join(wrapper), copy).unwrap();
        }
        let workspace = tempfile::tempdir().unwrap();
        let allowed = ["net", "net.private", "node"].map(|name| Rule::capability(Verdict::Allow, name));
        let pinza = Pinza::builder()
            .workspace(workspace.path())
            .helper(env!("CARGO_BIN_EXE_pinza"))
            .policy(Policy::new([], allowed))
            .modules([directory.path().to_owned()])
            .build()
            .unwrap();
        assert!(pinza.problems().is_empty(), "{}: {:?}", self.name, pinza.problems());
        let begin = Instant::now();
        let mut answers = Answers { first: Duration::ZERO, texts: Vec::new() };
        for call in &self.calls {
            let outcome = pinza.call(&call.tool, call.arguments.clone()).await;
            if answers.texts.is_empty() {
                answers.first = begin.elapsed();
            }
            answers.texts.push(text(&outcome));
        }
        answers
    }
}

impl Call {
    fn read(call: &Value) -> Self {
        Self {
            tool: call["tool"].as_str().unwrap().to_owned(),
            arguments: call["arguments"].clone(),
            fails: call["fails"] == true,
        }
    }

    /// What is wrong with its answers, if anything is.
    pub(super) fn fault(
        &self,
        answer: &Result<String, String>,
        in_node: &Result<String, String>,
    ) -> Option<String> {
        let call = || format!("{} {}", self.tool, short(&self.arguments.to_string()));
        if in_node.is_err() != self.fails {
            return Some(format!("{}: in Node {in_node:?}", call()));
        }
        (answer != in_node).then(|| {
            let [answer, in_node] = [answer, in_node].map(|answer| match answer {
                Ok(text) => text.clone(),
                Err(message) => format!("! {message}"),
            });
            let same = answer.chars().zip(in_node.chars()).take_while(|(a, b)| a == b).count();
            let tail = |text: &str| short(&text.chars().skip(same.saturating_sub(20)).collect::<String>());
            format!("{}\n      here: {}\n      Node: {}", call(), tail(&answer), tail(&in_node))
        })
    }
}

/// The names of a tool's arguments in all its calls are its parameters, of any type.
fn parameters(tool: &str, calls: &[Call]) -> Value {
    let mut properties = Map::new();
    for call in calls.iter().filter(|call| call.tool == tool) {
        for name in call.arguments.as_object().unwrap().keys().filter(|name| *name != "handle") {
            properties.insert(name.clone(), json!({}));
        }
    }
    json!({ "type": "object", "properties": properties })
}

fn text(outcome: &Outcome) -> Result<String, String> {
    outcome.result.as_ref().map(|output| output.as_text()).map_err(|error| error.message.clone())
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace('\n', "⏎")
}
