//! Puts an answer together while its stream is read: the parts of the message, and the events.
//!
//! One rule lives here for all providers: a call is reported as whole only when it is. Where a
//! provider's word for "this call is over" may also follow a call that was cut (the answer
//! reached its allowed length), the verdict waits for the reason why the model stopped.

use std::collections::HashSet;

use pinza_core::CallId;
use serde_json::{Map, Value};

use super::{Asked, ProviderError, ProviderKind};
use crate::{
    event::{StopReason, StreamEvent, Usage},
    message::{Call, Message, Opaque, Part},
};

/// The longest id that every provider takes back; Chat Completions take the shortest.
const ID_LIMIT: usize = 40;

#[derive(Debug)]
pub(crate) struct Assembly {
    kind: ProviderKind,
    asked: Asked,
    /// Ids of the calls of this answer.
    ids: HashSet<String>,
    slots: Vec<Slot>,
    started: bool,
    usage: Option<Usage>,
}

#[derive(Debug)]
enum Slot {
    Text { text: String, opaque: Option<Value> },
    Thinking { text: String, opaque: Option<Value> },
    Call(OpenCall),
}

#[derive(Debug)]
struct OpenCall {
    id: CallId,
    name: String,
    arguments: String,
    opaque: Option<Value>,
    /// It was handed on as whole, and does not change any more.
    reported: bool,
}

/// Where a part stands in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlotId(usize);

type Events = Vec<StreamEvent>;

impl Assembly {
    pub(crate) fn new(kind: ProviderKind, asked: &Asked) -> Self {
        let (asked, ids) = (asked.clone(), HashSet::new());
        Self { kind, asked, ids, slots: Vec::new(), started: false, usage: None }
    }

    /// The first event, once; whatever comes first brings it along.
    pub(crate) fn start(&mut self, model: Option<&str>, events: &mut Events) {
        if !std::mem::replace(&mut self.started, true) {
            events.push(StreamEvent::Start { model: model.map(str::to_owned) });
        }
    }

    /// Begins a text of its own; without it text joins the text before it.
    pub(crate) fn new_text(&mut self) -> SlotId {
        self.push(Slot::Text { text: String::new(), opaque: None })
    }

    pub(crate) fn new_thinking(&mut self) -> SlotId {
        self.push(Slot::Thinking { text: String::new(), opaque: None })
    }

    /// The slot that more text may join: the last one, if it is a text that is not sealed.
    pub(crate) fn open_text(&mut self) -> SlotId {
        match self.slots.last() {
            Some(Slot::Text { opaque: None, .. }) => SlotId(self.slots.len() - 1),
            _ => self.new_text(),
        }
    }

    pub(crate) fn open_thinking(&mut self) -> SlotId {
        match self.slots.last() {
            Some(Slot::Thinking { opaque: None, .. }) => SlotId(self.slots.len() - 1),
            _ => self.new_thinking(),
        }
    }

    /// The same for a thought that goes back with this seal.
    pub(crate) fn open_sealed_thinking(&mut self, seal: Value) -> SlotId {
        match self.slots.last() {
            Some(Slot::Thinking { opaque: Some(opaque), .. }) if *opaque == seal => {
                SlotId(self.slots.len() - 1)
            }
            _ => self.push(Slot::Thinking { text: String::new(), opaque: Some(seal) }),
        }
    }

    /// More of a text or of a thought.
    pub(crate) fn say(&mut self, slot: SlotId, more: &str, events: &mut Events) {
        if more.is_empty() {
            return;
        }
        self.start(None, events);
        match self.slots.get_mut(slot.0) {
            Some(Slot::Text { text, .. }) => {
                text.push_str(more);
                events.push(StreamEvent::TextDelta { text: more.to_owned() });
            }
            Some(Slot::Thinking { text, .. }) => {
                text.push_str(more);
                events.push(StreamEvent::ThinkingDelta { text: more.to_owned() });
            }
            Some(Slot::Call(_)) | None => {}
        }
    }

    pub(crate) fn is_empty(&self, slot: SlotId) -> bool {
        match self.slots.get(slot.0) {
            Some(Slot::Text { text, .. } | Slot::Thinking { text, .. }) => text.is_empty(),
            Some(Slot::Call(call)) => call.arguments.is_empty(),
            None => true,
        }
    }

    pub(crate) fn has_parts(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Begins a call of the tool with this wire name.
    pub(crate) fn call(&mut self, id: Option<&str>, wire_name: &str, events: &mut Events) -> SlotId {
        let name = self.asked.tool(wire_name).to_owned();
        self.call_tool(id, name, events)
    }

    /// Begins a call of the tool with our own name.
    pub(crate) fn call_tool(&mut self, id: Option<&str>, name: String, events: &mut Events) -> SlotId {
        self.start(None, events);
        let id = self.call_id(id);
        events.push(StreamEvent::ToolcallStart { id: id.clone(), name: name.clone() });
        self.push(Slot::Call(OpenCall { id, name, arguments: String::new(), opaque: None, reported: false }))
    }

    /// More of a call's arguments.
    pub(crate) fn argue(&mut self, slot: SlotId, delta: &str, events: &mut Events) {
        let Some(Slot::Call(call)) = self.slots.get_mut(slot.0) else { return };
        if !delta.is_empty() && !call.reported {
            call.arguments.push_str(delta);
            events.push(StreamEvent::ToolcallDelta { id: call.id.clone(), delta: delta.to_owned() });
        }
    }

    /// The arguments as the provider sums them up, which may be more than its deltas said.
    pub(crate) fn settle(&mut self, slot: SlotId, arguments: &str, events: &mut Events) {
        let Some(Slot::Call(call)) = self.slots.get_mut(slot.0) else { return };
        if call.arguments.is_empty() {
            self.argue(slot, arguments, events);
        } else if !arguments.is_empty() && !call.reported {
            call.arguments = arguments.to_owned();
        }
    }

    /// What the provider wants back with this part.
    pub(crate) fn seal(&mut self, slot: SlotId, value: Value) {
        match self.slots.get_mut(slot.0) {
            Some(Slot::Text { opaque, .. } | Slot::Thinking { opaque, .. }) => *opaque = Some(value),
            Some(Slot::Call(call)) if !call.reported => call.opaque = Some(value),
            Some(Slot::Call(_)) | None => {}
        }
    }

    /// The provider closed this call. It is whole for certain if its arguments are an object; any
    /// other text is judged at the end.
    pub(crate) fn close(&mut self, slot: SlotId, events: &mut Events) {
        if let Some(Slot::Call(call)) = self.slots.get_mut(slot.0)
            && serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok()
        {
            report(call, self.kind, events);
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Call(_)))
    }

