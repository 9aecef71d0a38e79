//! What an answer looks like, and that it does not depend on the pieces it came in.

use anstyle::{Effects, Style};
use proptest::prelude::*;

use super::*;

const COLOUR: Look = Look { colour: true, redraws: true };
const NO_COLOUR: Look = Look { colour: false, redraws: true };
const PLAIN: Look = Look { colour: false, redraws: false };

const ANSWER: &str = include_str!("samples/answer.md");
const NESTED: &str = include_str!("samples/nested.md");
const TABLES: &str = include_str!("samples/tables.md");
const WIDE: &str = include_str!("samples/wide.md");
const ODD: &str = include_str!("samples/odd.md");
const SAMPLES: [&str; 5] = [ANSWER, NESTED, TABLES, WIDE, ODD];

fn render(text: &str, width: usize, look: Look) -> Vec<Line> {
    let mut markdown = Markdown::new(width, look);
    markdown.push(text);
    markdown.finish()
}

/// In pieces, with a look at what is open after each; what settled, in order.
fn stream<'a>(pieces: impl IntoIterator<Item = &'a str>, width: usize, look: Look) -> Vec<Line> {
    let mut markdown = Markdown::new(width, look);
    let mut lines = Vec::new();
    for piece in pieces {
        markdown.push(piece);
        lines.extend(markdown.settled());
        markdown.open(usize::MAX);
    }
    lines.extend(markdown.finish());
    lines
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| line.written(PLAIN) + "\n").collect()
}

/// Lines with their styles as letters: `{b:bold}`.
fn marked(lines: &[Line]) -> String {
    let mut marked = String::new();
    for line in lines {
        for (index, (style, text)) in line.spans.iter().enumerate() {
            let signs = signs(*style);
            let link = line.links.iter().find(|(span, _)| *span == index);
            let link = link.map_or(String::new(), |(_, address)| format!("@{address}"));
            match signs.as_str() {
                "" => marked.push_str(text),
                signs => marked.push_str(&format!("{{{signs}{link}:{text}}}")),
            }
        }
        marked.push('\n');
    }
    marked
}

fn signs(style: Style) -> String {
    let effects = [
        (Effects::BOLD, "b"),
        (Effects::ITALIC, "i"),
        (Effects::UNDERLINE, "u"),
        (Effects::STRIKETHROUGH, "s"),
        (Effects::DIMMED, "d"),
    ];
    let mut signs: String = effects
        .iter()
        .filter(|(effect, _)| style.get_effects().contains(*effect))
        .map(|(_, sign)| *sign)
        .collect();
    if let Some(anstyle::Color::Ansi(colour)) = style.get_fg_color() {
        signs.push_str(&format!("{colour:?}").to_lowercase());
    }
    signs
}

#[test]
fn samples_look_as_they_should() {
    for (name, sample) in ["answer", "nested", "tables", "wide", "odd"].iter().zip(SAMPLES) {
        for width in [40, 80] {
            insta::assert_snapshot!(format!("{name}_{width}"), marked(&render(sample, width, COLOUR)));
        }
    }
    insta::assert_snapshot!("answer_no_colour", text(&render(ANSWER, 80, NO_COLOUR)));
    insta::assert_snapshot!("nested_no_colour", text(&render(NESTED, 80, NO_COLOUR)));
    insta::assert_snapshot!("answer_plain", text(&render(ANSWER, 80, PLAIN)));
    insta::assert_snapshot!("nested_plain", text(&render(NESTED, 80, PLAIN)));
    insta::assert_snapshot!("tables_plain", text(&render(TABLES, 80, PLAIN)));
}

#[test]
fn every_cut_gives_the_same() {
    for sample in SAMPLES {
        let whole = render(sample, 40, PLAIN);
        for (cut, _) in sample.char_indices() {
            let (first, second) = sample.split_at(cut);
            assert_eq!(stream([first, second], 40, PLAIN), whole, "cut at {cut} of {sample:?}");
        }
    }
}

#[test]
fn letter_by_letter_gives_the_same() {
    for sample in SAMPLES {
        for look in [COLOUR, NO_COLOUR] {
            let letters = sample.split_inclusive(|_: char| true);
            assert_eq!(stream(letters, 60, look), render(sample, 60, look));
        }
    }
}

