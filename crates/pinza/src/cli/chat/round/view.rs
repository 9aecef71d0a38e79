//! What is to be seen of a round: its events, gathered between two frames, as finished lines and a live part.
//!
//! Things are finished in the order in which they began, so that calls stand in the order in which the model made
//! them. What is over waits in the live part for what began before it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use pinza::{
    agent::{CallResult, Event, Message, Part, StopReason},
    core::{CallId, Content, visible},
};

use super::{
    call::Call,
    style::{BAD, DIM, GOOD, line, note, said_by_user},
    thought::Thought,
};
use crate::terminal::{Line, Look, Markdown, wrapped};

/// How many folded things of a round can be looked at afterwards.
const FOLDED: usize = 100;
/// The fewest rows that words get beside running calls.
const FEWEST: usize = 3;

pub(super) struct View {
    look: Look,
    width: usize,
    verbose: bool,
    items: VecDeque<Item>,
    finished: Vec<Piece>,
    /// What was finished without its details.
    folded: Vec<Item>,
}

/// A part of the output that will not change any more.
pub(super) enum Piece {
    Line(Line),
    Image { data: String, mime: String },
}

impl Piece {
    pub(super) fn line(self) -> Option<Line> {
        match self {
            Self::Line(line) => Some(line),
            Self::Image { .. } => None,
        }
    }
}

enum Item {
    Said { text: Markdown, rows: Vec<Line>, starts_line: bool, over: bool },
    Thought(Thought),
    Call(Box<Call>),
    Lines(Vec<Line>),
}

impl View {
    pub(super) fn new(look: Look, width: usize, verbose: bool) -> Self {
        let (items, finished, folded) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { look, width, verbose, items, finished, folded }
    }

    pub(super) fn take(&mut self, event: Event, now: Instant) {
        match event {
            Event::TextDelta { text } => self.said(&text, now),
            Event::ThinkingDelta { text } => self.thought(&text, now),
            Event::ToolcallStart { id, name } => {
                self.close(now);
                self.items.push_back(Item::Call(Box::new(Call::new(id, name))));
            }
            Event::ToolcallDelta { id, delta } => self.with(&id, |call| call.more(delta.len())),
            Event::ToolcallEnd { id, name, arguments, malformed } => {
                self.known(&id, name, now);
                self.with(&id, |call| call.whole(arguments));
                if malformed.is_some() {
                    self.with(&id, |call| call.failed("the arguments are not JSON".into(), malformed));
                }
            }
            Event::ToolStarted { id, name } => {
                self.known(&id, name, now);
                self.with(&id, |call| call.started(now));
            }
            Event::ToolProgress { id, content } => self.with(&id, |call| call.says(&content)),
            Event::ToolFinished {
                id,
                status,
                result,
                content,
                error_type,
                message,
                hint,
                duration_ms,
                ..
            } => self.with(&id, |call| match status {
                "success" => {
                    call.well(Duration::from_millis(duration_ms.max(1)), result.unwrap_or_default(), content);
                }
                _ => {
                    let reason = [error_type.unwrap_or_default(), message.as_deref().unwrap_or_default()];
                    call.failed(reason.join(": "), hint);
                }
            }),
            Event::GroupLoaded { group } => {
                self.line(line([(GOOD, "  + "), (DIM, &format!("group {group}"))]))
            }
            Event::UserMessage { text } => {
                self.close(now);
                self.items.push_back(Item::Lines(said_by_user(&text)));
            }
            Event::Compacted { messages } => {
                self.line(note(&format!("· {messages} older messages became a summary")));
            }
            Event::Usage { usage } if self.verbose => self.line(note(&format!(
                "· {} tokens in ({} cached), {} out",
                usage.input_tokens, usage.cache_read_tokens, usage.output_tokens
            ))),
            Event::Done(finish) => self.done(finish.stop, now),
            Event::Error { error_type, message, hint } => {
                self.failed(error_type, &message, hint.as_deref(), now);
            }
            Event::Start { .. } | Event::Usage { .. } => {}
        }
    }

