//! The user's rules and switches, followed while Pinza runs, together with what holds beside them since the start:
//! flags, and the narrowing of a trusted project.
//!
//! Only these: servers, providers and variables are as they were at the start.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use pinza::{Policy, Rule, Settings, SettingsSource, js::Problem};

use crate::{
    config::{Config, ConfigFile},
    project::ProjectConfig,
};

pub(crate) struct ConfigSettings {
    file: PathBuf,
    flags: Vec<Rule>,
    project: ProjectConfig,
    /// A std lock, held while the file is read.
    last: Mutex<Last>,
}

/// What was read the last time: a text that is the same need not be parsed again.
struct Last {
    was_there: bool,
    read: Option<(String, Settings)>,
}

impl ConfigSettings {
    pub(crate) fn new(file: PathBuf, flags: Vec<Rule>, project: ProjectConfig) -> Self {
        let last = Mutex::new(Last { was_there: file.exists(), read: None });
        Self { file, flags, project, last }
    }

    /// What a configuration comes to here.
    pub(crate) fn of(&self, config: &Config) -> Settings {
        let policy = Policy::new(config.policy.rule.clone(), self.flags.clone());
        let disabled = config.tools.disabled.iter().chain(self.project.disabled());
        Settings {
            policy: policy.and_project(self.project.rules().cloned()),
            disabled: disabled.cloned().collect(),
        }
    }

    fn read_with(&self, last: &mut Last) -> anyhow::Result<Settings> {
        let text = ConfigFile::text(&self.file)?;
        // At a start an absent file is an empty one; but somebody may only be about to save it.
        anyhow::ensure!(text.is_some() || !last.was_there, "the file is gone");
        last.was_there |= text.is_some();
        let text = text.unwrap_or_default();
        if let Some((_, settings)) = last.read.as_ref().filter(|(known, _)| *known == text) {
            return Ok(settings.clone());
        }
        let settings = self.of(&Config::parse(&self.file, &text)?);
        last.read = Some((text, settings.clone()));
        Ok(settings)
    }
}

impl SettingsSource for ConfigSettings {
    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn read(&self) -> Result<Settings, Problem> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_with(&mut last).map_err(|error| Problem {
            file: self.file.display().to_string(),
            entry: None,
            message: format!("{}; the rules and switches that it had stay in use", in_one_line(&error)),
            line: None,
            column: None,
            warning: false,
        })
    }
}

/// Without the lines of the file that an error quotes: they may hold what belongs into no log.
fn in_one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let is_quoted = |line: &&str| {
        line.trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).starts_with('|')
    };
    let lines = text.lines().filter(|line| !is_quoted(line)).map(str::trim);
    lines.collect::<Vec<_>>().join(": ")
}
