//! `config.toml`: the only home of policy, enabled flags, providers, agents and upstreams.
//!
//! It is read into types that name every key, so that a mistake is reported with its line,
//! and edited in place, so that comments and order stay as a person left them.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use indexmap::IndexMap;
use pinza::{
    Rule,
    agent::{Effort, ProviderKind, Reveal},
    host::{
        files::Hardlinks,
        http::{HttpClient, HttpOptions},
    },
    js::Caps,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use toml_edit::{DocumentMut, Item, Table};

use crate::upstreams::McpTable;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) policy: PolicyTable,
    pub(crate) env: IndexMap<String, String>,
    pub(crate) net: NetTable,
    pub(crate) tools: ToolsTable,
    pub(crate) files: FilesTable,
    pub(crate) providers: IndexMap<String, ProviderTable>,
    pub(crate) agents: IndexMap<String, AgentTable>,
    pub(crate) search: SearchTable,
    pub(crate) mcp: McpTable,
    pub(crate) journal: JournalTable,
}

impl Config {
    /// The path is for what is said of a fault.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self> {
        parse(path, text).map(|(config, _)| config)
    }
}

/// A model server that was given a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderTable {
    #[serde(rename = "type")]
    pub(crate) kind: ProviderKind,
    pub(crate) base_url: Option<String>,
    /// The name of the variable that holds the key, in the environment or in the encrypted store.
    pub(crate) api_key_env: Option<String>,
    /// A command that prints the key.
    pub(crate) api_key_command: Option<Vec<String>>,
    pub(crate) model: Option<String>,
    pub(crate) reveal: Option<Reveal>,
    pub(crate) effort: Option<Effort>,
    /// The most tokens that one answer may have.
    pub(crate) max_tokens: Option<u32>,
    /// How many tokens the model's window has.
    pub(crate) window: Option<u64>,
}

/// An agent: a prompt, a model and a tool set.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentTable {
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) system_prompt: Option<String>,
    /// Names and sets; everything where it is absent.
    pub(crate) tools: Option<Vec<String>>,
    /// How often the model is asked for one message.
    pub(crate) rounds: Option<u32>,
    /// What a session may cost, in tokens.
    pub(crate) tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct JournalTable {
    pub(crate) results: KeepResults,
    pub(crate) days: u16,
}

impl Default for JournalTable {
    fn default() -> Self {
        Self { results: KeepResults::Head, days: 30 }
    }
}

/// How much of a result the journal keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeepResults {
    None,
    Head,
    Full,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PolicyTable {
    pub(crate) rule: Vec<Rule>,
    pub(crate) limits: LimitsTable,
}

/// The most that scripts' manifests get, within what they may ask for at all.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsTable {
    #[serde(deserialize_with = "within::<1, 512, _>")]
    heap_mb: Option<u16>,
    #[serde(deserialize_with = "within::<64, 6144, _>")]
    stack_kb: Option<u16>,
    #[serde(deserialize_with = "within::<1, 3600, _>")]
    timeout_seconds: Option<u16>,
}

impl LimitsTable {
    /// What it says, and where it says nothing the default.
    pub(crate) fn caps(&self) -> Caps {
        let mut caps = Caps::default();
        if let Some(heap) = self.heap_mb {
            caps.heap = usize::from(heap) << 20;
        }
        if let Some(stack) = self.stack_kb {
            caps.stack = usize::from(stack) << 10;
        }
        if let Some(timeout) = self.timeout_seconds {
            caps.timeout = Duration::from_secs(timeout.into());
        }
        caps
    }

    /// The smaller of each: for a project, which may only narrow.
    pub(crate) fn narrow(&self, caps: Caps) -> Caps {
        let own = self.caps();
        Caps {
            heap: self.heap_mb.map_or(caps.heap, |_| own.heap.min(caps.heap)),
            stack: self.stack_kb.map_or(caps.stack, |_| own.stack.min(caps.stack)),
            timeout: self.timeout_seconds.map_or(caps.timeout, |_| own.timeout.min(caps.timeout)),
        }
    }

    /// The keys that would widen.
    pub(crate) fn wider_than(&self, caps: Caps) -> Vec<&'static str> {
        let own = self.caps();
        let keys = [
            ("heap_mb", self.heap_mb.is_some() && own.heap > caps.heap),
            ("stack_kb", self.stack_kb.is_some() && own.stack > caps.stack),
            ("timeout_seconds", self.timeout_seconds.is_some() && own.timeout > caps.timeout),
        ];
        keys.into_iter().filter(|(_, is_wider)| *is_wider).map(|(key, _)| key).collect()
    }
}

