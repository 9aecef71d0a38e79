//! `exec`: a shell command in the workspace.

use std::time::Duration;

use pinza_core::{
    CallContext, Capability, Content, ErrorKind, FsVerb, NativeTool, ToolDefinition, ToolError, ToolName,
    ToolOutput, ToolResult, capability,
};
use pinza_host::{
    files::Workspace,
    process::{Command, Finished, ProcessError, Supervisor, check_env_name},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const DEFAULT_TIMEOUT: u64 = 60;
const MAX_TIMEOUT: u64 = 600;
/// How much of an unfinished command's output goes into the hint.
const TAIL: usize = 2000;

#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) workspace: Workspace,
    pub(crate) supervisor: Supervisor,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The command line, run by `sh -c`
    command: String,
    /// Directory to run in, relative to the workspace
    workdir: Option<String>,
    /// Seconds until it is stopped (60; at most 600)
    #[schemars(range(min = 1, max = 600))]
    timeout: Option<u64>,
    /// Environment variables to add
    env: Option<Map<String, Value>>,
}

impl NativeTool for Exec {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Run a shell command in the workspace and return its output and exit code. \
                           The command gets no input and ends with the call.";
        ToolDefinition::new(ToolName::known("exec"), description)
            .title("Run a command")
            .needs(Capability::known(capability::EXEC))
            .subject("command")
            // The command's own timeout comes first; this one is the net below it.
            .timeout(Duration::from_secs(MAX_TIMEOUT + 10))
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        let Parameters { command, workdir, timeout, env } = parameters;
        if command.contains('\0') {
            return Err(ToolError::validation("The command contains a NUL character"));
        }
        let workdir = workdir.unwrap_or_else(|| ".".into());
        // Kept open until the command has ended: the command starts in this very directory,
        // whatever its path means by then.
        let directory =
            self.workspace.directory(&workdir).map_err(|error| error.answer(FsVerb::Read, &workdir))?;
        let seconds = timeout.unwrap_or(DEFAULT_TIMEOUT).min(MAX_TIMEOUT);
        let command = Command {
            env: environment(env.unwrap_or_default())?,
            timeout: Duration::from_secs(seconds),
            ..Command::new(["sh", "-c", &command], directory.path())
        };
        let finished = self
            .supervisor
            .run(command, |_, bytes| context.progress(&[Content::text(String::from_utf8_lossy(bytes))]))
            .await;
        finished.map(|finished| show(&finished)).map_err(answer)
    }
}

fn environment(env: Map<String, Value>) -> Result<Vec<(String, String)>, ToolError> {
    env.into_iter()
        .map(|(name, value)| {
            check_env_name(&name).map_err(ToolError::validation)?;
            let text = match value {
                Value::String(text) => text,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => {
                    return Err(ToolError::validation(format!("Environment variable '{name}' must be text")));
                }
            };
            if text.contains('\0') {
                return Err(ToolError::validation(format!(
                    "Environment variable '{name}' contains a NUL character"
                )));
            }
            Ok((name, text))
        })
        .collect()
}

/// Standard output, then standard error under its own heading, then how the command ended
/// unless that was well.
fn show(finished: &Finished) -> ToolOutput {
    let mut text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let errors = String::from_utf8_lossy(&finished.stderr);
    let paragraph = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    if !errors.is_empty() {
        paragraph(&mut text);
        text.push_str("[stderr]\n");
        text.push_str(&errors);
    }
    match (finished.code, finished.signal) {
        (0, _) if text.is_empty() => text.push_str("(no output)"),
        (0, _) => {}
        (code, Some(signal)) => {
            paragraph(&mut text);
            text.push_str(&format!("(ended by signal {signal}, exit code {code})"));
        }
        (code, None) => {
            paragraph(&mut text);
            text.push_str(&format!("(exit code {code})"));
        }
    }
    ToolOutput::text(text).details(json!({ "exitCode": finished.code, "signal": finished.signal }))
}

fn answer(error: ProcessError) -> ToolError {
    match error {
        ProcessError::Timeout { limit, stdout, stderr } => {
            let written = [stdout, stderr].concat();
            let tail = String::from_utf8_lossy(&written[written.len().saturating_sub(TAIL)..]).into_owned();
            let error = ToolError::timed_out(limit);
            if tail.is_empty() {
                error.hint("It wrote nothing. Give it more time with the parameter 'timeout'.")
            } else {
                error.hint(format!("It wrote, at the end: {tail}"))
            }
        }
        ProcessError::OutputLimit { .. } => ToolError::new(ErrorKind::OutputLimit, error.to_string())
            .hint("Send the output to a file, or filter it."),
        ProcessError::Start(_) | ProcessError::Lost(_) => {
            ToolError::execution(format!("Tool execution failed: {error}"))
        }
    }
}
