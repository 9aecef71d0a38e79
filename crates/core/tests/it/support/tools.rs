//! Tools that are a definition and a closure.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    Arguments, BoxFuture, CallContext, Registry, Snapshot, Tool, ToolContext, ToolDefinition, ToolName,
    ToolOutput, ToolResult,
};

struct Fake<F> {
    definition: ToolDefinition,
    run: F,
}

impl<F> Tool for Fake<F>
where
    F: for<'a> Fn(&'a Arguments, &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> + Send + Sync,
{
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult> {
        (self.run)(arguments, context)
    }
}

pub(crate) fn fake<F>(definition: ToolDefinition, run: F) -> Arc<dyn Tool>
where
    F: for<'a> Fn(&'a Arguments, &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> + Send + Sync + 'static,
{
    Arc::new(Fake { definition, run })
}

pub(crate) fn definition(name: &str) -> ToolDefinition {
    ToolDefinition::new(ToolName::new(name).unwrap(), format!("The tool {name}"))
}

/// Answers a fixed text.
pub(crate) fn answering(definition: ToolDefinition, text: impl Into<String>) -> Arc<dyn Tool> {
    let text = text.into();
    fake(definition, move |_, _| Box::pin(std::future::ready(Ok(ToolOutput::text(&*text)))))
}

/// Answers its own name.
pub(crate) fn named(name: &str) -> Arc<dyn Tool> {
    answering(definition(name), name)
}

/// Answers the arguments that reached it.
pub(crate) fn echo(definition: ToolDefinition) -> Arc<dyn Tool> {
    fake(definition, |arguments, _| {
        let text = serde_json::to_string(arguments).unwrap();
        Box::pin(std::future::ready(Ok(ToolOutput::text(text))))
    })
}

/// Answers its own name after a while.
pub(crate) fn sleeping(definition: ToolDefinition, time: Duration) -> Arc<dyn Tool> {
    let name = definition.name.to_string();
    fake(definition, move |_, _| {
        let text = name.clone();
        Box::pin(async move {
            tokio::time::sleep(time).await;
            Ok(ToolOutput::text(text))
        })
    })
}

pub(crate) fn snapshot(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Arc<Snapshot> {
    let mut registry = Registry::new();
    for tool in tools {
        registry.register(tool, None).unwrap();
    }
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true))
}
