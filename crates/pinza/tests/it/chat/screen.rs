//! What a person sees at a terminal while the agent works.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use pinza_testkit::{
    Terminal,
    model::{Chunks, Provider, Turn},
};
use serde_json::json;

use super::{World, after};

const FRAME: &str = "\x1b[?2026h";
const PROMPT: &str = "›";

/// The program at a terminal, with a question already asked.
fn asked(world: &World, more: &[&str], columns: u16, rows: u16) -> Terminal {
    let terminal = opened(world, more, columns, rows);
    terminal.wait_for(PROMPT);
    terminal.line("go");
    terminal
}

fn opened(world: &World, more: &[&str], columns: u16, rows: u16) -> Terminal {
    let base = world.model.base_url(world.provider);
    let provider = world.provider.to_string();
    let fixed = ["chat", "--provider", &provider, "--base-url", &base, "--model", "m"];
    let words: Vec<&str> = fixed.iter().chain(more).copied().collect();
    Terminal::start(&world.pinza.command(words), &[], columns, rows)
}

/// In small pieces, so that there is something to see meanwhile.
fn slowly(turn: Turn, bytes: usize, delay_ms: u64) -> Turn {
    Turn { chunks: Chunks { bytes: Some(bytes), delay_ms }, ..turn }
}

/// Says this, and then goes on for longer than any test.
fn endless(text: &str) -> Turn {
    slowly(Turn::text(format!("{text} {}", "and on ".repeat(5000))), 100, 100)
}

/// How many lines of the history have this.
fn count(terminal: &Terminal, text: &str) -> usize {
    terminal.history().lines().filter(|line| line.contains(text)).count()
}

#[test]
fn calls_thoughts_and_words_are_lines_of_their_own() {
    let turns = [
        Turn {
            thinking: "First this.\nThen that.".into(),
            ..Turn::calls([
                ("get_current_time", json!({"timezone": "Asia/Tokyo"})),
                ("read_file", json!({"path": "no\u{1b}[2J.txt"})),
            ])
        },
        after(&["+09:00"], Turn::text("It is late.")),
    ];
    let world = World::new(Provider::Anthropic, turns);
    let terminal = asked(&world, &[], 80, 24);
    let screen = terminal.wait_for("It is late.");
    terminal.wait("the next prompt", |screen| screen.lines().last() == Some(PROMPT));
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    let at = |start: &str| lines.iter().position(|line| line.starts_with(start));
    let order = [
        at("  ▸ thought"),
        at("  ✓ get_current_time Asia/Tokyo  "),
        at("  ✗ read_file no\\u{1b}[2J.txt   file_not_found: "),
        at("It is late."),
    ];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}\n{screen}");
    assert!(!screen.contains("First this."), "thinking is folded: {screen}");
}

#[test]
fn details_are_shown_from_the_start_or_with_a_key() {
    let turns = || {
        [
            Turn { thinking: "Deep.".into(), ..Turn::calls([("read_file", json!({"path": "a.txt"}))]) },
            endless("I say"),
        ]
    };
    let world = World::new(Provider::Anthropic, turns());
    world.pinza.put("a.txt", "what is in it");
    let terminal = asked(&world, &["-v"], 80, 24);
    terminal.wait_for("I say");
    for shown in ["    Deep.", "      path: a.txt", "      → what is in it"] {
        assert_eq!(count(&terminal, shown), 1, "{}", terminal.history());
    }
    let world = World::new(Provider::Anthropic, turns());
    world.pinza.put("a.txt", "what is in it");
    let terminal = asked(&world, &[], 80, 24);
    terminal.wait_for("I say");
    assert_eq!(count(&terminal, "what is in it"), 0);
    terminal.key("C-o").wait_for("      → what is in it");
    assert_eq!(count(&terminal, "    Deep."), 1, "{}", terminal.history());
}

