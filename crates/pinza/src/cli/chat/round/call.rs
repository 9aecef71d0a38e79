//! One call of a tool, as one line: mark, name, the argument that says most, and how it goes or went.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use pinza::core::{CallId, Content, visible};
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::style::{BAD, DIM, GOOD, PLAIN, WIDEST, grouped, line, time};
use crate::terminal::{Line, cut, flowing};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long each picture of the spinner stands.
const TURN: u128 = 100;
/// Where times stand below each other, if the names leave room.
const TIMES: usize = 54;

/// How much of it is kept for whoever wants details.
const LOGS: usize = 100;
const ARGUMENT_ROWS: usize = 20;
const RESULT_ROWS: usize = 20;
/// A result that is longer is not even looked through for its lines.
const RESULT_BYTES: usize = 64 * 1024;

/// Arguments that tell most about a call, the most telling first.
const TELLING: [&str; 17] = [
    "command",
    "path",
    "file_path",
    "file",
    "url",
    "uri",
    "query",
    "queries",
    "pattern",
    "name",
    "title",
    "text",
    "message",
    "prompt",
    "to",
    "id",
    "key",
];

pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) name: String,
    arguments: Value,
    state: State,
    /// What it said while it ran, one line each; the oldest are gone if there were many.
    logs: VecDeque<String>,
    /// How long it waited for answers.
    waited: Duration,
}

enum State {
    /// The model is still writing it: so many bytes so far.
    Written(usize),
    /// It will run when the model's turn is over.
    Whole,
    Running(Instant),
    /// Somebody is asked about it: since then, and it began at the other time.
    Asked {
        asked: Instant,
        began: Instant,
    },
    Well {
        took: Duration,
        result: String,
        content: Vec<Content>,
    },
    Failed {
        reason: String,
        hint: Option<String>,
    },
}

impl Call {
    pub(super) fn new(id: CallId, name: String) -> Self {
        Self {
            id,
            name,
            arguments: Value::Null,
            state: State::Written(0),
            logs: VecDeque::new(),
            waited: Duration::ZERO,
        }
    }

    pub(super) fn more(&mut self, bytes: usize) {
        if let State::Written(written) = &mut self.state {
            *written += bytes;
        }
    }

    pub(super) fn whole(&mut self, arguments: Value) {
        self.arguments = arguments;
        self.state = State::Whole;
    }

    /// Its question may be heard of before it is: they come on two ways.
    pub(super) fn started(&mut self, now: Instant) {
        if !matches!(self.state, State::Asked { .. }) {
            self.state = State::Running(now);
        }
    }

    pub(super) fn asked(&mut self, now: Instant) {
        let began = match self.state {
            State::Running(began) => began,
            State::Written(_) | State::Whole => now,
            State::Asked { .. } | State::Well { .. } | State::Failed { .. } => return,
        };
        self.state = State::Asked { asked: now, began };
    }

    /// The clock stood still meanwhile: it was not the tool that took the time.
    pub(super) fn answered(&mut self, now: Instant) {
        if let State::Asked { asked, began } = self.state {
            let waited = now.saturating_duration_since(asked);
            self.waited += waited;
            self.state = State::Running(began + waited);
        }
    }

    pub(super) fn says(&mut self, content: &[Content]) {
        for block in content {
            let Content::Text { text } = block else { continue };
            self.logs.extend(flowing(text).filter(|line| !line.trim().is_empty()));
        }
        let surplus = self.logs.len().saturating_sub(LOGS);
        self.logs.drain(..surplus);
    }

    pub(super) fn well(&mut self, took: Duration, mut result: String, content: Vec<Content>) {
        result.truncate(result.floor_char_boundary(RESULT_BYTES));
        self.state = State::Well { took: took.saturating_sub(self.waited), result, content };
    }

