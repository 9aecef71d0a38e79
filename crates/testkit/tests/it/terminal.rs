//! The terminal itself, with small programs in it.

use std::process::Command;

use pinza_testkit::Terminal;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn keys_screen_and_end() {
    let terminal = Terminal::start(&shell("read line; echo \"<$line>\"; exit 7"), &[], 40, 5);
    terminal.keys("C-c; 'é' \"世\"").key("Enter");
    terminal.wait_for("<C-c; 'é' \"世\">");
    assert_eq!(terminal.gone(), Some(7));
    assert_eq!(terminal.screen(), "C-c; 'é' \"世\"\n<C-c; 'é' \"世\">\n");
}

#[test]
fn an_end_by_a_signal_has_no_code() {
    assert_eq!(Terminal::start(&shell("kill -9 $$"), &[], 40, 5).gone(), None);
}

#[test]
fn the_environment_is_only_what_is_given() {
    let mut command = shell("env | sort; pwd; echo $1 -- end;");
    command.args(["sh", "a;b;"]).env("GIVEN", "1").env("PATH", "/usr/bin:/bin").current_dir("/usr");
    let terminal = Terminal::start(&command, &[("TERM", "dumb")], 60, 20);
    assert_eq!(terminal.gone(), Some(0));
    let expected = "GIVEN=1\nLANG=C.UTF-8\nPATH=/usr/bin:/bin\nPWD=/usr\nTERM=dumb\n/usr\na;b; -- end\n";
    assert_eq!(terminal.screen(), expected);
}

#[test]
fn sizes_history_and_colours() {
    let script = "for n in 1 2 3 4 5 6 7 8; do echo line $n; done; printf '\\033[1;31mred\\033[0m\\n'; read x; stty size; read y";
    let terminal = Terminal::start(&shell(script), &[("PATH", "/usr/bin:/bin")], 30, 4);
    let screen = terminal.wait_for("red");
    assert!(!screen.contains("line 1"), "{screen}");
    assert!(terminal.history().starts_with("line 1\nline 2\n"));
    assert!(terminal.coloured().contains("\x1b[1m\x1b[31mred"), "{:?}", terminal.coloured());
    terminal.resize(50, 9).key("Enter");
    terminal.wait_for("9 50");
    assert!(String::from_utf8(terminal.written()).unwrap().contains("\x1b[1;31mred\x1b[0m\r\n"));
}

#[test]
fn a_paste_has_brackets_where_they_are_asked_for() {
    let script =
        "stty -icanon -echo; printf '\\033[?2004h'; echo ready; head -c 17 | od -w32 -c | cut -c9-; read x";
    let terminal = Terminal::start(&shell(script), &[("PATH", "/usr/bin:/bin")], 90, 6);
    terminal.wait_for("ready");
    terminal.paste("one\nx");
    let screen = terminal.wait_for("033   [   2   0   1   ~");
    assert!(screen.contains("033   [   2   0   0   ~   o   n   e"), "{screen}");
}

#[test]
fn a_terminal_that_dies_hangs_up() {
    let directory = tempfile::tempdir().unwrap();
    let told = directory.path().join("told");
    let script = format!(
        "trap 'echo hung up > {}; exit' HUP; echo ready; while :; do sleep 0.1; done",
        told.display()
    );
    let terminal = Terminal::start(&shell(&script), &[("PATH", "/usr/bin:/bin")], 40, 4);
    terminal.wait_for("ready");
    terminal.kill_terminal();
    assert_eq!(std::fs::read_to_string(told).unwrap(), "hung up\n");
}

#[test]
fn nothing_is_left_of_a_dropped_terminal() {
    let terminal =
        Terminal::start(&shell("trap '' HUP TERM; echo ready; while :; do sleep 1; done"), &[], 40, 4);
    terminal.wait_for("ready");
    let program = format!("/proc/{}/cmdline", terminal.program());
    drop(terminal);
    let ended =
        || std::fs::read(&program).is_ok_and(|line| line.is_empty()) || std::fs::metadata(&program).is_err();
    while !ended() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
#[should_panic(expected = "there is not: 'never' on the screen")]
fn what_does_not_come_fails_with_the_screen() {
    let terminal = Terminal::start(&shell("echo something else; read x"), &[], 40, 4);
    terminal.wait_at_most(std::time::Duration::from_millis(200)).wait_for("never");
}
