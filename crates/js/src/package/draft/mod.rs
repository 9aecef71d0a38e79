//! A first `module.json` for a package: its functions as tools.
//!
//! A draft is to be read and changed by a person; it leaves out what could not be called with JSON and
//! says why.

mod candidate;
mod declared;
mod doc;
mod names;
mod scope;
mod shape;
mod source;
mod types;

use oxc_allocator::Allocator;
use pinza_core::visible;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    installed::{Installed, PackageFault},
    verdict::{PackageVerdict, RunsOn},
};
use candidate::{Candidate, Candidates, Class, Made, Param, ROOT};
use names::tool_name;
use scope::World;

/// Tools of a draft that nobody picked; more would only fill a model's context.
const MOST_TOOLS: usize = 30;

/// What the draft should be.
#[derive(Clone, Debug, Default)]
pub struct DraftWish {
    /// The module's name.
    pub module: String,
    /// Functions and classes to take; empty for the best documented ones.
    pub pick: Vec<String>,
    /// The versions of the package that will do.
    pub range: Option<String>,
}

/// A drafted `module.json`, and what is not in it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    pub manifest: Value,
    pub tools: Vec<DraftedTool>,
    /// Functions that can be no tools.
    pub left_out: Vec<LeftOut>,
    /// Functions that could be picked, too.
    pub more: Vec<String>,
    /// Classes, and objects that the library returns: `Name.method` can be picked.
    pub classes: Vec<String>,
    /// The parameters come from declarations (`.d.ts`), not from code.
    pub typed: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct DraftedTool {
    pub name: String,
    pub function: String,
    pub signature: String,
    pub description: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    pub function: String,
    pub reason: String,
}

/// Why there is no draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftFault {
    #[error(transparent)]
    Package(#[from] PackageFault),
    #[error("no function of '{package}' can be seen in its declarations or its code")]
    NothingFound { package: String },
    #[error("none of the functions of '{package}' can be called with JSON: {example}")]
    NothingUsable { package: String, example: String },
    #[error("'{package}' exports no '{name}'{}", or_near(near))]
    Unknown { package: String, name: String, near: Vec<String> },
    #[error("'{name}' can be no tool: {reason}")]
    Unusable { name: String, reason: String },
    #[error("'{first}' and '{second}' are methods of different objects; a module has one")]
    TwoClasses { first: String, second: String },
}

fn or_near(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) }
}

pub(super) fn draft(
    package: &Installed,
    wish: &DraftWish,
    verdict: &PackageVerdict,
) -> Result<Draft, DraftFault> {
    let declared = {
        let allocator = Allocator::default();
        let world = World::new(&allocator, &package.tree);
        world.entry(&package.name).map(|entry| declared::candidates(&world, &entry)).unwrap_or_default()
    };
    let typed = !declared.functions.is_empty() || !declared.classes.is_empty();
    let found = if typed { declared } else { source::candidates(package) };
    if found.functions.is_empty() && found.classes.is_empty() {
        return Err(DraftFault::NothingFound { package: package.name.clone() });
    }
    let mut choice =
        if wish.pick.is_empty() { choose(package, &found)? } else { pick(package, &found, wish)? };
    // A method that returns its own object is of use only if the object is kept.
    let manifest = manifest(package, wish, verdict, &choice);
    let listed = manifest["tools"].as_array().cloned().unwrap_or_default();
    let chosen = choice.functions.drain(..).chain(choice.methods.drain(..));
    let tools = listed.iter().zip(chosen).map(|(tool, chosen)| DraftedTool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        function: chosen.path.clone(),
        signature: signature(package, chosen),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
    });
    let tools: Vec<DraftedTool> = tools.collect();
    let is_chosen = |candidate: &&Candidate| tools.iter().any(|tool| tool.function == candidate.path);
    let others = found.functions.iter().filter(|candidate| !is_chosen(candidate));
    let (refused, more): (Vec<&Candidate>, Vec<&Candidate>) = others.partition(|one| one.refusal.is_some());
    let left_out = refused
        .into_iter()
        .map(|one| LeftOut { function: visible(&one.path), reason: one.refusal.clone().unwrap_or_default() });
    Ok(Draft {
        left_out: left_out.collect(),
        more: more.into_iter().map(|one| visible(&one.path)).collect(),
        classes: found.classes.iter().map(|class| visible(&class.name)).collect(),
        manifest,
        tools,
        typed,
    })
}

