//! What Tab can make of what stands before the cursor: commands, what follows them, files after `@`, tools' names.
//!
//! Names that come from elsewhere and have odd characters in them are not offered: a list of completions must not draw
//! on the terminal.

use pinza::{
    core::{FileType, visible},
    host::files::Workspace,
};

/// How much of a tool's name must be there before it is completed in the middle of a message.
const LEAST: usize = 2;

/// How many candidates are of use to anybody.
const MOST: usize = 500;

/// What can be completed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) commands: Vec<CommandWord>,
    pub(crate) tools: Vec<String>,
    /// Whose files `@` completes.
    pub(crate) workspace: Option<Workspace>,
    /// Whole answers to a question, where nothing else makes sense.
    pub(crate) answers: Vec<String>,
}

/// A command, its line of help, and what may follow it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandWord {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) arguments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) shown: String,
    pub(super) inserted: String,
}

/// Where the completed part begins, and what may stand there.
pub(super) fn complete(before: &str, words: &Words) -> (usize, Vec<Candidate>) {
    let (start, mut found) = if !words.answers.is_empty() {
        (0, starting_with(before, &words.answers, ""))
    } else if let Some(command) = before.strip_prefix('/').filter(|rest| !rest.contains(['/', '\n'])) {
        of_command(command, words)
    } else if let Some((start, path, quoted)) = file_word(before) {
        (start, files(path, quoted, words))
    } else {
        let start = before.rfind(char::is_whitespace).map_or(0, |place| place + 1);
        let word = &before[start.min(before.len())..];
        let start = before.len() - word.len();
        let tools = if word.len() >= LEAST { starting_with(word, &words.tools, " ") } else { Vec::new() };
        (start, tools)
    };
    found.truncate(MOST);
    (start, found)
}

fn of_command(typed: &str, words: &Words) -> (usize, Vec<Candidate>) {
    let Some((name, rest)) = typed.split_once(' ') else {
        let fits = words.commands.iter().filter(|word| word.name.starts_with(typed));
        let candidate = |word: &CommandWord| Candidate {
            shown: format!("/{:<10} {}", word.name, word.help),
            inserted: if word.arguments.is_empty() {
                format!("/{}", word.name)
            } else {
                format!("/{} ", word.name)
            },
        };
        return (0, fits.map(candidate).collect());
    };
    let rest = rest.trim_start();
    let start = 1 + typed.len() - rest.len();
    let known = words.commands.iter().find(|word| word.name == name);
    (start, known.map(|word| starting_with(rest, &word.arguments, "")).unwrap_or_default())
}

fn starting_with(typed: &str, known: &[String], after: &str) -> Vec<Candidate> {
    let fits = known.iter().filter(|word| word.starts_with(typed) && is_plain(word));
    fits.map(|word| Candidate { shown: word.clone(), inserted: format!("{word}{after}") }).collect()
}

/// The path that is being written after `@`, where the `@` stands, and whether the path is quoted.
fn file_word(before: &str) -> Option<(usize, &str, bool)> {
    let is_start = |place: usize| before[..place].chars().next_back().is_none_or(char::is_whitespace);
    let places = before.match_indices('@').map(|(place, _)| place).filter(|place| is_start(*place));
    for place in places.collect::<Vec<_>>().into_iter().rev() {
        let path = &before[place + 1..];
        match path.strip_prefix('"') {
            Some(quoted) if !quoted.contains(['"', '\n']) => return Some((place, quoted, true)),
            None if !path.contains(char::is_whitespace) => return Some((place, path, false)),
            _ => {}
        }
    }
    None
}

