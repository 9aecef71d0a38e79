//! `pinza skills`: instructions that a model loads for a kind of task.

use std::path::PathBuf;

use anyhow::Context;
use pinza::{
    LoadedSkills, ToolError,
    core::{ErrorKind, SKILL_FILE, Skill, SkillName, SkillParameter, SkillSource, visible},
    js::Problem,
    load_skills,
};
use serde_json::{Value, json};

use super::{
    Done, Global, Result,
    args::Skills,
    author::counted,
    session::{Session, file_faults},
};
use crate::{
    home::Home,
    terminal::{Out, Printer},
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Skills) -> Result {
    match command {
        Skills::List => list(printer, &Session::open(global)?),
        Skills::Show { name } => show(printer, &Session::open(global)?, &name)?,
        Skills::Check { directory } => return check(global, printer, directory),
        Skills::New { name } => new(global, printer, &name)?,
    }
    Ok(Done::Well)
}

fn list(printer: &Printer, session: &Session) {
    let snapshot = session.pinza.snapshot();
    let mut problems = session.problems.clone();
    problems.extend(file_faults(&session.pinza.skill_problems()));
    printer.json_or(
        || json!({ "skills": snapshot.skills().map(summary).collect::<Vec<_>>(), "problems": problems }),
        |out| {
            out.columns(snapshot.skills().map(|skill| {
                let source = match &skill.source {
                    SkillSource::Builtin => String::new(),
                    source => format!("[{}]", visible(&source.to_string())),
                };
                [skill.name.to_string(), visible(&skill.description), source]
            }));
            printer.problems(&problems);
        },
    );
}

fn summary(skill: &Skill) -> Value {
    json!({
        "name": skill.name,
        "displayName": skill.display_name,
        "description": skill.description,
        "version": skill.version,
        "source": skill.source,
        "toolsRequired": skill.tools_required,
        "parameters": skill.parameters,
    })
}

fn show(printer: &Printer, session: &Session, name: &str) -> Result<()> {
    let snapshot = session.pinza.snapshot();
    let Some(skill) = snapshot.skill(name) else {
        printer.problems(&file_faults(&session.pinza.skill_problems()));
        let known: Vec<&str> = snapshot.skills().map(|skill| skill.name.as_str()).collect();
        let message = format!("Skill '{}' not found. Available skills: {}", visible(name), known.join(", "));
        return Err(ToolError::new(ErrorKind::NotFound, message).into());
    };
    printer.json_or(
        || {
            let mut shown = summary(skill);
            shown["body"] = json!(skill.body);
            shown
        },
        |out| print(out, session, skill),
    );
    Ok(())
}

fn print(out: &mut Out, session: &Session, skill: &Skill) {
    out.heading(&skill.display_name);
    out.line(&skill.description);
    out.line("");
    let snapshot = session.pinza.snapshot();
    let tools = skill.tools_required.iter().map(|tool| match snapshot.get(tool.as_str()) {
        Some(entry) if entry.is_enabled() => tool.to_string(),
        Some(_) => format!("{tool} (disabled)"),
        None => format!("{tool} (not there)"),
    });
    let tools: Vec<String> = tools.collect();
    let mut rows = vec![["source".to_owned(), visible(&skill.source.to_string())]];
    rows.extend(skill.version.iter().map(|version| ["version".into(), visible(version)]));
    rows.extend((!tools.is_empty()).then(|| ["tools".into(), tools.join(", ")]));
    out.columns(rows);
    if !skill.parameters.is_empty() {
        out.line("");
        out.heading("Parameters");
        out.columns(skill.parameters.iter().map(|parameter| {
            let state = match (&parameter.default, parameter.required) {
                (Some(default), _) => format!("(default: {})", visible(default)),
                (None, true) => String::new(),
                (None, false) => "(optional)".into(),
            };
            let SkillParameter { name, description, .. } = parameter;
            [name.clone(), state, description.clone()]
        }));
    }
    out.line("");
    // Shown to a terminal: what is invisible there must not be.
    skill.body.lines().for_each(|line| out.line(&visible(line).replace("\\t", "\t")));
}

fn check(global: &Global, printer: &Printer, directory: Option<PathBuf>) -> Result {
    let home = Home::find(global.home.as_deref())?;
    let directory = match directory {
        Some(directory) => directory,
        None => Some(home.path.join("skills")).filter(|path| path.is_dir()).ok_or_else(|| {
            let hint = "Name a directory: pinza skills check DIR, or begin one: pinza skills new NAME";
            ToolError::new(ErrorKind::NotFound, "There are no skills to check").hint(hint)
        })?,
    };
    let session = Session::open(global)?;
    let LoadedSkills { skills, mut problems } = load_skills(&directory);
    let taken = skills.iter().filter_map(|skill| taken(global, &session, skill));
    problems.extend(taken.chain(skills.iter().flat_map(|skill| missing_tools(&session, skill))));
    problems.sort_by(|a, b| a.file.cmp(&b.file));
    let faults = problems.iter().filter(|problem| !problem.warning).count();
    let warnings = problems.len() - faults;
    printer.json_or(
        || json!({ "ok": faults == 0, "skills": skills.len(), "problems": problems }),
        |out| {
            problems.iter().for_each(|problem| out.line(&visible(&problem.to_string())));
            let counts = [(skills.len(), "skill"), (faults, "problem"), (warnings, "warning")];
            out.line(&counts.map(|(count, what)| counted(count, what)).join(", "));
        },
    );
    Ok(if faults == 0 { Done::Well } else { Done::Answered })
}