/// What goes into the module.
#[derive(Default)]
struct Choice<'c> {
    functions: Vec<&'c Candidate>,
    /// Of this class.
    methods: Vec<&'c Candidate>,
    class: Option<&'c Class>,
}

/// The best documented functions, in the order of the text.
fn choose<'c>(package: &Installed, found: &'c Candidates) -> Result<Choice<'c>, DraftFault> {
    let mut usable: Vec<(usize, &Candidate)> =
        found.functions.iter().enumerate().filter(|(_, one)| one.refusal.is_none()).collect();
    usable.sort_by_key(|(_, one)| one.rank());
    usable.truncate(MOST_TOOLS);
    usable.sort_by_key(|(place, _)| *place);
    let functions: Vec<&Candidate> = usable.into_iter().map(|(_, one)| one).collect();
    if !functions.is_empty() {
        return Ok(Choice { functions, ..Choice::default() });
    }
    let classes: Vec<String> = found.classes.iter().map(|class| visible(&class.name)).collect();
    let example = match (found.functions.first(), &classes[..]) {
        (_, [first, ..]) => {
            format!("it has classes ({}); choose one with --pick {first}", classes.join(", "))
        }
        (Some(one), _) => format!("{}: {}", one.path, one.refusal.clone().unwrap_or_default()),
        (None, []) => String::new(),
    };
    Err(DraftFault::NothingUsable { package: package.name.clone(), example })
}

fn pick<'c>(package: &Installed, found: &'c Candidates, wish: &DraftWish) -> Result<Choice<'c>, DraftFault> {
    let mut choice = Choice::default();
    for name in &wish.pick {
        let is_root = name == "default" || *name == package.name || *name == wish.module;
        let function = found.functions.iter().find(|one| {
            one.path == *name
                || tool_name(&wish.module, tool_path(one)) == *name
                || (is_root && one.path == ROOT)
        });
        if let Some(function) = function {
            usable(name, function.refusal.as_ref())?;
            if !choice.functions.iter().any(|known| known.path == function.path) {
                choice.functions.push(function);
            }
            continue;
        }
        let Some((class, methods)) = methods(found, name) else { return Err(unknown(package, found, name)) };
        usable(name, class.refusal.as_ref())?;
        if let Some(other) = choice.class.filter(|other| other.name != class.name) {
            return Err(DraftFault::TwoClasses { first: visible(&other.name), second: visible(name) });
        }
        if let [method] = methods[..] {
            usable(name, method.refusal.as_ref())?;
        }
        choice.class = Some(class);
        let fresh = methods.into_iter().filter(|one| one.refusal.is_none());
        for method in fresh {
            if !choice.methods.iter().any(|known| known.path == method.path) {
                choice.methods.push(method);
            }
        }
    }
    if choice.class.is_some_and(|class| matches!(class.made, Made::Called)) {
        // Objects come from the library itself; without it only the one made at the start would be there.
        let root = found.functions.iter().find(|one| one.path == ROOT && one.refusal.is_none());
        let is_there = choice.functions.iter().any(|one| one.path == ROOT);
        root.filter(|_| !is_there).into_iter().for_each(|root| choice.functions.insert(0, root));
    }
    Ok(choice)
}

fn usable(name: &str, refusal: Option<&String>) -> Result<(), DraftFault> {
    match refusal {
        Some(reason) => Err(DraftFault::Unusable { name: visible(name), reason: reason.clone() }),
        None => Ok(()),
    }
}