#[test]
fn approvals_are_asked_in_the_live_part() {
    let exec = |command: &str| Turn::calls([("exec", json!({"command": command}))]);
    // What is pressed, what is told of it, and whether the command runs.
    for (key, told, runs) in [
        ("y", "✓ allowed exec once", true),
        ("s", "✓ allowed exec for this session", true),
        ("a", "✓ allowed exec always: allow tool exec", true),
        ("n", "✗ denied exec", false),
        ("Escape", "✗ denied exec", false),
    ] {
        let world = World::new(Provider::OpenAi, [exec("touch made"), Turn::text("Well.")]);
        let terminal = asked(&world, &[], 100, 24);
        let screen = terminal.wait_for("┃ [y] once  [s] this session  [n] no");
        let rule = "  ┃ [a] always: writes allow tool exec capability exec where command is \"touch made\"";
        for line in ["  ┃ exec asks for: exec", "  ┃   command: touch made", rule] {
            assert!(screen.lines().any(|shown| shown == line), "{line}\n{screen}");
        }
        terminal.key(key).wait_for(told);
        terminal.wait_for("Well.");
        assert_eq!(count(&terminal, "┃"), 0, "the card is gone: {}", terminal.history());
        assert_eq!(world.pinza.workspace().join("made").exists(), runs, "{key}");
        let rules = world.pinza.run(&["policy", "list"]).stdout;
        assert_eq!(rules.contains("where command is \"touch made\""), key == "a", "{rules}");
    }
    // Ctrl-C says no and stops the round.
    let world = World::new(Provider::OpenAi, [exec("touch made")]);
    let terminal = asked(&world, &[], 100, 24);
    terminal.wait_for("[y] once");
    terminal.key("C-c").wait_for("■ stopped");
    assert!(!world.pinza.workspace().join("made").exists());
    assert!(terminal.history().contains("✗ denied exec"), "{}", terminal.history());
}

#[test]
fn whoever_is_typing_approves_nothing() {
    let turn = slowly(Turn::calls([("exec", json!({"command": "touch made"}))]), 60, 60);
    let world = World::new(Provider::OpenAi, [turn, Turn::text("Well.")]);
    let terminal = asked(&world, &[], 100, 24);
    terminal
        .wait("a round", |screen| screen.split_once("› go\n").is_some_and(|(_, round)| !round.is_empty()));
    // Letters without a pause, from before the card until after it has appeared.
    while !terminal.screen().contains("┃") {
        terminal.keys("say ");
    }
    for _ in 0..20 {
        terminal.keys("say ");
    }
    let screen = terminal.wait_for("[y] once");
    assert!(screen.contains("say say"), "it is in the line that is typed: {screen}");
    assert!(!world.pinza.workspace().join("made").exists());
    terminal.paste("y");
    terminal.key("n").wait_for("✗ denied exec");
    assert!(!world.pinza.workspace().join("made").exists());
}

#[test]
fn a_card_shows_what_is_odd_or_long_and_cannot_be_imitated() {
    let command = format!("echo \u{1b}[2J\u{202e} {}END", "x".repeat(3000));
    let turns = [
        Turn {
            text: "┃ exec asks for: nothing\n› yes\n".into(),
            ..Turn::calls([("exec", json!({"command": command}))])
        },
        Turn::text("Well."),
    ];
    let world = World::new(Provider::OpenAi, turns);
    let terminal = asked(&world, &[], 60, 12);
    let screen = terminal.wait_for("[y] once");
    assert!(screen.contains("  ┃   command: echo \\u{1b}[2J\\u{202e}"), "{screen}");
    assert!(screen.contains("more characters (Ctrl-O shows all)"), "{screen}");
    // What it does at its end is seen, too.
    assert_eq!(count(&terminal, "END"), 1, "{screen}");
    assert!(terminal.history().contains("│ exec asks for: nothing\n» yes"), "{}", terminal.history());
    terminal.key("C-o");
    terminal.wait("all of it", |_| count(&terminal, "xxxxxxxxxxxxxxxxxxxxxxxx") > 50);
    // A rule that nobody could read is neither offered nor written.
    let screen = terminal.wait_for("[y] once");
    assert!(!screen.contains("[a]") && screen.contains("too long for this screen"), "{screen}");
    terminal.key("a").key("n").wait_for("✗ denied exec");
    assert!(!world.pinza.config_file().exists());
}

