//! From the text of a `module.json` to a [`ModuleManifest`].
//!
//! Every fault is reported with its path, line and column. Strict loading refuses a module with any error;
//! lenient loading drops the tools that have one and takes the rest.

mod dependency;
mod faults;
mod fields;
mod function;
mod header;
mod initialization;
mod places;
mod schema;
#[cfg(test)]
mod tests;
mod tool;

use std::{collections::HashSet, time::Duration};

use pinza_core::{Capability, GroupName, json_type};
use serde_json::Value;

use crate::{
    manifest::{
        fields::{LIMITS, capabilities, limits, timeout},
        json,
    },
    module::{arguments::Calling, template::Reference},
    tool::Limits,
};
use fields::{Fields, missing};

pub use dependency::{Dependency, DependencyError, DependencyType, MissingDependency, Resolved};
pub use faults::Fault;
pub use function::{FunctionPath, FunctionPathError, Segment};
pub use initialization::{Initialization, LibraryType};
pub use tool::ToolEntry;

pub(crate) use faults::{Faults, Spot, push_index, push_key};
pub(crate) use schema::admits;

/// Libraries are bigger than scripts.
const HEAP: usize = 128 << 20;

/// What is done about faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Any error refuses the module.
    Strict,
    /// Bad tools are left out.
    Lenient,
}

/// Where a library runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    Embedded,
    Node,
}

/// How long an instance lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every call begins anew.
    Call,
    /// As long as the session.
    Session,
}

/// What a `module.json` says.
#[derive(Debug)]
pub struct ModuleManifest {
    pub name: String,
    /// Its tools' group: the name, with underscores for hyphens.
    pub group: GroupName,
    pub version: String,
    pub description: String,
    /// An npm name, or a path that begins with `.` or `/`.
    pub package: String,
    /// A range as npm writes them.
    pub package_version: Option<String>,
    pub initialization: Initialization,
    pub dependencies: Vec<Dependency>,
    pub tools: Vec<ToolEntry>,
    /// `None` leaves it to the loader's verdict.
    pub runtime: Option<Runtime>,
    pub state: State,
    /// The most that the library may do.
    pub capabilities: Option<Vec<Capability>>,
    pub limits: Limits,
    /// Words to find it by.
    pub keywords: Vec<String>,
    variables: Vec<String>,
}

/// A manifest, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Parsed {
    pub manifest: Option<ModuleManifest>,
    pub faults: Vec<Fault>,
}

const FIELDS: [&str; 18] = [
    "$schema",
    "$comment",
    "name",
    "version",
    "description",
    "package",
    "packageVersion",
    "type",
    "dependencies",
    "initialization",
    "tools",
    "runtime",
    "state",
    "capabilities",
    "limits",
    "timeoutSeconds",
    "readOnly",
    "keywords",
];

impl ModuleManifest {
    pub fn parse(text: &str, mode: Mode) -> Parsed {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (value, doubles) = match json::parse(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let (line, column) = json::position(text, &error);
                let message = json::reason(text, &error);
                let fault = Fault { path: String::new(), line, column, message, warning: false };
                return Parsed { manifest: None, faults: vec![fault] };
            }
        };
        let faults = Faults::new(mode);
        if !doubles.is_empty() {
            faults.doubles(text);
        }
        let manifest = read(&value, mode, &Spot::root(&faults));
        Parsed { manifest, faults: faults.place(text) }
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }

    /// The variables that templates name as `${env.NAME}`.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }
}