fn about(skill: &Skill, message: String) -> Problem {
    let file = match &skill.source {
        SkillSource::File(file) => file.clone(),
        source => source.to_string(),
    };
    Problem { file, entry: None, message, line: None, column: None, warning: false }
}

/// A skill of the program's own keeps its name, as when skills are loaded.
fn taken(global: &Global, session: &Session, skill: &Skill) -> Option<Problem> {
    let snapshot = session.pinza.snapshot();
    let known = snapshot.skill(skill.name.as_str()).filter(|_| !global.allow_override)?;
    let message = || format!("Name conflict with existing skill '{}' (skipped)", skill.name);
    (known.source == SkillSource::Builtin).then(|| about(skill, message()))
}

fn missing_tools(session: &Session, skill: &Skill) -> Option<Problem> {
    let snapshot = session.pinza.snapshot();
    let missing = skill.tools_required.iter().filter(|tool| snapshot.get(tool.as_str()).is_none());
    let missing: Vec<&str> = missing.map(|tool| tool.as_str()).collect();
    let message = || format!("There are no tools of these names here: {}", missing.join(", "));
    (!missing.is_empty()).then(|| Problem { warning: true, ..about(skill, message()) })
}

fn new(global: &Global, printer: &Printer, name: &str) -> Result<()> {
    let name = SkillName::new(name).map_err(|error| {
        ToolError::validation(error.to_string()).hint("For example: pinza skills new weekly-report")
    })?;
    let session = Session::open(global)?;
    let directory = session.home.path.join("skills").join(name.as_str());
    let taken = if directory.symlink_metadata().is_ok() {
        Some(format!("{} exists", visible(&directory.display().to_string())))
    } else {
        let is_there = session.pinza.snapshot().skill(name.as_str()).is_some() && !global.allow_override;
        is_there.then(|| format!("There is a skill '{name}'"))
    };
    if let Some(taken) = taken {
        let message = format!("{taken} already; nothing was written");
        return Err(ToolError::validation(message).hint("Choose another name.").into());
    }
    let file = directory.join(SKILL_FILE);
    let text =
        include_str!("templates/SKILL.md").replace("NAME", name.as_str()).replace("TITLE", &name.title());
    std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&file, text))
        .with_context(|| format!("cannot write {}", file.display()))?;
    let file = file.display().to_string();
    printer.json_or(
        || json!({ "status": "success", "files": [file] }),
        |out| {
            out.line(&file);
            out.line("");
            out.line("Write its instructions, then check it: pinza skills check");
            out.line(&format!("See what a model gets: pinza call load_skill name={name}"));
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use pinza::Pinza;

    /// Every command that a built-in skill names can be typed, and every tool that it needs is there.
    #[test]
    fn built_in_skills_are_true() {
        let workspace = tempfile::tempdir().unwrap();
        let pinza = Pinza::builder().workspace(workspace.path()).helper(pinza::THIS_PROGRAM).build().unwrap();
        assert!(pinza.skill_problems().is_empty(), "{:?}", pinza.skill_problems());
        let snapshot = pinza.snapshot();
        assert_eq!(snapshot.skills().count(), 3);
        for skill in snapshot.skills() {
            let mut count = 0;
            for command in commands(&skill.body) {
                let words: Vec<&str> = command.split(' ').collect();
                super::super::parse(&words)
                    .unwrap_or_else(|error| panic!("{}: {command}: {error}", skill.name));
                count += 1;
            }
            assert!(count >= 5, "{} names {count} commands", skill.name);
            for tool in &skill.tools_required {
                assert!(snapshot.get(tool.as_str()).is_some(), "{}: {tool}", skill.name);
            }
            assert!(skill.body.lines().count() <= 150, "{}", skill.name);
        }
    }

    /// What stands in backticks or in a block for a shell and begins with the program's name.
    fn commands(text: &str) -> Vec<String> {
        let inline = text.split('`').skip(1).step_by(2).filter(|code| !code.contains('\n'));
        let lines = inline.chain(text.lines());
        let commands = lines.filter(|line| line.starts_with("pinza ")).map(without_quoted);
        commands.collect()
    }

    /// A quoted argument may have spaces; what it says does not matter here.
    fn without_quoted(line: &str) -> String {
        line.split('\'')
            .enumerate()
            .map(|(index, part)| if index % 2 == 0 { part } else { "quoted" })
            .collect()
    }
}
