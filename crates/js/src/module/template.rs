//! `${name}` and `${env.NAME}` in the strings of a manifest.
//!
//! A template is parsed once and filled for every call. A string that is only `${x}` becomes the value itself,
//! whatever its type; a value that is not there is left out. What is filled in is never read as a template
//! again, so nothing that a model writes can name a variable.

use pinza_core::visible;
use serde_json::{Map, Value};

use crate::manifest::fields::{did_you_mean, is_variable};

use super::manifest::{Dependency, DependencyType, Resolved, Spot, admits};

/// A JSON value with holes in its strings.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// Nothing to fill in.
    Literal(Value),
    /// A string that is only `${x}`.
    Reference(Reference),
    Text(Vec<Piece>),
    /// Keys are templates too.
    Object(Vec<(Template, Template)>),
    Array(Vec<Item>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A parameter, or else a dependency.
    Name(String),
    /// `${env.NAME}`.
    Variable(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Reference(Reference),
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    One(Template),
    /// `"...${sources}"`: the elements of a list, each for itself.
    Spread(Reference),
}

/// What a template may name, beside variables.
#[derive(Clone, Copy, Default)]
pub(crate) struct Names<'a> {
    pub(crate) parameters: Option<&'a pinza_core::Parameters>,
    pub(crate) dependencies: Option<&'a [Dependency]>,
}

/// The values of one call.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) arguments: Option<&'a Map<String, Value>>,
    pub(crate) resolved: &'a Resolved,
}

impl Scope<'_> {
    pub(crate) fn get(&self, reference: &Reference) -> Option<&Value> {
        match reference {
            Reference::Variable(name) => self.resolved.variables.get(name),
            Reference::Name(name) => self
                .arguments
                .and_then(|arguments| arguments.get(name))
                .or_else(|| self.resolved.dependencies.get(name)),
        }
    }
}

impl Template {
    /// Reads `value`; a name that is not known and a `${` without its end are faults.
    pub(crate) fn parse(value: &Value, names: &Names<'_>, spot: &Spot<'_>) -> Option<Self> {
        let errors = spot.faults().errors();
        let template = parse(value, names, spot);
        (spot.faults().errors() == errors).then_some(template)
    }

    /// The value with everything filled in; `None` if it is a reference to something that is not there.
    pub(crate) fn fill(&self, scope: &Scope<'_>) -> Option<Value> {
        Some(match self {
            Self::Literal(value) => value.clone(),
            Self::Reference(reference) => return scope.get(reference).cloned(),
            Self::Text(pieces) => text(pieces, scope).into(),
            Self::Object(fields) => fields
                .iter()
                .filter_map(|(key, value)| Some((as_text(&key.fill(scope)?), value.fill(scope)?)))
                .collect::<Map<_, _>>()
                .into(),
            Self::Array(items) => items.iter().flat_map(|item| item.fill(scope)).collect(),
        })
    }

    pub(crate) fn each_reference<'a>(&'a self, see: &mut dyn FnMut(&'a Reference)) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(reference) => see(reference),
            Self::Text(pieces) => pieces.iter().for_each(|piece| {
                if let Piece::Reference(reference) = piece {
                    see(reference);
                }
            }),
            Self::Object(fields) => fields.iter().for_each(|(key, value)| {
                key.each_reference(see);
                value.each_reference(see);
            }),
            Self::Array(items) => items.iter().for_each(|item| item.each_reference(see)),
        }
    }
}

impl Item {
    pub(crate) fn parse(value: &Value, names: &Names<'_>, spot: &Spot<'_>) -> Self {
        let spread = value.as_str().and_then(|text| text.strip_prefix("..."));
        // Exactly one `${x}`; in any other text the dots are dots.
        let spread = spread.filter(|text| text.starts_with("${") && text.find('}') == Some(text.len() - 1));
        let Some(text) = spread else { return Self::One(parse(value, names, spot)) };
        let Template::Reference(reference) = parse_text(text, names, spot) else {
            return Self::One(Template::Literal(Value::Null));
        };
        if !names.may_be_list(&reference) {
            spot.error("Only a list can be spread with '...', and this is declared to be none");
        }
        Self::Spread(reference)
    }

