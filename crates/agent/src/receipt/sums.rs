//! Adds a receipt up.

use std::collections::{BTreeMap, HashMap, HashSet};

use pinza_state::{Piece, Request};

use super::{Everything, GroupCost, Provided, Receipt, RequestCost, Rewrites, Spent, ToolCost};
use crate::{
    event::Usage,
    provider::Provider,
    reveal::Reveal,
    talk::sent::{ANSWER, About, EVERYTHING, MESSAGES, SYSTEM, Sent, TOOLS},
    tokens::TokenCounter,
};

pub(super) fn receipt(
    session: String,
    answers: usize,
    requests: Vec<Request>,
    pieces: Vec<Piece>,
) -> Result<Receipt, serde_json::Error> {
    let pieces = counted(pieces)?;
    let sent = requests
        .into_iter()
        .map(|request| {
            let Request { created, body, parts } = request;
            Ok(Parts { created, sent: serde_json::from_value(body)?, parts })
        })
        .collect::<Result<Vec<Parts>, serde_json::Error>>()?;
    let each: Vec<RequestCost> = sent.iter().map(|request| cost(request, &pieces)).collect();
    let spent = spent(&each, &sent, &pieces);
    let with_everything = each.iter().filter(|request| !request.loading_only);
    let everything = Everything {
        tools: sent.last().map_or(0, |request| request.part(EVERYTHING).len()),
        requests: with_everything.clone().count(),
        tokens: with_everything.map(|request| request.everything).sum(),
    };
    let saved_tokens = signed(everything.tokens) - signed(spent.total);
    let share = 100.0 * saved_tokens as f64 / everything.tokens.max(1) as f64;
    let tools = tools(&sent, &pieces);
    let answered = sent.iter().filter(|request| request.sent.answered).count();
    Ok(Receipt {
        session,
        requests: each.len(),
        unrecorded: answers.saturating_sub(answered),
        spent,
        everything,
        saved_tokens,
        saved_percent: (share * 10.0).round() / 10.0,
        rewrites: rewrites(&sent, &pieces),
        provider: provided(&each),
        groups: groups(&tools),
        tools,
        approximate: each.iter().any(|request| request.provider.provider() != Provider::OpenAi),
        each,
        counted: "o200k",
    })
}

/// A piece with its tokens.
struct Weighed {
    about: About,
    tokens: usize,
    /// What `call_tool` adds to it.
    wrapping: usize,
}

type Pieces = HashMap<i64, Weighed>;

struct Parts {
    created: i64,
    sent: Sent,
    parts: BTreeMap<String, Vec<i64>>,
}

impl Parts {
    fn part(&self, name: &str) -> &[i64] {
        self.parts.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// All that was read, in its order.
    fn read(&self) -> impl Iterator<Item = i64> {
        [TOOLS, SYSTEM, MESSAGES].into_iter().flat_map(|part| self.part(part)).copied()
    }
}

fn counted(pieces: Vec<Piece>) -> Result<Pieces, serde_json::Error> {
    let mut counter = TokenCounter::default();
    let weigh = |piece: Piece| {
        let about: About = serde_json::from_value(piece.about)?;
        let tokens = counter.tokens(&piece.text);
        let wrapping = match &about {
            About::Call { direct: Some(direct), .. } => tokens.saturating_sub(counter.tokens(direct)),
            _ => 0,
        };
        Ok((piece.number, Weighed { about, tokens, wrapping }))
    };
    pieces.into_iter().map(weigh).collect()
}

fn cost(request: &Parts, pieces: &Pieces) -> RequestCost {
    let of = |part| request.part(part).iter().filter_map(|number| pieces.get(number));
    let mut cost = RequestCost {
        created: request.created,
        provider: request.sent.kind,
        model: request.sent.model.clone(),
        reveal: request.sent.reveal,
        tools: Vec::new(),
        definitions: 0,
        listing: 0,
        loading: 0,
        wrapping: 0,
        prompt: 0,
        messages: 0,
        answer: of(ANSWER).map(|piece| piece.tokens).sum(),
        loading_only: is_loading_only(of(ANSWER)),
        everything: of(EVERYTHING).map(|piece| piece.tokens).sum(),
        usage: request.sent.usage,
    };
    for piece in request.read().filter_map(|number| pieces.get(&number)) {
        match &piece.about {
            About::Definition { tool, .. } => {
                cost.definitions += piece.tokens;
                cost.tools.push(tool.clone());
            }
            About::Listing => cost.listing += piece.tokens,
            About::Prompt => cost.prompt += piece.tokens,
            About::Call { loads: true, .. }
            | About::Result { loads: true, .. }
            | About::Said { loads: true } => cost.loading += piece.tokens,
            About::Call { .. } | About::Result { .. } | About::Said { .. } => {
                cost.wrapping += piece.wrapping;
                cost.messages += piece.tokens - piece.wrapping;
            }
        }
    }
    cost
}

fn is_loading_only<'a>(answer: impl Iterator<Item = &'a Weighed>) -> bool {
    let mut calls = answer
        .filter_map(|piece| match piece.about {
            About::Call { loads, .. } => Some(loads),
            _ => None,
        })
        .peekable();
    calls.peek().is_some() && calls.all(|loads| loads)
}

