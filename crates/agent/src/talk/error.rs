//! Why a talk could not go on. What was said so far is kept.

use pinza_core::{Stop, ToolError};
use pinza_state::StateError;

use crate::providers::{ProviderError, ProviderErrorKind};

#[derive(Debug, thiserror::Error)]
pub enum TalkError {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("the session cannot be read: {0}")]
    Unreadable(serde_json::Error),
    #[error("it was cancelled")]
    Cancelled,
    #[error("the model was asked {0} times for one message and is not done")]
    Rounds(u32),
    #[error("the session has used {used} tokens of its {cap}")]
    Spent { used: u64, cap: u64 },
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error("the model made the same failing call of '{tool}' {times} times: {message}")]
    Repeated { tool: String, times: u8, message: String },
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("there is no message to take back")]
    NothingSaid,
    #[error("the last message has become part of a summary and cannot be taken back")]
    SummedUp,
}

impl TalkError {
    /// A stable code, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Provider(error) => error.kind.code(),
            Self::State(_) | Self::Unreadable(_) => "state_error",
            Self::Cancelled => "cancelled",
            Self::Rounds(_) => "round_limit",
            Self::Spent { .. } => "token_limit",
            Self::Stopped(Stop::BlindCalls { .. }) => "tool_not_available",
            Self::Repeated { .. } => "repeated_call",
            Self::Tool(error) => error.kind.code(),
            Self::NothingSaid => "nothing_said",
            Self::SummedUp => "summed_up",
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Provider(error) => error.hint.clone(),
            Self::State(error) => error.hint().map(str::to_owned),
            Self::Unreadable(_) => Some("It may have been written by another version of Pinza.".to_owned()),
            Self::Rounds(_) => Some("Say \"go on\" to let it work further.".to_owned()),
            Self::Spent { .. } => Some("Begin another session, or raise its limit.".to_owned()),
            Self::Tool(error) => error.hint.clone(),
            Self::SummedUp => Some("Say what should be otherwise, or begin another session.".to_owned()),
            Self::Cancelled | Self::Stopped(_) | Self::Repeated { .. } | Self::NothingSaid => None,
        }
    }

    pub(super) fn is_too_long(&self) -> bool {
        matches!(self, Self::Provider(error) if error.kind == ProviderErrorKind::ContextTooLong)
    }
}
