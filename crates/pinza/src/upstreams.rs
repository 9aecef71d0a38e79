//! `[mcp.servers.NAME]`: other MCP servers, as they stand in the user's and in a project's configuration.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use indexmap::IndexMap;
use pinza::{
    host::secrets::{Secret, VariableStore},
    mcp::client::{
        CALL_TIMEOUT, Launch, Origin, Revision, START_TIMEOUT, SignIn, Spec, UpstreamName, Variables,
        references,
    },
};
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct McpTable {
    pub(crate) servers: IndexMap<String, ServerTable>,
}

/// One server: `command` or `url`, and what may be said about it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerTable {
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    /// For a command. Values may hold `${env.NAME}`.
    pub(crate) env: IndexMap<String, String>,
    /// For a url, likewise.
    pub(crate) headers: IndexMap<String, String>,
    pub(crate) summary: Option<String>,
    /// Where a command is started [default: the workspace].
    directory: Option<PathBuf>,
    timeout_seconds: Option<u64>,
    start_timeout_seconds: Option<u64>,
    revision: Option<RevisionWord>,
    oauth: OauthTable,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OauthTable {
    client_id: Option<String>,
    client_secret: Option<String>,
    client_metadata_url: Option<String>,
    scopes: Vec<String>,
}

/// For servers that lose their head over the newest greeting.
#[derive(Clone, Copy, Debug, Deserialize)]
enum RevisionWord {
    #[serde(rename = "2025-11-25")]
    Handshake,
    #[serde(rename = "2026-07-28")]
    Stateless,
}

impl McpTable {
    /// Found while the file is read, a wrong entry is a fault of that file, and cannot be written to it.
    pub(crate) fn check(&self) -> Result<()> {
        let here = Path::new("/");
        self.servers.iter().try_for_each(|(name, server)| server.spec(name, here, Origin::User).map(drop))
    }

    pub(crate) fn specs(&self, workspace: &Path) -> Result<Vec<Spec>> {
        self.servers.iter().map(|(name, server)| server.spec(name, workspace, Origin::User)).collect()
    }
}

impl ServerTable {
    pub(crate) fn spec(&self, name: &str, workspace: &Path, origin: Origin) -> Result<Spec> {
        let place = || format!("mcp.servers.{}", pinza::core::visible(name));
        let name = UpstreamName::new(name).map_err(|error| anyhow!(error)).with_context(place)?;
        let launch = self.launch(workspace).with_context(place)?;
        let seconds = |given: Option<u64>, key: &str, default: Duration| match given {
            None => Ok(default),
            Some(seconds @ 1..=3600) => Ok(Duration::from_secs(seconds)),
            Some(other) => Err(anyhow!("{key} = {other} is not a whole number from 1 to 3600")),
        };
        let spec = Spec::new(name, launch);
        Ok(Spec {
            summary: self.summary.clone(),
            origin,
            revision: match self.revision {
                None => Revision::Newest,
                Some(RevisionWord::Handshake) => Revision::Handshake,
                Some(RevisionWord::Stateless) => Revision::Stateless,
            },
            call_timeout: seconds(self.timeout_seconds, "timeout_seconds", CALL_TIMEOUT)
                .with_context(place)?,
            start_timeout: seconds(self.start_timeout_seconds, "start_timeout_seconds", START_TIMEOUT)
                .with_context(place)?,
            ..spec
        })
    }

    fn launch(&self, workspace: &Path) -> Result<Launch> {
        match (self.command.as_slice(), &self.url) {
            ([], None) => bail!("says neither `command = [\"…\"]` nor `url = \"…\"`"),
            ([_, ..], Some(_)) => bail!("says both `command` and `url`; a server has one of them"),
            ([program, ..], None) => {
                ensure!(!program.is_empty(), "the first word of `command` is empty");
                ensure!(self.headers.is_empty(), "`headers` are for a server with a `url`");
                for name in self.env.keys() {
                    let fits = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    let starts_well = !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
                    ensure!(fits && starts_well, "'{}' is no variable's name", pinza::core::visible(name));
                }
                let directory =
                    self.directory.as_ref().map_or(workspace.to_owned(), |path| workspace.join(path));
                Ok(Launch::Command { argv: self.command.clone(), env: pairs(&self.env), directory })
            }
            ([], Some(address)) => {
                ensure!(
                    self.env.is_empty(),
                    "`env` is for a server with a `command`; a `url` takes `headers`"
                );
                let url: url::Url = address
                    .parse()
                    .with_context(|| format!("'{}' is no address", pinza::core::visible(address)))?;
                let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
                ensure!(is_web, "'{}' is no http or https address", pinza::core::visible(address));
                let OauthTable { client_id, client_secret, client_metadata_url, scopes } = self.oauth.clone();
                let sign_in = SignIn { client_id, client_secret, client_metadata_url, scopes };
                Ok(Launch::Http { url, headers: pairs(&self.headers), sign_in })
            }
        }
    }

    /// Whether it would be started outside the workspace, which is not for a project to say. What a link in
    /// the project leads to counts as well.
    pub(crate) fn leaves(&self, workspace: &Path) -> bool {
        let Some(directory) = &self.directory else { return false };
        let is_plain =
            directory.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let real = |path: &Path| path.canonicalize().ok();
        let is_inside = match (real(workspace), real(&workspace.join(directory))) {
            (Some(workspace), Some(directory)) => directory.starts_with(workspace),
            // What is not there yet leads nowhere.
            _ => true,
        };
        !is_plain || !is_inside
    }

    /// Whether it wants variables, which are not a project's to hand out.
    pub(crate) fn wants_variables(&self) -> bool {
        let texts = self.env.values().chain(self.headers.values()).chain(&self.oauth.client_secret);
        texts.into_iter().any(|text| references(text).next().is_some())
    }
}

fn pairs(table: &IndexMap<String, String>) -> Vec<(String, String)> {
    table.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// What servers' configuration may refer to: `--env`, `[env]`, then the encrypted store.
pub(crate) struct ConfigVariables {
    open: BTreeMap<String, String>,
    kept: VariableStore,
}

impl ConfigVariables {
    pub(crate) fn new(open: impl IntoIterator<Item = (String, String)>, kept: VariableStore) -> Arc<Self> {
        Arc::new(Self { open: open.into_iter().collect(), kept })
    }
}

impl Variables for ConfigVariables {
    fn get(&self, name: &str) -> std::result::Result<Option<Secret>, String> {
        match self.open.get(name) {
            Some(value) => Ok(Some(Secret::new(value))),
            None => self.kept.get(name).map_err(|error| error.to_string()),
        }
    }
}