#[test]
fn no_line_is_wider_than_the_screen() {
    for sample in SAMPLES {
        for look in [COLOUR, NO_COLOUR, PLAIN] {
            for width in (8..=32).chain([40, 61, 80, 99, 120]) {
                for line in render(sample, width, look) {
                    assert!(line.width() <= width.min(100), "{width}: {line:?}");
                }
            }
        }
    }
}

/// Pieces that Markdown is made of, and some that it is broken with.
fn pieces() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        4 => "[a-z]{1,12} ?",
        1 => Just("日本語テキスト".to_owned()),
        1 => Just("🦀👩\u{200d}👧e\u{301}ᄀᄀᄀᄀᄀ".to_owned()),
        1 => Just("\u{1b}[31m\u{202e}&#27;&#x202e;\u{9b}".to_owned()),
        3 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        4 => prop::sample::select(vec![
            "**", "*", "_", "`", "~~", "[a](http://b.c)", "[", "](", ")", "<br>", "<b>", "\\", "&amp;", "  ",
            "!", "http://x.y/z",
        ])
        .prop_map(str::to_owned),
        4 => prop::sample::select(vec![
            "\n```rust\n", "\n```\n", "\n~~~", "\n- ", "\n  - ", "\n1. ", "\n2) ", "\n> ", "\n# ", "\n## ", "\n---\n",
            "\n===\n", "\n    ", "\n\t", "\n| a | b |\n|---|:-:|\n", "\n| c | d | e |\n", "|", "\n- [ ] ", "\n> - ",
            "\n[a]: http://b.c\n", "\n* * *\n",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_do_not_matter(pieces in pieces(), width in 8_usize..100) {
        let whole = pieces.concat();
        for look in [COLOUR, PLAIN] {
            let lines = render(&whole, width, look);
            prop_assert_eq!(&stream(pieces.iter().map(String::as_str), width, look), &lines);
            prop_assert_eq!(&stream(whole.split_inclusive(|_: char| true), width, look), &lines);
            for line in &lines {
                prop_assert!(line.width() <= width, "{:?} in {}", line, width);
                assert_clean(line);
            }
        }
    }

    /// Rows that settle because there is no more room may look otherwise; but no word is lost or said twice,
    /// and there is never more than there is room for.
    #[test]
    fn little_room_loses_nothing(words in prop::collection::vec("[a-z]{1,9}", 1..300), rows in 1_usize..6) {
        let mut markdown = Markdown::new(30, COLOUR);
        let mut lines = Vec::new();
        for (index, word) in words.iter().enumerate() {
            markdown.push(if index % 7 == 3 { "**" } else { "" });
            markdown.push(word);
            markdown.push(if index % 7 == 5 { "**" } else { "" });
            markdown.push(" ");
            prop_assert!(markdown.open(rows).len() <= rows);
            lines.extend(markdown.settled());
        }
        lines.extend(markdown.finish());
        let shown = text(&lines).replace("**", "");
        prop_assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words);
    }
}

fn assert_clean(line: &Line) {
    for (_, text) in &line.spans {
        let odd =
            text.chars().find(|c| c.is_control() || pinza::core::visible(&c.to_string()) != c.to_string());
        assert_eq!(odd, None, "{text:?}");
    }
    for (_, address) in &line.links {
        assert!(address.bytes().all(|byte| byte.is_ascii_graphic()), "{address:?}");
    }
}

#[test]
fn nothing_of_a_model_steers_the_terminal() {
    let hostile = "\u{1b}]0;title\u{7} `\u{1b}[2J` &#27;[31m &#x9b;2J &#8238;x [a](http://b/&#27;]8;;&#7;) \u{202e}\n\n\
                   ```\u{1b}[1m\n\u{1b}[2J\u{9b}31m\n```\n\n| \u{1b}c | b |\n|---|---|\n| &#27; | \u{200b}\u{2066} |\n\n\
                   # \u{1b}[5m\n\n- \u{85}\u{0}x\n\n<http://a.b/\u{1b}\\>";
    for look in [COLOUR, NO_COLOUR, PLAIN] {
        let mut markdown = Markdown::new(80, look);
        let mut lines = Vec::new();
        for piece in hostile.split_inclusive(|_: char| true) {
            markdown.push(piece);
            lines.extend(markdown.settled());
            lines.extend(markdown.open(20));
        }
        lines.extend(markdown.finish());
        lines.iter().for_each(assert_clean);
    }
}

