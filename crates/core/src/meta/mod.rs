//! Tools about tools: find, load, reach. They are ordinary tools, called, permitted and
//! answered like any other; what they change they say as typed effects.

mod call_tool;
mod load_skill;
mod load_tool_group;
mod search_tools;

use std::sync::Arc;

pub use self::search_tools::{Found, SEARCH_LIMIT, find, nothing};
use self::{
    call_tool::CallTool, load_skill::LoadSkill, load_tool_group::LoadToolGroup, search_tools::SearchTools,
};
use crate::{
    registry::{Clash, Registry, Source, ToolMeta},
    tool::Tool,
    typed::Typed,
};

/// Where they stand among the sections.
const SECTION: &str = "runtime";

/// Which of the tools about tools one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaTool {
    LoadToolGroup,
    SearchTools,
    LoadSkill,
    CallTool,
}

/// Registers the tools about tools.
pub fn register(registry: &mut Registry) -> Result<(), Clash> {
    add(registry, MetaTool::LoadToolGroup, Typed::new(LoadToolGroup))?;
    add(registry, MetaTool::SearchTools, Typed::new(SearchTools))?;
    add(registry, MetaTool::LoadSkill, Typed::new(LoadSkill))?;
    add(registry, MetaTool::CallTool, CallTool::new())
}

fn add(registry: &mut Registry, which: MetaTool, tool: impl Tool + 'static) -> Result<(), Clash> {
    let definition = tool.definition();
    let meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
    let meta = ToolMeta { source: Source::Builtin, section: SECTION.into(), meta_tool: Some(which), ..meta };
    registry.register(Arc::new(tool), Some(meta))
}