    /// A message that was kept, with the results of its calls.
    pub(super) fn keep(&mut self, message: &Message, results: &[CallResult]) {
        let now = Instant::now();
        match message {
            Message::User { .. } => self.items.push_back(Item::Lines(said_by_user(&message.text()))),
            Message::Assistant { parts } => parts.iter().for_each(|part| self.keep_part(part, results, now)),
            Message::Results { .. } => {}
        }
        self.close(now);
    }

    fn keep_part(&mut self, part: &Part, results: &[CallResult], now: Instant) {
        match part {
            Part::Text { text, .. } => self.said(text, now),
            Part::Thinking { text, .. } => self.thought(text, now),
            Part::ToolCall(made) => {
                self.close(now);
                let mut call = Call::new(made.id.clone(), made.name.clone());
                call.whole(made.arguments.clone());
                match results.iter().find(|result| result.id == made.id).map(|found| &found.result) {
                    Some(Ok(output)) => call.well(Duration::ZERO, output.as_text(), Vec::new()),
                    Some(Err(error)) => call.failed(error.to_string(), error.hint.clone()),
                    None => call.failed("not run".into(), None),
                }
                self.items.push_back(Item::Call(Box::new(call)));
            }
        }
    }

    /// A line of ours, where things stand now.
    pub(super) fn line(&mut self, line: Line) {
        self.items.push_back(Item::Lines(vec![line]));
    }

    /// Lines of ours that do not wait for anything.
    pub(super) fn at_once(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.settle();
        self.finished.extend(lines.into_iter().map(Piece::Line));
    }

    pub(super) fn asked(&mut self, id: &CallId) {
        self.with(id, |call| call.asked(Instant::now()));
    }

    pub(super) fn answered(&mut self, id: &CallId) {
        self.with(id, |call| call.answered(Instant::now()));
    }

    pub(super) fn resize(&mut self, width: usize) {
        self.width = width;
        for item in &mut self.items {
            if let Item::Said { text, .. } = item {
                text.resize(width);
            }
        }
    }

    /// From now on with details; what was folded so far comes out again. Tells whether there was anything.
    pub(super) fn unfold(&mut self) -> bool {
        self.verbose = true;
        let folded = std::mem::take(&mut self.folded);
        let lines: Vec<Line> = folded.iter().flat_map(|item| self.opened(item)).collect();
        let any = !lines.is_empty();
        self.at_once(lines);
        any
    }

    pub(super) fn fold(&mut self) {
        self.verbose = false;
    }

    /// What was folded, for later.
    pub(super) fn folded(&self) -> Vec<Line> {
        self.folded.iter().flat_map(|item| self.opened(item)).collect()
    }

