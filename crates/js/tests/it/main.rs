//! JavaScript tools through real workers.

mod calls;
mod support;
