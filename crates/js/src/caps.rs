//! Manifests ask for more than scripts usually get; the user's policy says how much more they may have.

use std::time::Duration;

use crate::{loader::LoadedTool, manifest::MOST};

/// The most that a manifest gets of what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// In bytes.
    pub heap: usize,
    pub stack: usize,
    pub timeout: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self { heap: 256 << 20, stack: 4096 << 10, timeout: MOST.timeout }
    }
}

/// What a manifest asks for by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub heap: Option<usize>,
    pub stack: Option<usize>,
    pub timeout: Option<Duration>,
}

impl Caps {
    /// Takes from a tool what is above, and says what it asked for. What it has without asking is taken silently.
    pub(crate) fn apply(&self, tool: &mut LoadedTool) -> Vec<String> {
        tool.limits = tool.limits.within(self);
        tool.definition.timeout = tool.definition.timeout.min(self.timeout);
        let asked = &tool.asked;
        let heap = asked
            .heap
            .filter(|heap| *heap > self.heap)
            .map(|heap| format!("Asks for {} MB heap; the policy allows {}", heap >> 20, self.heap >> 20));
        let stack = asked.stack.filter(|stack| *stack > self.stack).map(|stack| {
            format!("Asks for {} KB stack; the policy allows {}", stack >> 10, self.stack >> 10)
        });
        let timeout = asked.timeout.filter(|timeout| *timeout > self.timeout).map(|timeout| {
            let (timeout, most) = (timeout.as_secs_f64(), self.timeout.as_secs_f64());
            format!("Asks for a timeout of {timeout} s; the policy allows {most}")
        });
        [heap, stack, timeout].into_iter().flatten().collect()
    }
}
