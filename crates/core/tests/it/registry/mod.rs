//! Which tools there are, before any of them is called.

mod catalog;
mod factories;
mod groups;
mod snapshots;