fn within<'de, const LEAST: u16, const MOST: u16, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<u16>, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let small = u16::try_from(number).ok().filter(|number| (LEAST..=MOST).contains(number));
    let wrong = || D::Error::custom(format!("{number} is not a whole number from {LEAST} to {MOST}"));
    small.map(Some).ok_or_else(wrong)
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NetTable {
    pub(crate) rewrite: IndexMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolsTable {
    pub(crate) disabled: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FilesTable {
    pub(crate) hardlinks: HardlinksWord,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchTable {
    /// A file of word vectors; a relative path begins at home.
    pub(crate) table: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HardlinksWord {
    #[default]
    Refuse,
    Allow,
}

impl From<HardlinksWord> for Hardlinks {
    fn from(word: HardlinksWord) -> Self {
        match word {
            HardlinksWord::Refuse => Self::Refuse,
            HardlinksWord::Allow => Self::Allow,
        }
    }
}

/// A configuration file: its types and its text.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    pub(crate) config: Config,
    document: DocumentMut,
}

impl ConfigFile {
    /// An absent file is an empty one.
    pub(crate) fn read(path: PathBuf) -> Result<Self> {
        let text = Self::text(&path)?.unwrap_or_default();
        let (config, document) = parse(&path, &text)?;
        Ok(Self { path, config, document })
    }

    /// What is written there; `None` where there is no file.
    pub(crate) fn text(path: &Path) -> Result<Option<String>> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Every value that is set, with its dotted key.
    pub(crate) fn values(&self) -> Vec<(String, String)> {
        let mut values = Vec::new();
        flatten(self.document.as_table(), "", &mut values);
        values
    }

    /// Changes the file in place. What comes out must be a valid configuration, or nothing is
    /// written.
    pub(crate) fn edit(path: PathBuf, change: impl FnOnce(&mut DocumentMut) -> Result<()>) -> Result<Self> {
        // Two processes that edit at once take turns, or one would undo the other.
        let _turn = lock(&path)?;
        let mut file = Self::read(path)?;
        let heading = take_heading(&mut file.document);
        change(&mut file.document)?;
        let text = heading + &file.document.to_string();
        let (config, document) = parse(&file.path, &text).context("the change was not written")?;
        write_whole(&file.path, &text)?;
        Ok(Self { config, document, ..file })
    }
}

/// A table of the document, made if it is not there.
pub(crate) fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table> {
    let item = document.entry(name).or_insert_with(implicit_table);
    item.as_table_mut().ok_or_else(|| anyhow!("'{name}' is written inline; write it as a [{name}] table"))
}

/// Sets a dotted key to a TOML value; what is no TOML value is taken as text.
pub(crate) fn set(document: &mut DocumentMut, key: &str, value: &str) -> Result<()> {
    let parts = toml_edit::Key::parse(key).map_err(|error| anyhow!("'{key}' is not a key: {error}"))?;
    let Some((last, above)) = parts.split_last() else { bail!("a key cannot be empty") };
    let value: toml_edit::Value = value.parse().unwrap_or_else(|_| value.into());
    let mut table = document.as_table_mut() as &mut dyn toml_edit::TableLike;
    for part in above {
        let entry = table.entry(part.get()).or_insert_with(implicit_table);
        table = entry.as_table_like_mut().ok_or_else(|| anyhow!("'{}' is not a table", part.get()))?;
    }
    match table.get_mut(last.get()) {
        // Only the value changes; a comment beside it stays.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => {
            table.insert(last.get(), Item::Value(value));
        }
    }
    Ok(())
}

/// The comments of a file that has nothing else. Left in the document they would stay at its
/// end, below what is added.
fn take_heading(document: &mut DocumentMut) -> String {
    if !document.is_empty() {
        return String::new();
    }
    let mut heading = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if !heading.is_empty() && !heading.ends_with('\n') {
        heading.push('\n');
    }
    heading
}

/// A table whose header is written only where it has values of its own.
fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn parse(path: &Path, text: &str) -> Result<(Config, DocumentMut)> {
    let place = || format!("{} is not a valid configuration", path.display());
    let config: Config = toml_edit::de::from_str(text)
        .map_err(|error| anyhow!("{}", error.to_string().trim_end()))
        .with_context(place)?;
    // Found here, a wrong origin is a fault of this file, and cannot be written to it.
    let rewrite = config.net.rewrite.clone().into_iter().collect();
    HttpClient::new(HttpOptions { rewrite, ..HttpOptions::default() }).map(drop).with_context(place)?;
    config.mcp.check().with_context(place)?;
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| anyhow!("{error}")).with_context(place)?;
    Ok((config, document))
}

fn flatten(table: &Table, prefix: &str, values: &mut Vec<(String, String)>) {
    for (key, item) in table {
        let key = if key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            format!("{prefix}{key}")
        } else {
            format!("{prefix}{key:?}")
        };
        match item {
            Item::Table(inner) => flatten(inner, &format!("{key}."), values),
            Item::ArrayOfTables(tables) => {
                for (index, inner) in tables.iter().enumerate() {
                    flatten(inner, &format!("{key}[{index}]."), values);
                }
            }
            Item::Value(value) => values.push((key, value.clone().decorated("", "").to_string())),
            Item::None => {}
        }
    }
}

fn lock(path: &Path) -> Result<fs::File> {
    let lock = path.with_extension("lock");
    let file = fs::File::create(&lock).with_context(|| format!("cannot write {}", lock.display()))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}

/// All or nothing: a crash leaves the old file or the new one.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    // Two programs that write at once must not write into each other's.
    let written = path.with_extension(format!("new-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = fs::File::create(&written)?;
        let mode = fs::metadata(path).map_or(0o600, |meta| meta.permissions().mode());
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(content.as_ref())?;
        file.sync_all()?;
        fs::rename(&written, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
