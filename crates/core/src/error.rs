//! What a tool answers when it cannot do what was asked.
//!
//! An error is an *answer to the model*, never a crash: a stable code that programs
//! branch on, a message in plain words, and at most one hint about what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::output::ToolOutput;

/// The stable codes. Users' scripts and models depend on their spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    ToolNotFound,
    ToolNotAvailable,
    ToolDisabled,
    ValidationError,
    PermissionDenied,
    PathNotAllowed,
    FileNotFound,
    FileTooLarge,
    NetworkError,
    Timeout,
    Cancelled,
    MemoryLimit,
    OutputLimit,
    NotFound,
    EmptyGroup,
    Interrupted,
    ExecutionError,
}

impl ErrorKind {
    /// Every code, in the order of the reference.
    pub const ALL: [Self; 17] = [
        Self::ToolNotFound,
        Self::ToolNotAvailable,
        Self::ToolDisabled,
        Self::ValidationError,
        Self::PermissionDenied,
        Self::PathNotAllowed,
        Self::FileNotFound,
        Self::FileTooLarge,
        Self::NetworkError,
        Self::Timeout,
        Self::Cancelled,
        Self::MemoryLimit,
        Self::OutputLimit,
        Self::NotFound,
        Self::EmptyGroup,
        Self::Interrupted,
        Self::ExecutionError,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Self::ToolNotFound => "tool_not_found",
            Self::ToolNotAvailable => "tool_not_available",
            Self::ToolDisabled => "tool_disabled",
            Self::ValidationError => "validation_error",
            Self::PermissionDenied => "permission_denied",
            Self::PathNotAllowed => "path_not_allowed",
            Self::FileNotFound => "file_not_found",
            Self::FileTooLarge => "file_too_large",
            Self::NetworkError => "network_error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::MemoryLimit => "memory_limit",
            Self::OutputLimit => "output_limit",
            Self::NotFound => "not_found",
            Self::EmptyGroup => "empty_group",
            Self::Interrupted => "interrupted",
            Self::ExecutionError => "execution_error",
        }
    }
}

impl ErrorKind {
    /// What the code tells its reader; the reference is made from it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::ToolNotFound => "No tool has this name; near names are in the hint",
            Self::ToolNotAvailable => "The tool exists, but not for this caller, or its group is not loaded",
            Self::ToolDisabled => "The tool is switched off in the configuration",
            Self::ValidationError => "An argument is missing, of the wrong type or not usable",
            Self::PermissionDenied => "A rule, a flag, a person or the operating system said no",
            Self::PathNotAllowed => {
                "The path leads out of the workspace or to a file that tools may not touch"
            }
            Self::FileNotFound => "There is no such file",
            Self::FileTooLarge => "The file is larger than the tool reads",
            Self::NetworkError => "The host cannot be resolved or refuses the connection",
            Self::Timeout => "The tool, or its request, took too long and was stopped",
            Self::Cancelled => "The caller no longer wants the answer",
            Self::MemoryLimit => "A script used more memory than it may",
            Self::OutputLimit => "The result is larger than 16 MiB",
            Self::NotFound => "Something that was named (a group, a skill, a variable, a rule) is not there",
            Self::EmptyGroup => "The group has no tools to load",
            Self::Interrupted => "The program stopped while the call was running",
            Self::ExecutionError => "The tool failed in a way that has no code of its own",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An answered error: `{kind, message, hint}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ToolError {
    #[serde(rename = "error_type")]
    pub kind: ErrorKind,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What a tool sent along with its words: images, structured details. For clients that can show them; it is kept
    /// nowhere.
    #[serde(skip)]
    pub output: Option<Box<ToolOutput>>,
}

impl ToolError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, output: None }
    }

    /// The one thing to try next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ValidationError, message)
    }

    pub fn execution(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ExecutionError, message)
    }

    pub fn network(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NetworkError, message)
    }

    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "Tool execution was cancelled")
    }

    pub fn timed_out(limit: std::time::Duration) -> Self {
        // Whole seconds read as RFC-004 words it; a fraction is shown only where there is one.
        let seconds = limit.as_secs_f64();
        Self::new(ErrorKind::Timeout, format!("Tool execution timed out after {seconds}s"))
    }

    /// A capability that policy or a person refused.
    pub fn denied(capability: &crate::Capability, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::PermissionDenied, format!("Required permissions were denied: {capability}"))
            .hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_serde_names_are_one() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.code());
        }
    }

    #[test]
    fn whole_seconds_have_no_fraction() {
        let error = ToolError::timed_out(std::time::Duration::from_secs(30));
        assert_eq!(error.message, "Tool execution timed out after 30s");
    }
}
