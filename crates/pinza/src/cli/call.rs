//! `pinza call`: one tool, once.

use std::{io::Read as _, sync::Arc};

use anyhow::{Context, anyhow, bail, ensure};
use pinza::core::{
    CallId, CallScope, Caller, CancellationToken, Content, ProgressSink, Snapshot, TextLimit, ToolCall,
    json_type,
};
use serde_json::{Map, Value, json};

use super::{
    Done, Global, Result,
    args::Call,
    session::Session,
    tools::{not_loaded, why_missing},
};
use crate::terminal::Printer;

pub(crate) fn run(global: &Global, printer: &Printer, call: Call) -> Result {
    // The store is dropped last, and writes what is left to write.
    let (session, _noting) = Session::open_noting(global)?;
    printer.problems(&session.problems);
    // A script that did not load matters when the tool is missing; else it is `tools list`'s to say.
    let is_missing = session.pinza.snapshot().get(&call.name).is_none();
    let missing = is_missing.then(|| why_missing(&session, &call.name)).flatten();
    if global.verbose || is_missing {
        printer.problems(&session.faults);
    }
    let arguments = arguments(&call, &session.pinza.snapshot())?;
    let call = ToolCall { id: call_id(), name: call.name, arguments };
    let scope = CallScope {
        text_limit: TextLimit::TERMINAL,
        progress: global.verbose.then(|| Arc::new(StderrProgress) as Arc<dyn ProgressSink>),
        ..session.pinza.scope(Caller::Cli)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let _watch = cancel_on_signal(scope.cancellation.clone())?;
        anyhow::Ok(session.pinza.engine().call(call, &scope).await)
    })?;
    // What still runs on a blocking thread must not keep the answer back.
    runtime.shutdown_background();

    let milliseconds = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    match outcome.result {
        Ok(output) => {
            let text = output.as_text();
            printer.json_or(
                || {
                    json!({
                        "status": "success",
                        "result": text,
                        "content": output.content,
                        "details": output.details,
                        "tool": outcome.tool,
                        "durationMs": milliseconds,
                    })
                },
                |out| out.text(&printer.foreign(&text)),
            );
            Ok(Done::Well)
        }
        Err(mut error) => {
            if let Some(why) = missing {
                error.hint = Some(not_loaded(&why));
            }
            printer.json_or(
                || {
                    json!({
                        "status": "error",
                        "error_type": error.kind,
                        "message": error.message,
                        "hint": error.hint,
                        "tool": outcome.tool,
                        "durationMs": milliseconds,
                    })
                },
                |_| printer.error(&format!("{}: {}", error.kind, error.message), error.hint.as_deref()),
            );
            Ok(Done::Answered)
        }
    }
}

/// The arguments in whichever way they were typed.
pub(crate) fn arguments(call: &Call, snapshot: &Snapshot) -> Result<Value> {
    let parse = |text: &str, place: &str| -> Result<Value> {
        let value: Value = serde_json::from_str(text).with_context(|| format!("{place} is not JSON"))?;
        ensure!(value.is_object(), "{place} must be a JSON object, not {}", json_type(&value));
        Ok(value)
    };
    match call.arguments.as_slice() {
        [] => Ok(json!({})),
        [only] if only == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read stdin")?;
            parse(&text, "stdin")
        }
        [only] if only.starts_with('@') => {
            let file = &only[1..];
            let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
            parse(&text, file)
        }
        [only] if !is_pair(only) => parse(only, "the argument"),
        pairs => key_values(&call.name, pairs, snapshot).map(Value::Object),
    }
}

/// `key=value`, where the key is not the beginning of JSON.
fn is_pair(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(key, _)| !key.is_empty() && !key.trim_start().starts_with(['{', '[', '"']))
}

fn key_values(tool: &str, pairs: &[String], snapshot: &Snapshot) -> Result<Map<String, Value>> {
    let entry = snapshot.get(tool);
    let mut arguments = Map::new();
    for pair in pairs {
        if !is_pair(pair) {
            bail!("'{pair}' is neither key=value nor the only JSON argument");
        }
        let (key, text) = pair.split_once('=').ok_or_else(|| anyhow!("'{pair}' is not key=value"))?;
        let schema = entry.and_then(|entry| {
            let definition = entry.definition();
            let alias = definition.aliases.iter().find(|(alias, _)| alias == key);
            definition.parameters.property(alias.map_or(key, |(_, parameter)| parameter))
        });
        ensure!(arguments.insert(key.into(), value_of(text, schema)).is_none(), "'{key}' is given twice");
    }
    Ok(arguments)
}

/// JSON if it parses as the schema's type, else text.
fn value_of(text: &str, schema: Option<&Value>) -> Value {
    let Ok(parsed) = serde_json::from_str::<Value>(text) else { return text.into() };
    let fits = |kind: &Value| kind == json_type(&parsed) || (kind == "number" && parsed.is_number());
    let fits = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::Array(kinds)) => kinds.iter().any(fits),
        Some(kind) => fits(kind),
        None => true,
    };
    if fits { parsed } else { text.into() }
}

/// Unguessable, because it names a file if the result is outsized.
fn call_id() -> CallId {
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    CallId::new(format!("cli-{now:x}-{:x}", std::process::id()))
}

/// Ctrl-C and SIGTERM cancel the call; it still answers.
pub(crate) fn cancel_on_signal(cancellation: CancellationToken) -> Result<tokio::task::JoinHandle<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        cancellation.cancel();
    }))
}

/// `-v` shows what a tool says while it runs.
struct StderrProgress;

impl ProgressSink for StderrProgress {
    fn progress(&self, _call: &CallId, partial: &[Content]) {
        for block in partial {
            if let Content::Text { text } = block {
                // Line by line with odd characters visible: a tool must not draw a prompt of ours.
                let shown: Vec<String> = text.split('\n').map(pinza::core::visible).collect();
                crate::terminal::write_stderr(&shown.join("\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_values_take_the_schemas_type() {
        let cases = [
            ("5", json!({"type": "integer"}), json!(5)),
            ("5", json!({"type": "string"}), json!("5")),
            ("5", json!({"type": "number"}), json!(5)),
            ("true", json!({"type": "boolean"}), json!(true)),
            ("yes", json!({"type": "boolean"}), json!("yes")),
            ("[1,2]", json!({"type": "array"}), json!([1, 2])),
            ("[1,2]", json!({"type": "string"}), json!("[1,2]")),
            ("{\"a\":1}", json!({"type": "object"}), json!({"a": 1})),
            ("null", json!({"type": "string"}), json!("null")),
            ("a=b=c", json!({}), json!("a=b=c")),
            ("7", json!({}), json!(7)),
        ];
        for (text, schema, expected) in cases {
            assert_eq!(value_of(text, Some(&schema)), expected, "{text} {schema}");
        }
    }
}
