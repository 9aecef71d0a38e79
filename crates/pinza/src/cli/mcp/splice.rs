//! One entry into somebody else's JSON file, and not a character elsewhere.
//!
//! Parsing a file and writing it anew would keep its values and lose how it was written. So the place is found in the
//! text, the text is changed there, and the result is compared with the original before anybody gets to see it.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

const SERVERS: &str = "mcpServers";

/// The text with `mcpServers.NAME` set.
pub(super) fn with_server(text: &str, name: &str, server: &Value) -> Result<String> {
    if text.trim().is_empty() {
        return Ok(format!("{:#}\n", json!({ SERVERS: { name: server } })));
    }
    let whole: Value =
        serde_json::from_str(text).context("the file is not JSON (comments are not understood)")?;
    ensure!(whole.is_object(), "the file does not hold a JSON object");
    let style = Style::of(text);
    let root = Object::at(text, text.find('{').context("there is no object")?)?;
    let changed = match root.member(SERVERS) {
        None => root.insert(text, &style, 0, SERVERS, &json!({ name: server })),
        Some(servers) if !text[servers.clone()].starts_with('{') => bail!("'{SERVERS}' is not an object"),
        Some(servers) => {
            let inner = Object::at(text, servers.start)?;
            match inner.member(name) {
                Some(old) => {
                    format!("{}{}{}", &text[..old.start], style.write(server, 2), &text[old.end..])
                }
                None => inner.insert(text, &style, 1, name, server),
            }
        }
    };
    let mut expected = whole;
    expected[SERVERS][name] = server.clone();
    let read: Value = serde_json::from_str(&changed).context("the change would break the file")?;
    ensure!(read == expected, "the change would touch more than one entry; add it by hand");
    Ok(changed)
}

/// `mcpServers.NAME` as it stands in a text.
pub(super) fn server(text: &str, name: &str) -> Option<Value> {
    let whole: Value = serde_json::from_str(text).ok()?;
    whole.get(SERVERS)?.get(name).cloned()
}

/// The lines of one entry that come and go. Nothing else of the file is shown, and no variable's value: such files hold
/// secrets.
pub(super) fn shown(text: &str, name: &str, new: &Value) -> Vec<String> {
    let style = Style::of(text);
    let written = |server: &Value| {
        let entry = style.write(&without_values(server), 2);
        format!("{}{}: {entry}", style.unit.repeat(2), json!(name))
    };
    let old = server(text, name).map(|old| written(&old)).unwrap_or_default();
    differing_lines(&old, &written(new))
}

fn without_values(server: &Value) -> Value {
    let mut server = server.clone();
    for table in ["env", "headers"] {
        if let Some(values) = server.get_mut(table).and_then(Value::as_object_mut) {
            values.values_mut().for_each(|value| *value = "…".into());
        }
    }
    server
}

fn differing_lines(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let behind = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = behind.take_while(|(one, other)| one == other).count();
    let gone = old[start..old.len() - end].iter().map(|line| format!("- {}", pinza::core::visible(line)));
    gone.chain(new[start..new.len() - end].iter().map(|line| format!("+ {}", pinza::core::visible(line))))
        .collect()
}

/// How a file is written.
struct Style {
    unit: String,
    newline: &'static str,
}

impl Style {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().skip(1).find(|line| line.starts_with([' ', '\t']));
        let unit = indented.map(|line| line[..line.len() - line.trim_start().len()].to_owned());
        Self { unit: unit.unwrap_or_else(|| "  ".into()), newline }
    }

    /// A value at a depth: its first line stands behind a key.
    fn write(&self, value: &Value, depth: usize) -> String {
        let text = format!("{value:#}");
        let lines = text.lines().map(|line| {
            let inner = line.trim_start_matches(' ');
            let level = (line.len() - inner.len()) / 2;
            format!("{}{inner}", self.unit.repeat(level))
        });
        lines.collect::<Vec<_>>().join(&format!("{}{}", self.newline, self.unit.repeat(depth)))
    }
}

/// An object in a text that is known to be JSON: where its members are.
struct Object {
    members: Vec<(String, Range<usize>)>,
    /// Of its closing brace.
    end: usize,
}

