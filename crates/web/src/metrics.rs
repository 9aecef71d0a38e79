//! What has been called, how often and for how long, in the text format that Prometheus reads.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pinza_core::{CallObserver, ErrorKind, Finished, Started};

/// Tools that are counted one by one. More of them come from nobody who only uses tools.
const TOOLS: usize = 10_000;
/// Stands for names that are no tool's: whoever calls could make up any number of them.
const NO_TOOL: &str = "";

/// Counts calls. The lock is held for a moment, never across an await.
#[derive(Debug, Default)]
pub struct CallMeter {
    counts: Mutex<BTreeMap<(String, &'static str), Count>>,
    started: AtomicU64,
    ended: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    calls: u64,
    time: Duration,
}

impl CallMeter {
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls that run now.
    pub fn running(&self) -> u64 {
        let ended = self.ended.load(Ordering::Acquire);
        self.started.load(Ordering::Acquire).saturating_sub(ended)
    }

    /// Everything, as text. `tools` is how many there are now.
    pub fn text(&self, version: &str, tools: usize) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP pinza_info The running program.\n# TYPE pinza_info gauge");
        let _ = writeln!(text, "pinza_info{{version=\"{version}\"}} 1");
        let _ = writeln!(text, "# HELP pinza_tools Tools that there are.\n# TYPE pinza_tools gauge");
        let _ = writeln!(text, "pinza_tools {tools}");
        let _ = writeln!(
            text,
            "# HELP pinza_calls_running Calls that run now.\n# TYPE pinza_calls_running gauge"
        );
        let _ = writeln!(text, "pinza_calls_running {}", self.running());
        text.push_str("# HELP pinza_call_seconds Answered calls and the time they took.\n");
        text.push_str("# TYPE pinza_call_seconds summary\n");
        for ((tool, status), count) in &counts {
            let labels = format!("{{tool=\"{tool}\",status=\"{status}\"}}");
            let _ = writeln!(text, "pinza_call_seconds_count{labels} {}", count.calls);
            let _ = writeln!(text, "pinza_call_seconds_sum{labels} {}", count.time.as_secs_f64());
        }
        text
    }
}

impl CallObserver for CallMeter {
    fn started(&self, _call: &Started<'_>) {
        self.started.fetch_add(1, Ordering::AcqRel);
    }

    fn finished(&self, call: &Finished<'_>) {
        if call.arguments.is_some() {
            self.ended.fetch_add(1, Ordering::AcqRel);
        }
        let (tool, status) = match call.result {
            Ok(_) => (call.of.tool, "success"),
            Err(error) if error.kind == ErrorKind::ToolNotFound => (NO_TOOL, error.kind.code()),
            Err(error) => (call.of.tool, error.kind.code()),
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= TOOLS && !counts.contains_key(&(tool.to_owned(), status)) {
            return;
        }
        let count = counts.entry((tool.to_owned(), status)).or_default();
        count.calls += 1;
        count.time += call.duration;
    }
}