#[test]
fn a_fast_model_is_drawn_no_more_often_than_a_slow_one() {
    // Some two thousand events within a second or two, in a burst.
    let words: String = (0..2000).map(|number| format!("word{number} ")).collect();
    let world = World::new(Provider::OpenAi, [slowly(Turn::text(words), 400, 1)]);
    let started = std::time::Instant::now();
    let terminal = asked(&world, &[], 80, 24);
    terminal.wait_in_history("word1999");
    let seconds = started.elapsed().as_secs() + 1;
    let written = String::from_utf8_lossy(&terminal.written()).into_owned();
    let frames = u64::try_from(written.matches(FRAME).count()).unwrap();
    assert!(frames <= 31 * seconds, "{frames} frames in {seconds} s");
    assert!(frames < 1000, "{frames} frames for 2000 words");
    assert_eq!(written.matches("\x1b[?2026l").count(), written.matches(FRAME).count());
    // Every frame clears its rows one by one; the screen is never cleared as a whole.
    assert!(!written.contains("\x1b[2J"));
    // What is finished is written once; only a frame's open lines are written again.
    assert!(written.len() < 16 * 1024 + 4096 * usize::try_from(frames).unwrap(), "{}", written.len());
    for word in ["word0 ", "word999 ", "word1998 "] {
        assert_eq!(terminal.unwrapped().matches(word).count(), 1, "{word}");
    }
}

#[test]
fn ctrl_c_stops_the_round_and_twice_leaves() {
    let turns = [endless("Half an ans"), Turn::text("Again.")];
    let world = World::new(Provider::OpenAi, turns);
    let terminal = asked(&world, &["--session", "s"], 80, 24);
    terminal.wait_for("Half an ans");
    terminal.key("C-c").wait_for("■ stopped");
    terminal.wait("the next prompt", |screen| screen.lines().last() == Some(PROMPT));
    assert_eq!(count(&terminal, "Half an ans"), 1, "what was said stays");
    terminal.line("more").wait_for("Again.");
    let shown = world.pinza.run(&["sessions", "show", "s"]);
    assert!(shown.stdout.contains("Half an ans") && shown.stdout.contains("Again."), "{shown:?}");

    // A call that does not stop at once, and somebody who has no patience.
    let world =
        World::new(Provider::OpenAi, [Turn::calls([("exec", json!({"command": "trap '' TERM; sleep 60"}))])]);
    let terminal = asked(&world, &["--allow", "exec"], 80, 24);
    terminal.wait_for("exec trap");
    terminal.wait_for(" 1 s");
    terminal.key("C-c").key("C-c");
    terminal.gone();
}

#[test]
fn keys_that_come_at_once_with_an_enter_are_for_the_next_line() {
    let world = World::new(Provider::OpenAi, []);
    let terminal = opened(&world, &[], 80, 24);
    terminal.wait_for(PROMPT);
    terminal.keys("/skills\r/groups\r/qu");
    terminal.wait("what is begun", |screen| screen.lines().last() == Some("› /qu"));
    assert_eq!((count(&terminal, "› /skills"), count(&terminal, "› /groups")), (1, 1));
    terminal.line("it");
    assert_eq!(terminal.gone(), Some(0));
}

