//! What the protocol's official conformance suite expects a server to have: fixtures with the names,
//! texts and questions that its scenarios look for.
//!
//! They are ordinary tools, prompts and resources: registered, listed and called like any other. Only
//! `pinza serve --conformance` registers them.

mod fixture;
mod inputs;
mod prompts;
mod resources;
mod schemas;
mod tools;

use std::sync::Arc;

use pinza_core::Tool;

use crate::server::{Changes, PromptSource, ResourceSource};

/// The tools of the fixtures.
pub fn tools(changes: &Changes) -> Vec<Arc<dyn Tool>> {
    tools::all(changes).into_iter().chain(inputs::all()).chain(schemas::all()).collect()
}

pub fn prompts() -> Arc<dyn PromptSource> {
    Arc::new(prompts::Prompts)
}

pub fn resources() -> Arc<dyn ResourceSource> {
    Arc::new(resources::Resources)
}

/// One red pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A wave file without a sample.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