impl Object {
    fn at(text: &str, start: usize) -> Result<Self> {
        let bytes = text.as_bytes();
        let mut members = Vec::new();
        let mut place = blank(bytes, start + 1);
        while bytes.get(place) != Some(&b'}') {
            let key = skip(bytes, place).context("an object has no end")?;
            let name: String = serde_json::from_str(&text[place..key])?;
            let value = blank(bytes, blank(bytes, key) + 1);
            let end = skip(bytes, value).context("an object has no end")?;
            members.push((name, value..end));
            place = blank(bytes, end);
            if bytes.get(place) == Some(&b',') {
                place = blank(bytes, place + 1);
            }
        }
        Ok(Self { members, end: place })
    }

    fn member(&self, name: &str) -> Option<Range<usize>> {
        self.members.iter().rfind(|(known, _)| known == name).map(|(_, range)| range.clone())
    }

    /// The text with a further member at the end of this object, which is so deep in it.
    fn insert(&self, text: &str, style: &Style, depth: usize, name: &str, value: &Value) -> String {
        let (newline, unit) = (style.newline, &style.unit);
        let entry =
            format!("{newline}{}{}: {}", unit.repeat(depth + 1), json!(name), style.write(value, depth + 1));
        match self.members.last() {
            Some((_, last)) => format!("{},{entry}{}", &text[..last.end], &text[last.end..]),
            None => {
                let open = text[..self.end].rfind('{').map_or(self.end, |brace| brace + 1);
                format!("{}{entry}{newline}{}{}", &text[..open], unit.repeat(depth), &text[self.end..])
            }
        }
    }
}

fn blank(bytes: &[u8], mut place: usize) -> usize {
    while bytes.get(place).is_some_and(u8::is_ascii_whitespace) {
        place += 1;
    }
    place
}

/// The end of the value that begins here.
fn skip(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut place = start;
    loop {
        match bytes.get(place)? {
            b'"' => {
                place += 1;
                while *bytes.get(place)? != b'"' {
                    place += if bytes[place] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ if depth == 0 => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
                return Some(
                    bytes[place..].iter().position(is_end).map_or(bytes.len(), |length| place + length),
                );
            }
            _ => {}
        }
        place += 1;
        if depth == 0 {
            return Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(text: &str) -> String {
        with_server(text, "pinza", &json!({"command": "p", "args": ["serve"]})).unwrap()
    }

    const ENTRY: &str =
        "\"pinza\": {\n      \"command\": \"p\",\n      \"args\": [\n        \"serve\"\n      ]\n    }";

    #[test]
    fn the_rest_of_a_file_stays_as_it_was() {
        let before = "{\n  \"a\" :  [1,2 , \"}\\\"{\"],\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}\n  },\n  \"z\": null\n}\n";
        let expected = before.replace("\"y\"}\n  }", &format!("\"y\"}},\n    {ENTRY}\n  }}"));
        assert_eq!(spliced(before), expected);
        assert_eq!(spliced(&expected), expected, "the second time changes nothing");
    }

    #[test]
    fn files_of_all_kinds() {
        let read = |text: &str| -> Value { serde_json::from_str(&spliced(text)).unwrap() };
        for text in [
            "",
            " \n",
            "{}",
            "{ }\n",
            "{\"mcpServers\": {}}",
            "{\"a\":1}",
            "{\r\n\t\"a\": \"ü\"\r\n}",
            "{\"mcpServers\":{\"pinza\":7}}",
        ] {
            assert_eq!(read(text)["mcpServers"]["pinza"]["command"], "p", "{text}");
        }
        assert!(spliced("{\r\n\t\"a\": 1\r\n}").contains("\r\n\t\"mcpServers\""));
        for bad in ["[]", "{", "// x\n{}", "{\"mcpServers\": []}"] {
            assert!(with_server(bad, "pinza", &json!({})).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_what_changes_is_shown() {
        let new = json!({"command": "p", "env": {"KEY": "hidden"}});
        let expected = [
            "+     \"pinza\": {",
            "+       \"command\": \"p\",",
            "+       \"env\": {",
            "+         \"KEY\": \"…\"",
        ];
        for old in ["", "{\"mcpServers\":{\"x\":{\"env\":{\"T\":\"hidden\"}}}}", "{\n  \"t\": \"hidden\"\n}"]
        {
            assert_eq!(shown(old, "pinza", &new)[..4], expected, "{old}");
        }
        let old = "{\"mcpServers\":{\"pinza\":{\"command\":\"o\",\"env\":{\"KEY\":\"hidden\"}}}}";
        assert_eq!(shown(old, "pinza", &new), ["-       \"command\": \"o\",", "+       \"command\": \"p\","]);
    }
}