    /// Whether something turns or counts seconds.
    pub(super) fn moves(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Call(call) => !call.is_over(),
            Item::Thought(thought) => !thought.is_over(),
            Item::Said { .. } | Item::Lines(_) => false,
        })
    }

    /// Whether nothing can be seen that is under way.
    pub(super) fn is_still(&self) -> bool {
        self.items.is_empty()
    }

    /// What is finished since the last time.
    pub(super) fn finished(&mut self) -> Vec<Piece> {
        self.settle();
        std::mem::take(&mut self.finished)
    }

    /// The live part, in at most so many rows.
    pub(super) fn live(&mut self, rows: usize, now: Instant) -> Vec<Line> {
        self.settle();
        let (width, verbose) = (self.width, self.verbose);
        let beneath: Vec<Line> =
            self.items.iter_mut().skip(1).flat_map(|item| item.rows(width, verbose, rows, now)).collect();
        let room = rows.saturating_sub(beneath.len()).max(FEWEST.min(rows));
        let mut live = match self.items.front_mut() {
            Some(Item::Said { text, over: false, .. }) => text.open(room),
            Some(front) => front.rows(width, verbose, room, now),
            None => Vec::new(),
        };
        // What of the words did not fit is finished.
        self.settle();
        live.extend(beneath);
        let surplus = live.len().saturating_sub(rows);
        if surplus > 0 {
            live.drain(..surplus + 1);
            live.insert(0, note(&format!("… {} more lines", surplus + 1)));
        }
        live.truncate(rows);
        live
    }

    fn said(&mut self, more: &str, now: Instant) {
        if !matches!(self.items.back(), Some(Item::Said { over: false, .. })) {
            self.close(now);
            let text = Markdown::new(self.width, self.look);
            self.items.push_back(Item::Said { text, rows: Vec::new(), starts_line: true, over: false });
        }
        if let Some(Item::Said { text, starts_line, .. }) = self.items.back_mut() {
            text.push(&unlike_ours(more, starts_line));
        }
    }

    fn thought(&mut self, more: &str, now: Instant) {
        if !matches!(self.items.back(), Some(Item::Thought(thought)) if !thought.is_over()) {
            self.close(now);
            self.items.push_back(Item::Thought(Thought::new(now)));
        }
        if let Some(Item::Thought(thought)) = self.items.back_mut() {
            thought.push(more);
        }
    }

    /// Words and thoughts are over when something else begins, also where lines of ours stand between.
    fn close(&mut self, now: Instant) {
        for item in &mut self.items {
            match item {
                Item::Said { over, .. } => *over = true,
                Item::Thought(thought) => thought.end(now),
                Item::Call(_) | Item::Lines(_) => {}
            }
        }
    }

    fn done(&mut self, stop: StopReason, now: Instant) {
        self.close(now);
        let cut = match stop {
            StopReason::MaxTokens => "· the answer was cut at its allowed length",
            StopReason::Refused => "· the model declined to answer",
            StopReason::ContextFull => "· the conversation fills the model's window",
            StopReason::EndTurn
            | StopReason::ToolCalls
            | StopReason::Paused
            | StopReason::MalformedCall
            | StopReason::Other => return,
        };
        self.line(note(cut));
    }

    fn failed(&mut self, code: &str, message: &str, hint: Option<&str>, now: Instant) {
        self.close(now);
        for item in &mut self.items {
            if let Item::Call(call) = item
                && !call.is_over()
            {
                call.failed("not run".into(), None);
            }
        }
        if code == "cancelled" {
            return self.line(note("■ stopped"));
        }
        let room = self.width.saturating_sub(5);
        let mut marks = std::iter::once("  ✗ ").chain(std::iter::repeat("    "));
        let rows = wrapped(&visible(message), room);
        let mut lines: Vec<Line> = rows
            .iter()
            .map(|row| line([(BAD, format!("{}{row}", marks.next().unwrap_or_default()))]))
            .collect();
        for row in hint.into_iter().flat_map(str::lines).flat_map(|row| wrapped(&visible(row), room)) {
            lines.push(line([(DIM, format!("    {row}"))]));
        }
        self.items.push_back(Item::Lines(lines));
    }

    fn with(&mut self, id: &CallId, change: impl FnOnce(&mut Call)) {
        let found = self.items.iter_mut().rev().find_map(|item| match item {
            Item::Call(call) if call.id == *id => Some(call),
            _ => None,
        });
        if let Some(call) = found {
            change(call);
        }
    }

    /// A call that was not announced begins here.
    fn known(&mut self, id: &CallId, name: String, now: Instant) {
        let is_known = self.items.iter().any(|item| matches!(item, Item::Call(call) if call.id == *id));
        if !is_known {
            self.close(now);
            self.items.push_back(Item::Call(Box::new(Call::new(id.clone(), name))));
        }
    }

    /// Finishes from the front what is over.
    fn settle(&mut self) {
        while let Some(front) = self.items.front_mut() {
            if let Item::Said { text, rows, over, .. } = front {
                let more = if *over { text.finish() } else { text.settled() };
                self.finished.extend(rows.drain(..).chain(more).map(Piece::Line));
            }
            if !front.is_over() {
                return;
            }
            let Some(item) = self.items.pop_front() else { return };
            self.finish(item);
        }
    }

    fn finish(&mut self, item: Item) {
        let lines = if self.verbose { self.opened(&item) } else { item.closed(self.width) };
        self.finished.extend(lines.into_iter().map(Piece::Line));
        if let Item::Call(call) = &item {
            self.finished.extend(call.content().iter().filter_map(piece));
        }
        let has_details = matches!(item, Item::Call(_) | Item::Thought(_));
        if has_details && !self.verbose && self.folded.len() < FOLDED {
            self.folded.push(item);
        }
    }

    fn opened(&self, item: &Item) -> Vec<Line> {
        let mut lines = item.closed(self.width);
        match item {
            Item::Call(call) => lines.extend(call.details(self.width)),
            Item::Thought(thought) => lines.extend(thought.details(self.width)),
            Item::Said { .. } | Item::Lines(_) => {}
        }
        lines
    }
}

