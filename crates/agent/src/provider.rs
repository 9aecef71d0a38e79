//! Which provider a format is for.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A family of APIs that share one way to write tools and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    OpenAi,
    Anthropic,
    #[serde(alias = "google")]
    Gemini,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider '{0}'; use openai, anthropic or gemini")]
pub struct UnknownProvider(String);

impl Provider {
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        match name {
            // clawtools calls it by its maker's name.
            "google" => Ok(Self::Gemini),
            _ => Self::ALL
                .into_iter()
                .find(|provider| provider.name() == name)
                .ok_or_else(|| UnknownProvider(pinza_core::visible(name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_in_text_and_in_json() {
        for provider in Provider::ALL {
            assert_eq!(provider.to_string().parse(), Ok(provider));
            assert_eq!(serde_json::to_value(provider).unwrap(), provider.name());
        }
        assert_eq!("google".parse(), Ok(Provider::Gemini));
        let error = "palm\u{1b}".parse::<Provider>().unwrap_err();
        assert_eq!(error.to_string(), "unknown provider 'palm\\u{1b}'; use openai, anthropic or gemini");
    }
}
