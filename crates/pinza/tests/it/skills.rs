//! `pinza skills`, and skills from home, a project and the program.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use pinza::{
    Pinza, Reload, Report,
    core::Skill,
    js::{Place, Problem},
};
use pinza_testkit::Program;
use serde_json::{Value, json};

use crate::support::{assert_matches, check, check_call, fine, keys, pinza, refused};

const BUILTIN: [&str; 3] = ["wrap-a-library", "write-a-skill", "write-a-tool"];

fn text(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndisplay_name: Mine\ndescription: Of {name}\n---\n{body}\n")
}

/// Puts a skill into a directory of skills.
fn put(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let file = directory.join(name).join("SKILL.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn list(pinza: &Program, flags: &[&str]) -> Value {
    fine(pinza, &[&["--json", "skills", "list"], flags].concat()).json()
}

fn names(list: &Value) -> Vec<&str> {
    list["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect()
}

#[test]
fn the_list_and_one_of_it() {
    let pinza = pinza();
    let file = put(&pinza.home().join("skills"), "weekly-report", text("weekly-report", "Do {{it}}."));
    let list = list(&pinza, &[]);
    assert_eq!(names(&list), [&BUILTIN[..], &["weekly-report"]].concat());
    assert_eq!(keys(&list), ["skills", "problems"]);
    let fields = ["name", "displayName", "description", "version", "source", "toolsRequired", "parameters"];
    assert_eq!(keys(&list["skills"][0]), fields);
    assert_eq!((&list["skills"][0]["source"], &list["problems"]), (&json!("builtin"), &json!([])));
    assert_eq!(list["skills"][3]["source"], format!("file:{file}"));

    let run = fine(&pinza, &["skills", "show", "weekly-report"]);
    assert_eq!(run.stdout, format!("Mine\nOf weekly-report\n\n  source  file:{file}\n\nDo {{{{it}}}}.\n"));
    let shown = fine(&pinza, &["--json", "skills", "show", "write-a-tool"]).json();
    assert_eq!(keys(&shown), [&fields[..], &["body"]].concat());
    assert_eq!(shown["parameters"][0]["default"], "tools");
    check(
        &pinza,
        &["skills", "show", "nope"],
        1,
        "",
        "error: not_found: Skill 'nope' not found. Available skills: wrap-a-library, write-a-skill, write-a-tool, weekly-report\n",
    );
    let answer = "Loaded skill 'Mine' (weekly-report): Of weekly-report\n\nDo {{it}}.";
    check_call(&pinza, &["load_skill", "name=weekly-report"], Ok(answer));
}

#[test]
fn what_does_not_load_is_a_problem_and_the_rest_loads() {
    let pinza = pinza();
    let skills = pinza.home().join("skills");
    put(&skills, "good-one", text("good-one", "x"));
    let other = put(&skills, "named-so", text("named-other", "x"));
    let broken = put(&skills, "no-description", "---\nname: no-description\ndisplay_name: X\n---\nx");
    let huge = put(&skills, "too-long", text("too-long", &"x".repeat(100 << 10)));
    let latin = put(&skills, "no-text", b"---\nname: \xff\n---\nx");
    let taken = put(&skills, "write-a-tool", text("write-a-tool", "mine"));
    // Neither a skill nor its directory may lead elsewhere.
    let elsewhere = pinza.directory().join("elsewhere");
    put(&elsewhere, "linked-dir", text("linked-dir", "x"));
    symlink(elsewhere.join("linked-dir"), skills.join("linked-dir")).unwrap();
    fs::create_dir(skills.join("linked-file")).unwrap();
    symlink(elsewhere.join("linked-dir/SKILL.md"), skills.join("linked-file/SKILL.md")).unwrap();
    fs::create_dir(skills.join("pipe")).unwrap();
    let pipe = skills.join("pipe/SKILL.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(skills.join("empty")).unwrap();
    fs::create_dir(skills.join(".git")).unwrap();
    fs::write(skills.join("notes.txt"), "nobody's business").unwrap();

    let at = |path: &str| skills.join(path).display().to_string();
    let link = "A link, and links are not followed: copy the";
    let expected = [
        (at("empty/SKILL.md"), "There is no SKILL.md".to_owned()),
        (at("linked-dir"), format!("{link} directory")),
        (at("linked-file/SKILL.md"), format!("{link} file")),
        (other, "Its name is 'named-other', but its directory is 'named-so': they must be the same".into()),
        (broken, "line 1: Missing required field 'description'".into()),
        (latin, "Not valid UTF-8 (line 2)".into()),
        (at("pipe/SKILL.md"), "Not a regular file".into()),
        (huge, "Longer than 100 KB".into()),
        (taken.clone(), "Name conflict with existing skill 'write-a-tool' (skipped)".into()),
    ];
    let problem =
        |(file, message): &(String, String)| json!({"file": file, "entry": null, "message": message});
    let list_of = list(&pinza, &[]);
    assert_eq!(list_of["problems"], expected.iter().map(problem).collect::<Value>());
    assert_eq!(names(&list_of), [&BUILTIN[..], &["good-one"]].concat());
    // Lists of tools tell of them too.
    assert_eq!(fine(&pinza, &["--json", "tools", "list"]).json()["problems"], list_of["problems"]);

    let with = list(&pinza, &["--allow-override"]);
    let mine =
        with["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "write-a-tool").unwrap();
    assert_eq!(mine["source"], format!("file:{taken}"));
    assert_eq!(with["problems"].as_array().unwrap().len(), expected.len() - 1);
}

#[test]
fn a_project_has_skills_when_it_is_trusted() {
    let pinza = pinza();
    let file = put(&pinza.directory().join(".pinza/skills"), "team-way", text("team-way", "Ours."));
    assert_eq!(names(&list(&pinza, &[])), BUILTIN);
    fine(&pinza, &["trust"]);
    assert_eq!(names(&list(&pinza, &[])), [&BUILTIN[..], &["team-way"]].concat());
    // Home comes first.
    let own = put(&pinza.home().join("skills"), "team-way", text("team-way", "Mine."));
    let both = list(&pinza, &[]);
    assert_eq!(both["skills"][3]["source"], format!("file:{own}"));
    assert_matches(
        both["problems"][0]["message"].as_str().unwrap(),
        "Name conflict with existing skill 'team-way' (skipped)",
    );
    fs::write(file, text("team-way", "Changed.")).unwrap();
    fs::remove_dir_all(pinza.home().join("skills")).unwrap();
    assert_eq!(names(&list(&pinza, &[])), BUILTIN, "it is not what was trusted");
}

#[test]
fn checking() {
    let pinza = pinza();
    check(
        &pinza,
        &["skills", "check"],
        1,
        "",
        "error: not_found: There are no skills to check\nhint: Name a directory: pinza skills check DIR, or begin one: pinza skills new NAME\n",
    );
    let skills = pinza.directory().join("mine");
    let first = put(
        &skills,
        "first",
        "---\nname: first\ndisplay_name: F\ndescription: d\ntool_required: x\ntools_required: [read_file, warp]\n---\n\n{{gap}}\n",
    );
    let second = put(&skills, "second", "---\nname: first\n---\n");
    let report = format!(
        "{first}:5: warning: Unknown field 'tool_required' is ignored; did you mean 'tools_required'?\n\
         {first}:9: warning: {{{{gap}}}} is no parameter and stays as it is\n\
         {first}: warning: There are no tools of these names here: warp\n\
         {second}:1: Missing required field 'description'\n\
         {second}:4: There are no instructions below the front matter\n1 skill, 2 problems, 3 warnings\n"
    );
    let directory = skills.display().to_string();
    check(&pinza, &["skills", "check", &directory], 1, &report, "");
    let json = pinza.run(&["--json", "skills", "check", &directory]).json();
    assert_eq!((&json["ok"], &json["skills"]), (&json!(false), &json!(1)));
    assert_eq!(keys(&json["problems"][0]), ["file", "entry", "message", "line", "column", "warning"]);
    // One skill's own directory.
    let run = check(
        &pinza,
        &["skills", "check", &format!("{directory}/first")],
        0,
        "...\n1 skill, 0 problems, 3 warnings\n",
        "",
    );
    assert!(!run.stdout.contains("second"));
    let gone = format!("{directory}/gone");
    check(
        &pinza,
        &["skills", "check", &gone],
        1,
        "[..]/gone: Cannot read the directory: No such file or directory\n0 skills, 1 problem, 0 warnings\n",
        "",
    );
    put(&skills, "write-a-tool", text("write-a-tool", "x"));
    let taken = format!("{directory}/write-a-tool");
    check(
        &pinza,
        &["skills", "check", &taken],
        1,
        "[..]: Name conflict with existing skill 'write-a-tool' (skipped)\n1 skill, 1 problem, 0 warnings\n",
        "",
    );
}

#[test]
fn a_new_one_is_good_from_the_start() {
    let pinza = pinza();
    let file = pinza.home().join("skills/weekly-report/SKILL.md").display().to_string();
    let said = format!(
        "{file}\n\nWrite its instructions, then check it: pinza skills check\n\
         See what a model gets: pinza call load_skill name=weekly-report\n"
    );
    check(&pinza, &["skills", "new", "weekly-report"], 0, &said, "");
    check(&pinza, &["skills", "check"], 0, "1 skill, 0 problems, 0 warnings\n", "");
    let answer = "Loaded skill 'Weekly Report' (weekly-report 1.0.0): What this skill is for[..]\n\n# Weekly Report\n\nYou are about to do this for: taxes.\n...";
    check_call(
        &pinza,
        &["load_skill", "name=weekly-report", r#"parameters={"subject": "taxes"}"#],
        Ok(answer),
    );
    for (name, why) in [
        ("weekly-report", "[..]/skills/weekly-report exists already; nothing was written"),
        ("write-a-tool", "There is a skill 'write-a-tool' already; nothing was written"),
        (
            "../up",
            "Skill name '../up' must be 2 to 50 lowercase letters, digits and hyphens, with no hyphen at its start or end",
        ),
    ] {
        check(
            &pinza,
            &["skills", "new", name],
            1,
            "",
            &format!("error: validation_error: {why}\nhint: [..]\n"),
        );
    }
    refused(&pinza, &["skills", "new"], "error: the following required arguments were not provided:\n...");
}

/// The example of a built-in skill, block by block: (file name, text).
fn blocks(skill: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in skill.lines() {
        match line.strip_prefix("```") {
            Some(fence) => {
                inside = !inside && fence.split_once(' ').is_some();
                if let Some((_, file)) = fence.split_once(' ') {
                    blocks.push((file.to_owned(), String::new()));
                }
            }
            None if inside => {
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// What `load_skill` answers.
fn loaded(pinza: &Program, name: &str, parameters: &Value) -> String {
    let answer = fine(
        pinza,
        &["--json", "call", "load_skill", &format!("name={name}"), &format!("parameters={parameters}")],
    );
    answer.json()["result"].as_str().unwrap().to_owned()
}

#[test]
fn the_tool_of_the_skill_works() {
    let pinza = pinza();
    let skill = loaded(&pinza, "write-a-tool", &json!({"directory": "mine"}));
    assert!(skill.contains("pinza --tools mine tools check mine"), "{skill}");
    let directory = pinza.directory().join("mine");
    fs::create_dir(&directory).unwrap();
    let blocks = blocks(&skill);
    assert_eq!(
        blocks.iter().map(|(file, _)| &**file).collect::<Vec<_>>(),
        ["word_stats.json", "word_stats.js", "word_stats.test.json"]
    );
    blocks.iter().for_each(|(file, text)| fs::write(directory.join(file), text).unwrap());
    check(&pinza, &["--tools", "mine", "tools", "check", "mine"], 0, "1 tool, 0 problems, 0 warnings\n", "");
    fine(&pinza, &["--tools", "mine", "tools", "test", "word_stats"]);
    pinza.put("notes.txt", "The sea the Sea");
    let run = fine(&pinza, &["--tools", "mine", "call", "word_stats", "path=notes.txt"]);
    assert_eq!(run.stdout, "{\"words\":4,\"different\":2}\n");
}

#[test]
fn the_module_of_the_skill_is_sound() {
    let pinza = pinza();
    let skill = loaded(&pinza, "wrap-a-library", &json!({"package": "lodash@4"}));
    assert!(skill.contains("pinza module add lodash@4\n"), "{skill}");
    let [(file, text)] = &blocks(&skill)[..] else { panic!("{skill}") };
    let directory = pinza.home().join("modules/lists");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(file), text).unwrap();
    // The package is not here; what the file says is all right.
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    let tools: Vec<&str> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["group"] == "lists")
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["list_chunk", "object_merge"], "{}", list["problems"]);
}

#[test]
fn the_skill_of_the_skill_is_one() {
    let pinza = pinza();
    let skill = loaded(&pinza, "write-a-skill", &json!({"name": "my-way"}));
    // Its blanks stay for whoever writes it.
    assert!(skill.contains("# Weekly report for {{week}}"), "{skill}");
    let [(_, text)] = &blocks(&skill)[..] else { panic!("{skill}") };
    let (inner, faults) = Skill::parse(text);
    assert_eq!((inner.unwrap().name.as_str(), faults), ("my-way", vec![]));
}

#[tokio::test]
async fn a_saved_skill_is_live_and_a_broken_one_stays_good() {
    let directory = tempfile::tempdir().unwrap();
    let (skills, work) = (directory.path().join("skills"), directory.path().join("work"));
    fs::create_dir(&work).unwrap();
    let pinza = Pinza::builder().workspace(&work).skills([Place::Optional(skills.clone())]).build().unwrap();
    let mut watch = pinza.watch().unwrap();
    let body = || pinza.snapshot().skill("my-way").map(|skill| skill.body.clone());
    for (text, expected) in [
        (text("my-way", "One."), Some("One.")),
        (text("my-way", "Two."), Some("Two.")),
        ("---\nname: my-way\n---\nBroken.".to_owned(), Some("Two.")),
        (text("my-way", "Three."), Some("Three.")),
    ] {
        put(&skills, "my-way", &text);
        let is_broken = text.ends_with("Broken.");
        let is_it = |reload: &Reload| {
            let stays = |problem: &Problem| problem.message.ends_with("; the version of before stays in use");
            if is_broken { reload.problems.iter().any(stays) } else { !reload.skills.is_empty() }
        };
        loop {
            let report = tokio::time::timeout(Duration::from_secs(10), watch.next()).await;
            match report.unwrap_or_else(|_| panic!("no report of {text:?}")).unwrap() {
                Report::Reloaded(reload) if is_it(&reload) && body().as_deref() == expected => break,
                _ => {}
            }
        }
    }
    assert_eq!(pinza.problems().len(), 0);
    fs::remove_dir_all(&skills).unwrap();
    while body().is_some() {
        tokio::time::timeout(Duration::from_secs(10), watch.next()).await.unwrap().unwrap();
    }
}