impl Item {
    fn is_over(&self) -> bool {
        match self {
            Self::Said { over, .. } => *over,
            Self::Thought(thought) => thought.is_over(),
            Self::Call(call) => call.is_over(),
            Self::Lines(_) => true,
        }
    }

    /// As it stays, without details.
    fn closed(&self, width: usize) -> Vec<Line> {
        match self {
            Self::Said { .. } => Vec::new(),
            Self::Thought(thought) => thought.line(width, Instant::now()).into_iter().collect(),
            Self::Call(call) => vec![call.line(width, Instant::now())],
            Self::Lines(lines) => lines.clone(),
        }
    }

    /// As it is now.
    fn rows(&mut self, width: usize, verbose: bool, limit: usize, now: Instant) -> Vec<Line> {
        match self {
            Self::Said { text, rows, over: true, .. } => {
                rows.extend(text.finish());
                rows.clone()
            }
            Self::Said { text, rows, .. } => {
                let open = text.open(limit);
                rows.extend(text.settled());
                rows.iter().cloned().chain(open).collect()
            }
            Self::Thought(thought) if verbose => {
                thought.line(width, now).into_iter().chain(thought.details(width)).collect()
            }
            Self::Thought(thought) => thought.line(width, now).into_iter().collect(),
            Self::Call(call) if verbose => {
                std::iter::once(call.line(width, now)).chain(call.details(width)).collect()
            }
            Self::Call(call) => vec![call.line(width, now)],
            Self::Lines(lines) => lines.clone(),
        }
    }
}

/// What the model writes cannot look as a card or a prompt of ours does.
fn unlike_ours(text: &str, starts_line: &mut bool) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        written.push(match c {
            '┃' => '│',
            '›' if *starts_line => '»',
            c => c,
        });
        *starts_line = c == '\n' || *starts_line && c.is_whitespace();
    }
    written
}

fn piece(content: &Content) -> Option<Piece> {
    Some(match content {
        Content::Text { .. } => return None,
        Content::Image { data, mime_type } => Piece::Image { data: data.clone(), mime: mime_type.clone() },
        Content::Audio { data, mime_type } => {
            let size = super::style::grouped(data.len() / 4 * 3);
            Piece::Line(note(&format!("  ♪ {} of {size} bytes", visible(mime_type))))
        }
        Content::ResourceLink { uri, name, .. } => {
            Piece::Line(note(&format!("  → {} {}", visible(name), visible(uri))))
        }
        Content::Blob { data, mime_type: Some(mime), .. } if mime.starts_with("image/") => {
            Piece::Image { data: data.clone(), mime: mime.clone() }
        }
        Content::Resource { uri, .. } | Content::Blob { uri, .. } => {
            Piece::Line(note(&format!("  → {}", visible(uri))))
        }
    })
}
