//! RFC-040's four scenarios as data: what a person asks, which tools a model then uses, what they answer.

use serde_json::{Value, json};

/// What stands above the listing in every request.
pub(super) const SYSTEM: &str = "You are a helpful assistant. Use tools where they help, check what they answer, and never \
    make up results. Ask before you do something that cannot be undone. Answer briefly, in the user's language.";

pub(super) struct Scenario {
    pub(super) id: &'static str,
    /// Which of RFC-040's it is.
    pub(super) title: &'static str,
    pub(super) request: &'static str,
    /// What a model calls, turn by turn; the calls of one turn go side by side.
    pub(super) steps: Vec<Vec<Use>>,
    pub(super) loads: Loads,
    pub(super) answer: &'static str,
}

/// When a model loads the groups that it needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// Each in a turn of its own, when one of its tools is first needed.
    AsNeeded,
    /// All that there are, in one turn at the start.
    All,
}

pub(super) struct Use {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) answer: &'static str,
}

fn uses(tool: &'static str, arguments: Value, answer: &'static str) -> Use {
    Use { tool, arguments, answer }
}

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![simple(), email(), config_and_email(), all_groups()]
}

fn simple() -> Scenario {
    Scenario {
        id: "simple",
        title: "Simple query (no tools needed)",
        request: "What is the difference between a mutex and a semaphore, in two sentences?",
        steps: Vec::new(),
        loads: Loads::AsNeeded,
        answer: "A mutex lets exactly one holder in, and only that holder may let go of it. A semaphore counts: it lets \
                 up to a set number in, and anybody may give a place back.",
    }
}

const INBOX: &str = r#"[{"id":"18c2f","from":"ada@example.com","subject":"Contract needs your signature by tonight","snippet":"Hi, the client waits for"},{"id":"18c2e","from":"news@example.org","subject":"Ten tips for autumn","snippet":"This week in our letter"},{"id":"18c2b","from":"ops@example.com","subject":"Disk of db-2 at 91 %","snippet":"Alert since 07:40"}]"#;

fn email() -> Scenario {
    Scenario {
        id: "email",
        title: "Email task (Gmail only)",
        request: "Check my unread email, tell me what is urgent, answer Ada that I will sign this afternoon, and archive the rest.",
        steps: vec![
            vec![uses("gmail_search", json!({"query": "is:unread", "max_results": 10}), INBOX)],
            vec![
                uses(
                    "gmail_read",
                    json!({"message_id": "18c2f"}),
                    "From: Ada <ada@example.com>\nSubject: Contract needs your signature by tonight\n\nHi, the client waits for the \
                     signed contract until 20:00. The draft is attached, nothing changed since Tuesday. Can you sign today?",
                ),
                uses(
                    "gmail_read",
                    json!({"message_id": "18c2b"}),
                    "From: Alerts <ops@example.com>\nSubject: Disk of db-2 at 91 %\n\nAlert since 07:40. At this rate the disk of db-2 is \
                     full on Thursday. Runbook: clean old backups, then grow the volume.",
                ),
            ],
            vec![uses(
                "gmail_send",
                json!({"to": ["ada@example.com"], "subject": "Re: Contract needs your signature by tonight", "body": "Hi Ada, I will sign it this afternoon.", "thread_id": "18c2f"}),
                r#"{"id":"18c31","threadId":"18c2f"}"#,
            )],
            vec![uses("gmail_archive", json!({"message_ids": ["18c2e"]}), "Archived 1 message")],
        ],
        loads: Loads::AsNeeded,
        answer: "Urgent: Ada needs your signature by 20:00 (I told her that you will sign this afternoon), and the disk of db-2 \
                 is at 91 %. The newsletter is archived.",
    }
}

fn config_and_email() -> Scenario {
    Scenario {
        id: "config+email",
        title: "Config + Email task",
        request: "Make the cheaper model of our work provider the default, and mail the team at team@example.com what changed.",
        steps: vec![
            vec![uses(
                "list_providers",
                json!({}),
                r#"[{"id":"work","type":"openai","baseUrl":"https://llm.example.com/v1","default":"large-3"}]"#,
            )],
            vec![uses(
                "list_models",
                json!({"provider_id": "work"}),
                r#"[{"id":"large-3","default":true},{"id":"small-3","default":false}]"#,
            )],
            vec![uses(
                "set_default_model",
                json!({"provider_id": "work", "model_id": "small-3"}),
                "The default model is work/small-3 (it was work/large-3)",
            )],
            vec![uses(
                "gmail_send",
                json!({"to": ["team@example.com"], "subject": "New default model", "body": "From today new conversations use small-3 instead of large-3. Agents that name a model keep it."}),
                r#"{"id":"18c40","threadId":"18c40"}"#,
            )],
        ],
        loads: Loads::AsNeeded,
        answer: "small-3 is the default now, and the team knows.",
    }
}

/// One tool of every group that the catalog's description begins with.
fn all_groups() -> Scenario {
    let first = vec![
        uses("list_agents", json!({}), "[]"),
        uses("pdf_info", json!({"path": "plan.pdf"}), r#"{"pages":12}"#),
        uses("list_scheduled_tasks", json!({}), "[]"),
        uses("list_user_tools", json!({}), "[]"),
        uses("gmail_search", json!({"query": "subject:plan"}), INBOX),
        uses("gmail_labels_list", json!({}), "[]"),
        uses("drive_search", json!({"query": "plan"}), "[]"),
    ];
    let second = vec![
        uses(
            "calendar_list_events",
            json!({"time_min": "2026-11-16T00:00:00Z", "time_max": "2026-11-17T00:00:00Z"}),
            "[]",
        ),
        uses("contacts_search", json!({"query": "Ada"}), "[]"),
        uses("docs_create", json!({"title": "Status"}), r#"{"id":"d1"}"#),
        uses("sheets_create", json!({"title": "Numbers"}), r#"{"id":"s1"}"#),
        uses("slides_create", json!({"title": "Status"}), r#"{"id":"p1"}"#),
        uses("forms_create", json!({"title": "Feedback"}), r#"{"id":"f1"}"#),
        uses("tasks_list", json!({}), "[]"),
    ];
    Scenario {
        id: "all",
        title: "All groups loaded",
        request: "Give me an overview of everything that there is about the plan, everywhere, and prepare empty documents for the status.",
        steps: vec![first, second],
        loads: Loads::All,
        answer: "There is little yet: three mails, a PDF of twelve pages. Document, sheet, slides and form are prepared.",
    }
}
