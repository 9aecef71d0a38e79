//! What most commands need: the home, its configuration, and the runtime built from both.

use std::{io::IsTerminal, path::PathBuf, sync::Arc};

use anyhow::Context;
use pinza::{
    Pinza, Policy, Rule, Verdict,
    core::{Approver, YesApprover, catalog_row, catalog_set},
    host::process::Supervisor,
};
use serde::Serialize;

use super::{Global, Result};
use crate::{
    config::{Config, ConfigFile},
    home::{Home, Origin},
    terminal::TerminalApprover,
};

/// Something that was not loaded or cannot work, and why.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) file: Option<String>,
    pub(crate) entry: Option<usize>,
    pub(crate) message: String,
}

pub(crate) struct Session {
    pub(crate) home: Home,
    pub(crate) config: Config,
    pub(crate) pinza: Pinza,
    pub(crate) problems: Vec<Problem>,
}

impl Session {
    pub(crate) fn open(global: &Global) -> Result<Self> {
        let home = Home::find(global.home.as_deref())?;
        home.create()?;
        let config = ConfigFile::read(home.config_file())?.config;
        let (workspace, _) = workspace(global, &home)?;
        let mut builder = Pinza::builder()
            .workspace(&workspace)
            .protect(&home.path)
            .hardlinks(config.files.hardlinks.into())
            .supervisor(Supervisor::this_program())
            .rewrite(config.net.rewrite.clone())
            .policy(Policy::new(config.policy.rule.clone(), flag_rules(global)))
            .disable(config.tools.disabled.clone());
        if let Some(approver) = approver(global, &home) {
            builder = builder.approver(approver);
        }
        let pinza =
            builder.build().with_context(|| format!("cannot use the workspace {}", workspace.display()))?;
        let problems = problems(global, &home, &config, &pinza)?;
        Ok(Self { home, config, pinza, problems })
    }
}

/// The workspace and where that choice came from.
pub(crate) fn workspace(global: &Global, home: &Home) -> Result<(PathBuf, Origin)> {
    Ok(match &global.workspace {
        Some(path) => {
            let path = std::path::absolute(path)
                .with_context(|| format!("cannot use {} as workspace", path.display()))?;
            (path, Origin::Flag)
        }
        None => (home.workspace(), Origin::BuiltIn),
    })
}

/// The rules that `--allow` and `--deny` stand for.
pub(crate) fn flag_rules(global: &Global) -> Vec<Rule> {
    let rule = |effect: Verdict| move |capability: &String| Rule::capability(effect, capability);
    let allow = global.allow.iter().map(rule(Verdict::Allow));
    allow.chain(global.deny.iter().map(rule(Verdict::Deny))).collect()
}

fn approver(global: &Global, home: &Home) -> Option<Arc<dyn Approver>> {
    if global.yes {
        return Some(Arc::new(YesApprover));
    }
    let on_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    on_terminal.then(|| Arc::new(TerminalApprover::new(home.config_file())) as Arc<dyn Approver>)
}

fn problems(global: &Global, home: &Home, config: &Config, pinza: &Pinza) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for failure in pinza.failures() {
        let message = format!("the tool '{}' could not be made: {}", failure.id, failure.reason);
        problems.push(Problem { file: None, entry: None, message });
    }
    let file = || Some(home.config_file().display().to_string());
    for (index, name) in config.tools.disabled.iter().enumerate() {
        if !is_known(pinza, name) {
            let message = format!(
                "tools.disabled names '{}', but there is no such tool or set",
                pinza::core::visible(name)
            );
            problems.push(Problem { file: file(), entry: Some(index), message });
        }
    }
    for (number, reason) in pinza.engine().policy().idle_rules(pinza.snapshot()) {
        let in_config = number <= config.policy.rule.len();
        let message = format!("policy rule {number} can match nothing: {reason}");
        let (file, entry) = if in_config { (file(), Some(number - 1)) } else { (None, None) };
        problems.push(Problem { file, entry, message });
    }
    for directory in &global.tools {
        anyhow::ensure!(directory.is_dir(), "--tools {}: there is no such directory", directory.display());
        let message = "JavaScript tools are not built yet; nothing was loaded from here".into();
        problems.push(Problem { file: Some(directory.display().to_string()), entry: None, message });
    }
    Ok(problems)
}

/// A tool, a group, or a name of the catalog that this build does not have yet.
pub(crate) fn is_known(pinza: &Pinza, selector: &str) -> bool {
    pinza.tools().any(|entry| pinza::core::selects(selector, entry.meta()))
        || catalog_set(selector).is_some()
        || catalog_row(selector).is_some()
}