/// `Class`, `Class.method`, or a method's name alone.
fn methods<'c>(found: &'c Candidates, name: &str) -> Option<(&'c Class, Vec<&'c Candidate>)> {
    if let Some(class) = found.classes.iter().find(|class| class.name == name) {
        return Some((class, class.methods.iter().collect()));
    }
    found.classes.iter().find_map(|class| {
        let method = name.strip_prefix(&class.name).and_then(|rest| rest.strip_prefix(['.', '#']));
        let wanted = method.unwrap_or(name);
        let found = class.methods.iter().find(|one| one.path == wanted)?;
        Some((class, vec![found]))
    })
}

fn unknown(package: &Installed, found: &Candidates, name: &str) -> DraftFault {
    let functions = found.functions.iter().map(|one| one.path.clone());
    let classes = found.classes.iter().flat_map(|class| {
        let methods = class.methods.iter().map(|one| format!("{}.{}", class.name, one.path));
        [class.name.clone()].into_iter().chain(methods)
    });
    let closeness = |known: &String| {
        let last = known.rsplit('.').next().unwrap_or(known);
        strsim::jaro_winkler(&name.to_lowercase(), &last.to_lowercase())
    };
    let near = functions.chain(classes).map(|known| (closeness(&known), known));
    let mut near: Vec<(f64, String)> = near.filter(|(closeness, _)| *closeness > 0.8).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near = near.into_iter().take(5).map(|(_, known)| visible(&known)).collect();
    DraftFault::Unknown { package: package.name.clone(), name: visible(name), near }
}

fn manifest(package: &Installed, wish: &DraftWish, verdict: &PackageVerdict, choice: &Choice<'_>) -> Value {
    let mut manifest = Map::new();
    let mut set = |key: &str, value: Value| drop(manifest.insert(key.to_owned(), value));
    let description = package.description().and_then(doc::sentence);
    let description = description.unwrap_or_else(|| format!("Functions of {}", visible(&package.name)));
    let range = wish.range.clone().or_else(|| package.version().map(|version| format!("^{version}")));
    let (kind, initialization, dependencies) = initialization(choice.class);
    set("name", wish.module.clone().into());
    set("version", "1.0.0".into());
    set("description", description.into());
    set("package", package.name.clone().into());
    range.into_iter().for_each(|range| set("packageVersion", range.into()));
    set("type", kind.into());
    if verdict.runs_on == RunsOn::Node {
        set("runtime", "node".into());
    }
    set("capabilities", json!(verdict.capabilities));
    dependencies.into_iter().for_each(|value| set("dependencies", value));
    initialization.into_iter().for_each(|value| set("initialization", value));
    let mut taken: Vec<String> = Vec::new();
    let mut name = |path: Option<&str>| {
        let name = tool_name(&wish.module, path);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        taken.extend(free.clone());
        free.unwrap_or_default()
    };
    let of_library = choice.functions.iter().map(|one| {
        let mut tool = tool(package, one, name(tool_path(one)));
        if let Some(class) = choice.class {
            let keeps = matches!(class.made, Made::Called) && one.path == ROOT;
            tool.insert("instanceMethod".into(), false.into());
            if keeps {
                tool.insert("resultMapping".into(), json!({ "transform": "instance" }));
            }
        }
        Value::Object(tool)
    });
    let of_library: Vec<Value> = of_library.collect();
    let of_object = choice.methods.iter().map(|one| {
        let mut tool = tool(package, one, name(Some(&one.path)));
        tool.insert("instanceMethod".into(), true.into());
        Value::Object(tool)
    });
    let tools: Vec<Value> = of_library.into_iter().chain(of_object.collect::<Vec<_>>()).collect();
    manifest.insert("tools".into(), tools.into());
    manifest.into()
}

/// The part of a tool's name that is the function's.
fn tool_path(candidate: &Candidate) -> Option<&str> {
    Some(candidate.path.as_str()).filter(|path| *path != ROOT)
}

