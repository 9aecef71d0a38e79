//! JSDoc: the sentence that describes a function, and what it says of its parameters.

use std::collections::HashMap;

use oxc_ast::ast::Program;

/// A description is for a model's context; longer first sentences are cut.
const LONGEST: usize = 300;

/// What a comment says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Doc {
    pub(super) summary: Option<String>,
    pub(super) params: Vec<ParamDoc>,
    /// Its author does not want it used: deprecated, internal, private.
    pub(super) avoid: bool,
}

/// `@param {type} [name=default] - text`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParamDoc {
    /// `options.depth` for a property.
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) optional: bool,
    pub(super) default: Option<String>,
    pub(super) text: Option<String>,
}

impl Doc {
    pub(super) fn param(&self, name: &str) -> Option<&ParamDoc> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Parameters themselves, without the properties of their options.
    pub(super) fn own_params(&self) -> impl Iterator<Item = &ParamDoc> {
        self.params.iter().filter(|param| !param.name.contains('.'))
    }
}

/// The comments of a file, by the place of what they stand before.
#[derive(Debug, Default)]
pub(super) struct Docs<'a> {
    by_place: HashMap<u32, &'a str>,
}

impl<'a> Docs<'a> {
    pub(super) fn of(program: &Program<'a>) -> Self {
        let comments = program.comments.iter().filter(|comment| comment.is_jsdoc());
        let text = program.source_text;
        let placed = comments.map(|comment| (comment.attached_to, comment.content_span().source_text(text)));
        // Of several before one thing, the last is about it.
        Self { by_place: placed.collect() }
    }

    pub(super) fn at(&self, place: u32) -> Doc {
        self.by_place.get(&place).map(|text| parse(text)).unwrap_or_default()
    }
}

