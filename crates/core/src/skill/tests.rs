use super::*;

const GOOD: &str =
    "---\nname: weekly-report\ndisplay_name: Weekly Report\ndescription: Sum up a week\n---\n\nDo it.\n";

/// A text with these lines of front matter, after the required ones.
fn with(fields: &str, body: &str) -> String {
    format!("---\nname: a-skill\ndisplay_name: A Skill\ndescription: Does\n{fields}---\n{body}")
}

#[track_caller]
fn good(text: &str) -> Skill {
    let (skill, faults) = Skill::parse(text);
    assert_eq!(faults, []);
    skill.unwrap()
}

/// Faults as `line: message`, warnings with a `?` behind the line.
#[track_caller]
fn told(text: &str) -> (bool, Vec<String>) {
    let (skill, faults) = Skill::parse(text);
    let line = |fault: &SkillFault| {
        let line = fault.line.map_or_else(String::new, |line| line.to_string());
        format!("{line}{}: {}", if fault.warning { "?" } else { "" }, fault.message)
    };
    (skill.is_some(), faults.iter().map(line).collect())
}

#[track_caller]
fn bad(text: &str, faults: &[&str]) {
    assert_eq!(told(text), (false, faults.iter().map(|fault| (*fault).to_owned()).collect()));
}

#[track_caller]
fn warned(text: &str, faults: &[&str]) {
    assert_eq!(told(text), (true, faults.iter().map(|fault| (*fault).to_owned()).collect()));
}

#[test]
fn the_least_that_a_skill_is() {
    let skill = good(GOOD);
    assert_eq!((skill.name.as_str(), &*skill.display_name), ("weekly-report", "Weekly Report"));
    assert_eq!((&*skill.description, &*skill.body), ("Sum up a week", "Do it."));
    assert_eq!((&skill.version, &skill.tools_required[..], &skill.parameters[..]), (&None, &[][..], &[][..]));
    // As other programs have it.
    let without = GOOD.replace("display_name: Weekly Report\n", "");
    assert_eq!(good(&without), skill);
    assert_eq!(good(&GOOD.replace("Weekly Report", "~")), skill);
    // As editors elsewhere save it.
    let windows = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert_eq!(good(&windows), good(GOOD));
}

#[test]
fn front_matter_as_people_write_it() {
    let text = r#"---
# A comment.
name: "trip-planner"
display_name: 'Trip: Planner'
description: >-
  Plan a trip
  with trains,
  not planes
version: 1.10
tools_required: [read_file, "gmail_search"]
parameters:
  - name: city
    description: |
      Where to?
    required: true
  - name: days
    default: 3
  - mood
---
Go to {{city}} for {{ days }} days, {{mood}}.
"#;
    let skill = good(text);
    assert_eq!(skill.name.as_str(), "trip-planner");
    assert_eq!(skill.display_name, "Trip: Planner");
    assert_eq!(skill.description, "Plan a trip with trains, not planes");
    assert_eq!(skill.version.as_deref(), Some("1.10"), "a text, not a number");
    assert_eq!(
        skill.tools_required.iter().map(ToolName::as_str).collect::<Vec<_>>(),
        ["read_file", "gmail_search"]
    );
    let parameter = |name: &str, description: &str, required, default: Option<&str>| SkillParameter {
        name: name.into(),
        description: description.into(),
        required,
        default: default.map(Into::into),
    };
    let expected = [
        parameter("city", "Where to?", true, None),
        parameter("days", "", false, Some("3")),
        parameter("mood", "", false, None),
    ];
    assert_eq!(skill.parameters, expected);

    let block = good(&with("tools_required:\n  - a\n  - b\n  - a\n", "x"));
    assert_eq!(block.tools_required.len(), 2);
    assert_eq!(good(&with("version:\ntools_required: []\nparameters: ~\n", "x")).version, None);
    // A rule in the text is no fence.
    assert_eq!(good(&with("", "one\n\n---\n\ntwo")).body, "one\n\n---\n\ntwo");
}

