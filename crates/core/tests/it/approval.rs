//! Asking a person: one prompt at a time, each with its own id, each for its own call.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use pinza_core::{
    Answer, Approver, BoxFuture, CallScope, CancellationToken, Capability, Engine, Parameter, Parameters,
    Policy, Prompt, Rule, Tool, ToolCall, Verdict, YesApprover, visible,
};
use serde_json::{Value, json};

use crate::support::{Person, World, definition, describe, echo, seconds};

/// A tool like `exec`: its permission is about a command.
fn exec() -> Arc<dyn Tool> {
    let parameters = Parameters::build().required("command", Parameter::string("What to run")).done();
    echo(definition("exec").parameters(parameters).needs(Capability::known("exec")).subject("command"))
}

fn run(command: &str) -> Value {
    json!({ "command": command })
}

fn calls(commands: impl IntoIterator<Item = String>) -> Vec<ToolCall> {
    let numbered = commands.into_iter().enumerate();
    numbered.map(|(index, command)| ToolCall::new(format!("{index}"), "exec", run(&command))).collect()
}

#[tokio::test]
async fn a_thousand_prompts_one_at_a_time_each_for_its_own_call() {
    // Odd calls are refused: an answer that reached another call would show.
    let person = Person::who(|prompt| {
        let odd = prompt.call.as_str().parse::<usize>().unwrap() % 2 == 1;
        std::future::ready(if odd { Answer::Deny } else { Answer::Once })
    });
    let world = World::new([exec()]).asking(person.clone());
    let batch = calls((0..1_000).map(|index| format!("job {index}")));
    let outcomes = world.engine.call_all(batch, &world.scope).await;
    for (index, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.result.is_ok(), index % 2 == 0, "{index}");
    }
    assert_eq!(person.most_open.load(SeqCst), 1);
    let shown = person.shown.lock().unwrap();
    let ids: Vec<u64> = shown.iter().map(|prompt| prompt.id).collect();
    assert_eq!(ids, (1..=1_000).collect::<Vec<_>>());
    for prompt in shown.iter() {
        let subject = prompt.permission.subject.as_ref().unwrap();
        assert_eq!(subject.text, format!("job {}", prompt.call));
        assert_eq!(prompt.arguments["command"], subject.text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_goes_with_its_call_and_the_next_one_is_shown() {
    // Nobody ever answers the first one.
    let person = Person::who(|prompt| {
        let first = prompt.id == 1;
        async move { if first { std::future::pending().await } else { Answer::Once } }
    });
    let world = World::new([exec()]).asking(person.clone());
    let cancellation = CancellationToken::new();
    let scope = CallScope { cancellation: cancellation.clone(), ..world.scope.clone() };
    let first = world.call_in(&scope, "exec", run("first"));
    let second = world.call("exec", run("second"));
    let later = async {
        tokio::time::sleep(seconds(5)).await;
        assert_eq!(person.calls_shown(), ["call-1"], "the second waits its turn");
        cancellation.cancel();
    };
    let (first, second, ()) = tokio::join!(first, second, later);
    assert_eq!(describe(&first), "cancelled: Tool execution was cancelled");
    assert_eq!(describe(&second), r#"{"command":"second"}"#);
    assert_eq!(person.calls_shown(), ["call-1", "call-2"]);
    assert_eq!((person.open.load(SeqCst), person.answered.load(SeqCst)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_in_the_queue_is_never_shown() {
    let person = Person::says_after(seconds(10), Answer::Once);
    let world = World::new([exec()]).asking(person.clone());
    let cancellation = CancellationToken::new();
    let scope = CallScope { cancellation: cancellation.clone(), ..world.scope.clone() };
    let later = async {
        tokio::time::sleep(seconds(5)).await;
        cancellation.cancel();
    };
    let (first, queued, third, ()) = tokio::join!(
        world.call("exec", run("first")),
        world.call_in(&scope, "exec", run("queued")),
        world.call("exec", run("third")),
        later
    );
    assert!(first.is_ok() && queued.is_err() && third.is_ok());
    assert_eq!(person.calls_shown(), ["call-1", "call-3"]);
}

#[tokio::test]
async fn this_session_covers_the_queue_for_the_same_subject_only() {
    let person = Person::says(Answer::Session);
    let world = World::new([exec()]).asking(person.clone());
    let commands = ["git status", "git push", "git status", "git status"];
    let outcomes = world.engine.call_all(calls(commands.map(String::from)), &world.scope).await;
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    let shown = |person: &Person| -> Vec<String> {
        let shown = person.shown.lock().unwrap();
        shown.iter().map(|prompt| prompt.permission.subject.clone().unwrap().text).collect()
    };
    assert_eq!(shown(&person), ["git status", "git push"]);
    world.call("exec", run("git push")).await.unwrap();
    world.call("exec", run("git push --force")).await.unwrap();
    assert_eq!(shown(&person), ["git status", "git push", "git push --force"]);
    assert!(person.remembered.lock().unwrap().is_empty(), "a session's answer is written nowhere");
}

#[tokio::test]
async fn an_answer_for_one_tool_is_not_for_another() {
    let other = echo(definition("other").needs(Capability::known("exec")).subject("command"));
    let person = Person::says(Answer::Session);
    let world = World::new([exec(), other]).asking(person.clone());
    for name in ["exec", "other", "exec", "other"] {
        world.call(name, run("date")).await.unwrap();
    }
    assert_eq!(person.calls_shown(), ["call-1", "call-2"]);
}

#[tokio::test]
async fn once_is_once() {
    let person = Person::says(Answer::Once);
    let world = World::new([exec()]).asking(person.clone());
    world.call("exec", run("date")).await.unwrap();
    world.call("exec", run("date")).await.unwrap();
    assert_eq!(person.calls_shown().len(), 2);
}

#[tokio::test]
async fn always_remembers_the_rule_that_was_shown() {
    let person = Person::says(Answer::Always);
    let world = World::new([exec()]).asking(person.clone());
    for _ in 0..3 {
        world.call("exec", run("ls *.rs")).await.unwrap();
    }
    let prompt = person.only_prompt();
    assert!(prompt.can_keep);
    let rule = prompt.rule.unwrap();
    assert_eq!(*person.remembered.lock().unwrap(), std::slice::from_ref(&rule));
    assert_eq!(
        serde_json::to_value(&rule).unwrap(),
        json!({"effect": "allow", "tool": "exec", "capability": "exec", "args": {"command": "ls \\*.rs"}})
    );
    // Written down, it means exactly what was asked and nothing more.
    let kept = World::with_rules([exec()], &[serde_json::to_value(&rule).unwrap()]);
    assert!(kept.call("exec", run("ls *.rs")).await.is_ok());
    assert!(kept.call("exec", run("ls main.rs")).await.is_err());
}

/// Says "always", and writes it where the engine looks.
struct Keeper {
    engine: Arc<Engine>,
    asked: AtomicUsize,
}

impl Approver for Keeper {
    fn ask<'a>(&'a self, _prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        self.asked.fetch_add(1, SeqCst);
        Box::pin(std::future::ready(Answer::Always))
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        self.engine.set_policy(Policy::new([rule.clone()], []));
        Ok(())
    }
}

#[tokio::test]
async fn always_holds_for_as_long_as_its_rule() {
    let world = World::new([exec()]);
    let keeper = Arc::new(Keeper { engine: Arc::clone(&world.engine), asked: AtomicUsize::new(0) });
    let world = world.asking(keeper.clone());
    // All of them began before there was a rule.
    let outcomes = world.engine.call_all(calls(["date"; 3].map(String::from)), &world.scope).await;
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    world.call("exec", run("date")).await.unwrap();
    assert_eq!(keeper.asked.load(SeqCst), 1);
    // The rule is revoked.
    world.engine.set_policy(Policy::default());
    world.call("exec", run("date")).await.unwrap();
    assert_eq!(keeper.asked.load(SeqCst), 2);
    // Another one beats it.
    let rule = |effect: Verdict| Rule::capability(effect, "exec");
    world.engine.set_policy(Policy::new([rule(Verdict::Allow), rule(Verdict::Ask)], []));
    world.call("exec", run("date")).await.unwrap();
    assert_eq!(keeper.asked.load(SeqCst), 3);
}

#[tokio::test]
async fn a_rule_that_says_ask_is_not_worn_down_by_always() {
    let tools = || [exec(), echo(definition("plain"))];
    for (name, capability) in [("exec", "exec"), ("plain", "call")] {
        let person = Person::says(Answer::Always);
        let ask = json!({"effect": "ask", "tool": name});
        let world = World::with_rules(tools(), &[ask]).asking(person.clone());
        world.call(name, run("date")).await.unwrap();
        let prompt = person.only_prompt();
        assert!(!prompt.can_keep, "{name}");
        assert_eq!(prompt.permission.capability, capability);
        assert!(person.remembered.lock().unwrap().is_empty(), "{name}: a rule that would not help");
        world.call(name, run("date")).await.unwrap();
        assert_eq!(person.calls_shown().len(), 1, "{name}: but this session it holds");
    }
}

#[tokio::test]
async fn a_deny_never_prompts() {
    let both = definition("both").needs(Capability::known("exec")).needs(Capability::known("net"));
    let cases = [
        ("exec", json!({"effect": "deny", "tool": "exec"})),
        ("exec", json!({"effect": "deny", "capability": "exec"})),
        ("exec", json!({"effect": "deny", "args": {"command": "*rm*"}})),
        ("plain", json!({"effect": "deny", "tool": "pl?in"})),
        // The first permission would ask; the second is denied whatever anybody answers.
        ("both", json!({"effect": "deny", "capability": "net"})),
    ];
    for (name, deny) in cases {
        let person = Person::says(Answer::Once);
        let tools = [exec(), echo(definition("plain")), echo(both.clone())];
        let allow = json!({"effect": "allow", "tool": "plain"});
        let ask = json!({"effect": "ask", "tool": "e*"});
        let world = World::with_rules(tools, &[allow, deny.clone(), ask]).asking(person.clone());
        let error = world.call(name, run("rm x")).await.unwrap_err();
        assert_eq!(error.kind.code(), "permission_denied", "{deny}");
        assert!(person.calls_shown().is_empty(), "{deny}");
    }
}

#[tokio::test]
async fn yes_answers_every_ask_and_no_deny() {
    let deny = json!({"effect": "deny", "args": {"command": "rm *"}});
    let world = World::with_rules([exec()], &[deny]).asking(Arc::new(YesApprover));
    assert!(world.call("exec", run("ls")).await.is_ok());
    assert!(world.call("exec", run("rm x")).await.is_err());
}

#[tokio::test]
async fn a_compound_command_offers_no_rule() {
    let person = Person::says(Answer::Session);
    let world = World::new([exec()]).asking(person.clone());
    let compound = ["git log; rm x", "a && b", "a | b", "a `b`", "a $(b)", "a\nb", "a & b"];
    for command in compound {
        world.call("exec", run(command)).await.unwrap();
        world.call("exec", run(command)).await.unwrap();
    }
    let shown = person.shown.lock().unwrap();
    assert_eq!(shown.len(), 2 * compound.len(), "each is asked again");
    assert!(shown.iter().all(|prompt| prompt.rule.is_none()));
}

#[tokio::test]
async fn a_subject_that_is_no_text_is_still_the_subject() {
    let parts = echo(definition("argv").needs(Capability::known("exec")).subject("command"));
    let person = Person::says(Answer::Session);
    let world = World::new([parts]).asking(person.clone());
    world.call("argv", json!({"command": ["git", "status"]})).await.unwrap();
    world.call("argv", json!({"command": ["rm", "x"]})).await.unwrap();
    assert_eq!(person.calls_shown().len(), 2, "yes to one command is not yes to all");
}

#[tokio::test]
async fn what_is_shown_cannot_draw_something_else() {
    let nasty = "ls \u{1b}[2J\u{1b}[1;1H\u{202e}gpj.exe\u{200b}\r\u{9b}31m";
    let person = Person::says(Answer::Once);
    let world = World::new([exec()]).asking(person.clone());
    world.call("exec", run(nasty)).await.unwrap();
    let prompt = person.only_prompt();
    let text = &prompt.permission.subject.as_ref().unwrap().text;
    assert_eq!(text, nasty, "the approver gets the truth");
    assert_eq!(
        visible(text),
        "ls \\u{1b}[2J\\u{1b}[1;1H\\u{202e}gpj.exe\\u{200b}\\r\\u{9b}31m",
        "and a person sees it"
    );
    let drawn: Rule = serde_json::from_value(json!({
        "effect": "allow", "tool": "a\u{1b}", "capability": "b\u{202e}", "args": {"c\u{7}": "d\u{200b}\n"}
    }))
    .unwrap();
    assert_eq!(
        drawn.to_string(),
        "allow tool a\\u{1b} capability b\\u{202e} where c\\u{7} is \"d\\u{200b}\\n\""
    );
}
