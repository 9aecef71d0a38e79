//! Skills as prompts, for clients whose users pick them by hand: what `load_skill` answers, through the engine
//! like any other call.

use std::sync::Arc;

use pinza_core::{
    BoxFuture, CallScope, Caller, Engine, ErrorKind, Loading, Selection, Skill, SkillParameter, Snapshot,
    ToolCall, ToolError, View, meta::MetaTool,
};
use serde_json::{Map, Value, json};

use super::{
    Served,
    client::Client,
    source::{PromptArgument, PromptInfo, PromptSource, PromptText, SourceError},
};

pub(super) struct SkillPrompts {
    engine: Arc<Engine>,
    snapshot: Arc<dyn Fn() -> Arc<Snapshot> + Send + Sync>,
    toolset: Arc<Selection>,
}

impl SkillPrompts {
    pub(super) fn of(served: &Served) -> Self {
        let (engine, toolset) = (Arc::clone(&served.engine), Arc::clone(&served.toolset));
        Self { engine, snapshot: Arc::clone(&served.snapshot), toolset }
    }

    fn view(&self) -> View {
        View {
            snapshot: (self.snapshot)(),
            policy: self.engine.policy(),
            toolset: Arc::clone(&self.toolset),
            loading: Loading::Describes,
            ceiling: None,
        }
    }
}

impl PromptSource for SkillPrompts {
    fn list(&self) -> Vec<PromptInfo> {
        let view = self.view();
        // Who may not load skills has none.
        match view.meta_tool(MetaTool::LoadSkill) {
            Some(_) => view.skills().map(info).collect(),
            None => Vec::new(),
        }
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<PromptText, SourceError>> {
        Box::pin(async move {
            let view = self.view();
            let (Some(loader), Some(skill)) = (view.meta_tool(MetaTool::LoadSkill), view.skill(name)) else {
                return Err(SourceError::NotFound);
            };
            if let Some(missing) = skill.missing(arguments) {
                return Err(missing_argument(skill, missing));
            }
            let scope = CallScope {
                toolset: Arc::clone(&view.toolset),
                loading: view.loading,
                ..CallScope::new(Caller::Mcp { client: client.name().to_owned() }, Arc::clone(&view.snapshot))
            };
            let arguments = json!({ "name": name, "parameters": arguments });
            let call = ToolCall::new("mcp-prompt", loader.definition().name.as_str(), arguments);
            let output = self.engine.call(call, &scope).await.result.map_err(|error| refused(&error))?;
            Ok(PromptText { description: Some(skill.description.clone()), messages: output.content })
        })
    }
}

/// In the prompt's words: the tool that loads skills has others for them.
fn missing_argument(skill: &Skill, missing: &SkillParameter) -> SourceError {
    let word = |parameter: &SkillParameter| {
        let required = if parameter.required { " (required)" } else { "" };
        format!("{}{required}", parameter.name)
    };
    let takes: Vec<String> = skill.parameters.iter().map(word).collect();
    SourceError::Invalid(format!(
        "Missing required argument: '{}'\nGive it in 'arguments'. Prompt '{}' takes: {}",
        missing.name,
        skill.name,
        takes.join(", ")
    ))
}

fn info(skill: &Skill) -> PromptInfo {
    let argument = |parameter: &SkillParameter| PromptArgument {
        name: parameter.name.clone(),
        description: parameter.description.clone(),
        required: parameter.required,
    };
    PromptInfo {
        name: skill.name.to_string(),
        title: Some(skill.display_name.clone()),
        description: skill.description.clone(),
        arguments: skill.parameters.iter().map(argument).collect(),
    }
}

fn refused(error: &ToolError) -> SourceError {
    let text = match &error.hint {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    };
    match error.kind {
        ErrorKind::ValidationError => SourceError::Invalid(text),
        _ => SourceError::Failed(text),
    }
}
