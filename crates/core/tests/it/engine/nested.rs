//! Tools that call tools.

use std::sync::Arc;

use pinza_core::{Capability, Tool, ToolDefinition, ToolOutput};
use serde_json::json;

use crate::support::{World, answering, definition, fake, named};

/// Calls another tool and answers what that answers.
fn calling(definition: ToolDefinition, other: &'static str) -> Arc<dyn Tool> {
    fake(definition, move |_, context| Box::pin(context.call_tool(other, json!({}))))
}

fn capability(name: &str) -> Capability {
    Capability::new(name).unwrap()
}

#[tokio::test]
async fn a_tool_calls_another_through_the_engine() {
    let world = World::new([calling(definition("outer"), "inner"), named("inner")]);
    world.check("outer", json!({}), "inner").await;
}

#[tokio::test]
async fn tools_that_call_each_other_come_to_an_end() {
    let world = World::new([calling(definition("loop"), "loop")]);
    world.check("loop", json!({}), "execution_error: Tools call each other more than 8 deep").await;
}

#[tokio::test]
async fn a_ceiling_bounds_the_tool_and_everything_it_calls() {
    let low = |names: &[&str]| ToolDefinition {
        ceiling: Some(names.iter().map(|name| capability(name)).collect()),
        ..definition("low")
    };
    let reader = || answering(definition("reader").needs(capability("fs.read")), "read");
    let between = || calling(definition("between"), "reader");
    let denied = "permission_denied: Required permissions were denied: fs.read \
                  (The tool's own manifest does not declare it.)";
    for (ceiling, expected) in [(&["fs.read"][..], "read"), (&["net"][..], denied), (&[][..], denied)] {
        let world = World::new([calling(low(ceiling), "between"), between(), reader()]);
        world.check("low", json!({}), expected).await;
        world.check("between", json!({}), "read").await;
    }
}

#[tokio::test]
async fn what_is_beyond_a_ceiling_is_not_shown() {
    let bounded = |name: &str, ceiling: &[&str]| ToolDefinition {
        ceiling: Some(ceiling.iter().map(|name| capability(name)).collect()),
        ..definition(name)
    };
    // Lists what a search from here would find.
    let looking = || {
        fake(definition("look"), |_, context| {
            let view = context.view();
            let names: Vec<&str> = view.tools().map(|entry| entry.meta().id.as_str()).collect();
            let text = names.join(" ");
            Box::pin(async move { Ok(ToolOutput::text(text)) })
        })
    };
    let tools = [
        calling(bounded("low", &["fs.read"]), "look"),
        looking(),
        answering(definition("read").needs(capability("fs.read")), ""),
        answering(definition("load").needs(capability("net")), ""),
        // Its own manifest does not let it have what it needs.
        answering(bounded("never", &["net"]).needs(capability("fs.read")), ""),
    ];
    let world = World::new(tools);
    world.check("look", json!({}), "low look read load").await;
    world.check("low", json!({}), "low look read").await;
}
