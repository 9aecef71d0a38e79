//! Stub, replaced in a moment.
use crate::{error::ToolError, tool::Permission};
pub(crate) struct Gate {}
impl Gate {
    pub(crate) async fn pass_pausing(&self, _permission: Permission) -> Result<(), ToolError> { Ok(()) }
}
