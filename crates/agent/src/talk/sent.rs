//! What a request had in it, written down for the receipt as it happens: later nobody knows any more which tools there
//! were, or how they read.
//!
//! Texts are kept and not counts: counting needs a vocabulary that takes longer to unpack than a short talk takes.

use std::collections::HashMap;

use pinza_core::{MetaTool, ShownTool, View};
use pinza_state::{NewPiece, NewRequest};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::TalkError;
use crate::{
    event::Usage,
    message::{Call, Message, Part},
    names::NameMap,
    providers::{ProviderError, ProviderKind, Request, adapter},
    read::{Block, BlockKind, Listed, Read, ReadTool},
    reveal::{Lineup, Offer, Reveal},
};

/// The parts of a request, in the order in which a model reads them.
pub(crate) const TOOLS: &str = "tools";
pub(crate) const SYSTEM: &str = "system";
pub(crate) const MESSAGES: &str = "messages";
/// What the model answered.
pub(crate) const ANSWER: &str = "answer";
/// What the array of tools would have been with every tool in it.
pub(crate) const EVERYTHING: &str = "everything";

/// What is known of a request beside its pieces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) kind: ProviderKind,
    pub(crate) model: String,
    pub(crate) reveal: Reveal,
    /// As the provider counts; none where it says nothing.
    pub(crate) usage: Option<Usage>,
    pub(crate) answered: bool,
}

/// What kind of piece it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum About {
    Definition {
        tool: String,
        group: Option<String>,
    },
    Listing,
    /// The system prompt without the listing.
    Prompt,
    Call {
        tool: String,
        /// Whether it is there only to find or load tools or skills.
        loads: bool,
        /// How the call would read that needs no `call_tool`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direct: Option<String>,
    },
    Result {
        tool: String,
        loads: bool,
    },
    Said {
        /// Whether it is there only because of a load.
        loads: bool,
    },
}

/// Takes a request apart that was sent, and its answer.
pub(super) fn sent(
    kind: ProviderKind,
    request: &Request<'_>,
    listing: &str,
    view: &View,
    answer: Option<&Message>,
    usage: Usage,
) -> Result<NewRequest, TalkError> {
    let writer = Writer { kind, view, names: Lineup::new(&request.tools, request.reveal).names, request };
    let read = writer.read(request)?;
    let listing = listing.trim();
    let prompt = read.system.strip_suffix(listing).unwrap_or(&read.system);
    let mut parts = vec![
        (TOOLS, read.tools.iter().map(|tool| writer.definition(tool)).collect()),
        (SYSTEM, vec![piece(About::Prompt, prompt.to_owned())]),
        (MESSAGES, writer.messages(request.messages, &read)?),
    ];
    if prompt.len() < read.system.len() {
        parts[1].1.push(piece(About::Listing, listing.to_owned()));
    }
    if let Some(answer) = answer {
        let only = std::slice::from_ref(answer);
        let read = writer.read(&Request { messages: only, ..*request })?;
        parts.push((ANSWER, writer.messages(only, &read)?));
    }
    parts.push((EVERYTHING, writer.everything()?));
    let usage = (usage != Usage::default()).then_some(usage);
    let (model, answered) = (request.model.to_owned(), answer.is_some());
    let sent = Sent { kind, model, reveal: request.reveal, usage, answered };
    Ok(NewRequest { body: serde_json::to_value(sent).map_err(TalkError::Unreadable)?, parts })
}

struct Writer<'a> {
    kind: ProviderKind,
    view: &'a View,
    names: NameMap,
    request: &'a Request<'a>,
}

/// What a call is about.
#[derive(Clone)]
struct Called {
    tool: String,
    loads: bool,
    direct: Option<String>,
}

