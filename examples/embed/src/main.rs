//! A Rust tool of your own, added to Pinza, listed and called through the library.

use pinza::{CallContext, NativeTool, Pinza, ToolDefinition, ToolName, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

struct Greet;

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Who to greet
    name: String,
    /// How many times; once where nothing is said
    times: Option<usize>,
}

impl NativeTool for Greet {
    type Parameters = Greeting;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("greet"), "Say hello to someone").read_only()
    }

    async fn call(&self, greeting: Greeting, _context: &CallContext<'_>) -> ToolResult {
        let hello = format!("Hello, {}!", greeting.name);
        Ok(vec![hello; greeting.times.unwrap_or(1)].join(" ").into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pinza = Pinza::builder().tool(Greet).build()?;
    for tool in pinza.snapshot().tools() {
        println!("{}: {}", tool.definition().name, tool.definition().description);
    }
    let outcome = pinza.call("greet", json!({ "name": "Ada", "times": "2" })).await;
    println!("{}", outcome.result?.as_text());
    let error = pinza.call("greet", json!({})).await.result.unwrap_err();
    println!("{error}");
    Ok(())
}
