//! Hostile and plain use of each part of the host, through its public interface.

mod files;
mod http;
mod process;
mod secrets;
