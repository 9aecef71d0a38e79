//! `edit`: replace one piece of a text file, exactly or nearly exactly, but only where it is
//! clear which piece is meant.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    CallContext, Capability, FsBridge, FsVerb, NativeTool, ToolDefinition, ToolError, ToolName, ToolOutput,
    ToolResult, WriteMode, capability,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::TextDiff;

use crate::{Turns, write_file::write};

const MAX_FILE_SIZE: u64 = 8 << 20;

#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) bridge: Arc<dyn FsBridge>,
    pub(crate) turns: Turns,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Parameters {
    /// Path of the file, relative to the workspace
    path: String,
    /// The text to replace; it must occur exactly once
    old_text: String,
    /// The text to put in its place
    new_text: String,
}

impl NativeTool for Edit {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Replace one piece of a text file. oldText must match exactly one place.";
        ToolDefinition::new(ToolName::known("edit"), description)
            .title("Edit a file")
            .needs(Capability::known(capability::FS_READ))
            .needs(Capability::known(capability::FS_WRITE))
            .subject("path")
            .alias("file_path", "path")
            .alias("old_string", "oldText")
            .alias("new_string", "newText")
            .alias("old_text", "oldText")
            .alias("new_text", "newText")
            .timeout(Duration::from_secs(10))
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        let Parameters { path, old_text, new_text } = parameters;
        let _turn = self.turns.lock().await;
        let bytes = self
            .bridge
            .read(&path, MAX_FILE_SIZE)
            .await
            .map_err(|error| error.answer(FsVerb::Read, &path))?;
        let before = String::from_utf8(bytes).map_err(|_| {
            ToolError::validation(format!("File is not UTF-8 text: {}", pinza_core::visible(&path)))
        })?;
        let after = replace(&before, &old_text, &new_text).map_err(|error| error.answer(&path))?;
        write(self.bridge.as_ref(), &path, after.as_bytes(), WriteMode::Replace).await?;
        let diff = TextDiff::from_lines(&before, &after)
            .unified_diff()
            .context_radius(3)
            .header(&path, &path)
            .to_string();
        let details = json!({ "path": path });
        Ok(ToolOutput::text(format!("Edited {path}\n{diff}")).details(details))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum EditError {
    Empty,
    NoChange,
    NotFound,
    NotUnique(usize),
}

impl EditError {
    fn answer(self, path: &str) -> ToolError {
        let path = pinza_core::visible(path);
        match self {
            Self::Empty => {
                ToolError::validation("Parameter 'oldText' is empty").hint("Use write to fill a new file.")
            }
            Self::NoChange => ToolError::validation("oldText and newText are the same: nothing would change"),
            Self::NotFound => ToolError::validation(format!("oldText was not found in {path}"))
                .hint("Read the file again and copy the text as it stands there."),
            Self::NotUnique(times) => {
                ToolError::validation(format!("oldText occurs {times} times in {path}; it must be unique"))
                    .hint("Add lines around it until it occurs once.")
            }
        }
    }
}

/// The text with `old` replaced by `new`; everything else stays byte for byte, a byte-order
/// mark and line endings too.
fn replace(text: &str, old: &str, new: &str) -> Result<String, EditError> {
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::NoChange);
    }
    let found = match occurrences(text, old).as_slice() {
        [] => near(text, old)?,
        [start] => *start..*start + old.len(),
        several => return Err(EditError::NotUnique(several.len())),
    };
    let new = new.replace("\r\n", "\n");
    let new = if has_crlf(text) { new.replace('\n', "\r\n") } else { new };
    Ok([&text[..found.start], &new, &text[found.end..]].concat())
}

/// The place in the file that equals `old` once quotes, dashes, spaces and line ends are
/// written the plain way.
fn near(text: &str, old: &str) -> Result<std::ops::Range<usize>, EditError> {
    let (folded, places) = fold(text);
    let (wanted, _) = fold(old);
    if wanted.is_empty() {
        return Err(EditError::NotFound);
    }
    match occurrences(&folded, &wanted).as_slice() {
        [] => Err(EditError::NotFound),
        [start] => Ok(places[*start]..places[start + wanted.len()]),
        several => Err(EditError::NotUnique(several.len())),
    }
}

fn occurrences(text: &str, wanted: &str) -> Vec<usize> {
    text.match_indices(wanted).map(|(start, _)| start).collect()
}

fn has_crlf(text: &str) -> bool {
    let crlf = text.matches("\r\n").count();
    crlf * 2 > text.matches('\n').count()
}

/// Plain text, and for each of its bytes (and its end) the place in the original.
fn fold(text: &str) -> (String, Vec<usize>) {
    let mut folded = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut chars = text.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let c = match c {
            // A line's end begins at its carriage return, so that a match before it leaves it be.
            '\r' if chars.next_if(|(_, next)| *next == '\n').is_some() => end_line(&mut folded, &mut places),
            '\n' => end_line(&mut folded, &mut places),
            '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
            '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            c => c,
        };
        folded.push(c);
        places.extend(std::iter::repeat_n(place, c.len_utf8()));
    }
    places.push(text.len());
    (folded, places)
}

/// Blanks before a line's end are invisible to whoever copied it.
fn end_line(folded: &mut String, places: &mut Vec<usize>) -> char {
    while folded.ends_with([' ', '\t']) {
        folded.pop();
        places.pop();
    }
    '\n'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits() {
        let cases = [
            ("a b c", "b", "x", Ok("a x c")),
            ("a b b", "b", "x", Err(EditError::NotUnique(2))),
            ("a", "z", "x", Err(EditError::NotFound)),
            ("a", "", "x", Err(EditError::Empty)),
            ("a", "a", "a", Err(EditError::NoChange)),
            ("say “hi” – now", "say \"hi\" - now", "bye", Ok("bye")),
            ("it’s", "it's", "it is", Ok("it is")),
            ("a\u{a0}b", "a b", "c", Ok("c")),
            ("one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", Ok("1\r\n2\r\nthree\r\n")),
            ("\u{feff}head\r\nx\r\n", "x", "y\nz", Ok("\u{feff}head\r\ny\r\nz\r\n")),
            ("if x:  \n    y\n", "if x:\n    y", "pass", Ok("pass\n")),
            ("“a” \"a\"", "“a”", "b", Ok("b \"a\"")),
            ("“a” „a‟", "\"a\"", "b", Err(EditError::NotUnique(2))),
            ("mixed\nline\r\nends", "line", "LINE", Ok("mixed\nLINE\r\nends")),
        ];
        for (text, old, new, expected) in cases {
            assert_eq!(replace(text, old, new), expected.map(String::from), "{text:?} {old:?}");
        }
    }

    proptest::proptest! {
        /// Outside the replaced piece nothing changes, whatever the text is.
        #[test]
        fn the_rest_stays(before in "[a-z\r\n “”–]*", after in "[a-z\r\n “”–]*") {
            let text = format!("{before}#OLD#{after}");
            let edited = replace(&text, "#OLD#", "#NEW#").unwrap();
            proptest::prop_assert_eq!(edited, format!("{before}#NEW#{after}"));
        }

        #[test]
        fn folding_never_panics(text in ".*", old in ".+") {
            let _ = replace(&text, &old, "new");
        }
    }
}