    /// Its values: any number for a spread one, else one or none.
    pub(crate) fn fill(&self, scope: &Scope<'_>) -> Vec<Value> {
        match self {
            Self::One(template) => template.fill(scope).into_iter().collect(),
            Self::Spread(reference) => match scope.get(reference) {
                None => Vec::new(),
                Some(Value::Array(values)) => values.clone(),
                Some(value) => vec![value.clone()],
            },
        }
    }

    pub(crate) fn each_reference<'a>(&'a self, see: &mut dyn FnMut(&'a Reference)) {
        match self {
            Self::One(template) => template.each_reference(see),
            Self::Spread(reference) => see(reference),
        }
    }
}

impl Names<'_> {
    fn dependency(&self, name: &str) -> Option<&Dependency> {
        self.dependencies?.iter().find(|dependency| dependency.name == name)
    }

    fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.and_then(|parameters| parameters.property(name))
    }

    fn knows(&self, name: &str) -> bool {
        self.parameter(name).is_some() || self.dependency(name).is_some()
    }

    fn may_be_list(&self, reference: &Reference) -> bool {
        let Reference::Name(name) = reference else { return false };
        match (self.parameter(name), self.dependency(name)) {
            (Some(schema), _) => admits(schema, "array"),
            (None, Some(dependency)) => {
                matches!(dependency.kind, DependencyType::Array | DependencyType::Any)
            }
            (None, None) => true,
        }
    }

    /// A name that is not known, in words.
    fn unknown(&self, name: &str) -> String {
        let parameters = self.parameters.into_iter().flat_map(pinza_core::Parameters::properties);
        let dependencies = self.dependencies.into_iter().flatten().map(|dependency| dependency.name.as_str());
        let known = parameters.map(|(name, _)| name.as_str()).chain(dependencies);
        let near = did_you_mean(name, known);
        let what = match (self.parameters, self.dependencies) {
            (Some(_), _) => "neither a parameter nor a dependency",
            (None, None) => "no variable; write it as ${env.NAME}",
            (None, Some(_)) => "no dependency",
        };
        format!("'${{{}}}' names {what}{near}", visible(name))
    }
}

fn parse(value: &Value, names: &Names<'_>, spot: &Spot<'_>) -> Template {
    match value {
        Value::String(text) => parse_text(text, names, spot),
        Value::Array(values) => {
            let items = values.iter().enumerate();
            let items: Vec<Item> =
                items.map(|(index, value)| Item::parse(value, names, &spot.index(index))).collect();
            literal_or(value, items.iter().all(is_literal_item), || Template::Array(items))
        }
        Value::Object(fields) => {
            let fields: Vec<(Template, Template)> = fields
                .iter()
                .map(|(key, value)| {
                    let spot = spot.key(key);
                    (parse_text(key, names, &spot), parse(value, names, &spot))
                })
                .collect();
            let is_literal = fields.iter().all(|(key, value)| is_literal(key) && is_literal(value));
            // An escaped `${` is a literal that is not written as it is read.
            literal_or(value, is_literal, || Template::Object(fields))
        }
        other => Template::Literal(other.clone()),
    }
}

fn parse_text(text: &str, names: &Names<'_>, spot: &Spot<'_>) -> Template {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            plain.push_str(before);
            plain.push_str("${");
            rest = behind;
            continue;
        }
        plain.push_str(before);
        let Some((name, after)) = behind.split_once('}') else {
            spot.error("A '${' has no '}'; write '$${' for the characters themselves");
            return Template::Literal(Value::Null);
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.extend(reference(name.trim(), names, spot).map(Piece::Reference));
        rest = after;
    }
    plain.push_str(rest);
    match pieces.as_slice() {
        [] => Template::Literal(plain.into()),
        [Piece::Reference(only)] if plain.is_empty() => Template::Reference(only.clone()),
        _ => {
            if !plain.is_empty() {
                pieces.push(Piece::Text(plain));
            }
            Template::Text(pieces)
        }
    }
}

