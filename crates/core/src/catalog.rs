//! The fixed tables: sections, profiles, the catalog of core tools and the sets over it.
//!
//! They are data that runs nothing: what a tool is called, where it belongs and who gets it
//! is known before any tool is made.

use serde::{Deserialize, Serialize};

/// A heading to list tools under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub id: &'static str,
    pub label: &'static str,
}

/// Where tools stand that say nothing else.
pub const CUSTOM_SECTION: &str = "custom";

/// All sections, in the order they are listed.
pub const SECTIONS: [Section; 12] = [
    Section { id: "fs", label: "Files" },
    Section { id: "runtime", label: "Runtime" },
    Section { id: "web", label: "Web" },
    Section { id: "memory", label: "Memory" },
    Section { id: "sessions", label: "Sessions" },
    Section { id: "ui", label: "UI" },
    Section { id: "messaging", label: "Messaging" },
    Section { id: "automation", label: "Automation" },
    Section { id: "nodes", label: "Nodes" },
    Section { id: "agents", label: "Agents" },
    Section { id: "media", label: "Media" },
    Section { id: CUSTOM_SECTION, label: "Custom" },
];

/// A preset choice of tools for a kind of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    Minimal,
    Coding,
    Messaging,
    /// Everything, whatever a tool's own profiles say.
    Full,
}

impl Profile {
    pub const ALL: [Self; 4] = [Self::Minimal, Self::Coding, Self::Messaging, Self::Full];

    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Messaging => "messaging",
            Self::Full => "full",
        }
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Profile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|profile| profile.name() == name);
        known.ok_or_else(|| format!("unknown profile '{name}'; one of: minimal, coding, messaging, full"))
    }
}

/// A row of the catalog of core tools.
#[derive(Clone, Copy, Debug)]
pub struct CatalogRow {
    pub id: &'static str,
    pub section: &'static str,
    pub description: &'static str,
    pub profiles: &'static [Profile],
    /// The "OpenClaw group" column; the set `group:openclaw`.
    pub openclaw: bool,
}

const fn row(
    id: &'static str,
    section: &'static str,
    description: &'static str,
    profiles: &'static [Profile],
) -> CatalogRow {
    CatalogRow { id, section, description, profiles, openclaw: false }
}

const fn openclaw(row: CatalogRow) -> CatalogRow {
    CatalogRow { openclaw: true, ..row }
}

const CODING: &[Profile] = &[Profile::Coding];
const TALKING: &[Profile] = &[Profile::Coding, Profile::Messaging];

/// The 23 core tools, whether or not this build can make them.
pub const CATALOG: [CatalogRow; 23] = [
    row("read", "fs", "Read file contents", CODING),
    row("write", "fs", "Create or overwrite files", CODING),
    row("edit", "fs", "Make precise edits", CODING),
    row("exec", "runtime", "Run shell commands", CODING),
    openclaw(row("web_search", "web", "Search the web", &[])),
    openclaw(row("web_fetch", "web", "Fetch web content", &[])),
    openclaw(row("memory_search", "memory", "Semantic memory search", CODING)),
    openclaw(row("memory_get", "memory", "Read memory files", CODING)),
    openclaw(row("sessions_list", "sessions", "List active sessions", TALKING)),
    openclaw(row("sessions_history", "sessions", "View session history", TALKING)),
    openclaw(row("sessions_send", "sessions", "Send messages to a session", TALKING)),
    openclaw(row("sessions_spawn", "sessions", "Spawn a sub-agent session", CODING)),
    openclaw(row("subagents", "sessions", "Manage sub-agent sessions", CODING)),
    openclaw(row(
        "session_status",
        "sessions",
        "View session status and model info",
        &[Profile::Minimal, Profile::Coding, Profile::Messaging],
    )),
    row("browser", "ui", "Control a headless browser", CODING),
    row("canvas", "ui", "Render canvas visualizations", CODING),
    row("message", "messaging", "Send messages across channels", &[Profile::Messaging]),
    row("cron", "automation", "Schedule recurring tasks", &[]),
    row("gateway", "automation", "Gateway management", &[]),
    row("nodes", "nodes", "Manage cluster nodes", &[]),
    row("agents_list", "agents", "List configured agents", &[]),
    row("image", "media", "Generate and process images", CODING),
    row("tts", "media", "Text-to-speech synthesis", &[]),
];

pub fn catalog_row(id: &str) -> Option<&'static CatalogRow> {
    CATALOG.iter().find(|row| row.id == id)
}

/// The ids of a set such as `group:fs`, or `None` if no table has it. A section's set holds
/// the section's core tools; `group:openclaw` is a column of its own.
pub fn catalog_set(name: &str) -> Option<Vec<&'static str>> {
    let id = name.strip_prefix("group:")?;
    let members =
        |keep: &dyn Fn(&&CatalogRow) -> bool| CATALOG.iter().filter(keep).map(|row| row.id).collect();
    if id == "openclaw" {
        return Some(members(&|row| row.openclaw));
    }
    let section = SECTIONS.iter().find(|section| section.id == id && id != CUSTOM_SECTION)?;
    Some(members(&|row| row.section == section.id))
}

/// The names of all sets.
pub fn catalog_sets() -> impl Iterator<Item = String> {
    let sections = SECTIONS.iter().map(|section| section.id).filter(|id| *id != CUSTOM_SECTION);
    sections.chain(["openclaw"]).map(|id| format!("group:{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_seeds_table() {
        let table: [(&str, &[&str]); 12] = [
            ("group:fs", &["read", "write", "edit"]),
            ("group:runtime", &["exec"]),
            ("group:web", &["web_search", "web_fetch"]),
            ("group:memory", &["memory_search", "memory_get"]),
            (
                "group:sessions",
                &[
                    "sessions_list",
                    "sessions_history",
                    "sessions_send",
                    "sessions_spawn",
                    "subagents",
                    "session_status",
                ],
            ),
            ("group:ui", &["browser", "canvas"]),
            ("group:messaging", &["message"]),
            ("group:automation", &["cron", "gateway"]),
            ("group:nodes", &["nodes"]),
            ("group:agents", &["agents_list"]),
            ("group:media", &["image", "tts"]),
            (
                "group:openclaw",
                &[
                    "web_search",
                    "web_fetch",
                    "memory_search",
                    "memory_get",
                    "sessions_list",
                    "sessions_history",
                    "sessions_send",
                    "sessions_spawn",
                    "subagents",
                    "session_status",
                ],
            ),
        ];
        for (name, ids) in table {
            assert_eq!(catalog_set(name).unwrap(), ids, "{name}");
        }
        assert_eq!(catalog_sets().count(), table.len());
        assert!(catalog_set("group:custom").is_none());
        assert!(catalog_set("fs").is_none());
    }

    #[test]
    fn profiles_are_the_seeds_tables() {
        let of = |profile: Profile| {
            CATALOG.iter().filter(|row| row.profiles.contains(&profile)).map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(of(Profile::Minimal), ["session_status"]);
        assert_eq!(
            of(Profile::Messaging),
            ["sessions_list", "sessions_history", "sessions_send", "session_status", "message"]
        );
        assert_eq!(of(Profile::Coding).len(), 15);
    }
}
