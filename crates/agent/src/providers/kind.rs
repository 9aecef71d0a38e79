//! Which API is spoken. Two of them belong to one maker and share its schema dialect.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::provider::Provider;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProviderKind {
    /// Chat Completions, which every compatible server speaks.
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    #[serde(rename = "anthropic")]
    Anthropic,
    #[serde(rename = "gemini", alias = "google")]
    Gemini,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider '{0}'; use openai, openai-responses, anthropic or gemini")]
pub struct UnknownProviderKind(String);

impl ProviderKind {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// How this API writes tools.
    pub fn provider(self) -> Provider {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Provider::OpenAi,
            Self::Anthropic => Provider::Anthropic,
            Self::Gemini => Provider::Gemini,
        }
    }

    /// What the provider's own SDK takes without a word.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Where the provider's own SDK looks for a key.
    pub fn default_key_env(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiResponses => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProviderKind {
    type Err = UnknownProviderKind;

    fn from_str(name: &str) -> Result<Self, UnknownProviderKind> {
        let name = if name == "google" { "gemini" } else { name };
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| UnknownProviderKind(pinza_core::visible(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_in_text_and_in_json() {
        for kind in ProviderKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        let error = "palm".parse::<ProviderKind>().unwrap_err().to_string();
        assert_eq!(error, "unknown provider 'palm'; use openai, openai-responses, anthropic or gemini");
    }
}
