//! Plays a scenario as a conversation of the real engine.

use std::sync::Arc;

use anyhow::ensure;
use pinza::{
    Policy, Selection,
    agent::ToolGroup,
    core::{
        CallScope, Caller, Conversation, Effect, Engine, GroupName, Loading, Outcome, ShownTool, Snapshot,
        ToolCall, ToolResult, View,
    },
};
use serde_json::{Value, json};

use super::{
    super::super::Result,
    scenario::{Loads, Scenario, Use},
};

/// How a conversation comes by its tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// Every tool in every request, and nothing to load.
    Everything,
    /// Groups; loaded tools join the array.
    Grows,
    /// Groups; the array stays, loaded tools are described and reached through `call_tool`.
    Describes,
}

/// Tools that exist only for the sake of groups.
const LOADERS: [&str; 3] = ["load_tool_group", "search_tools", "call_tool"];

/// A conversation that is over.
pub(super) struct Played {
    pub(super) conversation: Conversation,
    pub(super) request: &'static str,
    pub(super) rounds: Vec<Turn>,
    /// The tools of the last request.
    pub(super) tools: Vec<ShownTool>,
    /// How many of them the first one had.
    pub(super) first_tools: usize,
    /// All groups that could be loaded; none where everything is there.
    pub(super) groups: Vec<ToolGroup>,
    pub(super) answer: &'static str,
    pub(super) uses: usize,
    pub(super) visible: usize,
}

/// One round of calls and their results.
pub(super) struct Turn {
    pub(super) calls: Vec<(ToolCall, ToolResult)>,
    /// How many tools stood in the request that asked for it.
    pub(super) tools: usize,
}

pub(super) async fn play(snapshot: &Arc<Snapshot>, arm: Arm, scenario: &Scenario) -> Result<Played> {
    let mut player = Player::new(snapshot, arm);
    let first_tools = player.conversation.tools().len();
    if scenario.loads == Loads::All && arm != Arm::Everything {
        let groups = player.view.groups().map(|group| group.name.clone()).collect();
        player.load(groups).await?;
    }
    for step in &scenario.steps {
        player.step(step).await?;
    }
    let Player { view, conversation, rounds, uses, visible, .. } = player;
    Ok(Played {
        request: scenario.request,
        rounds,
        tools: conversation.tools().to_vec(),
        conversation,
        first_tools,
        groups: if arm == Arm::Everything { Vec::new() } else { ToolGroup::all(&view) },
        answer: scenario.answer,
        uses,
        visible,
    })
}

struct Player {
    arm: Arm,
    engine: Arc<Engine>,
    scope: CallScope,
    view: View,
    conversation: Conversation,
    rounds: Vec<Turn>,
    uses: usize,
    visible: usize,
}

impl Player {
    fn new(snapshot: &Arc<Snapshot>, arm: Arm) -> Self {
        let exclude = if arm == Arm::Everything { LOADERS.map(String::from).to_vec() } else { Vec::new() };
        let loading = if arm == Arm::Describes { Loading::Describes } else { Loading::Grows };
        let engine = Arc::new(Engine::new(Policy::default()));
        let scope = CallScope {
            toolset: Arc::new(Selection { exclude, ..Selection::default() }),
            loading,
            ..CallScope::new(Caller::Agent { session: "bench".into() }, Arc::clone(snapshot))
        };
        let view = scope.view(engine.policy());
        let mut conversation = Conversation::start(&view);
        if arm == Arm::Everything {
            for group in view.groups() {
                conversation.apply(&Effect::ActivateGroup { group: group.name.clone() }, &view);
            }
        }
        Self { arm, engine, scope, view, conversation, rounds: Vec::new(), uses: 0, visible: 0 }
    }

    /// Loads the groups of a step's tools, then uses them.
    async fn step(&mut self, step: &[Use]) -> Result<()> {
        let mut missing: Vec<GroupName> = Vec::new();
        for used in step {
            let group = self.view.get(used.tool).and_then(|entry| entry.meta().group.clone());
            let is_loaded = self.conversation.visibility().sees(used.tool);
            missing.extend(group.filter(|group| !is_loaded && !missing.contains(group)));
        }
        self.load(missing).await?;
        self.uses += step.len();
        let seen = self.conversation.visibility();
        self.visible += step.iter().filter(|used| seen.sees(used.tool)).count();
        let call = |used: &Use| match self.arm {
            Arm::Describes => {
                ("call_tool".to_owned(), json!({ "name": used.tool, "arguments": used.arguments }))
            }
            Arm::Everything | Arm::Grows => (used.tool.to_owned(), used.arguments.clone()),
        };
        let calls = step.iter().map(call).collect();
        self.round(calls).await
    }

    async fn load(&mut self, groups: Vec<GroupName>) -> Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let call = |group: &GroupName| ("load_tool_group".to_owned(), json!({ "group_name": group }));
        self.round(groups.iter().map(call).collect()).await
    }

    async fn round(&mut self, calls: Vec<(String, Value)>) -> Result<()> {
        let number = self.rounds.len();
        let call = |(index, (name, arguments)): (usize, (String, Value))| {
            // As long as the ids that providers give.
            ToolCall::new(format!("call_{number:012}{index:012}"), name, arguments)
        };
        let calls: Vec<ToolCall> = calls.into_iter().enumerate().map(call).collect();
        let tools = self.conversation.tools().len();
        let round = self.conversation.round(&self.engine, calls.clone(), &self.scope, |_: &Outcome| {}).await;
        for outcome in &round.outcomes {
            let answer = outcome.result.as_ref().err();
            ensure!(answer.is_none(), "a scenario's call of {} failed: {answer:?}", outcome.tool);
        }
        let results = round.outcomes.into_iter().map(|outcome| outcome.result);
        let calls = calls.into_iter().zip(results).collect();
        self.rounds.push(Turn { calls, tools });
        Ok(())
    }
}
