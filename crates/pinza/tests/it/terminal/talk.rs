//! What a model says: Markdown as it comes, thinking, and words that would be more than words.

use pinza_testkit::model::{Provider, Turn};

use super::{Room, compare, count, ready, row, say, slowly, stalling};
use crate::support::pinza;

const ANSWER: &str = "# Three things

A paragraph with **bold**, *slanted* and `code` words, and a [link](https://example.com/a) that is long enough to be wrapped at the edge.

1. First
   - nested one
   - nested two
2. Second

> A quotation.

| City | Degrees |
|:-----|--------:|
| Oslo | 3 |
| Bergen | 11 |

```rust
fn main() {
    println!(\"hi\"); // said
}
```

---

The end.";

#[test]
fn markdown_streams_and_stays() {
    let room = Room::new([slowly(Turn::text(ANSWER))]);
    let terminal = room.sit(&[]);
    terminal.line("Tell me three things");
    // It does not wait for the end to show the beginning.
    let early = terminal.wait_for("Three things");
    assert!(!early.contains("The end."), "{early}");
    terminal.wait_for("The end.");
    ready(&terminal);
    compare(&terminal, "markdown");
    let history = terminal.history();
    for once in ["Three things", "nested two", "Bergen", "println!", "The end."] {
        assert_eq!(count(&history, once), 1, "{once} in {history}");
    }
    for raw in ["**", "```", "|:--", "[link]("] {
        assert!(!history.contains(raw), "{raw} in {history}");
    }
    room.finished();
}

#[test]
fn code_has_colours_and_words_their_weight() {
    let room = Room::new([Turn::text("Some **bold** words.\n\n```rust\nfn main() {}\n```")]);
    let terminal = room.sit(&[]);
    say(&terminal, "Code?");
    let screen = terminal.coloured();
    assert!(row(&screen, "bold").contains("\x1b[1mbold"), "{screen:?}");
    assert!(row(&screen, "main").contains("\x1b["), "code has no colours: {screen:?}");
}

#[test]
fn thinking_is_folded_and_can_be_unfolded() {
    let thoughtful =
        |text: &str| Turn { thinking: "First I count the moons of Mars.".into(), ..Turn::text(text) };
    let room = Room::with(pinza(), Provider::Anthropic, [thoughtful("Two moons."), thoughtful("Still two.")]);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "How many?");
    assert!(!screen.contains("count the moons"), "{screen}");
    assert!(screen.contains("▸ thought"), "{screen}");
    compare(&terminal, "thinking_folded");
    terminal.key("C-d");
    terminal.gone();

    let terminal = room.sit(&["-v"]);
    terminal.line("And now?");
    terminal.wait_for("Still two.");
    let screen = ready(&terminal);
    assert!(screen.contains("count the moons"), "{screen}");
    room.finished();
}

#[test]
fn words_of_a_model_are_only_words() {
    let said =
        "one\u{1b}[2J\u{1b}[31mred\u{7}\u{9b}31m two\u{202e}three\u{200b} \u{1b}]0;title\u{7}\u{1b}[5Aup";
    let room = Room::new([Turn::text(said)]);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "Be evil");
    // Nothing was cleared, moved or coloured: all that was there before is there.
    assert!(screen.contains("Be evil") && screen.contains("three") && screen.contains("up"), "{screen}");
    let coloured = terminal.coloured();
    assert!(!row(&coloured, "three").contains("\x1b[31m"), "{coloured:?}");
    let written = String::from_utf8_lossy(&terminal.written()).into_owned();
    for odd in ["\u{7}", "\u{202e}", "\u{200b}", "\u{9b}", "\x1b]0;title", "\x1b[31mred", "\x1b[5Aup"] {
        assert!(!written.contains(odd), "{odd:?} reached the terminal");
    }
}

#[test]
fn wide_characters_keep_their_columns() {
    let table = "| 名前 | n |\n|---|--:|\n| 東京 | 1 |\n| Oslo | 22 |\n\n日本語の文章は長くなると折り返されます。日本語の文章は長くなると折り返されます。日本語の文章は長くなると折り返されます。👩‍👩‍👧 é";
    let room = Room::new([slowly(Turn::text(table))]);
    let terminal = room.open(&[], &[], 50, 24);
    ready(&terminal);
    let screen = say(&terminal, "日本は？");
    assert!(screen.contains("日本は？"), "{screen}");
    assert!(screen.contains('é'), "{screen}");
    let flat: String = terminal.history().split_whitespace().collect();
    assert_eq!(count(&flat, "長くなると折り返されます。"), 3, "{screen}");
    compare(&terminal, "wide_characters");
}

#[test]
fn a_failure_of_the_provider_is_told_and_the_talk_goes_on() {
    let room = Room::new([Turn::error(400, "the model is on holiday"), Turn::text("Back again.")]);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "Hello?");
    assert!(screen.contains("the model is on holiday"), "{screen}");
    compare(&terminal, "provider_fails");
    let screen = say(&terminal, "Hello again");
    assert!(screen.contains("Back again."), "{screen}");
}

#[test]
fn half_an_answer_is_shown_as_it_is() {
    let room = Room::new([stalling("Words that come before **nothing ")]);
    let terminal = room.sit(&[]);
    terminal.line("Go");
    terminal.wait_for("nothing");
    terminal.key("C-c");
    let screen = ready(&terminal);
    assert!(screen.contains("Words that come before"), "{screen}");
}
