//! Small things that several adapters write the same way.

use std::borrow::Cow;

use pinza_core::{Content, ShownTool, ToolOutput};
use serde_json::{Map, Value};

use super::{ProviderError, ProviderErrorKind, ProviderKind, Request, assembly::is_wire_id};
use crate::{
    loss::Losses,
    names::NameMap,
    schemas::{SchemaOptions, tool_schema},
};

/// What a text can say about a block.
pub(crate) fn as_text(content: &Content) -> String {
    ToolOutput { content: vec![content.clone()], ..Default::default() }.as_text()
}

/// One tool in the frame of a kind's maker, under its wire name.
pub(crate) fn tool(kind: ProviderKind, names: &NameMap, tool: &ShownTool) -> Value {
    let definition = tool.definition();
    let mut losses = Losses::of(definition.name.as_str());
    tool_schema(kind.provider(), names, &definition, SchemaOptions::default(), &mut losses)
}

/// An id as every provider takes it: ids of one provider are too long or too odd for another.
pub(crate) fn call_id(id: &str) -> Cow<'_, str> {
    if is_wire_id(id) {
        return id.into();
    }
    format!("call_{:016x}", crate::names::fnv1a(id.as_bytes())).into()
}

/// Refuses what this API has no way to say.
pub(crate) fn check(kind: ProviderKind, request: &Request<'_>) -> Result<(), ProviderError> {
    if request.reveal.works_with(kind) {
        return Ok(());
    }
    let message = format!("the provider {kind} cannot reveal tools the '{}' way", request.reveal);
    let hint = format!("use --reveal {}", crate::reveal::Reveal::default_for(kind));
    Err(ProviderError::new(ProviderErrorKind::Unsupported, message).hint(hint))
}

/// Puts a field in front of nothing: an object with those of the fields that have a value.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A count of tokens that may be absent, null or at another place.
pub(crate) fn count(usage: &Value, pointer: &str) -> u64 {
    usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
