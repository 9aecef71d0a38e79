//! For tests only: fakes that every suite shares.

pub mod model;
pub mod picture;
pub mod program;
pub mod terminal;
pub mod wire;

pub use model::{ModelServer, Script};
pub use program::{Program, Run, finish};
pub use terminal::Terminal;
pub use wire::{RecordedRequest, Reply, WireServer};
