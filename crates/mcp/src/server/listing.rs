//! Which tools a client is given, as the protocol writes them.
//!
//! Made once for each set of tools and policy: a list that did not change costs a copy.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use pinza_core::{
    Conversation, Entry, GroupName, Loading, Policy, Snapshot, Source, View, Visibility, capability,
    meta::MetaTool,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::{Exposure, Shared};

#[derive(Debug)]
pub(super) struct Listing {
    pub(super) tools: Vec<Tool>,
    pub(super) visibility: Visibility,
    /// What the client's model should know of the rest; empty where there is nothing to say.
    pub(super) instructions: String,
    pub(super) view: View,
    places: HashMap<String, usize>,
    /// Tools of which some arguments have to be repeated in headers.
    with_headers: HashSet<String>,
}

impl Listing {
    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|place| &self.tools[*place])
    }

    /// Whether a request is the same without its headers.
    pub(super) fn is_whole_without_headers(&self, name: &str) -> bool {
        self.places.contains_key(name) && !self.with_headers.contains(name)
    }

    fn of(view: View, exposure: Exposure, loaded: &[GroupName]) -> Self {
        let entries = shown(&view, exposure, loaded);
        let tools: Vec<Tool> = entries.iter().map(|entry| tool(entry)).collect();
        let names = entries.iter().map(|entry| entry.meta().id.clone());
        let visibility = match exposure {
            Exposure::Full => Visibility::All,
            _ => Visibility::only(names),
        };
        let places = tools.iter().enumerate().map(|(place, tool)| (tool.name.to_string(), place)).collect();
        let with_headers = tools.iter().filter(|tool| names_header(tool.input_schema.values()));
        let with_headers = with_headers.map(|tool| tool.name.to_string()).collect();
        let instructions = match exposure {
            Exposure::Groups | Exposure::Dynamic => Conversation::start(&view).listing().to_owned(),
            Exposure::Search => SEARCH.to_owned(),
            Exposure::Full => String::new(),
        };
        Self { tools, visibility, instructions, view, places, with_headers }
    }
}

const SEARCH: &str = "Find tools with search_tools, then call them with call_tool.";

/// The listings of this moment. A std lock, held for a look-up and never across an await.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<Vec<(Key, Arc<Listing>)>>);

/// The snapshot and the policy are kept with the listing, so that their addresses are theirs alone.
#[derive(Debug)]
struct Key {
    exposure: Exposure,
    snapshot: Arc<Snapshot>,
    policy: Arc<Policy>,
}

impl Key {
    fn is_for(&self, exposure: Exposure, view: &View) -> bool {
        self.exposure == exposure
            && Arc::ptr_eq(&self.snapshot, &view.snapshot)
            && Arc::ptr_eq(&self.policy, &view.policy)
    }
}

impl Shared {
    /// What a request is given that nothing connects with others: nothing can be loaded for later.
    pub(super) fn listing_alone(&self) -> Arc<Listing> {
        match self.served.exposure {
            Exposure::Dynamic => self.listing(Exposure::Groups, &[]),
            exposure => self.listing(exposure, &[]),
        }
    }

    /// What a client is given now, which has loaded these groups.
    pub(super) fn listing(&self, exposure: Exposure, loaded: &[GroupName]) -> Arc<Listing> {
        let loading = match exposure {
            Exposure::Dynamic => Loading::Grows,
            _ => Loading::Describes,
        };
        let view = self.view(loading);
        if !loaded.is_empty() {
            return Arc::new(Listing::of(view, exposure, loaded));
        }
        let mut known = self.listings.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, listing)) = known.iter().find(|(key, _)| key.is_for(exposure, &view)) {
            return Arc::clone(listing);
        }
        let key = Key { exposure, snapshot: Arc::clone(&view.snapshot), policy: Arc::clone(&view.policy) };
        let listing = Arc::new(Listing::of(view, exposure, loaded));
        // An older one of the same kind is for tools that are gone.
        known.retain(|(key, _)| key.exposure != exposure);
        known.push((key, Arc::clone(&listing)));
        listing
    }
}

fn shown<'a>(view: &'a View, exposure: Exposure, loaded: &[GroupName]) -> Vec<&'a Entry> {
    let finds =
        |entry: &&Entry| matches!(entry.meta().meta_tool, Some(MetaTool::SearchTools | MetaTool::CallTool));
    match exposure {
        Exposure::Groups => view.core().collect(),
        Exposure::Search => view.tools().filter(finds).collect(),
        Exposure::Full => view.tools().collect(),
        Exposure::Dynamic => {
            let groups = loaded.iter().flat_map(|group| view.group_tools(group.as_str()));
            view.core().chain(groups).collect()
        }
    }
}

fn tool(entry: &Entry) -> Tool {
    let definition = entry.definition();
    let schema = object(definition.parameters.schema()).unwrap_or_default();
    let mut tool = Tool::new(definition.name.to_string(), definition.description.clone(), schema);
    tool.title.clone_from(&definition.title);
    tool.output_schema =
        definition.output_schema.as_ref().filter(|schema| promises_object(schema)).and_then(object);
    tool.annotations = Some(annotations(entry));
    tool
}

/// Whether anything in a schema says that it is repeated in a header.
fn names_header<'a>(mut values: impl Iterator<Item = &'a Value>) -> bool {
    values.any(|value| match value {
        Value::Object(fields) => fields.contains_key("x-mcp-header") || names_header(fields.values()),
        Value::Array(items) => names_header(items.iter()),
        _ => false,
    })
}

/// The protocol's structured results are objects.
pub(super) fn promises_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

fn object(schema: &Value) -> Option<Arc<JsonObject>> {
    schema.as_object().cloned().map(Arc::new)
}

/// What a tool's author says, and else only what is known for certain: the protocol's defaults assume the worst.
fn annotations(entry: &Entry) -> ToolAnnotations {
    let definition = entry.definition();
    let mut hints = ToolAnnotations::new().read_only(definition.read_only);
    let said = &definition.hints;
    hints.title = said.title.clone().or_else(|| definition.title.clone());
    hints.destructive_hint = said.destructive.or(definition.read_only.then_some(false));
    hints.idempotent_hint = said.idempotent;
    let stays_here = |needed: &pinza_core::Capability| {
        [capability::FS_READ, capability::FS_WRITE].contains(&needed.as_str())
    };
    let meta = entry.meta();
    let is_closed = meta.source == Source::Builtin
        && meta.meta_tool != Some(MetaTool::CallTool)
        && definition.capabilities.iter().all(stays_here);
    hints.open_world_hint = said.open_world.or(is_closed.then_some(false));
    hints
}
