//! One entry of a manifest, in RFC-018's order and words.

use pinza_core::{ToolDefinition, ToolName, json_type, visible};
use serde_json::{Map, Value};

use super::{
    ManifestEntry,
    fields::{
        aliases, boolean, capabilities, env, limits, optional, parameters, strings, text, timeout,
        warn_of_unknown,
    },
};

/// Everything that an entry may say. `keywords` and `examples` are for finding tools.
const FIELDS: [&str; 15] = [
    "$schema",
    "name",
    "description",
    "function",
    "parameters",
    "timeoutSeconds",
    "requiredPermissions",
    "capabilities",
    "env",
    "readOnly",
    "limits",
    "title",
    "aliases",
    "keywords",
    "examples",
];

/// More about one entry would hide the others.
const WARNINGS: usize = 20;

/// Where an entry stands.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// It is the file, and named as the file.
    Single {
        base: &'a str,
    },
    Group {
        base: &'a str,
        index: usize,
    },
}

/// The entry, or why there is none; `warnings` gets what its author should know in either case.
pub(super) fn read(
    fields: &Map<String, Value>,
    place: Place<'_>,
    warnings: &mut Vec<String>,
) -> Result<ManifestEntry, String> {
    if fields.contains_key("_meta") && matches!(place, Place::Group { .. }) {
        return Err("'_meta' must be the first entry".into());
    }
    warnings.extend(warn_of_unknown(fields, &FIELDS, ""));
    let name = name(fields, place)?;
    let function = function(fields, place, &name, warnings)?;
    let name = tool_name(&name, place)?;
    let description = text(fields, "description")?.ok_or("Missing required field: 'description'")?;
    if description.trim().is_empty() {
        warnings.push(format!("Tool '{name}' has an empty description"));
    }
    let (parameters, unclear) = parameters(fields)?;
    let (mut asked, unknown) = limits(fields)?;
    warnings.extend(unclear.into_iter().chain(unknown));
    warnings.truncate(WARNINGS);
    let mut definition = ToolDefinition::new(name, description);
    definition.title = text(fields, "title")?.map(str::to_owned);
    definition.aliases = aliases(fields, &parameters)?;
    definition.parameters = parameters;
    definition.capabilities = capabilities(fields, "requiredPermissions")?.unwrap_or_default();
    asked.timeout = timeout(fields)?;
    definition.timeout = asked.timeout.unwrap_or(definition.timeout);
    definition.read_only = boolean(fields, "readOnly")?;
    definition.keywords = strings(fields, "keywords")?.unwrap_or_default();
    definition.examples = match optional(fields, "examples") {
        None => Vec::new(),
        Some(Value::Array(examples)) => examples.clone(),
        Some(other) => return Err(format!("'examples' must be a list, not {}", json_type(other))),
    };
    let index = match place {
        Place::Single { .. } => 0,
        Place::Group { index, .. } => index,
    };
    let (env, capabilities) = (env(fields)?, capabilities(fields, "capabilities")?);
    Ok(ManifestEntry { definition, function, env, capabilities, asked, index })
}

fn name(fields: &Map<String, Value>, place: Place<'_>) -> Result<String, String> {
    let missing = match place {
        Place::Single { .. } => "Missing required field: 'name'",
        Place::Group { .. } => "Missing 'name'",
    };
    Ok(text(fields, "name")?.ok_or(missing)?.to_owned())
}

/// RFC-018 looks at the function before it looks at the name.
fn function(
    fields: &Map<String, Value>,
    place: Place<'_>,
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let name = visible(name);
    let function = text(fields, "function")?;
    let Place::Group { base, .. } = place else {
        if function.is_some() {
            warnings.push("'function' counts in groups only; a single tool's function is 'execute'".into());
        }
        return Ok(None);
    };
    let missing = || format!("Tool '{name}' in group '{base}.json' missing required 'function' field");
    let function = function.ok_or_else(missing)?;
    if !is_function_name(function) {
        return Err(format!("Invalid function name '{}' for tool '{name}'", visible(function)));
    }
    Ok(Some(function.to_owned()))
}

fn tool_name(name: &str, place: Place<'_>) -> Result<ToolName, String> {
    if let Place::Single { base } = place
        && name != base
    {
        let shown = visible(name);
        return Err(format!("Tool name '{shown}' does not match filename '{}'", visible(base)));
    }
    snake_case(name)
}

/// The name of a tool that is written in a file.
pub(crate) fn snake_case(name: &str) -> Result<ToolName, String> {
    let mut letters = name.chars();
    let is_snake = letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !is_snake {
        let shown = visible(name);
        return Err(format!(
            "Tool name '{shown}' must be snake_case (lowercase letters, digits, underscores)"
        ));
    }
    ToolName::new(name).map_err(|error| error.to_string())
}

/// `^[a-zA-Z_$][a-zA-Z0-9_$]*$`, and neither reserved nor what every object inherits.
fn is_function_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$');
    let mut letters = name.chars();
    letters.next().is_some_and(is_letter)
        && letters.all(|letter| is_letter(letter) || letter.is_ascii_digit())
        && !oxc_syntax::keyword::is_reserved_keyword(name)
        && !INHERITED.contains(&name)
}

/// A name that a script need not declare to have, or may not declare when it is strict.
const INHERITED: [&str; 14] = [
    "eval",
    "arguments",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];
