//! The policy and the tools that are switched off, as they are written down somewhere, and obeyed anew when that changes.
//!
//! Nothing widens by accident: what cannot be read changes nothing, and neither does what is still being written.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use pinza_core::{Engine, Policy};
use pinza_js::Problem;

/// What is written anew is read again after so long: a file that is emptied and then written is whole by then.
const SETTLING: Duration = Duration::from_millis(20);
/// Whoever writes without end is not waited for. The end of it brings another look.
const MOST_READS: usize = 10;

/// Where policy and switches are written down.
pub trait SettingsSource: Send + Sync {
    /// The files to look at again when they change.
    fn files(&self) -> Vec<PathBuf>;

    /// What they say now: all of it, with what holds beside the files. While there is a problem, the last ones hold.
    fn read(&self) -> Result<Settings, Problem>;
}

/// What may change while tools run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub policy: Policy,
    /// Tools and sets.
    pub disabled: Vec<String>,
}

/// The settings that hold.
pub(crate) struct Obeyed {
    engine: Arc<Engine>,
    source: Option<Arc<dyn SettingsSource>>,
    /// A std lock, held while the source is read: an older reading never takes the place of a newer one.
    last: Mutex<Settings>,
}

impl Obeyed {
    /// The engine has the policy of these settings already.
    pub(crate) fn new(
        engine: Arc<Engine>,
        settings: Settings,
        source: Option<Arc<dyn SettingsSource>>,
    ) -> Self {
        Self { engine, source, last: Mutex::new(settings) }
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.source.as_ref().map(|source| source.files()).unwrap_or_default()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn disabled(&self) -> Vec<String> {
        self.last().disabled.clone()
    }

    /// Obeys what is written now, for whoever has just written it. Blocking: it reads a file.
    pub(crate) fn renew(&self) -> Option<Problem> {
        let source = self.source.as_ref()?;
        let mut last = self.last();
        self.obey(&mut last, source.read())
    }

    /// Obeys what is written once it stays the same.
    pub(crate) fn renew_settled(&self) -> Option<Problem> {
        let source = self.source.as_ref()?;
        let mut read = source.read();
        for _ in 0..MOST_READS {
            if read.as_ref() == Ok(&*self.last()) {
                return None;
            }
            // Not under the lock: a call may be about to write.
            thread::sleep(SETTLING);
            let mut last = self.last();
            let again = source.read();
            if again == read {
                return self.obey(&mut last, again);
            }
            read = again;
        }
        read.err()
    }

    fn obey(&self, last: &mut Settings, read: Result<Settings, Problem>) -> Option<Problem> {
        match read {
            Err(problem) => Some(problem),
            Ok(settings) => {
                if settings.policy != last.policy {
                    self.engine.set_policy(settings.policy.clone());
                }
                *last = settings;
                None
            }
        }
    }

    fn last(&self) -> MutexGuard<'_, Settings> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use pinza_core::{Rule, Verdict};

    use super::*;

    /// Says one thing after the other, and the last for ever.
    struct Says(Mutex<VecDeque<Result<Settings, Problem>>>);

    impl SettingsSource for Says {
        fn files(&self) -> Vec<PathBuf> {
            Vec::new()
        }

        fn read(&self) -> Result<Settings, Problem> {
            let mut left = self.0.lock().unwrap();
            if left.len() > 1 { left.pop_front().unwrap() } else { left.front().unwrap().clone() }
        }
    }

    fn denying(capability: &str) -> Settings {
        let policy = Policy::new([Rule::capability(Verdict::Deny, capability)], []);
        Settings { policy, disabled: vec![capability.to_owned()] }
    }

    fn problem() -> Problem {
        let (file, message) = ("config.toml".into(), "broken".into());
        Problem { file, entry: None, message, line: None, column: None, warning: false }
    }

    #[test]
    fn what_does_not_stay_the_same_is_not_obeyed() {
        let endless = || (0..MOST_READS + 5).map(|number| Ok(denying(&number.to_string())));
        let cases = [
            (vec![Ok(denying("new"))], "new", None),
            (vec![Ok(Settings::default()), Ok(denying("new"))], "new", None),
            (vec![Err(problem()), Ok(denying("new"))], "new", None),
            (vec![Err(problem())], "old", Some(problem())),
            (endless().collect(), "old", None),
        ];
        for (said, expected, problem) in cases {
            let old = denying("old");
            let engine = Arc::new(Engine::new(old.policy.clone()));
            let source = Arc::new(Says(Mutex::new(said.clone().into())));
            let obeyed = Obeyed::new(Arc::clone(&engine), old, Some(source));
            assert_eq!(obeyed.renew_settled(), problem, "{said:?}");
            assert_eq!(*engine.policy(), denying(expected).policy, "{said:?}");
            assert_eq!(obeyed.disabled(), [expected], "{said:?}");
        }
    }
}
