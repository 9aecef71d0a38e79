//! Front matter as a tree with lines.
//!
//! YAML's syntax is the library's; its surprises stay out: no anchors and tags (a few lines could mean
//! millions), no key twice, nothing nested deeper than front matter is, and every scalar a text, so
//! that a version `1.10` stays what was written.

use saphyr_parser::{Event, Parser, ScanError, Span};

use super::SkillFault;

const DEEPEST: usize = 8;
const MOST_FIELDS: usize = 100;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    /// `plain` where it was not quoted: `null`, `true` and the like mean something then.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Map),
}

/// Keys with their lines, in their order.
pub(super) type Map = Vec<(String, usize, Node)>;

/// Reads front matter that begins in a line of its file.
pub(super) fn parse(text: &str, first_line: usize) -> Result<Map, SkillFault> {
    let mut reader = Reader { parser: Parser::new_from_str(text), first_line };
    let node = reader.document()?;
    match node.map(|node| node.value) {
        Some(Value::Map(map)) => Ok(map),
        None => {
            Err(SkillFault::new(first_line, "The front matter is empty: name and description are required"))
        }
        Some(_) => Err(SkillFault::new(first_line, "The front matter must be fields: 'name: value'")),
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    first_line: usize,
}

impl<'a> Reader<'a> {
    /// The one document that there is; `None` where there is nothing but comments.
    fn document(&mut self) -> Result<Option<Node>, SkillFault> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(document),
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                event => {
                    let line = self.line(&span);
                    if document.is_some() {
                        return Err(SkillFault::new(line, "The front matter is more than one document"));
                    }
                    document = Some(self.node(event, &span, 0)?);
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, SkillFault> {
        let line = self.line(span);
        if depth > DEEPEST {
            return Err(SkillFault::new(line, "The front matter is nested too deep"));
        }
        let value = match event {
            Event::Scalar(text, style, 0, None) => {
                Value::Text { text: text.into_owned(), plain: style == saphyr_parser::ScalarStyle::Plain }
            }
            Event::SequenceStart(0, None) => Value::List(self.list(depth)?),
            Event::MappingStart(0, None) => Value::Map(self.map(depth)?),
            _ => return Err(SkillFault::new(line, "Anchors, aliases and tags of YAML are not used here")),
        };
        Ok(Node { line, value })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, SkillFault> {
        let mut list = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(list);
            }
            list.push(self.node(event, &span, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Map, SkillFault> {
        let mut map = Map::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(map);
            }
            let key = self.node(event, &span, depth + 1)?;
            let Value::Text { text, .. } = key.value else {
                return Err(SkillFault::new(key.line, "A field's name must be a text"));
            };
            if map.iter().any(|(known, ..)| *known == text) {
                let message = format!("'{}' is there twice", crate::visible(&text));
                return Err(SkillFault::new(key.line, message));
            }
            if map.len() == MOST_FIELDS {
                return Err(SkillFault::new(key.line, format!("More than {MOST_FIELDS} fields")));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, &span, depth + 1)?;
            map.push((text, key.line, value));
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), SkillFault> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.fault(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn fault(&self, error: &ScanError) -> SkillFault {
        let line = self.first_line + error.marker().line().saturating_sub(1);
        SkillFault::new(line, format!("The front matter is not valid YAML: {}", error.info()))
    }

    fn line(&self, span: &Span) -> usize {
        self.first_line + span.start.line().saturating_sub(1)
    }
}
