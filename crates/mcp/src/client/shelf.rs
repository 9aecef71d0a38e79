//! All configured servers, and what they put on offer.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use pinza_core::{Group, GroupName, Source, Tool, ToolMeta};

use super::{
    record::{Record, SeenTool},
    services::Services,
    spec::Spec,
    tool::UpstreamTool,
    upstream::{Standing, Upstream},
};

/// The servers of a runtime. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Upstreams {
    all: Arc<[Arc<Upstream>]>,
    /// None where no server was ever to be had.
    services: Option<Services>,
}

/// Their tools and groups at one moment.
#[derive(Default)]
pub struct Shelf {
    pub tools: Vec<(Arc<dyn Tool>, ToolMeta)>,
    pub groups: Vec<Group>,
    pub problems: Vec<ShelfProblem>,
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("problems", &self.problems).finish_non_exhaustive()
    }
}

/// What of a server is not on offer, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelfProblem {
    pub server: String,
    /// The file with what was seen of it.
    pub file: PathBuf,
    /// The tool's place in its server's list.
    pub entry: Option<usize>,
    pub message: String,
    /// Something to look at, and nothing that is missing.
    pub warning: bool,
}

impl Upstreams {
    pub fn new(specs: impl IntoIterator<Item = Spec>, services: &Services) -> Self {
        let upstream = |spec| Arc::new(Upstream::new(spec, services.clone()));
        Self { all: specs.into_iter().map(upstream).collect(), services: Some(services.clone()) }
    }

    /// A further server in the same surroundings, which is not one of these.
    pub fn beside(&self, spec: Spec) -> Option<Arc<Upstream>> {
        self.services.clone().map(|services| Arc::new(Upstream::new(spec, services)))
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.all.iter().find(|upstream| upstream.spec().name.as_str() == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.all.iter()
    }

    /// Where it is written down what was seen of them; none where there is nobody to see.
    pub fn directory(&self) -> Option<&Path> {
        self.services.as_ref().filter(|_| !self.is_empty()).map(|services| services.directory.as_path())
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What they offer by what is written down. Starts nothing.
    pub fn shelf(&self) -> Shelf {
        let mut shelf = Shelf::default();
        for upstream in self.iter() {
            shelf.take(upstream);
        }
        shelf
    }
}

impl Shelf {
    fn take(&mut self, upstream: &Arc<Upstream>) {
        let name = &upstream.spec().name;
        let mut problem = |entry: Option<usize>, message: String, warning: bool| {
            let (server, file) = (name.to_string(), upstream.file());
            self.problems.push(ShelfProblem { server, file, entry, message, warning });
        };
        let record = match upstream.record() {
            Ok(record) => record,
            Err(message) => return problem(None, message, false),
        };
        if upstream.is_held() {
            let message = format!(
                "the project's server {name} is held; look at it and accept it with: pinza mcp accept {name}"
            );
            return problem(None, message, false);
        }
        let Some(record) = record else {
            let message =
                format!("nothing is known of the server {name} yet; look at it with: pinza mcp test {name}");
            return problem(None, message, false);
        };
        let Ok(group) = GroupName::new(name.as_str()) else { return };
        let mut tools = Vec::new();
        for (index, (tool, standing)) in offers(&record).into_iter().enumerate() {
            match UpstreamTool::new(upstream, tool, standing) {
                Ok(made) => tools.push(Arc::new(made) as Arc<dyn Tool>),
                Err(reason) => {
                    let shown = pinza_core::visible(&tool.name);
                    problem(
                        Some(index),
                        format!("the tool '{shown}' of {name} is left out: {reason}"),
                        false,
                    );
                }
            }
        }
        let changes = record.changes().len();
        if changes > 0 {
            let message =
                format!("{name} is not what was accepted ({changes} changes); see: pinza mcp diff {name}");
            problem(None, message, true);
        }
        for tool in tools {
            let definition = tool.definition();
            let meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
            let meta = ToolMeta { source: Source::Mcp(name.to_string()), ..meta }.group(group.clone());
            self.tools.push((tool, meta));
        }
        self.groups.push(described(group, upstream, &record));
    }
}

/// What was accepted, and behind it what was added since.
fn offers(record: &Record) -> Vec<(&SeenTool, Standing)> {
    let accepted = record.accepted.as_ref();
    let mut offers = Vec::new();
    for tool in accepted.iter().flat_map(|face| &face.tools) {
        let now = record.shown().and_then(|face| face.tool(&tool.name));
        match now {
            Some(now) if now == tool => offers.push((tool, Standing::Accepted)),
            // What is gone answers for itself, until its going is accepted.
            _ => offers.push((tool, Standing::Changed)),
        }
    }
    let is_new = |tool: &&SeenTool| accepted.is_none_or(|face| face.tool(&tool.name).is_none());
    let added = record.seen.iter().flat_map(|face| &face.tools).filter(is_new);
    offers.extend(added.map(|tool| (tool, Standing::Added)));
    offers
}

fn described(group: GroupName, upstream: &Upstream, record: &Record) -> Group {
    let face = record.accepted.as_ref();
    let title = face.and_then(|face| face.title.clone()).unwrap_or_else(|| group.to_string());
    let own = upstream.spec().summary.clone();
    let summary = own.or_else(|| face.and_then(|face| face.summary.clone()));
    Group::new(group, title.clone(), summary.unwrap_or_else(|| format!("Tools of the MCP server {title}")))
}
