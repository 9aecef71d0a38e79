//! One entry of `tools`: a function of the library as a tool.

use std::{sync::Arc, time::Duration};

use pinza_core::{Capability, DEFAULT_TIMEOUT, Parameters, ToolDefinition, json_type};
use serde_json::{Value, json};

use crate::{
    manifest::{
        fields::{aliases, capabilities, timeout},
        snake_case,
    },
    module::{
        arguments::Calling,
        mapping::{Mapped, ResultMapping, Shape, Transform},
        output::{Output, OutputSchema},
        template::{Item, Names, Reference},
    },
};

use super::{Dependency, faults::Spot, fields::Fields, function::FunctionPath, schema};

/// A tool of a module.
#[derive(Debug)]
pub struct ToolEntry {
    pub definition: ToolDefinition,
    pub function: FunctionPath,
    /// The result is awaited.
    pub is_async: bool,
    /// The function is looked up on the instance and has it as `this`.
    pub instance_method: bool,
    pub calling: Calling,
    /// It has a parameter `handle` that names a kept object.
    pub takes_handle: bool,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Where it stands in the manifest.
    pub index: usize,
    pub(super) mapping: ResultMapping,
    pub(super) output: Output,
}

pub(super) const FIELDS: [&str; 19] = [
    "name",
    "title",
    "description",
    "function",
    "async",
    "instanceMethod",
    "parameters",
    "args",
    "passAsObject",
    "output",
    "resultMapping",
    "timeoutSeconds",
    "readOnly",
    "capabilities",
    "requiredPermissions",
    "aliases",
    "keywords",
    "examples",
    "$comment",
];

const TRANSFORMS: [(&str, Transform); 4] = [
    ("instance", Transform::Instance),
    ("raw", Transform::Raw),
    ("stringify", Transform::Stringify),
    ("array", Transform::Array),
];

/// What a module says for all its tools.
pub(super) struct Common<'a> {
    pub(super) dependencies: &'a [Dependency],
    pub(super) capabilities: Option<&'a [Capability]>,
    pub(super) timeout: Option<Duration>,
    pub(super) read_only: bool,
}

/// The tool, or `None` if anything in it is wrong.
pub(super) fn read(value: &Value, index: usize, common: &Common<'_>, spot: &Spot<'_>) -> Option<ToolEntry> {
    let errors = spot.faults().errors();
    let fields = Fields::of(value, "A tool", spot)?;
    fields.warn_of_unknown(&FIELDS);
    let name = fields.required_text("name").and_then(|name| fields.checked("name", snake_case(name)));
    let description = fields.required_text("description").unwrap_or_default();
    if description.trim().is_empty() && fields.get("description").is_some() {
        spot.key("description").warning("The description is empty; models choose tools by it");
    }
    let function = fields.required_text("function").and_then(|function| {
        let parsed = function.parse::<FunctionPath>();
        fields.checked("function", parsed.map_err(|error| format!("'function': {error}")))
    });
    let parameters = match fields.get("parameters") {
        None => Some(Parameters::none()),
        Some(value) => schema::parameters(value, &spot.key("parameters")),
    };
    let calling = parameters.as_ref().map(|parameters| calling(&fields, parameters, common.dependencies));
    let mapping = mapping(&fields);
    let output = output(&fields);
    let own = fields.checked("capabilities", capabilities(fields.map, "capabilities")).flatten();
    let permissions = fields.checked("requiredPermissions", capabilities(fields.map, "requiredPermissions"));
    let timeout = fields.checked("timeoutSeconds", timeout(fields.map)).flatten().or(common.timeout);
    let read_only = fields.boolean("readOnly", common.read_only);
    let aliases = parameters.as_ref().map(|known| fields.checked("aliases", aliases(fields.map, known)));
    let keywords = fields.strings("keywords");
    let title = fields.text("title").map(str::to_owned);
    let (is_async, instance_method) = (fields.boolean("async", true), fields.boolean("instanceMethod", true));
    if let Some(examples) = fields.get("examples").filter(|examples| !examples.is_array()) {
        spot.key("examples").error(format!("'examples' must be a list, not {}", json_type(examples)));
    }
    if spot.faults().errors() > errors {
        return None;
    }
    let mut definition = ToolDefinition::new(name?, description);
    definition.title = title;
    definition.parameters = parameters?;
    definition.capabilities = permissions.flatten().unwrap_or_default();
    definition.ceiling = ceiling(common.capabilities, own);
    definition.timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
    definition.read_only = read_only;
    definition.aliases = aliases.flatten().unwrap_or_default();
    Some(ToolEntry {
        definition,
        function: function?,
        is_async,
        instance_method,
        calling: calling?,
        takes_handle: false,
        keywords,
        index,
        mapping,
        output,
    })
}

