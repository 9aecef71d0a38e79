//! Printing: data to stdout, everything else to stderr. A reader that went away (`| head`) is
//! not an error, so failed writes are let go.

use std::{
    borrow::Cow,
    io::{IsTerminal as _, Write as _},
};

use pinza::ToolError;
use serde_json::{Value, json};

use super::clean::cleaned;
use crate::cli::{Global, Problem, problem_line};

pub(crate) struct Printer {
    json: bool,
    quiet: bool,
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        Self { json: global.json, quiet: global.quiet }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// One JSON object with `--json`, else text for people.
    pub(crate) fn json_or(&self, value: impl FnOnce() -> Value, text: impl FnOnce(&mut Out)) {
        if self.json {
            write_stdout(format!("{}\n", value()).as_bytes());
            return;
        }
        let mut out = Out::default();
        text(&mut out);
        write_stdout(out.text.as_bytes());
    }

    /// A value that is JSON either way; spaced out for people.
    pub(crate) fn data(&self, value: &Value) {
        let text = if self.json { value.to_string() } else { format!("{value:#}") };
        write_stdout(format!("{text}\n").as_bytes());
    }

    pub(crate) fn raw(&self, bytes: &[u8]) {
        write_stdout(bytes);
    }

    /// Text for people that is there before the answer is; nothing with `--json`, where all is one object.
    pub(crate) fn text(&self, text: impl FnOnce(&mut Out)) {
        if !self.json {
            self.json_or(|| Value::Null, text);
        }
    }

    /// Is what goes on told on stderr?
    pub(crate) fn tells_progress(&self) -> bool {
        !self.json && !self.quiet
    }

    /// An error that is an answer: to stdout with `--json`, else to stderr.
    pub(crate) fn answered_error(&self, error: &ToolError) {
        self.json_or(
            || json!({ "status": "error", "error_type": error.kind, "message": error.message, "hint": error.hint }),
            |_| self.error(&format!("{}: {}", error.kind, error.message), error.hint.as_deref()),
        );
    }

    /// An error before there could be an answer.
    pub(crate) fn failure(&self, error: &anyhow::Error) {
        let mut chain = error.chain().map(ToString::to_string);
        let mut text = chain.next().unwrap_or_default();
        for cause in chain {
            // An error that already quotes its cause is not repeated.
            if !text.contains(&cause) {
                text.push_str(&format!(": {cause}"));
            }
        }
        write_message("error", &text);
    }

    pub(crate) fn error(&self, message: &str, hint: Option<&str>) {
        write_message("error", message);
        if let Some(hint) = hint {
            write_message("hint", hint);
        }
    }

    /// A tool's text for stdout: as it is for programs, and unable to steer a terminal.
    pub(crate) fn foreign<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match std::io::stdout().is_terminal() {
            true => Cow::Owned(harmless(text)),
            false => Cow::Borrowed(text),
        }
    }

    /// What happens while the program goes on; not with `-q`.
    pub(crate) fn note(&self, line: &str) {
        if !self.quiet {
            write_stderr(&format!("{line}\n"));
        }
    }

    pub(crate) fn warning(&self, message: &str) {
        if !self.quiet {
            write_message("warning", message);
        }
    }

    /// What was not loaded; silent with `--json`, where problems are part of the data or of no
    /// interest, and with `-q`.
    pub(crate) fn problems(&self, problems: &[Problem]) {
        if !self.json {
            problems.iter().for_each(|problem| self.warning(&problem_line(problem)));
        }
    }
}

/// Text for people, gathered and written at once.
#[derive(Default)]
pub(crate) struct Out {
    text: String,
}

impl Out {
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A result's own text: a line break is added only where it ends without one.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn heading(&mut self, heading: &str) {
        self.line(heading);
    }

    /// Rows under each other, two spaces in, columns aligned, nothing cut.
    pub(crate) fn columns<const N: usize>(&mut self, rows: impl IntoIterator<Item = [String; N]>) {
        let rows: Vec<[String; N]> = rows.into_iter().collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..N).map(width).collect();
        for row in &rows {
            let mut line = String::from(" ");
            for (cell, width) in row.iter().zip(&widths) {
                if *width > 0 {
                    line.push_str(&format!(" {cell:<width$} "));
                }
            }
            self.line(line.trim_end());
        }
    }
}

/// A message may quote a tool or a server, so what it has of theirs must not steer a terminal.
fn write_message(kind: &str, message: &str) {
    match std::io::stderr().is_terminal() {
        true => write_stderr(&format!("{kind}: {}\n", harmless(message))),
        false => write_stderr(&format!("{kind}: {message}\n")),
    }
}

/// Line by line, so that line breaks stay what they are.
fn harmless(text: &str) -> String {
    let lines = text.split('\n').map(|line| cleaned(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn write_stdout(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

pub(crate) fn write_stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
