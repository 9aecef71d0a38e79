//! Tools as Rust types: a parameter struct and an async `call`, nothing else to write.

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    definition::ToolDefinition,
    error::ToolError,
    tool::{Arguments, BoxFuture, CallContext, Permission, Tool, ToolResult, declared_permissions},
};

/// A tool whose parameters are a Rust type. [`Typed`] makes it a [`Tool`].
pub trait NativeTool: Send + Sync + 'static {
    type Parameters: DeserializeOwned + JsonSchema + Send;

    /// Name, description, capabilities, timeout. The parameters' schema is filled in from the
    /// type unless the definition brings its own.
    fn definition(&self) -> ToolDefinition;

    /// What a call needs permission for; see [`Tool::permissions`].
    fn permissions(&self, definition: &ToolDefinition, arguments: &Arguments) -> Vec<Permission> {
        declared_permissions(definition, arguments)
    }

    fn call(
        &self,
        parameters: Self::Parameters,
        context: &CallContext<'_>,
    ) -> impl Future<Output = ToolResult> + Send;
}

/// A [`NativeTool`] behind the object-safe trait.
#[derive(Debug)]
pub struct Typed<T> {
    tool: T,
    definition: ToolDefinition,
}

impl<T: NativeTool> Typed<T> {
    pub fn new(tool: T) -> Self {
        let mut definition = tool.definition();
        if definition.parameters.properties().next().is_none() {
            definition.parameters = crate::Parameters::of::<T::Parameters>();
        }
        Self { tool, definition }
    }
}

impl<T: NativeTool> Tool for Typed<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn permissions(&self, arguments: &Arguments) -> Vec<Permission> {
        self.tool.permissions(&self.definition, arguments)
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            // The schema has been checked; what is left is what a type knows and a schema does not.
            let parameters = T::Parameters::deserialize(arguments)
                .map_err(|error| ToolError::validation(format!("Invalid arguments: {error}")))?;
            self.tool.call(parameters, context).await
        })
    }
}