#[test]
fn faults_have_their_lines() {
    bad(
        "",
        &["1: It must begin with a line '---', the front matter (name, description), and another line '---'"],
    );
    bad("---\nname: x\n", &["1: The front matter has no end: a line '---' is missing"]);
    bad("---\n---\nx", &["2: The front matter is empty: name and description are required"]);
    bad("---\n- a\n---\nx", &["2: The front matter must be fields: 'name: value'"]);
    bad(
        "---\nname: Bad Name\ndisplay_name:\n---\nx",
        &[
            "1: Missing required field 'description'",
            "2: Skill name 'Bad Name' must be 2 to 50 lowercase letters, digits and hyphens, with no hyphen at its start or end",
        ],
    );
    bad(&with("", "\n \n"), &["6: There are no instructions below the front matter"]);
    bad(&with("version: [1]\n", "x"), &["5: 'version' must be a text"]);
    bad(&with("name: twice\n", "x"), &["5: 'name' is there twice"]);
    bad(
        &with("tools_required:\n  - fine\n  - two words\n", "x"),
        &["7: tool name 'two words' contains ' '; use printable characters without spaces"],
    );
    bad(&with("tools_required: {a: b}\n", "x"), &["5: 'tools_required' must be a list"]);
    bad(
        &with(
            "parameters:\n  - description: nameless\n  - name: 1st\n  - {name: a, required: maybe}\n  - a\n",
            "{{a}}",
        ),
        &[
            "1: Missing required field 'name'",
            "7: Parameter name '1st' must be letters, digits, '_' and '-', with a letter first",
            "8: 'required' must be true or false",
            "9: Parameter 'a' is there twice",
        ],
    );
    let (skill, faults) = told(&with("version: \"open\n", "x"));
    assert!(!skill && faults[0].contains("The front matter is not valid YAML: "), "{faults:?}");
}

#[test]
fn what_is_only_odd_is_a_warning() {
    warned(
        &with("licence: MIT\ntool_required: x\n", "x"),
        &[
            "5?: Unknown field 'licence' is ignored",
            "6?: Unknown field 'tool_required' is ignored; did you mean 'tools_required'?",
        ],
    );
    warned(
        &with("parameters: [{name: a, type: string}]\n", "\n\n{{b}} and {{not a blank}}\n"),
        &[
            "5?: Unknown field 'type' of a parameter is ignored",
            "9?: {{b}} is no parameter and stays as it is",
            "9?: The instructions have no {{a}}",
        ],
    );
    good(&with("", "Write:\n```\n{{b}}\n```\n"));
    warned(
        &with("parameters: [{name: a, required: true, default: b}]\n", "{{a}}"),
        &["5?: Parameter 'a' has a default, so it is never missing"],
    );
    warned(
        &with("", "fine\nhi\u{e0041}den ⚠\u{fe0f}"),
        &["7?: It has a character that cannot be seen (U+E0041): a model reads what people do not"],
    );
}

#[test]
fn hostile_texts_are_refused_quickly() {
    let (skill, faults) = Skill::parse(&with("", &"x".repeat(SKILL_LIMIT)));
    assert_eq!((skill, &*faults[0].message), (None, "Longer than 100 KB"));
    let fits = with("", &"{".repeat(SKILL_LIMIT - 100));
    assert!(Skill::parse(&fits).0.is_some());
    bad(
        &with("version: &a one\nparameters: [*a]\n", "x"),
        &["5: Anchors, aliases and tags of YAML are not used here"],
    );
    bad(&with("version: !!str 1\n", "x"), &["5: Anchors, aliases and tags of YAML are not used here"]);
    let deep = format!("parameters: {}{}\n", "[".repeat(500), "]".repeat(500));
    assert!(!told(&with(&deep, "x")).0);
    let wide = format!("parameters: [{}]\n", "a,".repeat(200));
    bad(&with(&wide, "x"), &["5: 'parameters' has more than 100 entries"]);
    let many: String = (0..101).map(|number| format!("k{number}: 1\n")).collect();
    bad(&with(&many, "x"), &["102: More than 100 fields"]);
    let long = with(&format!("version: {}\n", "1".repeat(2000)), "x");
    bad(&long, &["5: 'version' is longer than 1024 characters"]);
    let (is_good, faults) = told("---\nname: aa\ndisplay_name: x\u{202e}y\ndescription: x\n---\nx");
    assert_eq!(
        (is_good, &*faults[0]),
        (false, "3: 'display_name' has characters that cannot be seen: x\\u{202e}y")
    );
}

