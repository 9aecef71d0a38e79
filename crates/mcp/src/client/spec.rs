//! What is known of an upstream before it is started: its name, how it is reached, within which bounds.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use pinza_core::visible;
use url::Url;

/// How long a call may take when the configuration says nothing else. Servers do slow things.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a server may take until it answers for the first time: `npx` may install it meanwhile.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);

const LONGEST_NAME: usize = 32;

/// What stands before `__` in the names of its tools, and names its group and its file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamName(String);

impl UpstreamName {
    pub fn new(name: &str) -> Result<Self, String> {
        let shown = visible(name);
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(format!("a server's name has 1 to {LONGEST_NAME} characters, not '{shown}'"));
        }
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
            return Err(format!(
                "'{shown}' cannot name a server: use a-z, 0-9, _ and -, with a letter first"
            ));
        }
        // `a__b` with a tool `c` would be `a` with a tool `b__c`.
        if name.contains("__") || name.ends_with('_') {
            return Err(format!("'{shown}' cannot name a server: two underscores part it from its tools"));
        }
        Ok(Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UpstreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One configured server.
#[derive(Clone, Debug)]
pub struct Spec {
    pub name: UpstreamName,
    /// One line for the list of groups, in place of the server's own.
    pub summary: Option<String>,
    pub launch: Launch,
    pub origin: Origin,
    pub revision: Revision,
    pub call_timeout: Duration,
    pub start_timeout: Duration,
    pub restarts: Restarts,
}

/// How soon a server that ended or did not come up is started again.
#[derive(Clone, Copy, Debug)]
pub struct Restarts {
    /// After a failed start: this, then twice as long each time, up to the longest.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// A server that ended sooner than this after its start did not come up properly.
    pub short_life: Duration,
}

impl Restarts {
    pub(super) fn pause(&self, failures: u32) -> Duration {
        self.longest_pause.min(self.first_pause.saturating_mul(2_u32.saturating_pow(failures)))
    }
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            short_life: Duration::from_secs(10),
        }
    }
}

impl Spec {
    /// With the default bounds, configured by the user.
    pub fn new(name: UpstreamName, launch: Launch) -> Self {
        Self {
            name,
            summary: None,
            launch,
            origin: Origin::User,
            revision: Revision::Newest,
            call_timeout: CALL_TIMEOUT,
            start_timeout: START_TIMEOUT,
            restarts: Restarts::default(),
        }
    }
}

/// How it is reached. Values may hold `${env.NAME}`, which is looked up when the server is started.
#[derive(Clone, Debug)]
pub enum Launch {
    Command {
        argv: Vec<String>,
        /// All that the server gets beyond PATH, HOME and their like.
        env: Vec<(String, String)>,
        directory: PathBuf,
    },
    Http {
        url: Url,
        headers: Vec<(String, String)>,
        sign_in: SignIn,
    },
}

impl Launch {
    /// Where a command is started.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Command { directory, .. } => Some(directory),
            Self::Http { .. } => None,
        }
    }

    /// The command line or the address, for people: no variable's value is in it.
    pub fn shown(&self) -> String {
        match self {
            Self::Command { argv, .. } => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            Self::Http { url, .. } => {
                let mut shown = url.clone();
                // A user and a password in it are nobody's business.
                let _ = shown.set_username("");
                let _ = shown.set_password(None);
                shown.to_string()
            }
        }
    }
}

/// How Pinza signs in where a server asks for OAuth. All of it may be found out.
#[derive(Clone, Debug, Default)]
pub struct SignIn {
    /// As registered by hand at the authorization server.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// An https address of a client metadata document.
    pub client_metadata_url: Option<String>,
    pub scopes: Vec<String>,
}

/// Whose configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Trusted by being configured: its tools count as accepted when they are seen first.
    User,
    /// The project in this directory. Nothing of it is started before it is accepted.
    Project(PathBuf),
}

/// Which revisions of the protocol are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Revision {
    /// 2026-07-28, and the older ones with servers that do not know it.
    #[default]
    Newest,
    /// The handshake of 2025-11-25 and before.
    Handshake,
    /// 2026-07-28 and nothing else.
    Stateless,
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", visible(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_no_doubt_about_tools() {
        for good in ["a", "github", "my-server", "a_b", "x2"] {
            assert!(UpstreamName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "1a", "a__b", "a_", "a b", "../a", "a/b", "ä", &"a".repeat(33)] {
            assert!(UpstreamName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn passwords_in_addresses_are_not_shown() {
        let url = "https://me:secret@example.com/mcp".parse().unwrap();
        let launch = Launch::Http { url, headers: Vec::new(), sign_in: SignIn::default() };
        assert_eq!(launch.shown(), "https://example.com/mcp");
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        let restarts = Restarts::default();
        let pauses = [0, 1, 2, 5, 6, 1000].map(|failures| restarts.pause(failures).as_secs());
        assert_eq!(pauses, [1, 2, 4, 32, 60, 60]);
    }
}
