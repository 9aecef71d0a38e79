//! `search_history`: words in earlier sessions and in memory.

use jiff::{Timestamp, tz::TimeZone};
use pinza_core::{CallContext, NativeTool, ToolDefinition, ToolName, ToolOutput, ToolResult};
use pinza_state::{Found, FoundIn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::state::{State, explain};

pub(crate) const DESCRIPTION: &str = "Search earlier sessions and memory for words.";

const LIMIT: u8 = 10;
const MOST: u8 = 50;

pub(crate) struct SearchHistory {
    pub(crate) state: State,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    query: String,
    limit: Option<u8>,
}

impl NativeTool for SearchHistory {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("search_history"), DESCRIPTION)
            .title("Search history")
            .read_only()
    }

    async fn call(&self, parameters: Parameters, _: &CallContext<'_>) -> ToolResult {
        let limit = parameters.limit.unwrap_or(LIMIT).clamp(1, MOST);
        let searching = self.state.open()?;
        let found = searching.search_history(&parameters.query, limit.into()).await;
        let found = found.map_err(|error| explain(&error))?;
        let lines: Vec<String> = found.iter().map(line).collect();
        let text = if lines.is_empty() { "Nothing was found.".to_owned() } else { lines.join("\n") };
        Ok(ToolOutput::text(text).details(json!({ "found": found })))
    }
}

fn line(found: &Found) -> String {
    let time = Timestamp::from_millisecond(found.created).unwrap_or_default();
    let day = time.to_zoned(TimeZone::system()).date();
    let place = match &found.place {
        FoundIn::Session { session, role, .. } => format!("session {session}, {role}"),
        FoundIn::Memory { id } => format!("memory {id}"),
    };
    format!("- {day} {place}: {}", found.excerpt.split_whitespace().collect::<Vec<_>>().join(" "))
}