#[test]
fn names() {
    for fine in ["ab", "a1", "write-a-tool", &"x".repeat(50)] {
        assert!(SkillName::new(fine).is_ok(), "{fine}");
    }
    for wrong in ["", "a", "-a", "a-", "A-b", "a_b", "a b", "../x", "ä1", &"x".repeat(51)] {
        assert!(SkillName::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn values_fill_blanks_and_are_not_read_again() {
    let skill = good(&with(
        "parameters: [{name: who, required: true}, {name: how, default: softly}, why]\n",
        "Greet {{who}} {{ how }}{{why}} {{{who}}} {{other}}\n".replace("{{other}}", "{ {who}").as_str(),
    ));
    let fill = |values: serde_json::Value| {
        let serde_json::Value::Object(values) = values else { panic!("not an object") };
        skill
            .fill(&values)
            .map(|filled| (filled.text, filled.unknown))
            .map_err(|missing| missing.0.name.clone())
    };
    use serde_json::json;
    let text = |text: &str| Ok((text.to_owned(), vec![]));
    assert_eq!(fill(json!({"who": "Ada"})), text("Greet Ada softly {Ada} { {who}"));
    assert_eq!(
        fill(json!({"who": "{{how}}", "how": 2, "why": true})),
        text("Greet {{how}} 2true {{{how}}} { {who}")
    );
    assert_eq!(fill(json!({"how": "x"})), Err("who".into()));
    assert_eq!(fill(json!({"who": null})), Err("who".into()));
    assert_eq!(fill(json!({"who": "", "when": 1})).unwrap().1, ["when"]);
}

/// Front matter of one piece, repeated until the file is full. Whatever it means, it is answered soon.
#[test]
fn monstrous_front_matter_is_answered() {
    for piece in [
        "[", "{", "- ", "? ", ": ", "a: ", "a: {", "\"", "'", "\\", "#", "|\n", ">\n ", "a: |\n", "&a ",
        "*a ", "!t ", "%YAML ", "\t", "...\n", "a:\n ", "x\n", "[a, ", "{a: ", "- a\n", "\u{2028}",
        "\u{feff}", "a: b\n",
    ] {
        let text = with(&format!("{}\n", piece.repeat(90_000 / piece.len())), "x");
        let (skill, faults) = Skill::parse(&text);
        assert!(skill.is_some() || !faults.is_empty(), "{piece:?}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_is_too_much(front in "[-a-c0:?#&*!|>'\"%@`{}\\[\\], \t\n\\\\~\u{feff}\u{e9}]{0,60}", body in "[{}a \n`-]{0,40}") {
        let (skill, faults) = Skill::parse(&with(&format!("{front}\n"), &body));
        proptest::prop_assert!(skill.is_some() || faults.iter().any(|fault| !fault.warning));
        if let Some(skill) = skill.filter(|skill| skill.parameters.is_empty()) {
            let filled = skill.fill(&serde_json::Map::new()).map(|filled| filled.text);
            proptest::prop_assert_eq!(filled.ok(), Some(skill.body));
        }
    }
}

#[test]
fn titles() {
    assert_eq!(SkillName::new("weekly-report").unwrap().title(), "Weekly Report");
    assert_eq!(SkillName::new("a--b").unwrap().title(), "A B");
}