/// A tool may do what both it and its module say.
fn ceiling(module: Option<&[Capability]>, own: Option<Vec<Capability>>) -> Option<Arc<[Capability]>> {
    match (module, own) {
        (None, own) => own.map(Into::into),
        (Some(module), None) => Some(module.into()),
        (Some(module), Some(own)) => Some(own.into_iter().filter(|own| module.contains(own)).collect()),
    }
}

fn calling(fields: &Fields<'_>, parameters: &Parameters, dependencies: &[Dependency]) -> Calling {
    let as_object = fields.boolean("passAsObject", false);
    let Some(args) = fields.get("args") else {
        let names = parameters.properties().map(|(name, _)| name.clone());
        return if as_object { Calling::Object } else { Calling::Positional(names.collect()) };
    };
    let spot = fields.spot.key("args");
    if as_object {
        fields.spot.key("passAsObject").key_warning("'passAsObject' says nothing beside 'args'");
    }
    let Some(values) = args.as_array() else {
        spot.error(format!("'args' must be a list, not {}", json_type(args)));
        return Calling::Object;
    };
    let names = Names { parameters: Some(parameters), dependencies: Some(dependencies) };
    let values = values.iter().enumerate();
    let items: Vec<Item> =
        values.map(|(index, value)| Item::parse(value, &names, &spot.index(index))).collect();
    warn_of_unused(&items, parameters, &spot);
    Calling::Template(items)
}

/// A model would fill in what never arrives.
fn warn_of_unused(items: &[Item], parameters: &Parameters, spot: &Spot<'_>) {
    let mut used = Vec::new();
    for item in items {
        item.each_reference(&mut |reference| {
            if let Reference::Name(name) = reference {
                used.push(name);
            }
        });
    }
    for (name, _) in parameters.properties().filter(|(name, _)| !used.contains(name)) {
        spot.warning(format!("The parameter '{}' is not used in 'args'", pinza_core::visible(name)));
    }
}

fn mapping(fields: &Fields<'_>) -> ResultMapping {
    let spot = fields.spot.key("resultMapping");
    let Some(value) = fields.get("resultMapping") else { return ResultMapping::default() };
    let Some(fields) = Fields::of(value, "'resultMapping'", &spot) else { return ResultMapping::default() };
    fields.warn_of_unknown(&["success", "failure", "transform"]);
    let shape = |name: &'static str| fields.get(name).map(|value| Shape::parse(value, &spot.key(name)));
    let (success, failure) = (shape("success"), shape("failure"));
    let transform = fields.word("transform", &TRANSFORMS);
    if transform == Some(Transform::Raw) && success.is_some() {
        spot.key("success").key_warning("'success' says nothing beside \"transform\": \"raw\"");
    }
    ResultMapping { success, failure, transform }
}

fn output(fields: &Fields<'_>) -> Output {
    let spot = fields.spot.key("output");
    let Some(value) = fields.get("output") else { return Output::default() };
    let Some(fields) = Fields::of(value, "'output'", &spot) else { return Output::default() };
    fields.warn_of_unknown(&["success", "failure"]);
    let schema = |name: &'static str| {
        let schema = schema::output(fields.get(name)?, &spot.key(name))?;
        Some(OutputSchema::new(schema))
    };
    Output { success: schema("success"), failure: schema("failure") }
}

impl ToolEntry {
    /// Its result stays alive in the session.
    pub fn keeps_instance(&self) -> bool {
        self.mapping.transform == Some(Transform::Instance)
    }

    /// The schema of a good result.
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.success.as_ref().map(OutputSchema::schema)
    }

    /// What the caller gets for the `value` of an outcome; `None` is `undefined`. With a `handle`, the object was
    /// kept and `value` shows it.
    pub fn succeeded(&self, value: Option<Value>, handle: Option<&str>) -> Mapped {
        self.mapping.succeed(&self.output, value, handle)
    }

    /// The details of the `error` of an outcome; `None` where the manifest says nothing about them.
    pub fn failed(&self, error: &Value) -> Option<Mapped> {
        self.mapping.fail(&self.output, error)
    }

    /// Lets calls name a kept object.
    pub(super) fn offer_handle(&mut self, example: &str, spot: &Spot<'_>) {
        if !self.instance_method || self.function.is_root() {
            return;
        }
        if self.definition.parameters.property("handle").is_some() {
            let message = "It has a parameter 'handle' of its own, so it cannot be called on a kept object";
            return spot.warning(message);
        }
        let mut schema = self.definition.parameters.schema().clone();
        let description =
            format!("The handle of an object that an earlier call returned, such as \"{example}\"");
        schema["properties"]["handle"] = json!({ "type": "string", "description": description });
        if let Ok(parameters) = Parameters::from_schema(schema) {
            self.definition.parameters = parameters;
            self.takes_handle = true;
        }
    }
}