/// How the object with the picked methods is made: type, initialization, dependencies.
fn initialization(class: Option<&Class>) -> (&'static str, Option<Value>, Option<Value>) {
    match class.map(|class| &class.made) {
        None => ("static", None, None),
        Some(Made::Called) => {
            ("factory", Some(json!({ "type": "factory", "treatAsConstructor": true })), None)
        }
        Some(Made::New { export, config }) => {
            let mut made = Map::from_iter([("type".to_owned(), json!("constructor"))]);
            if let Some(export) = export {
                made.insert("className".into(), export.clone().into());
            }
            let (config, dependencies) = config.as_ref().map_or((None, None), configuration);
            config.into_iter().for_each(|config| drop(made.insert("config".into(), config)));
            ("constructor", Some(made.into()), dependencies)
        }
    }
}

/// A constructor's argument, asked for as dependencies: its properties where it is an object.
fn configuration(param: &Param) -> (Option<Value>, Option<Value>) {
    let dependency = |schema: &Value, required: bool| {
        let mut dependency = Map::new();
        let kind = schema.get("type").filter(|kind| kind.is_string()).cloned();
        dependency.insert("type".into(), kind.unwrap_or_else(|| "any".into()));
        for key in ["description", "default"] {
            schema.get(key).into_iter().for_each(|value| drop(dependency.insert(key.into(), value.clone())));
        }
        dependency.insert("required".into(), required.into());
        Value::Object(dependency)
    };
    let Some(Value::Object(properties)) = param.schema.get("properties") else {
        let schema = Value::Object(param.schema.clone());
        let name = &param.name;
        return (Some(json!(format!("${{{name}}}"))), Some(json!({ name: dependency(&schema, true) })));
    };
    let required = |name: &String| {
        param.schema.get("required").and_then(Value::as_array).is_some_and(|all| all.contains(&json!(name)))
    };
    let needed = properties.iter().filter(|(name, _)| required(name));
    let (mut config, mut dependencies) = (Map::new(), Map::new());
    for (name, schema) in needed {
        config.insert(name.clone(), json!(format!("${{{name}}}")));
        dependencies.insert(name.clone(), dependency(schema, true));
    }
    let dependencies = (!dependencies.is_empty()).then(|| dependencies.into());
    (Some(config.into()), dependencies)
}

/// How it is called, for people: the library itself by its name.
fn signature(package: &Installed, candidate: &Candidate) -> String {
    match candidate.path.as_str() {
        ROOT => candidate.signature().replacen(ROOT, &package.name, 1),
        _ => candidate.signature(),
    }
}

fn tool(package: &Installed, candidate: &Candidate, name: String) -> Map<String, Value> {
    let mut tool = Map::new();
    let fallback = || match candidate.path.as_str() {
        ROOT => format!("Calls {}", signature(package, candidate)),
        _ => format!("Calls {} of {}", signature(package, candidate), package.name),
    };
    let description = candidate.description.clone().unwrap_or_else(fallback);
    tool.insert("name".into(), name.into());
    tool.insert("description".into(), description.into());
    tool.insert("function".into(), candidate.path.clone().into());
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for param in &candidate.params {
        properties.insert(param.name.clone(), param.schema.clone().into());
        required.extend(param.required.then(|| Value::from(param.name.clone())));
    }
    let mut parameters = Map::from_iter([("type".to_owned(), json!("object"))]);
    parameters.insert("properties".into(), properties.into());
    if !required.is_empty() {
        parameters.insert("required".into(), required.into());
    }
    tool.insert("parameters".into(), parameters.into());
    // Positions say it all but for the rest.
    if candidate.params.iter().any(|param| param.rest) {
        let argument = |param: &Param| {
            let dots = if param.rest { "..." } else { "" };
            format!("{dots}${{{}}}", param.name)
        };
        tool.insert("args".into(), candidate.params.iter().map(argument).collect());
    }
    tool
}
