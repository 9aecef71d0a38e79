//! What a module needs from outside, declared in its manifest and looked up before a call.

use std::fmt;

use pinza_core::{json_type, visible};
use serde_json::{Map, Value};

use crate::{
    manifest::fields::{did_you_mean, is_variable},
    module::template::{Names, Scope, Template},
};

use super::{ModuleManifest, faults::Spot, fields::Fields};

/// A value that a module takes from the variables: a key, a base URL.
#[derive(Clone, Debug)]
pub struct Dependency {
    pub name: String,
    pub kind: DependencyType,
    pub description: Option<String>,
    pub required: bool,
    /// Its texts may have `${env.NAME}` in them.
    pub default: Option<Template>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyType {
    String,
    Number,
    Integer,
    Boolean,
    Object,
    Array,
    Any,
}

const TYPES: [(&str, DependencyType); 7] = [
    ("string", DependencyType::String),
    ("number", DependencyType::Number),
    ("integer", DependencyType::Integer),
    ("boolean", DependencyType::Boolean),
    ("object", DependencyType::Object),
    ("array", DependencyType::Array),
    ("any", DependencyType::Any),
];

impl DependencyType {
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("any", |(name, _)| name)
    }

    pub(crate) fn admits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Any => true,
        }
    }

    /// A variable is text; this is the value that it stands for.
    fn read(self, text: &str) -> Option<Value> {
        let value = match (self, text.trim()) {
            (Self::String | Self::Any, _) => return Some(text.into()),
            (Self::Boolean, "1") => true.into(),
            (Self::Boolean, "0") => false.into(),
            (_, text) => serde_json::from_str(text).ok()?,
        };
        self.admits(&value).then_some(value)
    }

    fn article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Integer => "a whole number",
            Self::Boolean => "true or false",
            Self::Object => "a JSON object",
            Self::Array => "a JSON array",
            Self::Any => "any value",
        }
    }
}

pub(super) const FIELDS: [&str; 4] = ["type", "description", "required", "default"];

/// `{"apiKey": {"type": "string", …}}`, or shorter `{"apiKey": "string"}`; `None` where that is no object. A bad one
/// is there all the same, so that what names it is no fault.
pub(super) fn read(fields: &Fields<'_>) -> Option<Vec<Dependency>> {
    let Some(value) = fields.get("dependencies") else { return Some(Vec::new()) };
    let spot = fields.spot.key("dependencies");
    let declared = Fields::of(value, "'dependencies'", &spot)?;
    let read = |(name, value): (&String, &Value)| {
        let spot = spot.key(name);
        if !is_name(name) {
            spot.error("A dependency's name has letters, digits, '_', '$' and '-', and no digit first");
        }
        read_one(name, value, &spot).unwrap_or_else(|| Dependency::new(name, DependencyType::Any))
    };
    Some(declared.map.iter().map(read).collect())
}

impl Dependency {
    fn new(name: &str, kind: DependencyType) -> Self {
        Self { name: name.to_owned(), kind, description: None, required: false, default: None }
    }
}

fn read_one(name: &str, value: &Value, spot: &Spot<'_>) -> Option<Dependency> {
    if let Value::String(word) = value {
        let found = TYPES.iter().find(|(known, _)| known == word);
        if found.is_none() {
            let near = did_you_mean(word, TYPES.iter().map(|(known, _)| *known));
            spot.error(format!("Unknown type '{}'{near}", visible(word)));
        }
        return found.map(|(_, kind)| Dependency::new(name, *kind));
    }
    let fields = Fields::of(value, "A dependency", spot)?;
    fields.warn_of_unknown(&FIELDS);
    let kind = match fields.get("type") {
        None => DependencyType::Any,
        Some(_) => fields.word("type", &TYPES)?,
    };
    let description = fields.text("description").map(str::to_owned);
    let required = fields.boolean("required", false);
    let default = fields.get("default").and_then(|value| default(kind, value, &spot.key("default")));
    Some(Dependency { description, required, default, ..Dependency::new(name, kind) })
}

fn default(kind: DependencyType, value: &Value, spot: &Spot<'_>) -> Option<Template> {
    let template = Template::parse(value, &Names::default(), spot)?;
    // What a variable will hold is not known yet.
    let is_open = matches!(template, Template::Reference(_) | Template::Text(_));
    if !is_open && !kind.admits(value) {
        spot.error(format!("The default must be {}, not {}", kind.article(), json_type(value)));
        return None;
    }
    Some(template)
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$');
    let mut letters = name.chars();
    letters.next().is_some_and(is_letter)
        && letters.all(|letter| is_letter(letter) || letter.is_ascii_digit() || letter == '-')
        && name.len() <= 128
}

/// Values for a module's templates. They may be secrets, so they are not shown.
#[derive(Clone, Default)]
pub struct Resolved {
    pub dependencies: Map<String, Value>,
    /// `${env.NAME}`.
    pub variables: Map<String, Value>,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("dependencies", &self.dependencies.keys())
            .field("variables", &self.variables.keys())
            .finish()
    }
}

