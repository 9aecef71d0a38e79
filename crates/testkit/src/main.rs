//! The fakes of the test suites as a program of their own.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people and scripts")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use pinza_testkit::{
    model::{ModelServer, Provider, Script},
    picture::picture,
};

const USAGE: &str = "usage: pinza-testkit model SCRIPT [--port N] [--record DIR]
  Serves a scripted model on 127.0.0.1 until it is stopped. The first line on stdout is its address;
  what is not as the script expects goes to stderr. Providers are told apart by the path that is called:
  /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/M:streamGenerateContent
usage: pinza-testkit picture SCREEN.ansi OUT.png
  Draws a screen that a test has kept (target/screens), with chromium.";

struct Options {
    script: PathBuf,
    port: u16,
    record: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = match words[..] {
        ["picture", screen, out] => picture(Path::new(screen), Path::new(out)),
        _ => parse(&arguments).and_then(|options| serve(&options)),
    };
    match run {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut words = arguments.iter();
    if words.next().map(String::as_str) != Some("model") {
        return Err(USAGE.to_owned());
    }
    let mut script = None;
    let mut options = Options { script: PathBuf::new(), port: 0, record: None };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--port" => options.port = value()?.parse().map_err(|error| format!("--port: {error}"))?,
            "--record" => options.record = Some(value()?.into()),
            path if !path.starts_with('-') && script.is_none() => script = Some(PathBuf::from(path)),
            other => return Err(format!("unknown argument '{other}'\n{USAGE}")),
        }
    }
    options.script = script.ok_or(USAGE)?;
    Ok(options)
}

fn serve(options: &Options) -> Result<(), String> {
    let script = Script::read(&options.script)?;
    let server = ModelServer::start_at(options.port, script, options.record.clone());
    let server = server.map_err(|error| format!("port {}: {error}", options.port))?;
    println!("{}", server.url());
    for provider in Provider::ALL {
        eprintln!("{provider}: --base-url {}", server.base_url(provider));
    }
    let mut told = 0;
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let failures = server.failures();
        failures.iter().skip(told).for_each(|failure| eprintln!("failure: {failure}"));
        told = failures.len();
    }
}
