//! What was seen of a server, and what of it was accepted: one file each in `home/mcp`.
//!
//! Tools are made from what was accepted. What a server shows now is compared with it as a whole (name, texts, schemas,
//! annotations): where they differ, the tool is held.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use pinza_core::Hints;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::hex;

/// Far more than a server's tools weigh.
const FILE_LIMIT: u64 = 64 << 20;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenTool {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

impl SeenTool {
    pub fn is_read_only(&self) -> bool {
        self.hint("readOnlyHint") == Some(true)
    }

    pub(crate) fn hints(&self) -> Hints {
        let title = self.annotations.as_ref().and_then(|hints| hints.get("title")?.as_str());
        Hints {
            title: title.map(str::to_owned),
            destructive: self.hint("destructiveHint"),
            idempotent: self.hint("idempotentHint"),
            open_world: self.hint("openWorldHint"),
        }
    }

    fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.as_ref().and_then(|hints| hints.get(name)?.as_bool())
    }
}

/// What a server shows of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Face {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// One line, from its instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub tools: Vec<SeenTool>,
}

impl Face {
    pub fn tool(&self, name: &str) -> Option<&SeenTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// One server's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What is started, where acceptance is about that as well.
    pub launch: String,
    /// The protocol that it spoke last, so that the next start need not find out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Face>,
    /// What it showed last; absent where that is what was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Face>,
    /// The digest of what a person was shown last of it, until something is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<String>,
}

/// One difference between what was accepted and what is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Added(SeenTool),
    Removed(SeenTool),
    Changed { old: Box<SeenTool>, new: Box<SeenTool> },
    Summary { old: Option<String>, new: Option<String> },
    Title { old: Option<String>, new: Option<String> },
}

impl Record {
    /// None where nothing was seen yet.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{} cannot be read: {error}", path.display());
        let size = match fs::metadata(path) {
            Ok(meta) => meta.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        if size > FILE_LIMIT {
            return Err(failed(&"it is too large"));
        }
        let text = fs::read(path).map_err(|error| failed(&error))?;
        serde_json::from_slice(&text).map(Some).map_err(|error| failed(&error))
    }

    /// All or nothing: a reader sees the old file or the new one.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(|error| failed(&error))?;
        }
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(&error))?;
        // Two processes that write at once have a file each; the last one stays.
        let draft = path.with_extension(format!("{}.new", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&draft, path)
        };
        write().map_err(|error| failed(&error))
    }

    /// What the server shows now, accepted or not.
    pub fn shown(&self) -> Option<&Face> {
        self.seen.as_ref().or(self.accepted.as_ref())
    }

    pub fn see(&mut self, face: Face) {
        self.seen = (self.accepted.as_ref() != Some(&face)).then_some(face);
    }

    /// Accepts what was seen last.
    pub fn accept(&mut self, launch: String) {
        self.launch = launch;
        self.looked = None;
        if let Some(seen) = self.seen.take() {
            self.accepted = Some(seen);
        }
    }

    /// Names what there is to accept, with what is started for it.
    pub fn digest(&self) -> String {
        let text = serde_json::json!([self.launch, self.seen]).to_string();
        hex(&Sha256::digest(text.as_bytes()))
    }

    /// Whether it is something else than what a person was shown last.
    pub fn changed_since_looked(&self) -> bool {
        self.seen.is_some() && self.looked.as_ref().is_some_and(|looked| *looked != self.digest())
    }

    /// What a person has to look at.
    pub fn changes(&self) -> Vec<Change> {
        let Some(seen) = &self.seen else { return Vec::new() };
        let empty = Face::default();
        let accepted = self.accepted.as_ref().unwrap_or(&empty);
        let mut changes = Vec::new();
        if accepted.title != seen.title {
            changes.push(Change::Title { old: accepted.title.clone(), new: seen.title.clone() });
        }
        if accepted.summary != seen.summary {
            changes.push(Change::Summary { old: accepted.summary.clone(), new: seen.summary.clone() });
        }
        for new in &seen.tools {
            match accepted.tool(&new.name) {
                None => changes.push(Change::Added(new.clone())),
                Some(old) if old != new => {
                    changes.push(Change::Changed { old: Box::new(old.clone()), new: Box::new(new.clone()) })
                }
                Some(_) => {}
            }
        }
        let is_gone = |old: &&SeenTool| seen.tool(&old.name).is_none();
        changes.extend(accepted.tools.iter().filter(is_gone).cloned().map(Change::Removed));
        changes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> SeenTool {
        SeenTool {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: None,
        }
    }

    fn face(tools: Vec<SeenTool>) -> Face {
        Face { tools, ..Face::default() }
    }

    #[test]
    fn what_differs_is_seen_and_what_is_as_before_is_not() {
        let mut record =
            Record { accepted: Some(face(vec![tool("a", "1"), tool("b", "1")])), ..Record::default() };
        record.see(face(vec![tool("a", "1"), tool("b", "1")]));
        assert_eq!(record.seen, None);
        record.see(face(vec![tool("a", "2"), tool("c", "1")]));
        let expected = [
            Change::Changed { old: Box::new(tool("a", "1")), new: Box::new(tool("a", "2")) },
            Change::Added(tool("c", "1")),
            Change::Removed(tool("b", "1")),
        ];
        assert_eq!(record.changes(), expected);
        record.looked = Some(record.digest());
        assert!(!record.changed_since_looked());
        record.see(face(vec![tool("a", "3"), tool("c", "1")]));
        assert!(record.changed_since_looked());
        record.accept("x".into());
        assert!(record.looked.is_none());
        assert_eq!((record.changes().len(), record.seen), (0, None));
    }

    #[test]
    fn a_file_comes_back_as_it_went() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mcp/a.json");
        assert_eq!(Record::read(&path), Ok(None));
        let record = Record { accepted: Some(face(vec![tool("a", "1")])), ..Record::default() };
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path), Ok(Some(record)));
        fs::write(&path, "{").unwrap();
        assert!(Record::read(&path).is_err());
    }
}
