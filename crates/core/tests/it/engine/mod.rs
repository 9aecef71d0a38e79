//! The way of a call: down once, up once, exactly one outcome.

mod answers;
mod batches;
mod cancellation;
mod clocks;
mod forwarded;
mod nested;
mod outputs;
mod panics;
