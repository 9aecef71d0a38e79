//! What stands inside a paragraph, a heading or a cell: emphasis, code, links.
//!
//! pulldown-cmark reads it, as the content of a heading: there, no letter can begin another block, so what
//! `blocks` has decided stays decided. Line breaks are written as `BREAK` meanwhile, which is a blank to
//! the rules of emphasis, as a line break is. A model's line breaks are kept: it means them.

use std::{collections::HashMap, sync::Arc};

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag};

use super::wrap::Run;
use crate::terminal::{Look, clean::cleaned};

/// A line break inside a block. `cleaned` text has no such letter of its own.
pub(super) const BREAK: char = '\u{2028}';

/// Longer ones are shown, not followed.
const ADDRESS: usize = 2000;
const REFERENCES: usize = 1000;
/// More markers than that before a rest of a paragraph would cost more than they show.
const REOPEN: usize = 16;

/// `[label]: address`, for what comes after it: what stands before is on the screen already.
#[derive(Clone, Debug, Default)]
pub(super) struct References(Arc<HashMap<String, String>>);

impl References {
    /// Takes the definitions off the beginning of a paragraph.
    pub(super) fn take<'a>(&mut self, mut text: &'a str) -> &'a str {
        while let Some((label, address, rest)) = definition(text) {
            if self.0.len() < REFERENCES {
                Arc::make_mut(&mut self.0).entry(label).or_insert(address);
            }
            text = rest;
        }
        text
    }
}

fn definition(text: &str) -> Option<(String, String, &str)> {
    let (line, rest) = text.split_once(BREAK).unwrap_or((text, ""));
    let (label, target) = line.strip_prefix('[')?.split_once("]:")?;
    if label.trim().is_empty() || label.starts_with('^') || label.contains(['[', ']']) {
        return None;
    }
    let (address, title) = target.trim().split_once(' ').unwrap_or((target.trim(), ""));
    let title = title.trim();
    let titled = [('"', '"'), ('\'', '\''), ('(', ')')]
        .iter()
        .any(|(open, close)| title.len() > 1 && title.starts_with(*open) && title.ends_with(*close));
    if address.is_empty() || !(title.is_empty() || titled) {
        return None;
    }
    let address = address.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(address);
    Some((label.trim().to_lowercase(), address.to_owned(), rest))
}

pub(super) fn inline(text: &str, base: Style, look: Look, references: &References) -> Vec<Run> {
    // The break at the end keeps a last `#` from being a heading's closing mark.
    let source = format!("# {text}{BREAK}");
    let resolve = |link: BrokenLink<'_>| {
        let address = references.0.get(&link.reference.trim().to_lowercase())?;
        Some((CowStr::from(address.clone()), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(&source, Options::ENABLE_STRIKETHROUGH, Some(resolve));
    let mut inline =
        Inline { source: &source, look, base, open: Vec::new(), links: Vec::new(), runs: Vec::new() };
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(tag) => inline.start(tag, range.start),
            Event::End(_) => inline.end(),
            Event::Text(text) => inline.text(&text, range.start, range.len()),
            Event::Code(text) => inline.code(&text, range.start),
            Event::InlineHtml(html) | Event::Html(html) => {
                let name = html.trim_matches(['<', '>', '/', ' ']).to_ascii_lowercase();
                let html = if name == "br" { CowStr::Borrowed("\n") } else { html };
                inline.text(&html, range.start, range.len());
            }
            _ => {}
        }
    }
    inline.done()
}

enum Opened {
    Style(Style, &'static str),
    Link {
        image: bool,
    },
    /// The heading around it all.
    Block,
}

struct Link {
    address: String,
    /// The runs from here on are its text.
    first: usize,
}

struct Inline<'a> {
    source: &'a str,
    look: Look,
    base: Style,
    open: Vec<Opened>,
    links: Vec<Link>,
    runs: Vec<Run>,
}

