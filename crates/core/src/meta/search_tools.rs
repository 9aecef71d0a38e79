//! `search_tools`: finds tools by what they do, among those that the caller may use.
//!
//! Its definition stands in every request of a client that has nothing else to go by, so it
//! says as little as a model needs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::load_tool_group::unknown_group;
use crate::{
    definition::{self, ToolDefinition},
    error::ToolError,
    names::ToolName,
    output::ToolOutput,
    registry::Entry,
    search::{Search, also, signature},
    tool::{CallContext, ToolResult},
    typed::NativeTool,
    view::View,
};

/// Hits for each query where nothing is said.
pub const SEARCH_LIMIT: i64 = 5;
const MAX_LIMIT: usize = 50;
const MAX_QUERIES: usize = 16;

pub(super) struct SearchTools;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    query: Option<String>,
    queries: Option<Vec<String>>,
    group: Option<String>,
    limit: Option<i64>,
}

/// A tool that a search found, and those that are almost the same.
#[derive(Debug)]
pub struct Found<'a> {
    pub entry: &'a Entry,
    pub also: Vec<&'a Entry>,
}

impl Found<'_> {
    /// One line: `name(param, optional?) [group]: sentence (also: other)`.
    pub fn line(&self) -> String {
        let others = self.also.iter().map(|entry| entry.definition().name.as_str());
        signature(self.entry) + &also(others)
    }
}

impl NativeTool for SearchTools {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let schema = json!({ "properties": {
            "query": { "type": "string" },
            "queries": { "type": "array", "items": { "type": "string" } },
            "group": { "type": "string" },
            "limit": { "type": "integer" },
        }});
        // It is an object, which is all that can be wrong with it.
        let parameters =
            definition::Parameters::from_schema(schema).unwrap_or_else(|_| definition::Parameters::none());
        ToolDefinition::new(
            ToolName::known("search_tools"),
            "Find tools by what they do; one query per step.",
        )
        .title("Search tools")
        .parameters(parameters)
        .timeout(Duration::from_secs(5))
        .read_only()
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        let view = context.view();
        let queries: Vec<&str> =
            parameters.query.iter().chain(parameters.queries.iter().flatten()).map(String::as_str).collect();
        let limit = parameters.limit.unwrap_or(SEARCH_LIMIT);
        let found = find(&view, &queries, parameters.group.as_deref(), limit)?;
        let lines: Vec<String> = found.iter().map(Found::line).collect();
        Ok(ToolOutput::text(if lines.is_empty() { nothing(&view) } else { lines.join("\n") }))
    }
}

/// Searches what a view shows. The tools about tools are not among it: whoever searches has them.
pub fn find<'a>(
    view: &'a View,
    queries: &[&str],
    group: Option<&str>,
    limit: i64,
) -> Result<Vec<Found<'a>>, ToolError> {
    let queries: Vec<&str> = queries.iter().copied().filter(|query| !query.trim().is_empty()).collect();
    if queries.is_empty() {
        return Err(ToolError::validation("Missing required parameter: 'query'")
            .hint("Say what the tool should do, in a few words"));
    }
    if queries.len() > MAX_QUERIES {
        return Err(ToolError::validation(format!(
            "Parameter 'queries' has more than {MAX_QUERIES} entries"
        )));
    }
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    let limit = limit
        .ok_or_else(|| ToolError::validation(format!("Parameter 'limit' must be from 1 to {MAX_LIMIT}")))?;
    if let Some(name) = group
        && view.group(name).is_none()
    {
        return Err(unknown_group(view, name));
    }
    let snapshot = &*view.snapshot;
    let permits = |document: usize| {
        snapshot.nth(document).is_some_and(|entry| entry.meta().meta_tool.is_none() && view.permits(entry))
    };
    let hits = snapshot.index().search(&Search { queries: &queries, group, limit }, &permits);
    let found = |hit: crate::search::Hit| {
        let also = hit.also.iter().filter_map(|document| snapshot.nth(*document)).collect();
        Some(Found { entry: snapshot.nth(hit.document)?, also })
    };
    Ok(hits.into_iter().filter_map(found).collect())
}

/// What to say when nothing was found.
pub fn nothing(view: &View) -> String {
    let groups: Vec<&str> = view.groups().map(|group| group.name.as_str()).collect();
    if groups.is_empty() {
        return "No tools found.".into();
    }
    format!("No tools found. Tool groups: {}", groups.join(", "))
}