    /// The model stopped: the calls that are whole, the usage, the message.
    pub(crate) fn finish(&mut self, stop: StopReason, detail: Option<String>, events: &mut Events) {
        self.start(None, events);
        // After any of these the last thing said may be half said.
        let cut = !matches!(stop, StopReason::EndTurn | StopReason::ToolCalls);
        if cut {
            self.slots.retain(|slot| match slot {
                Slot::Call(call) => call.reported || is_json(&call.arguments),
                Slot::Text { .. } | Slot::Thinking { .. } => true,
            });
        }
        for slot in &mut self.slots {
            if let Slot::Call(call) = slot {
                report(call, self.kind, events);
            }
        }
        if let Some(usage) = self.usage.take() {
            events.push(StreamEvent::Usage { usage });
        }
        // Many servers say "stop" where they mean "call this".
        let stop = match stop {
            StopReason::EndTurn if self.has_calls() => StopReason::ToolCalls,
            StopReason::ToolCalls if !self.has_calls() => StopReason::EndTurn,
            other => other,
        };
        let kind = self.kind;
        let parts = std::mem::take(&mut self.slots).into_iter().filter_map(|slot| part(slot, kind)).collect();
        events.push(StreamEvent::Done { stop, detail, message: Message::Assistant { parts } });
    }

    fn push(&mut self, slot: Slot) -> SlotId {
        self.slots.push(slot);
        SlotId(self.slots.len() - 1)
    }

    /// The provider's id if it can be used for ever; else one of our own.
    fn call_id(&mut self, given: Option<&str>) -> CallId {
        let is_taken = |id: &str| self.ids.contains(id) || self.asked.is_taken(id);
        let usable = given.filter(|id| is_wire_id(id) && !is_taken(id));
        let id = match usable {
            Some(id) => id.to_owned(),
            None => format!("call_{}_{}", self.asked.seed(), self.ids.len()),
        };
        self.ids.insert(id.clone());
        CallId::new(id)
    }
}

/// Whether every provider takes this as the id of a call.
pub(crate) fn is_wire_id(id: &str) -> bool {
    (1..=ID_LIMIT).contains(&id.len())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The data of an event, which all providers write as JSON.
pub(crate) fn parse(data: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(data).map_err(|_| {
        // Proxies put their own words into a stream when they give up.
        let said = pinza_core::visible(data);
        ProviderError::malformed(format_args!("in place of JSON it says: {said}"))
    })
}

/// A number that says what an event is about. Without it the event could be about anything.
pub(crate) fn index(event: &Value, field: &str) -> Result<u64, ProviderError> {
    event[field]
        .as_u64()
        .ok_or_else(|| ProviderError::malformed(format_args!("an event without its {field}")))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn report(call: &mut OpenCall, kind: ProviderKind, events: &mut Events) {
    if !std::mem::replace(&mut call.reported, true) {
        events.push(StreamEvent::ToolcallEnd { call: whole(call, kind) });
    }
}

fn whole(call: &OpenCall, kind: ProviderKind) -> Call {
    let text = call.arguments.trim();
    let parsed = if text.is_empty() { Ok(Value::Object(Map::new())) } else { serde_json::from_str(text) };
    let (arguments, malformed) = match parsed {
        // A tool without parameters is often called with nothing at all.
        Ok(Value::Null) => (Value::Object(Map::new()), None),
        Ok(arguments) => (arguments, None),
        Err(_) => (Value::Object(Map::new()), Some(call.arguments.clone())),
    };
    let opaque = call.opaque.clone().map(|value| Opaque { kind, value });
    Call { id: call.id.clone(), name: call.name.clone(), arguments, malformed, opaque }
}

/// A part of the message; none for a slot in which nothing was said.
fn part(slot: Slot, kind: ProviderKind) -> Option<Part> {
    let sealed = |value: Option<Value>| value.map(|value| Opaque { kind, value });
    match slot {
        Slot::Text { text, opaque } => {
            (!text.is_empty() || opaque.is_some()).then(|| Part::Text { text, opaque: sealed(opaque) })
        }
        Slot::Thinking { text, opaque } => {
            (!text.is_empty() || opaque.is_some()).then(|| Part::Thinking { text, opaque: sealed(opaque) })
        }
        Slot::Call(call) => Some(Part::ToolCall(whole(&call, kind))),
    }
}
