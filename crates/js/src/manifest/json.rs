//! JSON that tells of keys that stand twice in one object, which `serde_json` forgets.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// After so many, the author has understood.
const DOUBLES: usize = 20;

/// The value, and the keys that were there twice.
pub(crate) fn parse(text: &str) -> serde_json::Result<(Value, Vec<String>)> {
    let mut doubles = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Reader { doubles: &mut doubles }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, doubles))
}

/// What is wrong, without the place, which has fields of its own.
pub(crate) fn reason(text: &str, error: &serde_json::Error) -> String {
    if text.trim().is_empty() {
        return "The file is empty".into();
    }
    let told = error.to_string();
    let reason = match told.rsplit_once(" at line ").map_or(told.as_str(), |(reason, _)| reason) {
        // What people write who know JavaScript.
        "key must be a string" => "a key must stand in double quotes, and there are no comments",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a line break or another control character stands in a text; write it as \\n"
        }
        "expected ident" => "expected value",
        reason => reason,
    };
    let reason = reason.replace("EOF while parsing", "the file ends within");
    format!("Not valid JSON: {reason}")
}

/// Line and column from 1, columns in characters; `serde_json` counts bytes, and a line break as column 0 of
/// the line that it opens.
pub(crate) fn position(text: &str, error: &serde_json::Error) -> (usize, usize) {
    let line = |number: usize| text.split('\n').nth(number.saturating_sub(1)).unwrap_or_default();
    match (error.line(), error.column()) {
        (number, 0) if number > 1 && !error.is_eof() => (number - 1, line(number - 1).chars().count() + 1),
        (number, bytes) => {
            let before = line(number).floor_char_boundary(bytes.saturating_sub(1));
            (number.max(1), line(number)[..before].chars().count() + 1)
        }
    }
}

struct Reader<'a> {
    doubles: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn again(&mut self) -> Reader<'_> {
        Reader { doubles: self.doubles }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(self.again())? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(self.again())?;
            let is_new = self.doubles.len() < DOUBLES && !self.doubles.contains(&key);
            if fields.insert(key.clone(), value).is_some() && is_new {
                self.doubles.push(key);
            }
        }
        Ok(fields.into())
    }
}
