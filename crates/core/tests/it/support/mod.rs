//! Fakes that the cases share: tools made of closures, a person at the desk, and a world
//! that calls tools and watches the observers while doing so.

mod person;
mod tools;
mod world;

pub(crate) use person::Person;
pub(crate) use tools::{answering, definition, echo, fake, named, sleeping, snapshot};
pub(crate) use world::{World, describe};

use pinza_core::{Arguments, Rule};
use serde_json::Value;

pub(crate) fn rule(value: Value) -> Rule {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn rules(values: &[Value]) -> Vec<Rule> {
    values.iter().cloned().map(rule).collect()
}

pub(crate) fn object(value: Value) -> Arguments {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) fn seconds(count: u64) -> std::time::Duration {
    std::time::Duration::from_secs(count)
}
