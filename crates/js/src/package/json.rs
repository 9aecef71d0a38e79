//! A package's own description, `package.json`, read without trust in its shape.

use serde_json::Value;

/// A `package.json`; fields of the wrong kind are as if they were absent.
#[derive(Clone, Debug, Default)]
pub(super) struct PackageJson(pub(super) Value);

impl PackageJson {
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map(Self)
    }

    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn is_module(&self) -> bool {
        self.text("type") == Some("module")
    }

    /// The licence, in any of the forms that were ever usual.
    pub(super) fn license(&self) -> Option<String> {
        let name = |value: &Value| value.as_str().or_else(|| value.get("type")?.as_str()).map(str::to_owned);
        let many = || self.0.get("licenses")?.as_array().map(|all| all.iter().filter_map(name).collect());
        let joined = |all: Vec<String>| (!all.is_empty()).then(|| all.join(" OR "));
        self.0.get("license").and_then(name).or_else(|| many().and_then(joined))
    }
}
