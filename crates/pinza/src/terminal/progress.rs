//! How far something long has come: a bar on a terminal, plain lines elsewhere.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Printer, write_stderr};

const TICK: Duration = Duration::from_millis(100);

/// Steps that are told one by one; gone from the screen when it is dropped.
pub(crate) struct Progress {
    told: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(printer: &Printer, steps: u64) -> Self {
        let told = printer.tells_progress();
        let bar = (told && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(steps);
            let style = ProgressStyle::with_template("{spinner} [{bar:16}] {msg} ({elapsed})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { told, bar }
    }

    /// The next step begins.
    pub(crate) fn step(&self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(what.to_owned());
                bar.inc(1);
            }
            None if self.told => write_stderr(&format!("{what} …\n")),
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
