//! The engine's memory, and with it all of this crate's unsafe code.
//!
//! [`arena`] keeps a whole engine in one mapping, whose image is copied back after each call, as far as
//! [`pages`] says that it was changed;
//! [`metered`] counts what an engine on the ordinary heap uses, where there is no arena; [`raw`]
//! has the few calls of the engine that rquickjs offers only as unsafe ones.
//!
//! In both kinds of memory a script over its limit does not get a null pointer: quickjs-ng can
//! crash when an allocation fails at the wrong moment (its garbage collector runs over half-built
//! objects). The process ends with [`OUT_OF_MEMORY`] instead, which Pinza answers as
//! `memory_limit`, and another worker takes its place. Only a single request that no heap could
//! hold is refused.

#![expect(unsafe_code, reason = "the engine's memory and its interface are made of raw pointers")]

mod arena;
mod metered;
mod pages;
mod raw;

pub(super) use arena::{Arena, Image};
pub(super) use metered::{Meter, Metered};
pub(super) use raw::{Compiled, Mode, collect_after, collect_garbage, copy_bytes, load_kept, load_own};

/// The exit code of a worker whose script ran out of memory.
pub(crate) const OUT_OF_MEMORY: i32 = 86;

/// Whether `size` more bytes fit. Ends the process where they do not, unless the request by
/// itself is larger than the whole limit: that one is refused.
fn admits(used: usize, size: usize, limit: usize) -> bool {
    if used.saturating_add(size) <= limit {
        return true;
    }
    if size > limit {
        return false;
    }
    out_of_memory()
}

#[expect(clippy::exit, reason = "the engine cannot go on, and cannot be told so either")]
fn out_of_memory() -> ! {
    std::process::exit(OUT_OF_MEMORY)
}
