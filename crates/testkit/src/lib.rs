//! For tests only: fakes that every suite shares.

pub mod wire;

pub use wire::{RecordedRequest, Reply, WireServer};