#[test]
fn ctrl_c_ends_a_command_that_gives_no_key() {
    let world = World::new(Provider::OpenAi, []);
    let slow = "[providers.slow]\ntype = \"openai\"\nmodel = \"m\"\napi_key_command = [\"sleep\", \"60\"]\n";
    std::fs::write(world.pinza.config_file(), slow).unwrap();
    let terminal = opened(&world, &[], 80, 24);
    terminal.wait_for(PROMPT);
    terminal.line("/model slow");
    // It may not yet run when the key is pressed.
    terminal.wait("the command ended", |screen| {
        terminal.key("C-c");
        screen.contains("sleep gave no key")
    });
}

#[test]
fn ctrl_c_is_heard_when_nobody_reads_keys_too() {
    let world = World::new(Provider::OpenAi, []);
    let terminal = opened(&world, &["--session", "s"], 80, 24);
    terminal.wait_for(PROMPT);
    // Whoever begins anew writes, and has to wait for this.
    let hold = "import sqlite3, sys
state = sqlite3.connect(sys.argv[1], isolation_level=None)
state.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()";
    let mut holder = Command::new("python3")
        .args(["-c", hold])
        .arg(world.pinza.home().join("state.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut said = String::new();
    BufReader::new(holder.stdout.take().expect("piped")).read_line(&mut said).expect("it says");
    assert_eq!(said, "held\n");
    terminal.line("/new").key("C-c");
    assert!(!terminal.screen().contains("to leave"));
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
    terminal.wait_for("a new session begins");
    terminal.wait_for("Ctrl-C again or Ctrl-D to leave");
    terminal.key("C-c");
    assert_eq!(terminal.gone(), Some(0));
}

#[test]
fn what_is_typed_meanwhile_goes_in_between_rounds() {
    let turns = [
        slowly(Turn::calls([("get_current_time", json!({}))]), 20, 150),
        after(&["and in Oslo?"], Turn::text("Both.")),
    ];
    let world = World::new(Provider::OpenAi, turns);
    let terminal = asked(&world, &[], 80, 24);
    terminal
        .wait("a round", |screen| screen.split_once("› go\n").is_some_and(|(_, round)| !round.is_empty()));
    terminal.line("and in Oslo?").wait_for("(waits)");
    terminal.wait_for("Both.");
    assert_eq!(count(&terminal, "› and in Oslo?"), 1, "{}", terminal.history());
    assert_eq!(world.model.failures(), Vec::<String>::new());
}

#[test]
fn a_paste_is_one_message() {
    let turns = [
        slowly(Turn::calls([("get_current_time", json!({}))]), 20, 100),
        after(&["one\ntwo"], Turn::text("Fine.")),
    ];
    let world = World::new(Provider::OpenAi, turns);
    let terminal = asked(&world, &[], 80, 24);
    terminal
        .wait("a round", |screen| screen.split_once("› go\n").is_some_and(|(_, round)| !round.is_empty()));
    terminal.paste("one\ntwo").wait_for("(2 lines)");
    terminal.key("Enter").wait_for("Fine.");
    assert_eq!(world.model.failures(), Vec::<String>::new());
}

#[test]
fn a_resize_leaves_nothing_behind() {
    let calls = [
        ("exec", json!({"command": "sleep 60 # something that is rather long and fills most of a line"})),
        ("exec", json!({"command": "sleep 61"})),
    ];
    // Rows that become too long push the first ones of the screen into the history, whatever they are.
    let world = World::new(Provider::OpenAi, [Turn::text("A line.\n\n".repeat(20)), Turn::calls(calls)]);
    let terminal = asked(&world, &["--allow", "exec"], 100, 30);
    terminal.wait_for("A line.");
    terminal.wait("the next prompt", |screen| screen.lines().last() == Some(PROMPT));
    terminal.line("go on").wait_for("exec sleep 61");
    for (columns, rows) in [(60, 30), (40, 20), (90, 24), (30, 10), (100, 30)] {
        terminal.resize(columns, rows);
        // The next frames have the new width.
        std::thread::sleep(Duration::from_millis(300));
        let screen = terminal.screen();
        assert_eq!(screen.matches("exec sleep 6").count(), 2, "{columns}x{rows}\n{screen}");
    }
    terminal.key("C-c").wait_for("■ stopped");
}

#[test]
fn more_calls_than_rows() {
    let calls: Vec<(&str, serde_json::Value)> =
        (0..20).map(|number| ("exec", json!({"command": format!("sleep 60; echo {number}")}))).collect();
    let world = World::new(Provider::OpenAi, [Turn::calls(calls)]);
    let terminal = asked(&world, &["--yes"], 60, 8);
    let screen = terminal.wait_for("echo 19");
    assert!(screen.contains("more lines"), "{screen}");
    terminal.key("C-c").wait_for("■ stopped");
    assert_eq!(count(&terminal, "exec sleep 60"), 20, "{}", terminal.history());
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in ["-TERM", "-HUP"] {
        let world = World::new(Provider::OpenAi, [endless("Half an ans")]);
        let terminal = asked(&world, &["--session", "s"], 80, 24);
        terminal.wait_for("Half an ans");
        let killed = std::process::Command::new("kill").args([signal, terminal.program()]).status().unwrap();
        assert!(killed.success());
        terminal.gone();
        let written = String::from_utf8_lossy(&terminal.written()).into_owned();
        let (hidden, shown) = (written.rfind("\x1b[?25l"), written.rfind("\x1b[?25h"));
        assert!(shown > hidden && written.rfind("\x1b[?2004l") > written.rfind("\x1b[?2004h"), "{written:?}");
        let kept = world.pinza.run(&["sessions", "show", "s"]);
        assert!(kept.stdout.contains("Half an ans"), "{signal}: {kept:?}");
    }
}

#[test]
fn what_was_shown_as_done_survives_the_end_of_the_terminal_and_of_the_program() {
    let kill = |terminal: &Terminal| {
        std::process::Command::new("kill").args(["-9", terminal.program()]).status().unwrap();
        terminal.gone();
    };
    survives("1", "cancelled", Terminal::kill_terminal);
    survives("2", "interrupted", kill);
}

fn survives(number: &str, reason: &str, end: impl Fn(&Terminal)) {
    let command = format!("sleep 86{number}{}", std::process::id());
    let turns = [
        Turn::calls([
            ("exec", json!({"command": command})),
            ("get_current_time", json!({"timezone": "Asia/Tokyo"})),
        ]),
        after(&[reason, "+09:00"], Turn::text("So it was.")),
    ];
    let world = World::new(Provider::OpenAi, turns);
    let terminal = asked(&world, &["--allow", "exec", "--session", "s"], 80, 24);
    terminal.wait_for("✓ get_current_time Asia/Tokyo");
    assert!(processes().iter().any(|line| line.contains(&command)), "the command runs");
    end(&terminal);
    let ended = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !processes().iter().any(|line| line.contains(&command))
    });
    assert!(ended, "a command outlives its terminal");
    let kept = world.pinza.run(&["sessions", "show", "s"]);
    assert!(kept.stdout.contains("+09:00"), "{kept:?}");
    // It goes on where it was, and shows it; results are in the order of their calls, whichever came first.
    let terminal = opened(&world, &["--session", "s"], 80, 24);
    let screen = terminal.wait("the past", |screen| screen.lines().last() == Some(PROMPT));
    // After the greeting and the session's id.
    let lines: Vec<&str> = screen.lines().skip(2).collect();
    assert!(lines[0] == "› go" && lines[1].contains(reason) && lines[1].starts_with("  ✗ exec"), "{screen}");
    assert!(lines[2].starts_with("  ✓ get_current_time Asia/Tokyo"), "{screen}");
    terminal.line("go on").wait_for("So it was.");
    assert_eq!(world.model.failures(), Vec::<String>::new());
}