/// Why a module's dependencies are not there. Values are never part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependencyError {
    #[error("{}", missing_text(.module, .dependencies))]
    Missing { module: String, dependencies: Vec<MissingDependency> },
    #[error(
        "The dependency '{name}' of the module '{module}' must be {expected}, but the variable {variable} holds \
         something else; {}",
        how_to_set(.variable)
    )]
    WrongType { module: String, name: String, variable: String, expected: &'static str },
    #[error(
        "The dependency '{name}' of the module '{module}' must be {expected}, but its default becomes something else"
    )]
    WrongDefault { module: String, name: String, expected: &'static str },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingDependency {
    pub name: String,
    pub description: Option<String>,
    /// A variable that can hold it.
    pub variable: String,
}

fn missing_text(module: &str, missing: &[MissingDependency]) -> String {
    let shown: Vec<String> = missing
        .iter()
        .map(|dependency| match &dependency.description {
            Some(description) => format!("'{}' ({})", dependency.name, visible(description)),
            None => format!("'{}'", dependency.name),
        })
        .collect();
    let (noun, verb) = if missing.len() == 1 { ("dependency", "is") } else { ("dependencies", "are") };
    let variable = missing.first().map_or("NAME", |dependency| dependency.variable.as_str());
    let (shown, how) = (shown.join(", "), how_to_set(variable));
    format!("The module '{module}' needs the {noun} {shown}, which {verb} not set; {how}")
}

fn how_to_set(variable: &str) -> String {
    format!("use `pinza env set {variable}`, `--env {variable}=…` or a .env file beside the module")
}

impl ModuleManifest {
    /// Looks up what the module declares and what its templates name. A dependency `apiKey` of the module `stripe`
    /// is the variable `STRIPE_API_KEY`, `apiKey` or `API_KEY`, the first that is set: modules with dependencies of
    /// one name need not share its value.
    pub fn resolve(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<Resolved, DependencyError> {
        let variables = self.variables().iter().filter_map(|name| Some((name.clone(), lookup(name)?.into())));
        let mut resolved = Resolved { variables: variables.collect(), ..Resolved::default() };
        let mut missing = Vec::new();
        for dependency in &self.dependencies {
            match self.resolve_one(dependency, &resolved, &lookup)? {
                Some(value) => drop(resolved.dependencies.insert(dependency.name.clone(), value)),
                None if dependency.required => {
                    missing.push(self.missing(dependency));
                }
                None => {}
            }
        }
        if missing.is_empty() {
            Ok(resolved)
        } else {
            Err(DependencyError::Missing { module: self.name.clone(), dependencies: missing })
        }
    }

    fn resolve_one(
        &self,
        dependency: &Dependency,
        resolved: &Resolved,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Value>, DependencyError> {
        let Dependency { name, kind, default, .. } = dependency;
        for variable in self.variables_for(dependency) {
            let Some(text) = lookup(&variable) else { continue };
            // `NAME=` in a .env file sets nothing that could be a number.
            if *kind != DependencyType::String && text.trim().is_empty() {
                continue;
            }
            let wrong = || DependencyError::WrongType {
                module: self.name.clone(),
                name: name.clone(),
                variable,
                expected: kind.article(),
            };
            return kind.read(&text).ok_or_else(wrong).map(Some);
        }
        let scope = Scope { arguments: None, resolved };
        let Some(value) = default.as_ref().and_then(|default| default.fill(&scope)) else { return Ok(None) };
        let value = match &value {
            Value::String(text) if *kind != DependencyType::String => kind.read(text),
            _ => Some(value),
        };
        let wrong = || DependencyError::WrongDefault {
            module: self.name.clone(),
            name: name.clone(),
            expected: kind.article(),
        };
        value.filter(|value| kind.admits(value)).ok_or_else(wrong).map(Some)
    }

    fn missing(&self, dependency: &Dependency) -> MissingDependency {
        let mut variables = self.variables_for(dependency);
        let plain = variables.iter().position(|name| *name == dependency.name).unwrap_or_default();
        MissingDependency {
            name: dependency.name.clone(),
            description: dependency.description.clone(),
            variable: variables.swap_remove(plain),
        }
    }

    /// The names of variables that may hold a dependency, in the order in which they are asked for.
    pub fn variables_for(&self, dependency: &Dependency) -> Vec<String> {
        let plain = upper_snake(&dependency.name);
        let own = format!("{}_{plain}", upper_snake(&self.name));
        let mut names = Vec::new();
        for name in [own, dependency.name.clone(), plain] {
            if is_variable(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// `apiKey` → `API_KEY`, `baseURL` → `BASE_URL`, `my-key` → `MY_KEY`.
fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_lower {
            upper.push('_');
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        upper.push(if letter == '-' { '_' } else { letter.to_ascii_uppercase() });
    }
    upper
}
