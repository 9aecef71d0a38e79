//! One round of a conversation: all calls of a model's turn, side by side, each answered once.
//!
//! A model may load a group and use it in the same turn. A call of a tool that it does not see
//! yet therefore waits until a call beside it makes the tool visible, or none is left that could.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    conversation::{Applied, Conversation},
    engine::{Engine, Outcome},
    error::ErrorKind,
    names::{GroupName, ToolName},
    scope::CallScope,
    tool::ToolCall,
    view::View,
};

/// How often a model may call the same tool blindly, with the same arguments.
const BLIND_CALLS: u8 = 3;

/// What a round came to.
#[derive(Debug)]
pub struct Round {
    /// One for each call, in the order of the calls.
    pub outcomes: Vec<Outcome>,
    /// Groups whose tools can be used from now on.
    pub loaded: Vec<GroupName>,
    /// Whether the conversation is not what it was, and has to be kept anew: a load, or a blind call that counts.
    pub changed: bool,
    /// Why the loop has to end here.
    pub stop: Option<Stop>,
}

/// A reason to end a loop that the model cannot be talked out of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error(
        "The model called '{tool}' {times} times with the same arguments without loading its group '{group}'"
    )]
    BlindCalls { tool: ToolName, group: GroupName, times: u8 },
}

impl Conversation {
    /// Runs the calls of one turn; `told` hears of each outcome as it comes.
    pub async fn round(
        &mut self,
        engine: &Arc<Engine>,
        calls: Vec<ToolCall>,
        scope: &CallScope,
        mut told: impl FnMut(&Outcome) + Send,
    ) -> Round {
        let view = scope.view(engine.policy());
        let texts: Vec<String> = calls.iter().map(fingerprint).collect();
        let mut round = Running { engine, scope, outcomes: HashMap::new(), tasks: JoinSet::new() };
        let lost: Vec<(usize, ToolCall)> = calls.iter().cloned().enumerate().collect();
        let (mut waiting, ready): (Vec<_>, Vec<_>) =
            calls.into_iter().enumerate().partition(|(_, call)| self.could_come_to_see(call, &view));
        let mut loaded = Vec::new();
        round.start(ready, self);
        loop {
            if round.tasks.is_empty() {
                // Nobody is left who could load what these want: they are answered as they are.
                round.start(std::mem::take(&mut waiting), self);
            }
            let Some(joined) = round.tasks.join_next().await else { break };
            let Ok((index, outcome)) = joined else { continue };
            told(&outcome);
            for effect in outcome.result.iter().flat_map(|output| &output.effects) {
                if let Applied::Loaded { group } = self.apply(effect, &view) {
                    loaded.push(group);
                }
            }
            round.outcomes.insert(index, outcome);
            let (still, seen): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, call)| self.could_come_to_see(call, &view));
            waiting = still;
            round.start(seen, self);
        }
        let outcomes: Vec<Outcome> = lost
            .into_iter()
            .map(|(index, call)| {
                round.outcomes.remove(&index).unwrap_or_else(|| Outcome::lost(call.id, call.name))
            })
            .collect();
        let blind = self.blind.clone();
        let stop =
            outcomes.iter().zip(texts).find_map(|(outcome, text)| self.count_blind(outcome, text, &view));
        let changed = !loaded.is_empty() || self.blind != blind;
        Round { outcomes, loaded, changed, stop }
    }

    /// Whether a call is of a tool that is not visible, and would be if its group were loaded.
    fn could_come_to_see(&self, call: &ToolCall, view: &View) -> bool {
        let entry = view.get(&call.name);
        entry.is_some_and(|entry| entry.meta().group.is_some()) && !self.visibility().sees(&call.name)
    }

    fn count_blind(&mut self, outcome: &Outcome, text: String, view: &View) -> Option<Stop> {
        let is_blind = matches!(&outcome.result, Err(error) if error.kind == ErrorKind::ToolNotAvailable);
        let entry = view.get(&outcome.tool).filter(|_| is_blind)?;
        let group = entry.meta().group.clone()?;
        let times = self.blind.entry(text).or_default();
        *times = times.saturating_add(1);
        (*times >= BLIND_CALLS).then(|| Stop::BlindCalls {
            tool: entry.meta().id.clone(),
            group,
            times: *times,
        })
    }
}

/// The calls of a round that are under way. The set owns its tasks: dropping the round ends them all.
struct Running<'a> {
    engine: &'a Arc<Engine>,
    scope: &'a CallScope,
    outcomes: HashMap<usize, Outcome>,
    tasks: JoinSet<(usize, Outcome)>,
}

impl Running<'_> {
    /// Starts calls that see what the conversation sees now.
    fn start(&mut self, calls: Vec<(usize, ToolCall)>, conversation: &Conversation) {
        if calls.is_empty() {
            return;
        }
        let scope = CallScope { visibility: conversation.visibility(), ..self.scope.clone() };
        for (index, call) in calls {
            let (engine, scope) = (Arc::clone(self.engine), scope.clone());
            self.tasks.spawn(async move { (index, engine.call(call, &scope).await) });
        }
    }
}

/// The same for the same call, however its arguments were ordered; short, because it is kept.
fn fingerprint(call: &ToolCall) -> String {
    let mut hasher = DefaultHasher::new();
    sorted(&call.arguments).to_string().hash(&mut hasher);
    format!("{} {:016x}", call.name, hasher.finish())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