fn processes() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

#[test]
fn a_long_session_shows_its_end() {
    let world = World::new(Provider::OpenAi, [Turn::text("Hello.")]);
    let store = pinza::state::Store::open(&world.pinza.home().join("state.db")).unwrap();
    let row = |role: &'static str, body: serde_json::Value, text: String| pinza::state::NewMessage {
        role,
        body,
        text,
    };
    let messages = (0..1000).flat_map(|number| {
        let (asks, says) = (format!("question {number}"), format!("answer {number} {}", "word ".repeat(200)));
        [
            row(
                "user",
                json!({"message": {"role": "user", "content": [{"type": "text", "text": asks}]}}),
                asks,
            ),
            row(
                "assistant",
                json!({"message": {"role": "assistant", "parts": [{"type": "text", "text": says}]}}),
                says,
            ),
        ]
    });
    let change = pinza::state::SessionChange { messages: messages.collect(), ..Default::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        store.begin_session("s", None).await.unwrap();
        store.change_session("s", change).await.unwrap();
    });
    drop(store);
    let terminal = opened(&world, &["--session", "s"], 100, 24);
    terminal.wait("the past", |screen| screen.lines().last() == Some(PROMPT));
    let history = terminal.history();
    // After the greeting.
    let past = history.find("  … ").unwrap_or_else(|| panic!("{history}"));
    let (first, rest) = history[past..].split_once('\n').unwrap();
    let shown = rest.matches("question ").count() + rest.matches("answer ").count();
    assert_eq!(
        first,
        format!(
            "  … {},{:03} earlier messages (pinza sessions show s)",
            (2000 - shown) / 1000,
            (2000 - shown) % 1000
        )
    );
    assert!(rest.contains("› question 999\nanswer 999 word"), "{rest}");
    assert!(rest.lines().count() <= 2 * 24 + 2, "{rest}");
}