fn spent(each: &[RequestCost], sent: &[Parts], pieces: &Pieces) -> Spent {
    let mut spent = Spent::default();
    for (cost, request) in each.iter().zip(sent) {
        spent.definitions += cost.definitions;
        spent.listing += cost.listing;
        spent.loading += cost.loading;
        spent.wrapping += cost.wrapping;
        let written = request.part(ANSWER).iter().filter_map(|number| pieces.get(number));
        if cost.loading_only {
            spent.loading_requests += 1;
            spent.again += cost.prompt + cost.messages;
            spent.loading += cost.answer;
            continue;
        }
        for piece in written {
            match piece.about {
                About::Call { loads: true, .. } => spent.loading += piece.tokens,
                _ => spent.wrapping += piece.wrapping,
            }
        }
    }
    spent.total = spent.definitions + spent.listing + spent.loading + spent.wrapping + spent.again;
    spent
}

/// What stood behind a change of the array, and was sent before.
fn rewrites(sent: &[Parts], pieces: &Pieces) -> Rewrites {
    let mut rewrites = Rewrites::default();
    for pair in sent.windows(2) {
        let [before, now] = pair else { continue };
        let same = (before.sent.kind, &before.sent.model) == (now.sent.kind, &now.sent.model);
        let grew = now.part(TOOLS).starts_with(before.part(TOOLS))
            && now.part(TOOLS).len() > before.part(TOOLS).len();
        if !same || now.sent.reveal != Reveal::Append || !grew {
            continue;
        }
        let again: HashSet<i64> = now.read().collect();
        let behind = [SYSTEM, MESSAGES].into_iter().flat_map(|part| before.part(part));
        let behind = behind.filter(|number| again.contains(number)).filter_map(|number| pieces.get(number));
        rewrites.times += 1;
        rewrites.tokens += behind.map(|piece| piece.tokens).sum::<usize>();
    }
    rewrites
}

fn provided(each: &[RequestCost]) -> Option<Provided> {
    let mut provided = Provided::default();
    for usage in each.iter().filter_map(|request| request.usage) {
        provided.requests += 1;
        provided.usage += usage;
    }
    (provided.usage != Usage::default()).then_some(provided)
}

/// In the order in which they first appear.
fn tools(sent: &[Parts], pieces: &Pieces) -> Vec<ToolCost> {
    let groups: HashMap<&str, Option<&str>> = pieces
        .values()
        .filter_map(|piece| match &piece.about {
            About::Definition { tool, group } => Some((tool.as_str(), group.as_deref())),
            _ => None,
        })
        .collect();
    let mut tools = indexmap::IndexMap::<&str, ToolCost>::new();
    let mut results = HashSet::new();
    for request in sent {
        let read = request.read().map(|number| (false, number));
        for (written, number) in read.chain(request.part(ANSWER).iter().map(|number| (true, *number))) {
            let Some(piece) = pieces.get(&number) else { continue };
            let (About::Definition { tool, .. } | About::Call { tool, .. } | About::Result { tool, .. }) =
                &piece.about
            else {
                continue;
            };
            let cost = tools.entry(tool.as_str()).or_insert_with(|| ToolCost {
                tool: tool.clone(),
                group: groups.get(tool.as_str()).copied().flatten().map(str::to_owned),
                calls: 0,
                requests: 0,
                definition_tokens: 0,
                call_tokens: 0,
                result_tokens: 0,
            });
            match &piece.about {
                About::Definition { .. } => {
                    cost.requests += 1;
                    cost.definition_tokens += piece.tokens;
                }
                About::Call { .. } if written => {
                    cost.calls += 1;
                    cost.call_tokens += piece.tokens;
                }
                About::Result { .. } if results.insert(number) => cost.result_tokens += piece.tokens,
                _ => {}
            }
        }
    }
    tools.into_values().collect()
}

fn groups(tools: &[ToolCost]) -> Vec<GroupCost> {
    let mut groups = indexmap::IndexMap::<Option<&str>, GroupCost>::new();
    for tool in tools {
        let cost = groups.entry(tool.group.as_deref()).or_default();
        cost.group.clone_from(&tool.group);
        cost.tools += 1;
        cost.calls += tool.calls;
        cost.definition_tokens += tool.definition_tokens;
        cost.call_tokens += tool.call_tokens;
        cost.result_tokens += tool.result_tokens;
    }
    groups.into_values().collect()
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_without_a_record_are_told() {
        let body =
            json!({"kind": "openai", "model": "m", "reveal": "append", "usage": null, "answered": true});
        let request = Request { created: 0, body, parts: BTreeMap::from([(TOOLS.to_owned(), vec![1])]) };
        let about = json!({"kind": "definition", "tool": "x", "group": null});
        let piece = Piece { number: 1, about, text: "{},".into() };
        let receipt = receipt("s".into(), 3, vec![request], vec![piece]).unwrap();
        assert_eq!((receipt.requests, receipt.unrecorded, receipt.provider), (1, 2, None));
        assert_eq!((receipt.spent.total, receipt.everything.tokens, receipt.saved_tokens), (1, 0, -1));
    }
}
