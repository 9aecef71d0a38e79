//! Guides that are a story are lived through here, each in one home from top to bottom.
//!
//! A block fenced as ```` ```js name.js ```` (or json, ts) is a file that its reader writes to
//! `home/tools`; one fenced as ```` ```shell-session ```` is what the reader types and sees there.

use std::path::Path;

use pinza_testkit::{
    Program, Reply, WireServer,
    model::{ModelServer, Provider, Script},
    program::finish,
};

use super::file;
use crate::support::{matches, pinza};

#[test]
fn the_guide_for_authors_is_true() {
    let (files, commands) = lived_through("write-a-js-tool.md", &pinza());
    assert!(files > 3 && commands > 8, "{files} files, {commands} commands: is this still the guide?");
}

/// With a model that answers as its script says, and the weather of one day.
#[test]
fn the_first_five_minutes_are_true() {
    let weather = WireServer::start(|request| match request.path().split('?').next() {
        Some("/v1/search") => {
            Reply::ok(r#"{"results":[{"name":"Oslo","country":"Norway","latitude":59.9,"longitude":10.7}]}"#)
        }
        Some("/v1/forecast") => Reply::ok(r#"{"current":{"temperature_2m":3,"wind_speed_10m":11}}"#),
        _ => Reply::new("404 Not Found", &[], ""),
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/talks/weather.json");
    let model = ModelServer::start(Script::read(&script).unwrap());
    let pinza = pinza();
    let (base, site) = (model.base_url(Provider::OpenAi), weather.url(""));
    let config = format!(
        "[providers.recorded]\ntype = \"openai\"\nmodel = \"recorded\"\nbase_url = \"{base}\"\n[net.rewrite]\n\
         \"https://geocoding-api.open-meteo.com\" = \"{site}\"\n\"https://api.open-meteo.com\" = \"{site}\"\n"
    );
    std::fs::write(pinza.config_file(), config).unwrap();
    let (files, commands) = lived_through("first-five-minutes.md", &pinza);
    assert_eq!((files, commands), (3, 7), "is this still the guide?");
    assert_eq!((model.failures(), model.turns_left()), (Vec::new(), 0));
}

/// How many files it had written, and how many commands typed.
fn lived_through(guide: &str, pinza: &Program) -> (usize, usize) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides").join(guide);
    let text = std::fs::read_to_string(guide).unwrap();
    let (mut files, mut commands) = (0, 0);
    let mut parts = text.split("\n```");
    parts.next();
    // Between two fences lies, in turns, a block and the words around it.
    while let Some(block) = parts.next() {
        parts.next();
        let (info, body) = block.split_once('\n').unwrap_or((block, ""));
        match info.split_once(' ') {
            Some((_, name)) => {
                file(pinza, &format!("home/tools/{name}"), format!("{body}\n"));
                files += 1;
            }
            None if info == "shell-session" => commands += live(pinza, body),
            None => {}
        }
    }
    (files, commands)
}

/// Runs the commands of a block and compares what each prints; returns how many there were.
pub(crate) fn live(pinza: &Program, block: &str) -> usize {
    let block = format!("\n{block}");
    let commands = block.split("\n$ pinza ").skip(1);
    let mut count = 0;
    for command in commands {
        let (typed, shown) = command.split_once('\n').unwrap_or((command, ""));
        let mut shell = pinza.command::<&str>([]);
        let program = shell.get_program().to_owned();
        let environment: Vec<_> =
            shell.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
        shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$0\" {typed}")]).arg(program).current_dir(pinza.directory());
        shell.env_clear().envs(environment).stdin(std::process::Stdio::null());
        let run = finish(&mut shell, "");
        let printed = format!("{}{}", run.stdout, run.stderr);
        assert!(
            matches(printed.trim_end(), shown.trim_end()),
            "$ pinza {typed}\n--- shows\n{shown}\n--- but prints\n{printed}"
        );
        count += 1;
    }
    count
}