impl Writer<'_> {
    fn read(&self, request: &Request<'_>) -> Result<Read, ProviderError> {
        Ok(Read::of(self.kind, &adapter(self.kind).encode(request)?.body))
    }

    fn definition(&self, read: &ReadTool) -> NewPiece {
        let about = match &read.what {
            Listed::Group(_) => About::Listing,
            Listed::Loader => self.about(self.request.tools.loader.unwrap_or_default()),
            Listed::Tool(name) => self.about(self.names.from_wire(name).unwrap_or(name)),
        };
        piece(about, read.text.clone())
    }

    fn about(&self, tool: &str) -> About {
        let group = self.view.get(tool).and_then(|entry| entry.meta().group.as_ref());
        About::Definition { tool: tool.to_owned(), group: group.map(ToString::to_string) }
    }

    /// The pieces of these messages. Calls and results come in the same order on the wire.
    fn messages(&self, messages: &[Message], read: &Read) -> Result<Vec<NewPiece>, TalkError> {
        let mut by_id = HashMap::new();
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for message in messages {
            for call in message.calls() {
                let called = self.called(call)?;
                by_id.insert(&call.id, called.clone());
                calls.push(called);
            }
            if let Message::Results { results: more } = message {
                let unknown = |name: &str| Called { tool: name.to_owned(), loads: false, direct: None };
                results.extend(
                    more.iter().map(|one| by_id.get(&one.id).cloned().unwrap_or_else(|| unknown(&one.name))),
                );
            }
        }
        let (mut calls, mut results) = (calls.into_iter(), results.into_iter());
        let mut pieces = Vec::new();
        for message in &read.messages {
            let blocks = message.blocks();
            let first = pieces.len();
            for block in &blocks {
                pieces.push(piece(self.block(block, &mut calls, &mut results), block.text.clone()));
                pieces.extend(block.tools.iter().map(|tool| self.definition(tool)));
            }
            frame(&mut pieces[first..], &blocks);
        }
        Ok(pieces)
    }

    fn block(
        &self,
        block: &Block,
        calls: &mut impl Iterator<Item = Called>,
        results: &mut impl Iterator<Item = Called>,
    ) -> About {
        let said = About::Said { loads: self.is_about_a_load(&block.text) };
        match block.what {
            BlockKind::Call => calls.next().map_or(said, |called| {
                let Called { tool, loads, direct } = called;
                About::Call { tool, loads, direct }
            }),
            BlockKind::Result => {
                results.next().map_or(said, |called| About::Result { tool: called.tool, loads: called.loads })
            }
            BlockKind::Other => said,
            BlockKind::Frame => About::Said { loads: false },
        }
    }

    /// What Responses are told beside a search that found nothing.
    fn is_about_a_load(&self, text: &str) -> bool {
        let is_ours = self.kind == ProviderKind::OpenAiResponses && self.request.reveal == Reveal::Native;
        let loader = self.request.tools.loader.unwrap_or_default();
        is_ours && text.contains(&format!("\"text\":\"{loader}: {{\"status\":\"error\""))
    }

    fn called(&self, call: &Call) -> Result<Called, TalkError> {
        let meta = self.view.get(&call.name).and_then(|entry| entry.meta().meta_tool);
        let inner = call.arguments["name"].as_str();
        Ok(match (meta, inner) {
            (Some(MetaTool::CallTool), Some(inner)) => {
                let direct = Some(self.direct(call, inner)?);
                Called { tool: inner.to_owned(), loads: false, direct }
            }
            (Some(MetaTool::CallTool) | None, _) => {
                Called { tool: call.name.clone(), loads: false, direct: None }
            }
            (Some(MetaTool::LoadToolGroup | MetaTool::SearchTools | MetaTool::LoadSkill), _) => {
                Called { tool: call.name.clone(), loads: true, direct: None }
            }
        })
    }

    /// The same call, if the tool could be called by its name.
    fn direct(&self, call: &Call, inner: &str) -> Result<String, TalkError> {
        let arguments = match &call.arguments["arguments"] {
            serde_json::Value::Null => json!({}),
            given => given.clone(),
        };
        let direct = Call { name: inner.to_owned(), arguments, ..call.clone() };
        let messages = [Message::Assistant { parts: vec![Part::ToolCall(direct)] }];
        let read = self.read(&Request { messages: &messages, tools: Offer::default(), ..*self.request })?;
        let mut blocks = read.messages.iter().flat_map(crate::read::ReadMessage::blocks);
        let call = blocks.find(|block| block.what == BlockKind::Call);
        Ok(call.map(|block| block.text).unwrap_or_default())
    }

    /// Every tool that the caller may use, but for those that are there for the sake of loading.
    fn everything(&self) -> Result<Vec<NewPiece>, TalkError> {
        let tools = self.view.tools().filter(|entry| entry.meta().meta_tool.is_none());
        let tools: Vec<ShownTool> = tools.map(ShownTool::of).collect();
        let offer = Offer { core: &tools, ..Offer::default() };
        let request =
            Request { tools: offer, reveal: Reveal::Append, messages: &[], system: "", ..*self.request };
        let names = Lineup::new(&offer, Reveal::Append).names;
        let writer = Writer { names, request: &request, ..*self };
        Ok(writer.read(&request)?.tools.iter().map(|tool| writer.definition(tool)).collect())
    }
}

/// What stands around loads only is there because of them.
fn frame(pieces: &mut [NewPiece], blocks: &[Block]) {
    let is_load = |piece: &NewPiece| piece.about["loads"] == true || piece.about["kind"] == "definition";
    if let [Block { what: BlockKind::Frame, .. }, _, ..] = blocks
        && let Some((frame, rest)) = pieces.split_first_mut()
        && rest.iter().all(is_load)
    {
        frame.about["loads"] = true.into();
    }
}

fn piece(about: About, text: String) -> NewPiece {
    // Plain data: it always serialises.
    NewPiece { about: serde_json::to_value(about).unwrap_or_default(), text }
}
