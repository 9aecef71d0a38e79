//! JavaScript tools as their authors and users meet them: through the program, in real workers.

mod authors;
mod bridges;
mod crowd;
mod eval;
mod globals;
mod guide;
mod libraries;
mod limits;
mod loading;
mod network;
mod project;
mod results;
mod rights;
mod seeds;
mod variables;

use std::{fs, path::PathBuf};

use pinza_testkit::Program;
use serde_json::{Value, json};

pub(crate) use guide::live;

use crate::support::fine;

/// Writes a file beneath the directory that home and workspace lie in.
fn file(pinza: &Program, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = pinza.directory().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// A single tool in `home/tools`; `more` are further fields of its manifest.
fn tool(pinza: &Program, name: &str, more: Value, script: &str) {
    tool_in(pinza, "home/tools", name, more, script);
}

fn tool_in(pinza: &Program, directory: &str, name: &str, more: Value, script: &str) {
    let mut manifest = json!({"name": name, "description": format!("The tool {name}")});
    manifest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    file(pinza, &format!("{directory}/{name}.json"), manifest.to_string());
    file(pinza, &format!("{directory}/{name}.js"), script);
}

/// A group in `home/tools`.
fn group(pinza: &Program, name: &str, manifest: &Value, script: &str) {
    file(pinza, &format!("home/tools/{name}.json"), manifest.to_string());
    file(pinza, &format!("home/tools/{name}.js"), script);
}

/// An entry of a group whose function has the tool's name.
fn entry(name: &str) -> Value {
    json!({"name": name, "description": format!("The tool {name}"), "function": name})
}

/// `pinza --json tools list` with flags.
fn list(pinza: &Program, flags: &[&str]) -> Value {
    fine(pinza, &[flags, &["--json", "tools", "list"]].concat()).json()
}

/// The tools of a list that are no built-in ones.
fn custom(list: &Value) -> Vec<&Value> {
    list["tools"].as_array().unwrap().iter().filter(|tool| tool["source"] != "builtin").collect()
}

fn names<'a>(tools: &[&'a Value]) -> Vec<&'a str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The path of a file in `home/tools`, as problems name it.
fn at(pinza: &Program, name: &str) -> String {
    pinza.home().join("tools").join(name).display().to_string()
}
