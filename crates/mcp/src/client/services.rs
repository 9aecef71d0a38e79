//! What upstreams need from the outside.

use std::{path::PathBuf, sync::Arc};

use pinza_core::BoxFuture;
use pinza_host::{
    http::HttpClient,
    process::Supervisor,
    secrets::{Secret, VariableStore},
};

/// Shared by all upstreams of a runtime.
#[derive(Clone)]
pub struct Services {
    /// Without it there are no servers to start, only such to be reached over HTTP.
    pub supervisor: Option<Supervisor>,
    /// For discovery and sign-in. The guard decides what it reaches.
    pub http: HttpClient,
    pub variables: Arc<dyn Variables>,
    /// Where tokens are kept; without it they last as long as the process.
    pub tokens: Option<Arc<VariableStore>>,
    /// Who signs in. Without one, a server that wants it is refused with a hint.
    pub browser: Option<Arc<dyn Browser>>,
    /// Where what was seen of servers is kept: `home/mcp`.
    pub directory: PathBuf,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The variables that a configuration may refer to. May block.
pub trait Variables: Send + Sync {
    fn get(&self, name: &str) -> Result<Option<Secret>, String>;
}

/// Brings a person to a page where they say yes. The answer comes back to a port on this machine.
pub trait Browser: Send + Sync {
    fn open<'a>(&'a self, server: &'a str, url: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// No variables at all.
#[derive(Clone, Copy, Debug)]
pub struct NoVariables;

impl Variables for NoVariables {
    fn get(&self, _name: &str) -> Result<Option<Secret>, String> {
        Ok(None)
    }
}

/// `${env.NAME}` inside a text becomes the variable's value; an unknown one is an error.
pub(crate) fn expand(text: &str, variables: &dyn Variables) -> Result<Secret, String> {
    const OPEN: &str = "${env.";
    let mut expanded = zeroize::Zeroizing::new(String::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("'{}' has no closing brace", pinza_core::visible(text)));
        };
        let value = variables.get(name)?.ok_or_else(|| missing(name))?;
        expanded.push_str(before);
        expanded.push_str(value.expose());
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(Secret::new(&*expanded))
}

/// The names of variables that a text refers to.
pub fn references(text: &str) -> impl Iterator<Item = &str> {
    text.split("${env.").skip(1).filter_map(|after| after.split_once('}').map(|(name, _)| name))
}

fn missing(name: &str) -> String {
    let name = pinza_core::visible(name);
    format!("the variable {name} is not set; keep it with: pinza env set {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One;
    impl Variables for One {
        fn get(&self, name: &str) -> Result<Option<Secret>, String> {
            Ok((name == "TOKEN").then(|| Secret::new("t0p")))
        }
    }

    #[test]
    fn references_are_looked_up_and_nothing_else_is() {
        let expanded = |text: &str| expand(text, &One).map(|value| value.expose().to_owned());
        assert_eq!(expanded("Bearer ${env.TOKEN}!").unwrap(), "Bearer t0p!");
        assert_eq!(expanded("$TOKEN ${TOKEN}").unwrap(), "$TOKEN ${TOKEN}");
        assert!(expanded("${env.OTHER}").unwrap_err().contains("pinza env set OTHER"));
        assert!(expanded("${env.TOKEN").unwrap_err().contains("closing brace"));
        assert_eq!(references("a ${env.B} ${env.C}").collect::<Vec<_>>(), ["B", "C"]);
    }
}
