//! What runs beside a library and calls it as a plan says: one JavaScript expression, the same in the
//! embedded engine and in Node.
//!
//! Its value is `(library) => invoke`. `invoke(plan)` answers with a promise of the outcome's text, and
//! `invoke.describe({ init, functions })` with one that says for each function whether it is there. Plans
//! and outcomes are plain JSON; an instance or a kept object never leaves the runner that made it.

/// Evaluate it before the library: it captures the built-ins that it needs.
pub(crate) const SOURCE: &str = concat!(
    "(() => { \"use strict\";\n",
    include_str!("start.js"),
    include_str!("json.js"),
    include_str!("errors.js"),
    include_str!("paths.js"),
    include_str!("calls.js"),
    "return makeRunner; })()"
);

#[cfg(test)]
mod tests;