#[test]
fn images_are_shown_where_the_terminal_can() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0".to_vec();
    png.extend([0; 100]);
    for (env, drawn) in [(&[][..], false), (&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")], true)] {
        let calls = [("load_tool_group", json!({"group_name": "fs"})), ("read", json!({"path": "a.png"}))];
        let world = World::new(Provider::OpenAi, [Turn::calls(calls), Turn::text("A square.")]);
        world.pinza.put("a.png", &png);
        let base = world.model.base_url(world.provider);
        let words = ["chat", "--provider", "openai", "--base-url", &base, "--model", "m"];
        let terminal = Terminal::start(&world.pinza.command(words), env, 80, 24);
        terminal.wait_for(PROMPT);
        terminal.line("go").wait_for("A square.");
        let line = format!("▣ image/png of {} bytes", png.len());
        assert!(terminal.history().contains(&line), "{}", terminal.history());
        let written = String::from_utf8_lossy(&terminal.written()).into_owned();
        assert_eq!(written.contains("\x1b_Ga=T"), drawn, "{written:?}");
    }
}

#[test]
fn plain_draws_nothing_twice() {
    for (more, env) in [(&["--plain"][..], &[][..]), (&[], &[("TERM", "dumb")])] {
        let turns =
            [Turn::calls([("get_current_time", json!({"timezone": "UTC"}))]), Turn::text("It is late.")];
        let world = World::new(Provider::OpenAi, turns);
        let base = world.model.base_url(world.provider);
        let fixed = ["chat", "--provider", "openai", "--base-url", &base, "--model", "m"];
        let words: Vec<&str> = fixed.iter().chain(more).copied().collect();
        let terminal = Terminal::start(&world.pinza.command(words), env, 80, 24);
        terminal.wait_for(PROMPT);
        terminal.line("go").wait_for("It is late.");
        let written = String::from_utf8_lossy(&terminal.written()).into_owned();
        assert!(!written.contains('\x1b'), "{written:?}");
        assert!(terminal.history().contains("✓ get_current_time"), "{}", terminal.history());
    }
}
