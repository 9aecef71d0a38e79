//! Names, parsed once at the border.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a {what} name cannot be empty")]
    Empty { what: &'static str },
    #[error("{what} name is longer than {limit} characters: '{start}…'")]
    TooLong { what: &'static str, limit: usize, start: String },
    #[error("{what} name '{name}' contains {character:?}; use printable characters without spaces")]
    BadCharacter { what: &'static str, name: String, character: char },
}

/// Long enough for `server__tool` of every MCP server seen; providers' shorter limits are
/// met by their own mapping.
pub(crate) const LIMIT: usize = 128;

fn check(what: &'static str, name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { what });
    }
    if name.chars().count() > LIMIT {
        return Err(NameError::TooLong { what, limit: LIMIT, start: name.chars().take(24).collect() });
    }
    match name.chars().find(|c| c.is_control() || c.is_whitespace() || crate::visible::is_hidden(*c)) {
        Some(character) => {
            Err(NameError::BadCharacter { what, name: crate::visible::visible(name), character })
        }
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(std::sync::Arc<str>);

        impl $type {
            pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
                check($what, name.as_ref())?;
                Ok(Self(name.as_ref().into()))
            }

            /// A name written in our own source, which the tests have seen.
            pub fn known(name: &'static str) -> Self {
                debug_assert!(check($what, name).is_ok(), "{name:?}");
                Self(name.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameError;
            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0.to_string()
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    };
}

name!(
    /// The name that a model calls a tool by.
    ToolName,
    "tool"
);
name!(
    /// The name that a set of tools is loaded by.
    GroupName,
    "group"
);
name!(
    /// A right that a tool needs: `fs.read`, `exec`, … or a free name from a manifest.
    Capability,
    "capability"
);

/// A name for people where nobody gave one: its words, each with a capital letter.
pub(crate) fn title<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let capitalised = words.map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    capitalised.collect::<Vec<String>>().join(" ")
}

/// The capabilities that Pinza itself knows.
pub mod capability {
    pub const FS_READ: &str = "fs.read";
    pub const FS_WRITE: &str = "fs.write";
    pub const NET: &str = "net";
    pub const NET_PRIVATE: &str = "net.private";
    pub const EXEC: &str = "exec";
    pub const BROWSER: &str = "browser";
    pub const NODE: &str = "node";
    pub const MESSAGE: &str = "message";
    pub const SCHEDULE: &str = "schedule";
    /// The call itself, for a tool that needs nothing else but has a rule that says ask.
    pub const CALL: &str = "call";

    pub const KNOWN: [&str; 9] =
        [FS_READ, FS_WRITE, NET, NET_PRIVATE, EXEC, BROWSER, NODE, MESSAGE, SCHEDULE];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_printable_and_bounded() {
        assert!(ToolName::new("server__do-It.now").is_ok());
        for bad in ["", "two words", "tab\t", "nul\0", "bidi\u{202e}", &"x".repeat(129)] {
            assert!(ToolName::new(bad).is_err(), "{bad:?}");
        }
    }
}