    pub(super) fn failed(&mut self, reason: String, hint: Option<String>) {
        self.state = State::Failed { reason, hint };
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Well { .. } | State::Failed { .. })
    }

    /// What of its result is no text.
    pub(super) fn content(&self) -> &[Content] {
        match &self.state {
            State::Well { content, .. } => content,
            _ => &[],
        }
    }

    pub(super) fn line(&self, width: usize, now: Instant) -> Line {
        let width = width.saturating_sub(1);
        let spinner = || (DIM, picture(now));
        match &self.state {
            State::Written(bytes) => {
                let written =
                    if *bytes < 1000 { String::new() } else { format!("{} bytes", grouped(*bytes)) };
                self.row(spinner(), &written, width)
            }
            State::Whole => self.row((DIM, "·"), "", width),
            State::Asked { .. } => self.row((super::style::ASKS, "?"), "waits for your answer", width),
            State::Running(since) => {
                let passed = now.saturating_duration_since(*since);
                let passed =
                    if passed.as_secs() == 0 { String::new() } else { format!("{} s", passed.as_secs()) };
                let said = self.logs.back().map(String::as_str).unwrap_or_default();
                let tail = [passed.as_str(), said].into_iter().filter(|part| !part.is_empty());
                self.row(spinner(), &tail.collect::<Vec<_>>().join("  "), width)
            }
            State::Well { took, .. } if took.is_zero() => self.row((GOOD, "✓"), "", width),
            State::Well { took, .. } => self.row((GOOD, "✓"), &time(*took), width),
            State::Failed { reason, .. } => self.failure(reason, width),
        }
    }

    /// Arguments, what it said, and the head of its result.
    pub(super) fn details(&self, width: usize) -> Vec<Line> {
        let (_, arguments) = self.inner();
        let mut rows = Vec::new();
        if let Value::Object(fields) = arguments {
            for (name, value) in fields {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                rows.extend(head(&format!("{}: ", visible(name)), &text, ARGUMENT_ROWS));
            }
        } else if !arguments.is_null() {
            rows.extend(head("", &arguments.to_string(), ARGUMENT_ROWS));
        }
        rows.extend(self.logs.iter().map(|log| format!("· {log}")));
        match &self.state {
            State::Well { result, .. } => rows.extend(head("→ ", result, RESULT_ROWS)),
            State::Failed { reason, hint } => {
                rows.extend(head("✗ ", reason, RESULT_ROWS));
                rows.extend(hint.iter().flat_map(|hint| head("hint: ", hint, RESULT_ROWS)));
            }
            _ => {}
        }
        let room = width.saturating_sub(7);
        rows.iter().map(|row| line([(DIM, format!("      {}", cut(row, room)))])).collect()
    }

    fn row(&self, mark: (anstyle::Style, &str), tail: &str, width: usize) -> Line {
        let room = width.min(WIDEST).saturating_sub(4);
        // The end of a line gives way first, but it has half of the line if it needs it.
        let head = self.head(room).1.min(room / 2);
        let tail = cut(tail, room.saturating_sub(head + 2));
        let taken = tail.width();
        let (mut spans, used) = self.head(if taken == 0 { room } else { room.saturating_sub(taken + 2) });
        let gap = TIMES.min(room.saturating_sub(taken)).saturating_sub(used).max(2);
        spans.insert(0, (mark.0, format!("  {} ", mark.1)));
        if !tail.is_empty() {
            spans.push((DIM, format!("{}{tail}", " ".repeat(gap))));
        }
        line(spans)
    }

    fn failure(&self, reason: &str, width: usize) -> Line {
        let room = width.saturating_sub(4);
        let reason = visible(reason.lines().next().unwrap_or_default());
        let (mut spans, used) = self.head(room.min(WIDEST) / 2);
        spans.insert(0, (BAD, "  ✗ ".to_owned()));
        spans.push((BAD, format!("   {}", cut(&reason, room.saturating_sub(used + 3)))));
        line(spans)
    }

    /// Name and telling argument in so many columns, and how many they take.
    fn head(&self, room: usize) -> (Vec<(anstyle::Style, String)>, usize) {
        let (name, arguments) = self.inner();
        let name = cut(&visible(name), room);
        let used = name.width();
        let told = cut(&telling(arguments), room.saturating_sub(used + 1));
        let taken = told.width();
        let mut spans = vec![(super::style::BOLD, name)];
        if taken == 0 {
            return (spans, used);
        }
        spans.push((PLAIN, format!(" {told}")));
        (spans, used + 1 + taken)
    }

    /// The tool that is meant: `call_tool` only passes a call on.
    fn inner(&self) -> (&str, &Value) {
        let inner = (self.name == "call_tool").then(|| self.arguments.get("name")?.as_str()).flatten();
        match inner {
            Some(name) => (name, self.arguments.get("arguments").unwrap_or(&Value::Null)),
            None => (&self.name, &self.arguments),
        }
    }
}

