//! What a runner answers: a value, or what the library threw.

use pinza_core::{ErrorKind, ToolError};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The runner's answer to one plan.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// `None` where the function returned nothing.
    #[serde(default, deserialize_with = "present")]
    pub(crate) value: Option<Value>,
    /// The name of the object that is kept, if one is.
    #[serde(default)]
    pub(crate) handle: Option<String>,
    #[serde(default)]
    pub(crate) error: Option<Thrown>,
    /// What the library printed, line by line, as `details.log` shows it.
    #[serde(skip)]
    pub(crate) log: Vec<Value>,
}

/// An error of the library, in its own words; or one about the plan, which then has a fault.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Thrown {
    pub(crate) name: String,
    pub(crate) message: String,
    /// A string or a number.
    #[serde(default)]
    pub(crate) code: Option<Value>,
    #[serde(default)]
    pub(crate) status: Option<i64>,
    #[serde(default)]
    pub(crate) stack: Option<String>,
    #[serde(default)]
    pub(crate) cause: Option<Value>,
    /// What else hangs on the error, as far as it is small.
    #[serde(default)]
    pub(crate) data: Option<Value>,
    #[serde(default)]
    pub(crate) fault: Option<Fault>,
}

/// What an error is about, where it is not the library's answer to its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fault {
    /// The package cannot be loaded.
    Load,
    /// The library cannot be initialised.
    Init,
    /// The function is not there.
    Path,
    /// There is no such kept object, or there are too many.
    Handle,
    /// The result has no JSON form.
    Result,
    /// The result is too large.
    Size,
}

impl Outcome {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, ToolError> {
        serde_json::from_slice(text).map_err(|error| {
            ToolError::execution(format!(
                "Tool execution failed: the runner answered with no outcome: {error}"
            ))
        })
    }
}

impl Thrown {
    /// What Pinza said where a bridge was not allowed to do something: a library passes it on, often as the
    /// cause of its own error.
    fn denied(&self) -> Option<String> {
        let is_denied = |code: Option<&Value>| code.and_then(Value::as_str) == Some("permission_denied");
        if is_denied(self.code.as_ref()) {
            return Some(self.message.clone());
        }
        let mut cause = self.cause.as_ref();
        while let Some(error) = cause {
            if is_denied(error.get("code")) {
                return Some(error["message"].as_str().unwrap_or(&self.message).to_owned());
            }
            cause = error.get("cause");
        }
        None
    }

    /// The answer to whoever called. `module` is named where it is to blame.
    pub(crate) fn answer(&self, module: &str) -> ToolError {
        let said = match self.name.as_str() {
            "Error" => self.message.clone(),
            name => format!("{name}: {}", self.message),
        };
        let failed = |what: String| ToolError::execution(format!("Tool execution failed: {what}"));
        if let Some(message) = self.denied() {
            return ToolError::new(ErrorKind::PermissionDenied, message)
                .hint("Allow it with --allow, or for good with: pinza policy allow.");
        }
        match self.fault {
            None => failed(said),
            Some(Fault::Load) => failed(format!("the library of '{module}' cannot be loaded: {said}"))
                .hint("Is the package installed beside its module.json, and whole?"),
            Some(Fault::Init) => failed(format!("the library of '{module}' cannot be initialised: {said}"))
                .hint("See \"initialization\" and \"dependencies\" in its module.json."),
            Some(Fault::Path) => {
                failed(said).hint(format!("See \"function\" in the module.json of '{module}'."))
            }
            Some(Fault::Handle) => ToolError::new(ErrorKind::NotFound, said)
                .hint("Kept objects live as long as their session: make it again."),
            Some(Fault::Result) => failed(said)
                .hint("Keep it with \"transform\": \"instance\", and call what returns parts of it."),
            Some(Fault::Size) => ToolError::new(ErrorKind::OutputLimit, said).hint("Ask for less at once."),
        }
    }
}

/// `null` is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> String {
        Outcome::parse(json.as_bytes()).unwrap().error.unwrap().answer("axios").to_string()
    }

    #[test]
    fn nothing_and_null_differ() {
        let check = |json: &str, expected| {
            assert_eq!(Outcome::parse(json.as_bytes()).unwrap().value, expected);
        };
        check("{}", None);
        check(r#"{"value":null}"#, Some(Value::Null));
        check(r#"{"value":[1],"handle":"x-1"}"#, Some(serde_json::json!([1])));
        assert!(Outcome::parse(b"nonsense").is_err());
    }

    #[test]
    fn errors_keep_the_librarys_words() {
        assert_eq!(
            answer(r#"{"error":{"name":"AxiosError","message":"denied: net","code":"permission_denied"}}"#),
            "permission_denied: denied: net"
        );
        let inner = r#"{"name":"Error","message":"no fs.read","code":"permission_denied"}"#;
        assert_eq!(
            answer(&format!(
                r#"{{"error":{{"name":"Error","message":"EACCES","code":"EACCES","cause":{{"name":"Error","message":"x","cause":{inner}}}}}}}"#
            )),
            "permission_denied: no fs.read"
        );
        assert_eq!(
            answer(
                r#"{"error":{"name":"AxiosError","message":"no","code":"ERR","status":404,"stack":"at x"}}"#
            ),
            "execution_error: Tool execution failed: AxiosError: no"
        );
        assert_eq!(
            answer(r#"{"error":{"name":"Error","message":"no"}}"#),
            "execution_error: Tool execution failed: no"
        );
        assert_eq!(
            answer(r#"{"error":{"name":"TypeError","message":"no key","fault":"init"}}"#),
            "execution_error: Tool execution failed: the library of 'axios' cannot be initialised: TypeError: no key"
        );
        assert_eq!(
            answer(
                r#"{"error":{"name":"Error","message":"There is no kept object 'x-1'","fault":"handle"}}"#
            ),
            "not_found: There is no kept object 'x-1'"
        );
        assert_eq!(
            answer(r#"{"error":{"name":"Error","message":"The result is larger","fault":"size"}}"#),
            "output_limit: The result is larger"
        );
    }
}
