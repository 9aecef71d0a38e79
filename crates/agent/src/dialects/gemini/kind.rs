//! The types of Gemini's `Schema`, and which keywords speak about which of them.

use serde_json::{Map, Value};

use crate::dialects::keywords;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::String => "STRING",
            Self::Number => "NUMBER",
            Self::Integer => "INTEGER",
            Self::Boolean => "BOOLEAN",
            Self::Array => "ARRAY",
            Self::Object => "OBJECT",
        }
    }

    /// A schema that says only this.
    pub(super) fn schema(self) -> Map<String, Value> {
        Map::from_iter([("type".to_owned(), self.word().into())])
    }

    pub(super) fn admits(self, value: &Value) -> bool {
        match self {
            Self::Number => value.is_number(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => Self::named(pinza_core::json_type(value)) == Some(self),
        }
    }
}

/// The types that a schema admits, null aside; `None` where nothing tells.
pub(super) fn kinds(own: &Map<String, Value>) -> Option<Vec<Kind>> {
    let choices: Vec<&Value> = own
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|value| !value.is_null())
        .collect();
    let mut kinds: Vec<Kind> = keywords::types(own).into_iter().filter_map(Kind::named).collect();
    if kinds.is_empty() {
        for kind in choices.iter().filter_map(|value| Kind::named(pinza_core::json_type(value))) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    } else if choices.iter().any(|value| kinds.iter().any(|kind| kind.admits(value))) {
        // A type of which no value may be chosen is none of the choices.
        kinds.retain(|kind| choices.iter().any(|value| kind.admits(value)));
    }
    if kinds.is_empty() {
        kinds.extend(own.keys().find_map(|keyword| implied_by(keyword)));
    }
    (!kinds.is_empty()).then_some(kinds)
}

/// The types that one of Gemini's keywords speaks about; `None` for a keyword it lacks.
pub(super) fn applies_to(keyword: &str) -> Option<&'static [Kind]> {
    Some(match keyword {
        "pattern" | "minLength" | "maxLength" => &[Kind::String],
        "minimum" | "maximum" => &[Kind::Number, Kind::Integer],
        "minItems" | "maxItems" | "prefixItems" => &[Kind::Array],
        "properties" | "required" | "propertyOrdering" | "minProperties" | "maxProperties" => &[Kind::Object],
        _ => return None,
    })
}

fn implied_by(keyword: &str) -> Option<Kind> {
    Some(match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties" => Kind::Object,
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => Kind::Array,
        "pattern" | "minLength" | "maxLength" => Kind::String,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Kind::Number,
        _ => return None,
    })
}
