//! A tool made of a name and a function.

use std::sync::Arc;

use pinza_core::{
    Arguments, BoxFuture, CallContext, Parameter, Parameters, Tool, ToolDefinition, ToolError, ToolName,
    ToolOutput, ToolResult,
};
use serde_json::Value;

use crate::server::{AskError, Client};

pub(super) type Run = Arc<dyn Fn(Arguments, Client) -> BoxFuture<'static, ToolResult> + Send + Sync>;

pub(super) struct Fixture {
    definition: ToolDefinition,
    run: Run,
}

/// A tool without parameters.
pub(super) fn fixture<F>(
    name: &'static str,
    description: &str,
    run: impl Fn(Client) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    F: Future<Output = ToolResult> + Send + 'static,
{
    let definition = ToolDefinition::new(ToolName::known(name), description);
    Arc::new(Fixture { definition, run: Arc::new(move |_, client| Box::pin(run(client))) })
}

/// A tool with one required text.
pub(super) fn fixture_of_text<F>(
    name: &'static str,
    description: &str,
    parameter: &'static str,
    run: impl Fn(String, Client) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    F: Future<Output = ToolResult> + Send + 'static,
{
    let parameters = Parameters::build().required(parameter, Parameter::string("What to ask")).done();
    let definition = ToolDefinition::new(ToolName::known(name), description).parameters(parameters);
    let run = move |arguments: Arguments, client| -> BoxFuture<'static, ToolResult> {
        let text = arguments.get(parameter).and_then(Value::as_str).unwrap_or_default().to_owned();
        Box::pin(run(text, client))
    };
    Arc::new(Fixture { definition, run: Arc::new(run) })
}

/// A tool of any definition, which is given its arguments.
pub(super) fn defined<F>(
    definition: ToolDefinition,
    run: impl Fn(Arguments) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    F: Future<Output = ToolResult> + Send + 'static,
{
    Arc::new(Fixture { definition, run: Arc::new(move |arguments, _| Box::pin(run(arguments))) })
}

impl Tool for Fixture {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        match Client::current() {
            Some(client) => (self.run)(arguments.clone(), client),
            None => {
                let error = ToolError::execution("This tool needs a client of MCP");
                Box::pin(std::future::ready(Err(error)))
            }
        }
    }
}

pub(super) fn text(text: impl Into<String>) -> ToolResult {
    Ok(ToolOutput::text(text))
}

pub(super) fn unanswered(error: AskError) -> ToolError {
    ToolError::execution(error.to_string())
}