fn reference(name: &str, names: &Names<'_>, spot: &Spot<'_>) -> Option<Reference> {
    if let Some(variable) = name.strip_prefix("env.") {
        if !is_variable(variable) {
            spot.error(format!("'{}' is no name of a variable", visible(variable)));
            return None;
        }
        return Some(Reference::Variable(variable.to_owned()));
    }
    if name.is_empty() || name.contains("${") {
        spot.error("A '${…}' must hold one name; write '$${' for the characters themselves");
        return None;
    }
    if !names.knows(name) {
        spot.error(names.unknown(name));
        return None;
    }
    Some(Reference::Name(name.to_owned()))
}

fn literal_or(value: &Value, is_literal: bool, template: impl FnOnce() -> Template) -> Template {
    if is_literal && !has_escape(value) { Template::Literal(value.clone()) } else { template() }
}

fn is_literal(template: &Template) -> bool {
    matches!(template, Template::Literal(_))
}

fn is_literal_item(item: &Item) -> bool {
    matches!(item, Item::One(template) if is_literal(template))
}

fn has_escape(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(values) => values.iter().any(has_escape),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains("${") || has_escape(value)),
        _ => false,
    }
}

fn text(pieces: &[Piece], scope: &Scope<'_>) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Reference(reference) => {
                text.push_str(&scope.get(reference).map(as_text).unwrap_or_default());
            }
        }
    }
    text
}