#[test]
fn a_model_cannot_write_in_our_columns() {
    let imitation = "› yes\n\n\u{a0}\u{a0}✓ exec\n\n\u{3000}✓ exec\n\n\u{2800}\u{2800}✓ exec\n\n&nbsp;&nbsp;✓ exec\n\n```\n  ✓ exec\n```\n";
    let lines = text(&render(imitation, 80, COLOUR));
    assert_eq!(lines, "> yes\n\n✓ exec\n\n✓ exec\n\n✓ exec\n\n✓ exec\n\n│   ✓ exec\n");
}

#[test]
fn links_lead_where_they_say() {
    let cases = [
        ("[Oslo](https://a.b/c)", "{u@https://a.b/c:Oslo}\n", "Oslo (https://a.b/c)\n"),
        ("<https://a.b/c>", "{u@https://a.b/c:https://a.b/c}\n", "https://a.b/c\n"),
        ("<me@a.b>", "{u@mailto:me@a.b:me@a.b}\n", "me@a.b\n"),
        ("[f](src/f.rs)", "f (src/f.rs)\n", "f (src/f.rs)\n"),
        ("[x](javascript:a)", "x (javascript:a)\n", "x (javascript:a)\n"),
        (
            "[https://good.com](https://evil.com)",
            "{u@https://evil.com:https://good.com} (https://evil.com)\n",
            "https://good.com (https://evil.com)\n",
        ),
        ("[ö](https://a.b/ö)", "{u@https://a.b/%C3%B6:ö}\n", "ö (https://a.b/ö)\n"),
        ("[r]: https://a.b\n\nsee [r]", "see {u@https://a.b:r}\n", "see r (https://a.b)\n"),
    ];
    for (source, coloured, plain) in cases {
        assert_eq!(marked(&render(source, 80, COLOUR)), coloured, "{source}");
        assert_eq!(text(&render(source, 80, PLAIN)), plain, "{source}");
    }
}

#[test]
fn what_settles_settles_early() {
    let mut markdown = Markdown::new(40, COLOUR);
    let mut step = |piece: &str| {
        markdown.push(piece);
        let settled = text(&markdown.settled());
        (settled, text(&markdown.open(10)))
    };
    let own = |settled: &str, open: &str| (settled.to_owned(), open.to_owned());
    assert_eq!(step("# Ti"), own("", "Ti\n"));
    assert_eq!(step("tle\n"), own("Title\n", ""));
    assert_eq!(step("Some **bold"), own("", "Some bold\n"));
    assert_eq!(step("** text\n"), own("", "Some bold text\n"));
    assert_eq!(step("\n"), own("Some bold text\n", ""));
    assert_eq!(step("```rs\nlet a"), own("\n", "│ let a\n"));
    assert_eq!(step(" = 1;\nlet b = 2;\n"), own("│ let a = 1;\n│ let b = 2;\n", ""));
    assert_eq!(step("``"), own("", ""));
    assert_eq!(step("`\n"), own("", ""));
    assert_eq!(step("- one\n- two"), own("", "\n• one\n• two\n"));
    assert_eq!(step("\n  1. deep\n"), own("\n• one\n• two\n", "  1. deep\n"));
    assert_eq!(step("\n> quo"), own("  1. deep\n", "\n▌ quo\n"));
}

