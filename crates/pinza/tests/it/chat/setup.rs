//! Which model is asked, and what is said when none can be.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    time::Duration,
};

use pinza_testkit::model::{ModelServer, Provider, Script, Turn};

use super::World;
use crate::support::{check, pinza, refused};

#[test]
fn no_model_is_set_up() {
    let pinza = pinza();
    let hints = "error: no model is set up\nhint: set ANTHROPIC_API_KEY[..]\nhint: [..]--base-url[..]\nhint: [..]config.toml[..]\n";
    refused(&pinza, &["chat", "-p", "hi"], hints);
    refused(
        &pinza,
        &["chat", "-p", "hi", "--provider", "nobody"],
        "error: there is no provider 'nobody'; there are: openai[..]\n",
    );
    refused(&pinza, &["chat", "-p", "hi", "--provider", "openai"], "error: which model of openai?[..]\n");
    let native = ["chat", "-p", "hi", "--provider", "gemini", "--model", "m", "--reveal", "native"];
    refused(&pinza, &native, "error: gemini has no way to defer tools[..]\n");
    let no_key = ["chat", "-p", "hi", "--provider", "openai", "--model", "m"];
    refused(&pinza, &no_key, "error: there is no key for openai\nhint: set OPENAI_API_KEY, or keep it[..]\n");
    let nothing =
        ["chat", "-p", " \n", "--provider", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"];
    refused(&pinza, &nothing, "error: the message is empty\n");
    refused(&pinza, &["chat", "-p", "hi", "--agent", "x"], "error: there is no agent 'x'[..]\n");
    refused(
        &pinza,
        &["chat", "-p", "hi", "--provider", "openai", "--model", "m", "--session", "../x"],
        "error: a session's id has[..]\n",
    );
}

#[test]
fn a_key_comes_from_the_store_or_a_command_and_is_never_shown() {
    let script = Script {
        key: Some("sk-secret-key".into()),
        ..Script::new([Turn::text("Hi."), Turn::text("Hi."), Turn::text("Hi.")])
    };
    let model = ModelServer::start(script);
    let pinza = pinza();
    let base = model.base_url(Provider::OpenAi);
    let config = format!(
        "[providers.kept]\ntype = \"openai\"\nmodel = \"m\"\nbase_url = \"{base}\"\napi_key_env = \"MY_KEY\"\n
         [providers.asked]\ntype = \"openai\"\nmodel = \"m\"\nbase_url = \"{base}\"\napi_key_command = [\"echo\", \"sk-secret-key\"]\n"
    );
    std::fs::create_dir_all(pinza.home()).unwrap();
    std::fs::write(pinza.config_file(), config).unwrap();
    refused(&pinza, &["chat", "-p", "hi"], "error: there is no key in MY_KEY[..]\n");
    check(&pinza, &["env", "set", "MY_KEY=sk-secret-key"], 0, "...", "");
    check(&pinza, &["chat", "-p", "hi"], 0, "Hi.\n", "");
    check(&pinza, &["chat", "-p", "hi", "--provider", "asked"], 0, "Hi.\n", "");
    check(&pinza, &["env", "set", "MY_KEY=sk-another-key"], 0, "...", "");
    let run = pinza.run(&["chat", "-p", "hi", "-v"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("401") && run.stderr.contains("MY_KEY"), "{run:?}");
    assert!(!format!("{run:?}").contains("sk-another-key"), "{run:?}");
}

#[test]
fn line_by_line() {
    let world = World::new(Provider::OpenAi, [Turn::text("One."), Turn::text("Two.")]);
    let base = world.model.base_url(Provider::OpenAi);
    let arguments = ["chat", "--provider", "openai", "--base-url", &base, "--model", "m"];
    let run = world.pinza.run_with_input(&arguments, "first\n\nsecond\n");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "One.\nTwo.\n"), "{run:?}");
    let last = world.model.bodies().pop().unwrap().to_string();
    assert!(last.contains("first") && last.contains("One.") && last.contains("second"), "{last}");
}

/// Signals come through the runtime: it does not stand still while the program waits for a line.
#[test]
fn between_lines_it_is_awake() {
    let world = World::new(Provider::OpenAi, [Turn::text("One.")]);
    let base = world.model.base_url(Provider::OpenAi);
    let arguments = ["chat", "--provider", "openai", "--base-url", &base, "--model", "m"];
    let mut child =
        world.pinza.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"first\n").unwrap();
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut answer).unwrap();
    assert_eq!(answer, "One.\n");
    // The first one may still reach the talk that has just answered, and only cancel that.
    let ended = (0..200).find_map(|_| {
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        child.try_wait().unwrap()
    });
    let _ = child.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
    drop(input);
}

#[test]
fn a_server_that_is_not_there() {
    let pinza = pinza();
    let arguments = [
        "--json",
        "chat",
        "-p",
        "hi",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ];
    let run = pinza.run(&arguments);
    assert_eq!(run.code, Some(1), "{run:?}");
    let last: serde_json::Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["error_type"]), (&"error".into(), &"unreachable".into()), "{last}");
}
