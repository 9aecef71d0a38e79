//! Finds tools by what they are for: thousands of them, offline, in well under a millisecond.
//!
//! A request is words; so is a tool: its name, group, description, parameters, keywords and
//! examples. Both are taken apart the same way (`words`), widened by concepts (`thesaurus`) and
//! compared by BM25 (`index`). What a ranking is made of stands in `rank`. A table of word
//! vectors may be fused in (`vectors`), but nothing depends on it.
//!
//! An index knows nothing of rights: whoever searches says which tools there are for them.

mod document;
mod index;
mod near;
mod query;
mod rank;
mod signature;
mod thesaurus;
mod vectors;
mod words;

pub use document::{Document, ParameterText};
pub use rank::{Hit, Index, Search};
pub use signature::{also, signature};
pub use vectors::WordTable;
