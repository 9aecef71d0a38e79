//! What tools reach of the state: opened when the first of them is called, because most programs
//! that list tools never need it.

use std::sync::Arc;

use pinza_core::{ErrorKind, ToolError};
use pinza_state::{StateError, Store};

/// Opens the state, or hands out the one that is open.
pub type OpenState = Arc<dyn Fn() -> Result<Store, StateError> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct State(pub(crate) OpenState);

impl State {
    pub(crate) fn open(&self) -> Result<Store, ToolError> {
        (self.0)().map_err(|error| explain(&error))
    }
}

pub(crate) fn explain(error: &StateError) -> ToolError {
    match error {
        StateError::NoMemory(id) => ToolError::new(ErrorKind::NotFound, format!("There is no memory {id}")),
        other => ToolError::execution(other.to_string()),
    }
}
