//! What README.md and docs/ show is what the program prints.
//!
//! Every block fenced as ```` ```console ```` is run, in a fresh home and workspace of its own,
//! from top to bottom:
//!
//! - A line `$ pinza …` is a command, run by `sh` in the directory above home and workspace; it
//!   may have pipes and, with a backslash at a line's end, go on in the next line. Other `$` lines
//!   (`$ cargo build`) are for the reader: neither they nor what stands below them is looked at.
//! - The lines below it, up to the next `$` or the end of the block, are what it prints: stdout,
//!   then stderr.
//! - `[..]` stands for anything within a line (times, durations, paths), a line `...` for any
//!   number of lines.
//! - Environment and workspace are those of a new user: no configuration, nobody to ask.
//! - A talk is a recorded one: after a line `<!-- The model answers as in fixtures/talks/X.json. -->` the block has a
//!   provider set up, and all of the script must be used.

use std::path::{Path, PathBuf};

use pinza_testkit::{
    Program,
    model::{ModelServer, Provider, Script},
    program::finish,
};

use crate::support::{matches, pinza};

/// What stands in one fence.
#[derive(Default)]
struct Block {
    /// The script of the model that is talked with, below the repository's root.
    model: Option<String>,
    examples: Vec<Example>,
}

struct Example {
    file: PathBuf,
    line: usize,
    command: String,
    output: String,
}

#[test]
fn console_blocks_print_what_they_show() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    markdown(&root.join("docs"), &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for block in blocks(&file, &text) {
            let pinza = pinza();
            let model = block.model.as_ref().map(|script| set_up(&pinza, &root.join(script)));
            let commands = block.examples.iter().filter(|example| example.command.starts_with("pinza "));
            wrong.extend(commands.filter_map(|example| run(&pinza, example).err()));
            if let Some(model) = model {
                wrong.extend(model.failures());
                assert_eq!(model.turns_left(), 0, "{}: not all of {:?} is said", file.display(), block.model);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A model that answers as its script says, as the one provider of the configuration.
fn set_up(pinza: &Program, script: &Path) -> ModelServer {
    let model = ModelServer::start(Script::read(script).unwrap());
    let base = model.base_url(Provider::OpenAi);
    let config =
        format!("[providers.recorded]\ntype = \"openai\"\nmodel = \"recorded\"\nbase_url = \"{base}\"\n");
    std::fs::write(pinza.config_file(), config).unwrap();
    model
}

fn run(pinza: &Program, example: &Example) -> Result<(), String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_pinza"));
    let bin = binary.parent().into_iter().map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(bin.chain(std::env::split_paths(&path))).unwrap();
    // The program's own arguments are empty here: `sh` starts it.
    let environment = pinza.command::<&str>([]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &example.command]).current_dir(pinza.directory()).env_clear();
    shell.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = finish(shell.env("PATH", path).stdin(std::process::Stdio::null()), "");
    let printed = format!("{}{}", run.stdout, run.stderr);
    if matches(printed.trim_end(), example.output.trim_end()) {
        return Ok(());
    }
    let (file, line, command) = (example.file.display(), example.line, &example.command);
    Err(format!("{file}:{line}: $ {command}\n--- shows\n{}\n--- but prints\n{printed}", example.output))
}

fn markdown(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().map(Result::unwrap);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            markdown(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

fn blocks(file: &Path, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    let mut continues = false;
    let mut model = None;
    for (index, line) in text.lines().enumerate() {
        match line.trim_start() {
            "```console" => {
                inside = true;
                blocks.push(Block { model: model.take(), ..Block::default() });
            }
            fence if fence.starts_with("```") => inside = false,
            line if !inside => {
                let told = line.strip_prefix("<!-- The model answers as in ");
                model = told.and_then(|rest| rest.strip_suffix(". -->")).map(str::to_owned).or(model);
            }
            _ => {
                let block = &mut blocks.last_mut().unwrap().examples;
                if let Some(command) = line.strip_prefix("$ ").filter(|_| !continues) {
                    let (file, command) = (file.to_owned(), command.to_owned());
                    block.push(Example { file, line: index + 1, command, output: String::new() });
                } else if let Some(example) = block.last_mut() {
                    let place = if continues { &mut example.command } else { &mut example.output };
                    if continues {
                        place.push('\n');
                    }
                    place.push_str(line);
                    if !continues {
                        place.push('\n');
                    }
                }
                let commanding = continues || line.starts_with("$ ");
                continues = commanding && line.ends_with('\\');
            }
        }
    }
    blocks
}

#[test]
fn blocks_are_found_and_wrong_ones_told() {
    let text = "```console\n$ pinza call write_file \\\n  path=a content=hi\nSuccessfully wrote 2 bytes[..]\n\
                $ cargo build\nnot run\n$ pinza call read_file path=a | tr a-z A-Z\nHI\n```\n\
                ```sh\n$ pinza not run\n```\n<!-- The model answers as in a/b.json. -->\n\n```console\n$ pinza call read_file path=a\nhi\n```\n";
    let found = blocks(Path::new("x.md"), text);
    assert_eq!(found.iter().map(|block| block.examples.len()).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(found[1].model.as_deref(), Some("a/b.json"));
    assert_eq!(found[0].model, None);
    let first = pinza();
    run(&first, &found[0].examples[0]).unwrap();
    run(&first, &found[0].examples[2]).unwrap();
    let told = run(&pinza(), &found[1].examples[0]).unwrap_err();
    assert!(told.starts_with("x.md:16: $ pinza call read_file path=a\n"), "{told}");
    assert!(told.contains("file_not_found"), "another block, another workspace: {told}");
}
