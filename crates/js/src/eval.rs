//! `js_eval`: a model's own code in the same sandbox, with every tool it may call at hand:
//! many calls, one round trip.

use std::{sync::Arc, time::Duration};

use pinza_core::{CallContext, NativeTool, ToolDefinition, ToolName, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    caps::Caps,
    frame::Entry,
    job::Job,
    loader::{Libraries, ScriptSource},
    pool::Code,
    tool::{Host, Limits},
};

const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct JsEval {
    pub host: Arc<Host>,
    /// It asks for nothing, and may get less than what is usual.
    pub caps: Caps,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Parameters {
    /// JavaScript. main() is called if it is defined; else the value of the last expression is the result. Tools
    /// are called with `await tools.NAME({...})`.
    code: String,
}

impl JsEval {
    pub const NAME: &str = "js_eval";
    pub const DESCRIPTION: &str = "Run JavaScript in a sandbox and return its result.";
}

impl NativeTool for JsEval {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known(Self::NAME), Self::DESCRIPTION)
            .title("Run JavaScript")
            .timeout(TIMEOUT.min(self.caps.timeout))
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        let script = ScriptSource { file: "eval.js".into(), code: parameters.code, lines: Vec::new() };
        let code = Code::new(Arc::new(script));
        let job = Job {
            code: &code,
            entry: Entry::Program,
            params: "{}".into(),
            limits: Limits::default().within(&self.caps),
            libraries: &Libraries::new(),
            host: &self.host,
            seat: None,
        };
        job.run(context).await
    }
}
