//! What `module add` needs to know of an npm package that lies installed on disk.
//!
//! Nothing of a package is run here: its files are listed ([`tree`]), its imports followed
//! ([`resolve`], [`imports`]), and from that come the [`verdict`] on whether it can run, a
//! [`draft`] of its `module.json` and a [`lock`] that says what was installed. A package is
//! somebody else's: all reading is bounded, and stays beneath the module's own `node_modules`.

mod draft;
mod imports;
mod installed;
mod json;
mod lock;
mod locked;
mod parse;
mod resolve;
mod tree;
mod verdict;

pub use draft::{Draft, DraftFault, DraftWish, DraftedTool, LeftOut};
pub use installed::{Installed, PackageFault};
pub use lock::{Difference, LOCK_FILE, Lock, LockFault, LockState, LockedPackage, check_lock};
pub(crate) use locked::{Found, Locked, LockedFiles};
pub use verdict::{BuiltinUse, Concern, ModuleSystem, PackageVerdict, RunsOn};