fn parse(comment: &str) -> Doc {
    let mut doc = Doc::default();
    let mut head = String::new();
    let mut tags: Vec<(String, String)> = Vec::new();
    let mut in_example = false;
    for line in comment.trim_start_matches('*').lines() {
        let line = line.trim().trim_start_matches('*').trim();
        if let Some(tag) = line.strip_prefix('@').filter(|_| !line.starts_with("@@")) {
            let (name, rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            in_example = name == "example";
            tags.push((name.to_owned(), rest.trim().to_owned()));
        } else if let Some((_, text)) = tags.last_mut() {
            if !in_example {
                // An empty line ends a sentence that has no full stop.
                text.push_str(if line.is_empty() { "\n\n" } else { " " });
                text.push_str(line);
            }
        } else {
            head.push_str(if line.is_empty() { "\n\n" } else { " " });
            head.push_str(line);
        }
    }
    let mut texts = vec![head];
    for (name, text) in tags {
        match name.as_str() {
            "summary" | "description" | "desc" | "function" if !text.is_empty() => texts.push(text),
            "param" | "arg" | "argument" | "parameter" => doc.params.extend(param(&text)),
            "deprecated" | "internal" | "private" | "ignore" => doc.avoid = true,
            _ => {}
        }
    }
    doc.summary = texts.iter().find_map(|text| sentence(text));
    doc
}

fn param(text: &str) -> Option<ParamDoc> {
    let text = text.trim_start();
    let (kind, rest) = match text.strip_prefix('{') {
        Some(rest) => {
            let end = closing(rest, '{', '}')?;
            (Some(rest[..end].trim().to_owned()), rest[end + 1..].trim_start())
        }
        None => (None, text),
    };
    let (name, rest) = match rest.strip_prefix('[') {
        Some(rest) => {
            let end = closing(rest, '[', ']')?;
            (rest[..end].to_owned(), &rest[end + 1..])
        }
        None => {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        }
    };
    let bracketed = name.len() + 2 <= text.len() && text.contains(&format!("[{name}]"));
    let (name, default) = match name.split_once('=') {
        Some((name, default)) => (name.trim().to_owned(), Some(default.trim().to_owned())),
        None => (name, None),
    };
    // `@param {type} - text` names nobody.
    if name.is_empty() || name == "-" {
        return None;
    }
    let is_optional_kind = kind.as_deref().is_some_and(|kind| kind.ends_with('='));
    let mut rest = rest.trim_start().trim_start_matches(['-', ':', '–']).trim_start();
    // `@param name {type} text` is not JSDoc, but common.
    if let Some(inside) = rest.strip_prefix('{').filter(|inside| !inside.starts_with('@')) {
        rest = closing(inside, '{', '}').map_or(rest, |end| &inside[end + 1..]);
    }
    let text = sentence(rest);
    let name = name.trim_start_matches("...").trim_end_matches([',', ':']).to_owned();
    Some(ParamDoc { name, kind, optional: bracketed || is_optional_kind, default, text })
}

/// Where a bracket that is already open is closed.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The first sentence of a text, in one line, without markup.
pub(super) fn sentence(text: &str) -> Option<String> {
    let first = text.trim_start().split("\n\n").next().unwrap_or_default();
    let plain = without_links(first);
    let plain: String = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = pinza_core::visible(&plain);
    let end = plain.match_indices(". ").map(|(at, _)| at + 1).find(|at| {
        // `e.g. this` goes on; a sentence begins with a capital letter or a sign.
        let abbreviated = ["e.g.", "i.e.", "etc.", "vs."].iter().any(|short| plain[..*at].ends_with(short));
        !abbreviated && !plain[at + 1..].starts_with(char::is_lowercase)
    });
    let mut sentence = plain[..end.unwrap_or(plain.len())].trim().to_owned();
    if sentence.chars().count() > LONGEST {
        sentence = sentence.chars().take(LONGEST - 1).collect::<String>() + "…";
    }
    (!sentence.is_empty()).then_some(sentence)
}

/// `{@link x}`, `{@link x|text}` and `[text](address)` become their text; marks of HTML go.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[', '<']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        let (shown, length) = link(from).unwrap_or((&from[..1], 1));
        out.push_str(shown);
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

/// What a link at the start of a text shows, and how long it is.
fn link(text: &str) -> Option<(&str, usize)> {
    if let Some(inside) = text.strip_prefix("{@") {
        let end = inside.find('}')?;
        let (_, target) = inside[..end].split_once(char::is_whitespace)?;
        let shown = target.split_once(['|', ' ']).map_or(target, |(_, shown)| shown);
        return Some((shown.trim(), end + 3));
    }
    if let Some(inside) = text.strip_prefix('[') {
        let (shown, after) = inside.split_once("](")?;
        let end = after.find(')')?;
        return (!shown.contains('\n')).then_some((shown, 1 + shown.len() + 2 + end + 1));
    }
    let inside = text.strip_prefix('<')?;
    let end = inside.find('>')?;
    let tag = inside[..end].trim_matches('/').split_whitespace().next()?;
    let is_tag = matches!(tag, "p" | "br" | "b" | "i" | "a" | "em" | "strong" | "code" | "pre" | "ul" | "li");
    is_tag.then_some((" ", end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        for (text, expected) in [
            ("Splits an array. Then more.", "Splits an array."),
            ("Uses e.g. this form. More", "Uses e.g. this form."),
            (" two\n lines\n\nanother paragraph", "two lines"),
            ("See {@link Other} or [docs](https://x.y/(z).", "See Other or docs."),
            ("A <b>bold</b> a < b word", "A bold a < b word"),
            ("Version 1.5 is fine", "Version 1.5 is fine"),
        ] {
            assert_eq!(sentence(text).as_deref(), Some(expected));
        }
        assert_eq!(sentence("  "), None);
        assert_eq!(sentence(&"x".repeat(400)).unwrap().chars().count(), LONGEST);
    }

    #[test]
    fn comments() {
        let doc = parse(
            "* Creates chunks.
             * More of it.
             *
             * @param {Array<{a: 1}>} array The array to process.
             * @param {number} [size=1] - The length
             *   of each chunk.
             * @param options.deep {boolean} whether deep
             * @returns {Array} x
             * @example
             * @param no
             ",
        );
        assert_eq!(doc.summary.as_deref(), Some("Creates chunks."));
        let shown: Vec<String> = doc
            .params
            .iter()
            .map(|p| format!("{}|{:?}|{}|{:?}|{:?}", p.name, p.kind, p.optional, p.default, p.text))
            .collect();
        assert_eq!(
            shown[..3],
            [
                r#"array|Some("Array<{a: 1}>")|false|None|Some("The array to process.")"#,
                r#"size|Some("number")|true|Some("1")|Some("The length of each chunk.")"#,
                r#"options.deep|None|false|None|Some("whether deep")"#,
            ]
        );
        assert_eq!(parse("*\n * @name x\n * @summary Says it.\n").summary.as_deref(), Some("Says it."));
        assert!(parse("* Old. @internal\n * @deprecated").avoid);
    }
}
