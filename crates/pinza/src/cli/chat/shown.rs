//! What a talk shows: the model's words on stdout, what it does on stderr, or all of it as JSON.

use std::sync::{Arc, Mutex, PoisonError};

use pinza::{
    agent::{Event, Events},
    core::visible,
};
use serde_json::Value;

use super::super::Global;
use crate::terminal::{write_stderr, write_stdout};

pub(super) fn events(global: &Global, session: &str) -> Events {
    if global.json {
        let session = session.to_owned();
        return Arc::new(move |event| line(&event, &session));
    }
    let (quiet, verbose) = (global.quiet, global.verbose);
    // Whether a line of the model's is open. A std lock, held while one event is written.
    let open = Mutex::new(false);
    Arc::new(move |event| {
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        show(&event, quiet, verbose, &mut open);
    })
}

/// One event a line, each with its session.
fn line(event: &Event, session: &str) {
    let Ok(mut value) = serde_json::to_value(event) else { return };
    if let Value::Object(object) = &mut value {
        object.shift_insert(1, "session".into(), session.into());
    }
    write_stdout(format!("{value}\n").as_bytes());
}

fn show(event: &Event, quiet: bool, verbose: bool, open: &mut bool) {
    match event {
        Event::TextDelta { text } => {
            write_stdout(printable(text).as_bytes());
            *open = !text.ends_with('\n');
            return;
        }
        Event::Error { message, hint, .. } => {
            close(open);
            write_stderr(&format!("error: {}\n", visible(message)));
            if let Some(hint) = hint {
                write_stderr(&format!("hint: {}\n", visible(hint)));
            }
            return;
        }
        Event::Done(_) => return close(open),
        _ if quiet => return,
        _ => {}
    }
    let line = match event {
        Event::ToolcallEnd { name, arguments, .. } => {
            let arguments = arguments.to_string();
            let shown: String = arguments.chars().take(if verbose { 2000 } else { 100 }).collect();
            format!("→ {name} {}", visible(&shown))
        }
        Event::ToolFinished { name, status: "success", duration_ms, .. } => {
            format!("✓ {name} {duration_ms} ms")
        }
        Event::ToolFinished { name, error_type, message, .. } => {
            let (kind, message) = (error_type.unwrap_or_default(), message.as_deref().unwrap_or_default());
            format!("✗ {name} {kind}: {}", visible(message))
        }
        Event::GroupLoaded { group } => format!("+ group {group}"),
        Event::Compacted { messages } => format!("· {messages} older messages became a summary"),
        Event::Usage { usage } if verbose => format!(
            "· {} tokens in ({} cached), {} out",
            usage.input_tokens, usage.cache_read_tokens, usage.output_tokens
        ),
        _ => return,
    };
    close(open);
    write_stderr(&format!("{line}\n"));
}

fn close(open: &mut bool) {
    if std::mem::take(open) {
        write_stdout(b"\n");
    }
}

/// A model's words go to a terminal: they must not move its cursor or draw a prompt of ours.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