fn read(value: &Value, mode: Mode, spot: &Spot<'_>) -> Option<ModuleManifest> {
    let fields = Fields::of(value, "A module", spot)?;
    fields.warn_of_unknown(&FIELDS);
    let name = fields.required_text("name").and_then(|name| fields.checked("name", header::group(name)));
    let version = header::version(&fields);
    let description = header::description(&fields);
    let package =
        fields.required_text("package").and_then(|name| fields.checked("package", header::package(name)));
    let package_version = fields.text("packageVersion").map(str::to_owned);
    if package_version.as_ref().is_some_and(|range| range.trim().is_empty()) {
        spot.key("packageVersion").error("'packageVersion' is empty; leave it out for any version");
    }
    let dependencies = dependency::read(&fields)?;
    let initialization = initialization::read(&fields, &dependencies);
    let runtime = fields.word("runtime", &[("embedded", Runtime::Embedded), ("node", Runtime::Node)]);
    let state = fields.word("state", &[("call", State::Call), ("session", State::Session)]);
    let capabilities = fields.checked("capabilities", capabilities(fields.map, "capabilities")).flatten();
    let limits = read_limits(&fields);
    let timeout: Option<Duration> = fields.checked("timeoutSeconds", timeout(fields.map)).flatten();
    let read_only = fields.boolean("readOnly", false);
    let keywords = fields.strings("keywords");
    let errors = spot.faults().errors();
    let common = tool::Common {
        dependencies: &dependencies,
        capabilities: capabilities.as_deref(),
        timeout,
        read_only,
    };
    let mut tools = tools(&fields, &common)?;
    let (name, group) = name?;
    let state = offer_handles(&name, &mut tools, state, &fields);
    // In lenient mode a tool's errors cost the tool; in strict mode any error costs the module.
    if errors > 0 || (mode == Mode::Strict && spot.faults().errors() > 0) || tools.is_empty() {
        return None;
    }
    let mut manifest = ModuleManifest {
        name,
        group,
        version,
        description,
        package: package?,
        package_version,
        initialization: initialization?,
        dependencies,
        tools,
        runtime,
        state,
        capabilities,
        limits: limits?,
        keywords,
        variables: Vec::new(),
    };
    manifest.variables = variables(&manifest);
    Some(manifest)
}

fn read_limits(fields: &Fields<'_>) -> Option<Limits> {
    let spot = fields.spot.key("limits");
    if let Some(map) = fields.get("limits").and_then(Value::as_object) {
        Fields { map, spot: &spot }.warn_of_unknown(&LIMITS);
    }
    let (asked, _) = fields.checked("limits", limits(fields.map))?;
    let default = Limits::default();
    Some(Limits { heap: asked.heap.unwrap_or(HEAP), stack: asked.stack.unwrap_or(default.stack) })
}

fn tools(fields: &Fields<'_>, common: &tool::Common<'_>) -> Option<Vec<ToolEntry>> {
    let spot = fields.spot.key("tools");
    let Some(value) = fields.get("tools") else {
        fields.spot.error(missing("tools"));
        return None;
    };
    let Some(values) = value.as_array() else {
        spot.error(format!("'tools' must be a list, not {}", json_type(value)));
        return None;
    };
    if values.is_empty() {
        spot.error("A module needs at least one tool");
    }
    let mut names = HashSet::new();
    let mut tools = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let spot = spot.index(index);
        let Some(tool) = tool::read(value, index, common, &spot) else { continue };
        if names.insert(tool.definition.name.clone()) {
            tools.push(tool);
        } else {
            spot.key("name").error(format!("Duplicate tool name '{}'", tool.definition.name));
        }
    }
    Some(tools)
}

/// Where a tool keeps objects, those with instance methods can be called on them, as long as the session lives.
fn offer_handles(name: &str, tools: &mut [ToolEntry], state: Option<State>, fields: &Fields<'_>) -> State {
    if !tools.iter().any(ToolEntry::keeps_instance) {
        return state.unwrap_or(State::Call);
    }
    if state == Some(State::Call) {
        let message =
            "A tool keeps its result (\"transform\": \"instance\"), which needs \"state\": \"session\"";
        fields.spot.key("state").forgivable(message);
    }
    let spot = fields.spot.key("tools");
    for tool in tools {
        tool.offer_handle(&format!("{name}-1"), &spot.index(tool.index));
    }
    State::Session
}

fn variables(manifest: &ModuleManifest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut see = |reference: &Reference| match reference {
        Reference::Variable(name) if !names.contains(name) => names.push(name.clone()),
        Reference::Variable(_) | Reference::Name(_) => {}
    };
    let defaults = manifest.dependencies.iter().filter_map(|dependency| dependency.default.as_ref());
    for template in manifest.initialization.config.iter().chain(defaults) {
        template.each_reference(&mut see);
    }
    for tool in &manifest.tools {
        if let Calling::Template(items) = &tool.calling {
            items.iter().for_each(|item| item.each_reference(&mut see));
        }
    }
    names
}