/// A value within a text: nothing for null, JSON for what has parts.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::manifest::{Faults, Mode};

    fn resolved() -> Resolved {
        let Value::Object(dependencies) = json!({"apiKey": "k1", "retries": 3, "both": "dep", "tags": ["t"]})
        else {
            unreachable!()
        };
        let Value::Object(variables) = json!({"REGION": "eu"}) else { unreachable!() };
        Resolved { dependencies, variables }
    }

    fn dependencies() -> Vec<Dependency> {
        ["apiKey", "retries", "both", "tags", "unset"]
            .map(|name| Dependency {
                name: name.into(),
                kind: if name == "tags" { DependencyType::Array } else { DependencyType::String },
                description: None,
                required: false,
                default: None,
            })
            .to_vec()
    }

    fn parameters() -> pinza_core::Parameters {
        let names = ["url", "count", "both", "object", "list", "maybe", "nothing"];
        let properties: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let mut schema = json!({ "properties": properties });
        schema["properties"]["url"] = json!({"type": "string"});
        pinza_core::Parameters::from_schema(schema).unwrap()
    }

    /// The template, or what is wrong with it.
    fn read(value: &Value) -> Result<Template, String> {
        let (faults, dependencies, parameters) = (Faults::new(Mode::Strict), dependencies(), parameters());
        let names = Names { parameters: Some(&parameters), dependencies: Some(&dependencies) };
        let template = Template::parse(value, &names, &Spot::root(&faults));
        let faults = faults.place(&value.to_string());
        template
            .ok_or_else(|| faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn templates_are_filled() {
        let arguments = json!({
            "url": "/a", "count": 5, "both": "arg", "object": {"x": 1}, "list": [1, "two"], "nothing": null
        });
        let cases = [
            (json!("plain"), Some(json!("plain"))),
            (json!("${url}"), Some(json!("/a"))),
            (json!("${ url }"), Some(json!("/a"))),
            (json!("${count}"), Some(json!(5))),
            (json!("${object}"), Some(json!({"x": 1}))),
            (json!("${retries}"), Some(json!(3))),
            (json!("${both}"), Some(json!("arg"))),
            (json!("${nothing}"), Some(json!(null))),
            (json!("${maybe}"), None),
            (json!("${unset}"), None),
            (json!("${env.REGION}"), Some(json!("eu"))),
            (json!("${env.NOT_SET}"), None),
            (json!("Bearer ${apiKey}"), Some(json!("Bearer k1"))),
            (json!("${url}?n=${count}&r=${env.REGION}!"), Some(json!("/a?n=5&r=eu!"))),
            (json!("<${maybe}${nothing}>"), Some(json!("<>"))),
            (json!("${list} ${object}"), Some(json!("[1,\"two\"] {\"x\":1}"))),
            (json!("$${url}"), Some(json!("${url}"))),
            (json!("cost: $5 $${a} ${count}$"), Some(json!("cost: $5 ${a} 5$"))),
            (json!("$"), Some(json!("$"))),
            (json!("}{"), Some(json!("}{"))),
            (json!(["$${x}", {"$${k}": 1}]), Some(json!(["${x}", {"${k}": 1}]))),
            (json!({"a": "${url}", "b": "${maybe}", "c": 1}), Some(json!({"a": "/a", "c": 1}))),
            (json!({"X-${both}": "v", "${maybe}": "gone"}), Some(json!({"X-arg": "v"}))),
            (json!(["${url}", "${maybe}", "${count}"]), Some(json!(["/a", 5]))),
            (json!(["...${list}", "...${maybe}", "...${tags}"]), Some(json!([1, "two", "t"]))),
            (json!(["...${object}"]), Some(json!([{"x": 1}]))),
            (json!("...${list}"), Some(json!("...[1,\"two\"]"))),
            (json!(["... ${count}"]), Some(json!(["... 5"]))),
            (json!({"deep": [{"x": ["${url}"]}]}), Some(json!({"deep": [{"x": ["/a"]}]}))),
            (json!([1, null, {"a": true}]), Some(json!([1, null, {"a": true}]))),
        ];
        let resolved = resolved();
        let scope = Scope { arguments: arguments.as_object(), resolved: &resolved };
        for (value, expected) in cases {
            assert_eq!(read(&value).unwrap().fill(&scope), expected, "{value}");
        }
    }

    #[test]
    fn what_is_filled_in_is_no_template() {
        let resolved = resolved();
        let arguments = json!({"url": "${env.REGION} ${apiKey}", "both": "...${list}"});
        let scope = Scope { arguments: arguments.as_object(), resolved: &resolved };
        let template = read(&json!(["${url}", "x${url}", "${both}"])).unwrap();
        let expected = json!(["${env.REGION} ${apiKey}", "x${env.REGION} ${apiKey}", "...${list}"]);
        assert_eq!(template.fill(&scope), Some(expected));
    }

    #[test]
    fn what_cannot_be_filled_is_explained() {
        let one_name = "A '${…}' must hold one name; write '$${' for the characters themselves";
        let cases = [
            (json!("${"), "A '${' has no '}'; write '$${' for the characters themselves"),
            (json!("a ${url"), "A '${' has no '}'; write '$${' for the characters themselves"),
            (json!("${}"), one_name),
            (json!("${a${b}}"), one_name),
            (
                json!("${apikey}"),
                "'${apikey}' names neither a parameter nor a dependency; did you mean apiKey?",
            ),
            (json!("${env.}"), "'' is no name of a variable"),
            (json!("${env.MY-KEY}"), "'MY-KEY' is no name of a variable"),
            (json!({"${zzz}": 1}), "'${zzz}' names neither a parameter nor a dependency"),
            (json!(["...${url}"]), "Only a list can be spread with '...', and this is declared to be none"),
            (
                json!(["...${env.REGION}"]),
                "Only a list can be spread with '...', and this is declared to be none",
            ),
        ];
        for (value, message) in cases {
            assert_eq!(read(&value).unwrap_err(), message, "{value}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z${}. ]{0,16}") {
            let resolved = resolved();
            let scope = Scope { arguments: None, resolved: &resolved };
            if let Ok(template) = read(&text.clone().into()) {
                let filled = template.fill(&scope);
                if !text.contains("${") {
                    proptest::prop_assert_eq!(filled, Some(Value::String(text)));
                }
            }
        }
    }
}