/// The argument that says most about a call: one with a telling name, else the first text, else all of them.
fn telling(arguments: &Value) -> String {
    let Value::Object(fields) = arguments else {
        return if arguments.is_null() { String::new() } else { visible(&arguments.to_string()) };
    };
    let by_name = TELLING.iter().filter_map(|name| fields.get(*name));
    let is_said = |value: &&Value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => values.iter().all(Value::is_string) && !values.is_empty(),
        _ => false,
    };
    match by_name.into_iter().chain(fields.values()).find(is_said) {
        Some(Value::String(text)) => visible(text),
        Some(Value::Array(values)) => {
            let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            visible(&texts.join(", "))
        }
        _ if fields.is_empty() => String::new(),
        _ => visible(&arguments.to_string()),
    }
}

/// The first rows of a text, and how many more there are.
fn head(label: &str, text: &str, rows: usize) -> Vec<String> {
    let count = text.lines().count();
    let indent = " ".repeat(label.chars().count());
    let labels = std::iter::once(label.to_owned()).chain(std::iter::repeat(indent.clone()));
    let mut shown: Vec<String> =
        labels.zip(flowing(text)).take(rows).map(|(label, row)| format!("{label}{row}")).collect();
    if count > rows {
        shown.push(format!("{indent}… {} more lines", grouped(count - rows)));
    }
    if shown.is_empty() {
        shown.push(label.trim_end().to_owned());
    }
    shown
}

pub(super) fn picture(now: Instant) -> &'static str {
    // Counted from the first picture, so that all spinners turn together.
    static FIRST: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let passed = now.saturating_duration_since(*FIRST.get_or_init(|| now)).as_millis() / TURN;
    SPINNER[usize::try_from(passed).unwrap_or(0) % SPINNER.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::terminal::Look;

    const BARE: Look = Look { colour: false, redraws: true };

    fn call(name: &str, arguments: Value) -> Call {
        let mut call = Call::new(CallId::new("c"), name.into());
        call.whole(arguments);
        call
    }

    #[test]
    fn the_argument_that_says_most() {
        for (arguments, shown) in [
            (json!({"content": "long", "path": "a.txt"}), "a.txt"),
            (json!({"place": "Oslo"}), "Oslo"),
            (json!({"limit": 3, "place": "Oslo"}), "Oslo"),
            (json!({"queries": ["one", "two"]}), "one, two"),
            (json!({"path": 5, "x": true}), r#"{"path":5,"x":true}"#),
            (json!({}), ""),
            (json!(null), ""),
            (json!({"command": "echo a\u{1b}[2J\nrm"}), "echo a\\u{1b}[2J\\nrm"),
        ] {
            assert_eq!(telling(&arguments), shown, "{arguments}");
        }
    }

    #[test]
    fn the_clock_stands_still_in_whatever_order_question_and_start_are_heard_of() {
        let now = Instant::now();
        let later = now + Duration::from_secs(30);
        let mut after = call("exec", json!({}));
        after.started(now);
        after.asked(now);
        let mut before = call("exec", json!({}));
        before.asked(now);
        before.started(now);
        for mut one in [after, before] {
            assert!(matches!(one.state, State::Asked { .. }));
            one.answered(later);
            assert!(matches!(one.state, State::Running(began) if began == later));
        }
    }

    #[test]
    fn a_line_fits_whatever_it_has_to_say() {
        let now = Instant::now();
        let long = json!({"path": "日本/".repeat(50)});
        for width in 0..130 {
            let mut one = call("read_file", long.clone());
            one.started(now);
            one.says(&[Content::text("progress ".repeat(30))]);
            let later = now + Duration::from_secs(61);
            assert!(one.line(width, later).width() <= width.max(5), "{width}");
            one.well(Duration::from_millis(45), "fine".into(), Vec::new());
            assert!(one.line(width, later).width() <= width.max(5), "{width}");
            one.failed("network_error: refused ".repeat(20), None);
            assert!(one.line(width, later).width() <= width.max(9), "{width}");
            assert!(one.details(width).iter().all(|row| row.width() <= width.max(7)), "{width}");
        }
    }

    #[test]
    fn ends_are_told_in_words() {
        let now = Instant::now();
        let mut one = call("call_tool", json!({"name": "get_weather", "arguments": {"place": "Oslo"}}));
        one.well(Duration::from_millis(45), "3 °C".into(), Vec::new());
        let line = one.line(80, now).written(BARE);
        assert_eq!(line, format!("  ✓ {:<54}45 ms", "get_weather Oslo"));
        let details: Vec<String> = one.details(80).iter().map(|line| line.written(BARE)).collect();
        assert_eq!(details, ["      place: Oslo", "      → 3 °C"]);
        one.failed("network_error: refused\nby it".into(), Some("try later".into()));
        assert_eq!(one.line(80, now).written(BARE), "  ✗ get_weather Oslo   network_error: refused");
    }
}
