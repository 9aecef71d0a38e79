//! Tools that need input: one question, several at once, several in turn.

use std::{collections::BTreeMap, sync::Arc};

use pinza_core::Tool;
use serde_json::{Value, json};

use super::{
    fixture::{fixture, text, unanswered},
    tools::sampling,
};
use crate::server::{Client, Need, Question};

pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        fixture("test_input_required_result_elicitation", "Asks for a name", |client| async move {
            let answer = client.ask("user_name", name("What is your name?")).await.map_err(unanswered)?;
            text(format!("Hello, {}!", content(&answer, "name")))
        }),
        fixture("test_input_required_result_sampling", "Asks the client's model", |client| async move {
            let question = sampling("What is the capital of France?", 100);
            let answer = client.ask("capital_question", question).await.map_err(unanswered)?;
            text(answer["content"]["text"].as_str().unwrap_or_default())
        }),
        fixture("test_input_required_result_list_roots", "Asks for roots", |client| async move {
            let answer = client.ask("client_roots", Question::Roots).await.map_err(unanswered)?;
            text(format!("Roots: {}", answer["roots"]))
        }),
        confirming("test_input_required_result_request_state"),
        confirming("test_input_required_result_tampered_state"),
        fixture("test_input_required_result_multiple_inputs", "Asks three things", |client| async move {
            let questions = three();
            let answers = client.ask_all(questions).await.map_err(unanswered)?;
            text(format!("{} answers", answers.len()))
        }),
        fixture("test_input_required_result_multi_round", "Asks twice", |client| async move {
            let first = client.ask("step1", name("Step 1: What is your name?")).await.map_err(unanswered)?;
            let second = client.ask("step2", color()).await.map_err(unanswered)?;
            text(format!("{} likes {}", content(&first, "name"), content(&second, "color")))
        }),
        fixture("test_input_required_result_capabilities", "Asks what it can", ask_what_it_can),
    ]
}

fn confirming(tool: &'static str) -> Arc<dyn Tool> {
    fixture(tool, "Asks for a confirmation", |client| async move {
        let question = Question::Form { message: "Please confirm".into(), schema: confirm() };
        client.ask("confirm", question).await.map_err(unanswered)?;
        // The call went on where it was: its state is the one that came back.
        text("state-ok")
    })
}

async fn ask_what_it_can(client: Client) -> pinza_core::ToolResult {
    let can = |(_, question): &(String, Question)| match question {
        Question::Form { .. } => client.can(Need::Form),
        Question::Sampling { .. } => client.can(Need::Sampling),
        Question::Roots => client.can(Need::Roots),
    };
    let questions: BTreeMap<_, _> = three().into_iter().filter(can).collect();
    if questions.is_empty() {
        return text("There is nothing that the client could be asked for.");
    }
    let answers = client.ask_all(questions).await.map_err(unanswered)?;
    text(format!("{} answers", answers.len()))
}

fn three() -> BTreeMap<String, Question> {
    BTreeMap::from([
        ("user_name".into(), name("What is your name?")),
        ("greeting".into(), sampling("Generate a greeting", 50)),
        ("client_roots".into(), Question::Roots),
    ])
}

fn name(message: &str) -> Question {
    Question::Form { message: message.into(), schema: one("name", "string") }
}

fn color() -> Question {
    let message = "Step 2: What is your favorite color?".into();
    Question::Form { message, schema: one("color", "string") }
}

pub(super) fn confirm() -> Value {
    one("ok", "boolean")
}

pub(super) fn one(field: &str, kind: &str) -> Value {
    json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] })
}

fn content<'a>(answer: &'a Value, field: &str) -> &'a str {
    answer["content"][field].as_str().unwrap_or_default()
}