impl Inline<'_> {
    fn start(&mut self, tag: Tag<'_>, at: usize) {
        let opened = match tag {
            Tag::Emphasis => Opened::Style(Style::new().italic(), "*"),
            Tag::Strong => Opened::Style(Style::new().bold(), "**"),
            Tag::Strikethrough => {
                self.mark("~~", at);
                Opened::Style(Style::new().strikethrough(), "~~")
            }
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.link(&format!("mailto:{dest_url}"), false)
            }
            Tag::Link { dest_url, .. } => self.link(&dest_url, false),
            Tag::Image { dest_url, .. } => {
                self.text("image: ", at, 0);
                self.link(&dest_url, true)
            }
            _ => Opened::Block,
        };
        self.open.push(opened);
    }

    fn link(&mut self, address: &str, image: bool) -> Opened {
        self.links.push(Link { address: cleaned(address).into_owned(), first: self.runs.len() });
        Opened::Link { image }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Opened::Style(_, "~~")) => self.mark("~~", 0),
            Some(Opened::Link { .. }) => self.linked(),
            _ => {}
        }
    }

    /// A sign of what a style says, where styles are not shown.
    fn mark(&mut self, mark: &str, at: usize) {
        if !self.look.colour {
            self.text(mark, at, 0);
        }
    }

    fn code(&mut self, text: &str, at: usize) {
        let ticks = self.source[at..].bytes().take_while(|byte| *byte == b'`').count();
        let start = at + ticks + self.source[at + ticks..].find(text).unwrap_or(0);
        self.mark("`", at);
        let first = self.runs.len();
        self.text(text, start, text.len());
        for run in &mut self.runs[first..] {
            run.style = run.style.fg_color(Some(AnsiColor::Cyan.into()));
            run.reopen.push_str(&"`".repeat(ticks.min(REOPEN)));
        }
        self.mark("`", 0);
    }

    /// `length` bytes of the source, from `at` on, say this; 0 and 0 if we do.
    fn text(&mut self, text: &str, at: usize, length: usize) {
        let literal = text.len() == length;
        let mut start = at;
        for (index, piece) in text.split([BREAK, '\n']).enumerate() {
            if index > 0 {
                self.run("\n", start, false);
                start += BREAK.len_utf8();
            }
            // An entity may stand for any letter: `&#27;` is an escape character.
            let clean = cleaned(piece);
            if !clean.is_empty() {
                self.run(&clean, start, literal && clean == piece);
            }
            start += piece.len();
        }
    }

    fn run(&mut self, text: &str, at: usize, literal: bool) {
        let (style, reopen) = (self.style(), self.reopen());
        // The mark of the heading is not in the source.
        let at = at.saturating_sub(2);
        self.runs.push(Run { text: text.to_owned(), style, link: None, at, literal, reopen });
    }

    fn style(&self) -> Style {
        let styles = self.open.iter().filter_map(|opened| match opened {
            Opened::Style(style, _) => Some(*style),
            _ => None,
        });
        styles.fold(self.base, |all, style| all.effects(all.get_effects() | style.get_effects()))
    }

    fn reopen(&self) -> String {
        let markers = self.open.iter().map(|opened| match opened {
            Opened::Style(_, marker) => marker,
            Opened::Link { image: false } => "[",
            Opened::Link { image: true } => "![",
            Opened::Block => "",
        });
        let markers: String = markers.collect();
        if markers.len() > REOPEN { String::new() } else { markers }
    }

    /// The end of a link: its text leads there, or its address is shown beside it.
    fn linked(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let shown: String = self.runs[link.first..].iter().map(|run| run.text.as_str()).collect();
        let followed = if self.look.colour { followed(&link.address) } else { None };
        if let Some(address) = &followed {
            for run in &mut self.runs[link.first..] {
                run.link.get_or_insert_with(|| Arc::clone(address));
                run.style = run.style.underline();
            }
        }
        let same = shown == link.address || Some(shown.as_str()) == link.address.strip_prefix("mailto:");
        // A text that reads as an address must not lead to another one.
        let claims = shown.contains("://") || shown.trim_start().starts_with("www.");
        if !same && (followed.is_none() || claims) {
            self.text(&format!(" ({})", link.address), 0, 0);
        }
    }

    fn done(mut self) -> Vec<Run> {
        if self.runs.last().is_some_and(|last| last.text == "\n") {
            self.runs.pop();
        }
        self.runs
    }
}

/// An address as an escape sequence may hold it, if it is one that a click should follow.
fn followed(address: &str) -> Option<Arc<str>> {
    let safe = ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    if !safe || address.len() > ADDRESS {
        return None;
    }
    let mut ascii = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' => ascii.push(char::from(byte)),
            other => ascii.push_str(&format!("%{other:02X}")),
        }
    }
    Some(ascii.into())
}

/// `text` with what is open at its end closed, for how it looks while it comes.
pub(super) fn closed(text: &str) -> String {
    let mut closed = text.trim_end_matches([' ', BREAK]).to_owned();
    let mut ticks = 0;
    let mut strong = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(first).len();
        match first {
            '`' if ticks == 0 => ticks = run,
            '`' if ticks == run => ticks = 0,
            '*' if ticks == 0 && run == 2 => strong = !strong,
            '\\' => {
                rest = rest[1..].strip_prefix(|_: char| true).unwrap_or("");
                continue;
            }
            _ => {}
        }
        rest = &rest[run..];
    }
    let link = closed.rfind("](").filter(|at| !closed[*at..].contains([')', ' ', BREAK]));
    if ticks > 0 {
        closed.push_str(&"`".repeat(ticks));
    } else if link.is_some() {
        closed.push(')');
    } else if strong && closed.ends_with("**") {
        closed.truncate(closed.len() - 2);
    } else if strong {
        closed.push_str(if closed.ends_with('*') { "*" } else { "**" });
    }
    closed
}
