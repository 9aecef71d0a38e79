//! JSON objects that are read into structures.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

/// A structure that is written as an object. Read as it is, it could be written as an array of its fields as well, which
/// nobody else would take for the same message.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Pair<'a> {
        first: &'a str,
        second: u8,
    }

    #[test]
    fn an_array_is_no_object() {
        let Object(pair): Object<Pair<'_>> = serde_json::from_str(r#"{"second": 1, "first": "a"}"#).unwrap();
        assert_eq!((pair.first, pair.second), ("a", 1));
        assert!(serde_json::from_str::<Pair<'_>>(r#"["a", 1]"#).is_ok(), "or nobody needs this");
        assert!(serde_json::from_str::<Object<Pair<'_>>>(r#"["a", 1]"#).is_err());
    }
}
