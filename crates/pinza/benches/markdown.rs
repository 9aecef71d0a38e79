//! What a look at an answer costs while it comes: a token is pushed, what settled is taken and what is open
//! is laid out, as the chat does for each frame at most.

#![expect(dead_code, reason = "parts of the program, of which a benchmark uses a few")]

#[path = "../src/terminal"]
mod terminal {
    pub(crate) mod clean;
    mod look;
    pub(crate) mod markdown;

    pub(crate) use look::{Line, Look};
}

use terminal::{Look, markdown::Markdown};

const ANSWER: &str = include_str!("../src/terminal/markdown/samples/answer.md");
const TOKENS: usize = 10_000;

fn main() {
    divan::main();
}

/// 10,000 tokens of four letters; at 500 a second they take a model 20 seconds.
fn stream(text: &str) -> usize {
    let mut markdown = Markdown::new(100, Look { colour: true, redraws: true });
    let letters: Vec<char> = text.chars().cycle().take(4 * TOKENS).collect();
    let mut lines = 0;
    for token in letters.chunks(4) {
        markdown.push(&token.iter().collect::<String>());
        lines += markdown.settled().len();
        lines += markdown.open(20).len();
    }
    lines + markdown.finish().len()
}

#[divan::bench]
fn an_answer() -> usize {
    stream(ANSWER)
}

#[divan::bench]
fn one_paragraph() -> usize {
    stream("some words and **strong ones** of a paragraph without an end, ")
}

#[divan::bench]
fn one_code_block() -> usize {
    stream(&format!("```rust\n{}", "    let a = \"some text\"; // and a comment\n".repeat(1000)))
}

#[divan::bench]
fn one_table() -> usize {
    stream(&format!("| a | b |\n|---|---|\n{}", "| some **cell** | another `cell` |\n".repeat(1500)))
}

#[divan::bench]
fn one_line_of_json() -> usize {
    stream(&format!("```json\n{}", "{\"a\": [1, 2, \"three\"]}, ".repeat(2000)))
}
