//! The path to a function of a library: `get`, `utils.format`, `methods[0]`, `["x-y"]`, or `root`.

use std::{fmt, str::FromStr};

use oxc_syntax::identifier::is_identifier_name;

/// Longer paths are a mistake.
const LIMIT: usize = 256;

/// Where a function is found, seen from the library or its instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionPath {
    /// The callable itself.
    Root,
    /// At least one segment.
    Segments(Vec<Segment>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Key(String),
    Index(u32),
}

/// Why a text is no path to a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionPathError {
    #[error("a function's path cannot be empty")]
    Empty,
    #[error("a function's path has at most {LIMIT} characters")]
    TooLong,
    #[error("a function's path is fixed, it cannot have a ${{…}} in it")]
    Template,
    #[error("a name is missing at character {0}")]
    NoName(usize),
    #[error("'{name}' at character {at} is no plain name; write it as [\"{name}\"]")]
    BadName { name: String, at: usize },
    #[error("the '[' at character {0} needs an index or a name in quotes, and a ']'")]
    Bracket(usize),
    #[error("a '.' or a '[' must stand at character {0}")]
    Between(usize),
}

impl FunctionPath {
    pub fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl FromStr for FunctionPath {
    type Err = FunctionPathError;

    fn from_str(text: &str) -> Result<Self, FunctionPathError> {
        match text {
            "root" => return Ok(Self::Root),
            "" => return Err(FunctionPathError::Empty),
            _ if text.len() > LIMIT => return Err(FunctionPathError::TooLong),
            _ if text.contains("${") => return Err(FunctionPathError::Template),
            _ => {}
        }
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let at = text[..text.len() - rest.len()].chars().count() + 1;
            let is_first = segments.is_empty();
            let (segment, behind) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside).ok_or(FunctionPathError::Bracket(at))?,
                None if is_first => name(rest, at)?,
                None => match rest.strip_prefix('.') {
                    Some(rest) => name(rest, at + 1)?,
                    None => return Err(FunctionPathError::Between(at)),
                },
            };
            segments.push(segment);
            rest = behind;
        }
        Ok(Self::Segments(segments))
    }
}

/// A plain name, and what stands behind it.
fn name(text: &str, at: usize) -> Result<(Segment, &str), FunctionPathError> {
    let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    if name.is_empty() {
        return Err(FunctionPathError::NoName(at));
    }
    if !is_identifier_name(name) {
        return Err(FunctionPathError::BadName { name: pinza_core::visible(name), at });
    }
    Ok((Segment::Key(name.to_owned()), rest))
}

/// `0]…`, `"x-y"]…` or `'x-y']…`.
fn bracket(text: &str) -> Option<(Segment, &str)> {
    if let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let (key, rest) = text[1..].split_once(quote)?;
        let is_plain = !key.is_empty() && !key.contains('\\');
        return is_plain
            .then_some(())
            .and_then(|()| Some((Segment::Key(key.to_owned()), rest.strip_prefix(']')?)));
    }
    let (index, rest) = text.split_once(']')?;
    let is_index = index.bytes().all(|byte| byte.is_ascii_digit());
    Some((Segment::Index(index.parse().ok().filter(|_| is_index)?), rest))
}

impl fmt::Display for FunctionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Segments(segments) = self else { return f.write_str("root") };
        for (number, segment) in segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                // A function that is named so, not the callable itself.
                Segment::Key(key) if key == "root" && segments.len() == 1 => f.write_str("[\"root\"]")?,
                Segment::Key(key) if !is_identifier_name(key) => {
                    let quote = if key.contains('"') { '\'' } else { '"' };
                    write!(f, "[{quote}{key}{quote}]")?;
                }
                Segment::Key(key) if number == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Segment {
        Segment::Key(key.into())
    }

    #[test]
    fn paths_are_read_and_written() {
        let cases = [
            ("get", vec![key("get")], "get"),
            ("utils.format", vec![key("utils"), key("format")], "utils.format"),
            ("methods[0]", vec![key("methods"), Segment::Index(0)], "methods[0]"),
            ("a.b[0].c", vec![key("a"), key("b"), Segment::Index(0), key("c")], "a.b[0].c"),
            (r#"["x-y"].z"#, vec![key("x-y"), key("z")], r#"["x-y"].z"#),
            ("a['b']", vec![key("a"), key("b")], "a.b"),
            (r#"a['say "b"']"#, vec![key("a"), key("say \"b\"")], r#"a['say "b"']"#),
            ("[0][1]", vec![Segment::Index(0), Segment::Index(1)], "[0][1]"),
            ("$.größe", vec![key("$"), key("größe")], "$.größe"),
            ("new", vec![key("new")], "new"),
            (r#"["root"]"#, vec![key("root")], r#"["root"]"#),
            ("root.x", vec![key("root"), key("x")], "root.x"),
        ];
        for (text, segments, written) in cases {
            let path: FunctionPath = text.parse().unwrap();
            assert_eq!(path, FunctionPath::Segments(segments), "{text}");
            assert_eq!(path.to_string(), written);
            assert_eq!(written.parse(), Ok(path), "{text}");
        }
        assert_eq!("root".parse(), Ok(FunctionPath::Root));
        assert_eq!(FunctionPath::Root.to_string(), "root");
    }

    #[test]
    fn what_is_no_path_is_explained() {
        let cases = [
            ("", "a function's path cannot be empty"),
            (".get", "a name is missing at character 1"),
            ("a..b", "a name is missing at character 3"),
            ("a.", "a name is missing at character 3"),
            ("a.x-y", "'x-y' at character 3 is no plain name; write it as [\"x-y\"]"),
            ("get()", "'get()' at character 1 is no plain name; write it as [\"get()\"]"),
            ("${methodName}", "a function's path is fixed, it cannot have a ${…} in it"),
            ("a[", "the '[' at character 2 needs an index or a name in quotes, and a ']'"),
            ("a[]", "the '[' at character 2 needs an index or a name in quotes, and a ']'"),
            ("a[x]", "the '[' at character 2 needs an index or a name in quotes, and a ']'"),
            ("a[-1]", "the '[' at character 2 needs an index or a name in quotes, and a ']'"),
            ("a['x]", "the '[' at character 2 needs an index or a name in quotes, and a ']'"),
            ("ü[0]b", "a '.' or a '[' must stand at character 5"),
        ];
        for (text, message) in cases {
            assert_eq!(text.parse::<FunctionPath>().unwrap_err().to_string(), message, "{text}");
        }
        assert_eq!("x".repeat(300).parse::<FunctionPath>(), Err(FunctionPathError::TooLong));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z.\\[\\]\"'0-9ü-]{0,20}") {
            if let Ok(path) = text.parse::<FunctionPath>() {
                proptest::prop_assert_eq!(path.to_string().parse::<FunctionPath>(), Ok(path));
            }
        }
    }
}