fn files(path: &str, quoted: bool, words: &Words) -> Vec<Candidate> {
    let Some(workspace) = &words.workspace else { return Vec::new() };
    let (directory, begun) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    };
    let listed = workspace.jail().list(if directory.is_empty() { "." } else { directory });
    // What cannot be listed has nothing to complete; whoever sends the path learns why.
    let entries = listed.unwrap_or_default().into_iter();
    let wanted = entries.filter(|entry| {
        let hidden = entry.name.starts_with('.') && !begun.starts_with('.');
        entry.name.starts_with(begun) && !hidden && is_plain(&entry.name) && !entry.name.contains('"')
    });
    let candidate = |entry: pinza::core::FsEntry| {
        let is_directory = entry.file_type == FileType::Directory;
        let slash = if is_directory { "/" } else { "" };
        let whole = format!("{directory}{}{slash}", entry.name);
        let quotes = quoted || whole.contains(char::is_whitespace);
        // A directory is not the end yet.
        let inserted = match (quotes, is_directory) {
            (true, true) => format!("@\"{whole}"),
            (true, false) => format!("@\"{whole}\" "),
            (false, true) => format!("@{whole}"),
            (false, false) => format!("@{whole} "),
        };
        Candidate { shown: format!("{}{slash}", entry.name), inserted }
    };
    wanted.map(candidate).collect()
}

fn is_plain(name: &str) -> bool {
    visible(name) == name
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pinza::host::files::WorkspaceOptions;

    use super::*;

    fn words(root: &std::path::Path) -> Words {
        let command = |name, arguments: &[&str]| CommandWord {
            name,
            help: "Help",
            arguments: arguments.iter().map(ToString::to_string).collect(),
        };
        Words {
            commands: vec![command("help", &[]), command("load", &["web", "web\u{1b}[2J", "files"])],
            tools: vec!["read_file".into(), "read".into(), "exec".into()],
            workspace: Some(Workspace::open(root, WorkspaceOptions::default()).unwrap()),
            answers: Vec::new(),
        }
    }

    /// `|` is the cursor: what stands there when each candidate is taken.
    #[track_caller]
    fn check(words: &Words, line: &str, expected: &[&str]) {
        let before = line.strip_suffix('|').unwrap();
        let (start, found) = complete(before, words);
        let made: Vec<String> =
            found.iter().map(|one| format!("{}{}", &before[..start], one.inserted)).collect();
        assert_eq!(made, expected, "{line}");
    }

    #[test]
    fn commands_what_follows_them_files_and_tools() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("in/deep er")).unwrap();
        for file in ["notes.txt", "in/née.png", "in/deep er/a b.md", ".hidden", "bad\u{1b}[2J", "q\"uote"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc", root.path().join("out")).unwrap();
        let words = words(root.path());
        check(&words, "/|", &["/help", "/load "]);
        check(&words, "/lo|", &["/load "]);
        check(&words, "/load w|", &["/load web"]);
        check(&words, "/load |", &["/load web", "/load files"]);
        check(&words, "/nothing x|", &[]);
        check(&words, "look at @no|", &["look at @notes.txt "]);
        check(&words, "@in/|", &["@\"in/deep er/", "@in/née.png "]);
        check(&words, "@\"in/deep er/|", &["@\"in/deep er/a b.md\" "]);
        check(&words, "@.h|", &["@.hidden "]);
        check(&words, "@b|", &[]);
        check(&words, "@q|", &[]);
        check(&words, "@out/|", &[]);
        check(&words, "@../|", &[]);
        check(&words, "@/etc/|", &[]);
        check(&words, "mail me@no|", &[]);
        check(&words, "use rea|", &["use read_file ", "use read "]);
        check(&words, "use r|", &[]);
        check(&words, "ünï re|", &["ünï read_file ", "ünï read "]);
        check(
            &words,
            "@\"notes.txt\" and rea|",
            &["@\"notes.txt\" and read_file ", "@\"notes.txt\" and read "],
        );
        let answers = Words { answers: vec!["gpt-5".into(), "gpt-5-mini".into()], ..Words::default() };
        check(&answers, "gpt-5-|", &["gpt-5-mini"]);
    }
}
