//! A model that makes the same failing call again and again learns nothing from it.

use pinza_core::ErrorKind;

use super::TalkError;
use crate::message::{Call, CallResult};

/// How often in a row.
const TIMES: u8 = 3;

#[derive(Debug, Default)]
pub(super) struct Repeated {
    last: Option<(String, u8)>,
}

impl Repeated {
    /// Counts a round. One call that went well, or another one that failed, begins the count anew.
    pub(super) fn count(&mut self, calls: &[Call], results: &[CallResult]) -> Result<(), TalkError> {
        for (call, result) in calls.iter().zip(results) {
            let error = match &result.result {
                // Whoever cancels or denies may think better of it.
                Err(error) if !matches!(error.kind, ErrorKind::Cancelled | ErrorKind::PermissionDenied) => {
                    error
                }
                _ => {
                    self.last = None;
                    continue;
                }
            };
            let text = format!("{} {} {:?} {error}", call.name, call.arguments, call.malformed);
            let times = match &self.last {
                Some((last, times)) if *last == text => times + 1,
                _ => 1,
            };
            if times >= TIMES {
                let (tool, message) = (call.name.clone(), error.to_string());
                return Err(TalkError::Repeated { tool, times, message });
            }
            self.last = Some((text, times));
        }
        Ok(())
    }
}
