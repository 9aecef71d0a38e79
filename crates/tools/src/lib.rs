//! The built-in catalog, one file a tool.
//!
//! A tool here is small: it words its answers and leaves files, the network and processes to
//! `pinza-host`. To add one, write its file and name it in [`register`].

use std::sync::Arc;

use pinza_core::{
    CUSTOM_SECTION, Clash, FsBridge, Group, GroupName, NativeTool, Registry, Tool, ToolContext, ToolMeta,
    Typed, catalog_row, need,
};
use pinza_host::{files::Workspace, http::HttpClient, process::Supervisor};
use pinza_js::{Caps, Host, JsEval};
use tokio::sync::Mutex;

use self::state::State;

mod create_agent;
mod edit;
mod exec;
mod get_current_time;
mod http_request;
mod read;
mod read_file;
mod save_memory;
mod search_history;
mod state;
mod text;
mod update_memory;
mod write;
mod write_file;

pub use create_agent::{Agents, NewAgent};
pub use get_current_time::current_time;
pub use state::OpenState;
pub use text::image_type;

/// The skills that come with the program: (name, `SKILL.md`).
pub const SKILLS: &[(&str, &str)] = &[
    ("write-a-tool", include_str!("../skills/write-a-tool/SKILL.md")),
    ("wrap-a-library", include_str!("../skills/wrap-a-library/SKILL.md")),
    ("write-a-skill", include_str!("../skills/write-a-skill/SKILL.md")),
];

/// What the built-in tools stand on. Whatever is missing makes its tools fail to resolve, with
/// the reason, and leaves the others alone.
#[derive(Clone, Default)]
pub struct Services {
    pub http: Option<HttpClient>,
    /// Where commands run, and what runs them.
    pub exec: Option<(Workspace, Supervisor)>,
    /// What runs JavaScript, and the most that it gets.
    pub js: Option<(Arc<Host>, Caps)>,
    /// Sessions and memory; without them there are no tools for them.
    pub state: Option<OpenState>,
    /// Whoever keeps agents; without them none is created.
    pub agents: Option<Arc<dyn Agents>>,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").field("http", &self.http).field("exec", &self.exec).finish_non_exhaustive()
    }
}

/// Tools that change files take turns, so that an edit never loses another's change between
/// its reading and its writing.
type Turns = Arc<Mutex<()>>;

/// Registers every built-in tool and group.
pub fn register(registry: &mut Registry, services: Services) -> Result<(), Clash> {
    let turns = Turns::default();
    let fs = GroupName::known("fs");
    registry.register_group(Group::new(
        fs.clone(),
        "Files",
        "Read files by line, write and edit files in the workspace",
    ));

    registry.register(
        typed(get_current_time::GetCurrentTime),
        Some(ToolMeta::builtin("get_current_time", get_current_time::DESCRIPTION, "runtime")),
    )?;
    on_files(registry, ToolMeta::builtin("read_file", read_file::DESCRIPTION, "fs"), |bridge| {
        typed(read_file::ReadFile { bridge })
    })?;
    on_files(registry, ToolMeta::builtin("write_file", write_file::DESCRIPTION, "fs"), {
        let turns = turns.clone();
        move |bridge| typed(write_file::WriteFile { bridge, turns: turns.clone() })
    })?;
    let http = services.http;
    registry.register_factory(
        Arc::new(move |_| {
            let http = need(&http, "http client").map_err(|error| error.to_string())?.clone();
            Ok(vec![typed(http_request::HttpRequestTool { http })])
        }),
        ToolMeta::builtin("http_request", http_request::DESCRIPTION, "web"),
    )?;
    let place = services.exec;
    registry.register_factory(
        Arc::new(move |_| {
            let (workspace, supervisor) =
                need(&place, "process supervisor").map_err(|error| error.to_string())?.clone();
            Ok(vec![typed(exec::Exec { workspace, supervisor })])
        }),
        catalogued("exec"),
    )?;
    let js = services.js;
    registry.register_factory(
        Arc::new(move |_| {
            let (host, caps) = need(&js, "JavaScript host").map_err(|error| error.to_string())?.clone();
            Ok(vec![typed(JsEval { host, caps })])
        }),
        ToolMeta::builtin(JsEval::NAME, JsEval::DESCRIPTION, "runtime"),
    )?;

    register_state(registry, services.state, services.agents)?;

    on_files(registry, catalogued("read").group(fs.clone()), |bridge| typed(read::Read { bridge }))?;
    on_files(registry, catalogued("write").group(fs.clone()), {
        let turns = turns.clone();
        move |bridge| typed(write::Write { bridge, turns: turns.clone() })
    })?;
    on_files(registry, catalogued("edit").group(fs), move |bridge| {
        typed(edit::Edit { bridge, turns: turns.clone() })
    })
}

/// Tools that outlive a session.
fn register_state(
    registry: &mut Registry,
    state: Option<OpenState>,
    agents: Option<Arc<dyn Agents>>,
) -> Result<(), Clash> {
    if let Some(state) = state.map(State) {
        let meta = |id, description| Some(ToolMeta::builtin(id, description, "memory"));
        let tool = typed(save_memory::SaveMemory { state: state.clone() });
        registry.register(tool, meta("save_memory", save_memory::DESCRIPTION))?;
        let tool = typed(update_memory::UpdateMemory { state: state.clone() });
        registry.register(tool, meta("update_memory", update_memory::DESCRIPTION))?;
        let tool = typed(search_history::SearchHistory { state });
        registry.register(tool, meta("search_history", search_history::DESCRIPTION))?;
    }
    if let Some(agents) = agents {
        let meta = ToolMeta::builtin("create_agent", create_agent::DESCRIPTION, "agents");
        registry.register(typed(create_agent::CreateAgent { agents }), Some(meta))?;
    }
    Ok(())
}

/// The meta of a tool that the catalog describes.
fn catalogued(id: &'static str) -> ToolMeta {
    catalog_row(id).map_or_else(|| ToolMeta::builtin(id, "", CUSTOM_SECTION), ToolMeta::catalogued)
}

fn typed(tool: impl NativeTool) -> Arc<dyn Tool> {
    Arc::new(Typed::new(tool))
}

/// A factory for a tool that reaches files through the context's bridge.
fn on_files(
    registry: &mut Registry,
    meta: ToolMeta,
    make: impl Fn(Arc<dyn FsBridge>) -> Arc<dyn Tool> + Send + Sync + 'static,
) -> Result<(), Clash> {
    let factory = move |context: &ToolContext| {
        let bridge = need(&context.bridge, "bridge").map_err(|error| error.to_string())?;
        Ok(vec![make(Arc::clone(bridge))])
    };
    registry.register_factory(Arc::new(factory), meta)
}
