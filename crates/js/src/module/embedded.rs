//! A library in a worker of this crate: loaded once, in the image that every call begins on.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use pinza_core::{CallContext, ErrorKind, ToolError, ToolOutput};
use serde_json::Value;

use super::{
    ModuleManifest,
    graph::{Conditions, Package},
    outcome::Outcome,
    tool::{UNAVAILABLE, not_as_locked, not_run},
};
use crate::{
    frame::Entry,
    job::Job,
    loader::Libraries,
    package::{Difference, Locked},
    pool::{Code, Seat},
    tool::{Host, Limits},
};

/// The only function of a package's script; see `runner.js`.
const INVOKE: &str = "invoke";

/// A package under both of the conditions that it may be meant for. What is meant for Node is tried first: it is
/// what the package's own documentation is about, and what browsers get is often less. But it may want
/// more of Node than there is.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// The module's name, for messages.
    module: String,
    /// Of the module.
    directory: PathBuf,
    specifier: String,
    limits: Limits,
    host: Arc<Host>,
    browser: OnceLock<Code>,
    node: OnceLock<Code>,
    /// Node's has turned out not to work here, but the browser's does.
    is_browser: AtomicBool,
    /// Node's has been loaded.
    is_known: AtomicBool,
    refused: AtomicBool,
}

impl Embedded {
    pub(crate) fn new(directory: PathBuf, manifest: &ModuleManifest, host: Arc<Host>) -> Self {
        let (browser, node, is_browser, is_known, refused) = Default::default();
        let (module, specifier) = (manifest.name.clone(), manifest.package.clone());
        let limits = manifest.limits;
        Self { module, directory, specifier, limits, host, browser, node, is_browser, is_known, refused }
    }

    /// Runs a plan. The output's text is the outcome, as the runner wrote it.
    pub(crate) async fn run(
        &self,
        plan: &Value,
        seat: Option<&Seat>,
        context: &CallContext<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let run = async |conditions: Conditions| {
            let code = self.code(conditions)?;
            let job = Job {
                code,
                entry: Entry::Function(INVOKE.into()),
                params: plan.to_string(),
                limits: self.limits,
                libraries: &Libraries::new(),
                host: &self.host,
                seat,
            };
            let answer = job.run(context).await;
            // A library may do without a file that it was refused. The call is refused all the same.
            match code.package.as_ref().and_then(Package::difference) {
                Some(difference) => Err(self.refuse(std::slice::from_ref(difference))),
                None => answer,
            }
        };
        if self.is_browser.load(Ordering::Relaxed) {
            return run(Conditions::Browser).await;
        }
        let answer = run(Conditions::Node).await;
        let is_known = self.is_known.load(Ordering::Relaxed);
        // What a library's function throws is in the outcome: an error here is one of loading it. Objects
        // that live there are not given up later.
        let is_wrong = match &answer {
            Err(error) => !is_known && can_be_cured(error),
            Ok(output) => (!is_known || seat.is_none()) && lacks_something(output),
        };
        if is_wrong {
            let other = run(Conditions::Browser).await;
            // Where a function lacked something, only an answer is better than that: an error may be its consequence.
            let is_better = |other: &ToolOutput| match &answer {
                Ok(_) => !is_error(&other.as_text()),
                Err(_) => !lacks_something(other),
            };
            if other.as_ref().is_ok_and(is_better) {
                self.is_browser.store(true, Ordering::Relaxed);
                return other;
            }
        }
        if answer.is_ok() {
            self.is_known.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether it is not what was locked, so that no engine may run it.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    fn refuse(&self, differences: &[Difference]) -> ToolError {
        self.refused.store(true, Ordering::Relaxed);
        not_as_locked(&self.module, differences)
    }

    fn code(&self, conditions: Conditions) -> Result<&Code, ToolError> {
        let cell = match conditions {
            Conditions::Browser => &self.browser,
            Conditions::Node => &self.node,
        };
        if let Some(code) = cell.get() {
            return Ok(code);
        }
        let locked = match Locked::of(&self.directory) {
            Ok(Locked::Whole) => None,
            Ok(Locked::Files(files)) => Some(files),
            Ok(Locked::Differs(differences)) => return Err(self.refuse(&differences)),
            Err(fault) => {
                self.refused.store(true, Ordering::Relaxed);
                return Err(not_run(&self.module, &fault.to_string()));
            }
        };
        let package =
            Package::new(&self.directory, &self.specifier, conditions, locked).map_err(|error| {
                ToolError::execution(format!("{} cannot be read: {error}", self.directory.display()))
            })?;
        Ok(cell.get_or_init(|| Code::of_package(self.specifier.clone(), package)))
    }
}

/// Whether a function failed for something that this engine does not have: some packages load without it,
/// and then use it.
fn lacks_something(output: &ToolOutput) -> bool {
    let text = output.as_text();
    if !is_error(&text) {
        return false;
    }
    let error = Outcome::parse(text.as_bytes()).ok().and_then(|outcome| outcome.error);
    error.is_some_and(|error| {
        let is_reference = error.name == "ReferenceError" && error.message.ends_with(" is not defined");
        is_reference || error.code.as_ref().and_then(Value::as_str) == Some(UNAVAILABLE)
    })
}

/// As the runner writes outcomes: the library threw.
fn is_error(outcome: &str) -> bool {
    outcome.starts_with(r#"{"error""#)
}

/// Time and memory are spent on either side alike.
pub(super) fn can_be_cured(error: &ToolError) -> bool {
    !matches!(error.kind, ErrorKind::Timeout | ErrorKind::Cancelled | ErrorKind::MemoryLimit)
}
