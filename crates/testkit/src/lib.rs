//! For tests only: fakes that every suite shares.

pub mod program;
pub mod wire;

pub use program::{Program, Run};
pub use wire::{RecordedRequest, Reply, WireServer};