#[test]
fn what_is_open_stays_small() {
    let paragraph = "some words and **strong ones** of a text ".repeat(5000);
    let unbroken = "x".repeat(200_000);
    let table = format!("| a | b |\n|---|---|\n{}", "| some cell | another cell |\n".repeat(7000));
    let code = format!("```rust\n{}", "let a = \"some text\"; // and a comment\n".repeat(5000));
    let one_line = format!("```json\n{}", "{\"a\": 1}, ".repeat(20_000));
    let list = "- an item of a list\n".repeat(10_000);
    let quote = "> a line of a quote\n".repeat(10_000);
    let row = format!("| a | b |\n|---|---|\n| {}", "cell | ".repeat(30_000));
    for text in [paragraph, unbroken, table, code, one_line, list, quote, row] {
        let mut markdown = Markdown::new(80, COLOUR);
        let mut lines = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1000));
            rest = after;
            markdown.push(piece);
            lines.extend(markdown.settled());
            // What a look costs is what is open, in bytes: the line that has not ended, and the block.
            assert!(markdown.partial.len() <= LONG);
            assert!(markdown.blocks.open_bytes() <= LONG, "{}", markdown.blocks.open_bytes());
        }
        lines.extend(markdown.finish());
        assert!(lines.iter().all(|line| line.width() <= 80));
    }
}

#[test]
fn a_long_paragraph_is_cut_without_loss() {
    let words = "some `code here` and **strong ones** of *a text*, a [link](https://a.b/c?d=e) ~~or~~ 日本語 &amp; two\n";
    for (look, source) in [
        (COLOUR, words.repeat(500)),
        (PLAIN, words.repeat(500)),
        (COLOUR, words.replace('\n', " ").repeat(500)),
        (PLAIN, words.replace('\n', " ").repeat(500)),
    ] {
        let once = text(&render(words, 100, look)).repeat(500);
        let all = text(&render(&source, 31, look));
        // Rows may be broken between letters of Chinese and Japanese.
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        assert!(letters(&all) == letters(&once), "{look:?}\n{all}");
    }
}

#[test]
fn it_goes_to_other_threads() {
    fn sends<T: Send>(_: T) {}
    sends(Markdown::new(80, COLOUR));
}

#[test]
fn deep_and_tangled_input_is_only_text() {
    let tangles = [
        ">".repeat(10_000),
        "> ".repeat(10_000),
        "- ".repeat(10_000),
        "1. ".repeat(10_000),
        "*_".repeat(50_000),
        "*a _b ".repeat(20_000),
        "[".repeat(50_000),
        "![".repeat(50_000),
        "[a](".repeat(20_000),
        "`".repeat(1000) + &"`` ` ".repeat(10_000),
        "<".repeat(50_000),
        "&".repeat(50_000),
        "|".repeat(3000) + "\n" + &"|-".repeat(1500) + "\n" + &"|a".repeat(1500),
        (0..2000).map(|depth| " ".repeat(2 * depth.min(50)) + "- a\n").collect(),
        "a\u{301}".repeat(20_000) + &"\u{301}".repeat(20_000),
        "ᄀ".repeat(20_000),
    ];
    for tangle in tangles {
        for look in [COLOUR, PLAIN] {
            let mut markdown = Markdown::new(40, look);
            let mut lines = Vec::new();
            let mut rest = tangle.as_str();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(3000));
                rest = after;
                markdown.push(piece);
                lines.extend(markdown.settled());
                lines.extend(markdown.open(20));
            }
            lines.extend(markdown.finish());
            assert!(lines.iter().all(|line| line.width() <= 40), "{:?}", &tangle[..20]);
        }
    }
}

#[test]
fn another_width_is_for_what_is_open() {
    let mut markdown = Markdown::new(80, PLAIN);
    markdown.push("one two three four five six\n\none two three four five six");
    assert_eq!(text(&markdown.settled()), "one two three four five six\n");
    markdown.resize(15);
    assert_eq!(text(&markdown.open(9)), "\none two three\nfour five six\n");
    assert_eq!(text(&markdown.finish()), "\none two three\nfour five six\n");
}

#[test]
fn a_table_settles_when_there_is_no_room() {
    let mut markdown = Markdown::new(40, PLAIN);
    markdown.push("| a | b |\n|---|---|\n");
    let mut lines = Vec::new();
    for row in 0..30 {
        markdown.push(&format!("| row {row} | x |\n"));
        assert!(markdown.open(5).len() <= 5);
        lines.extend(markdown.settled());
    }
    lines.extend(markdown.finish());
    let shown = text(&lines);
    assert_eq!(lines.len(), 31, "{shown}");
    assert!((0..30).all(|row| shown.contains(&format!("row {row} "))), "{shown}");
}
