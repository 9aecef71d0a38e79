//! The words at the top of a `module.json`: what it is called, and which library it is about.

use pinza_core::{GroupName, json_type, visible};
use serde_json::Value;

use super::fields::{Fields, missing};

/// The module's name, and its group's.
pub(super) fn group(name: &str) -> Result<(String, GroupName), String> {
    let mut letters = name.chars();
    let is_good = letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
    if !is_good {
        let shown = visible(name);
        return Err(format!(
            "Module name '{shown}' must be lowercase letters, digits and hyphens, with a letter first"
        ));
    }
    let group = GroupName::new(name.replace('-', "_")).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), group))
}

pub(super) fn version(fields: &Fields<'_>) -> String {
    const UNKNOWN: &str = "0.0.0";
    match fields.get("version") {
        None => fields.spot.forgivable(missing("version")),
        Some(Value::String(version)) if is_semver(version) => return version.clone(),
        Some(other) => {
            let shown = visible(&other.to_string());
            fields.spot.key("version").forgivable(format!("'version' must be like \"1.0.0\", not {shown}"));
        }
    }
    UNKNOWN.to_owned()
}

/// `1.2.3`, `1.2.3-beta.1+build`.
fn is_semver(version: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
    };
    let (version, build) = version.split_once('+').map_or((version, None), |(a, b)| (a, Some(b)));
    let (core, pre) = version.split_once('-').map_or((version, None), |(a, b)| (a, Some(b)));
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() == 3
        && numbers.iter().all(is_number)
        && build.is_none_or(is_word)
        && pre.is_none_or(is_word)
}

pub(super) fn description(fields: &Fields<'_>) -> String {
    match fields.get("description") {
        None => fields.spot.forgivable(missing("description")),
        Some(Value::String(text)) => {
            if text.trim().is_empty() {
                fields
                    .spot
                    .key("description")
                    .warning("The description is empty; models choose groups by it");
            }
            return text.clone();
        }
        Some(other) => {
            let message = format!("'description' must be a string, not {}", json_type(other));
            fields.spot.key("description").forgivable(message);
        }
    }
    String::new()
}

/// An npm name (`lodash`, `@scope/name`, `date-fns/locale`, `node:path`) or a path.
pub(super) fn package(name: &str) -> Result<String, String> {
    let is_path = name == "." || ["./", "../", "/"].iter().any(|start| name.starts_with(start));
    let bare = name.strip_prefix("node:").unwrap_or(name);
    let is_part = |part: &str| {
        let is_letter =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '~');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_letter)
    };
    let is_name = |part: &str| is_part(part) && !part.starts_with('_');
    let (scope, rest) = match bare.strip_prefix('@') {
        Some(scoped) => {
            scoped.split_once('/').map_or((Some(scoped), ""), |(scope, rest)| (Some(scope), rest))
        }
        None => (None, bare),
    };
    let (first, inner) = rest.split_once('/').map_or((rest, None), |(first, inner)| (first, Some(inner)));
    let is_npm = scope.is_none_or(is_name)
        && is_name(first)
        && inner.is_none_or(|inner| inner.split('/').all(is_part));
    let is_shown = !name.is_empty() && visible(name) == name;
    if is_shown && (is_path || is_npm) {
        return Ok(name.to_owned());
    }
    let shown = visible(name);
    Err(format!("'package' must be an npm name or a path that begins with './', '../' or '/', not '{shown}'"))
}
