//! The list of tools as it was written last, for clients that ask again.
//!
//! It is long, it is asked for again and again, and it changes seldom. What is kept is the answer that the
//! protocol's own code gave to the same parameters on the same connection, as long as the tools are the same; so
//! an answer from here differs from that one in its id alone.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::listing::Listing;

const METHOD: &str = "tools/list";
/// A request for a list that is longer is an odd one.
const LONGEST: usize = 4096;
/// Lists that are on their way at one time. A request that was given up is never answered, so it must make place.
const AWAITED: usize = 8;

/// What is listed now; `None` if that is not the same for all requests of a connection.
pub(super) type Listed = Box<dyn Fn() -> Option<Arc<Listing>> + Send>;

pub(super) struct Memo {
    listed: Listed,
    awaited: Vec<(RequestId, Asked)>,
    known: Option<(Asked, Arc<[u8]>)>,
}

/// What an answer depends on. The listing is kept with it, so that its address is its own.
struct Asked {
    params: Option<Box<str>>,
    listing: Arc<Listing>,
}

/// A request, strictly: whatever has anything else in it goes the usual way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Memo {
    pub(super) fn new(listed: Listed) -> Self {
        Self { listed, awaited: Vec::new(), known: None }
    }

    /// The answer to a line, if it is known. If it is not but could come to be, its answer is awaited.
    pub(super) fn answer(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let request = list_request(line)?;
        let listing = (self.listed)()?;
        let params = request.params.map(RawValue::get);
        if let Some((asked, result)) = &self.known
            && Arc::ptr_eq(&asked.listing, &listing)
            && asked.params.as_deref() == params
        {
            return response(&request.id, result);
        }
        if self.awaited.len() >= AWAITED {
            self.awaited.remove(0);
        }
        self.awaited.push((request.id, Asked { params: params.map(Into::into), listing }));
        None
    }

    /// A client that begins anew may come to speak another revision.
    pub(super) fn hear(&mut self, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::InitializeRequest(_))
        {
            self.known = None;
            self.awaited.clear();
        }
    }

    /// Keeps an answer that was awaited, and hands it out as it is written.
    pub(super) fn keep(&mut self, message: &ServerJsonRpcMessage) -> Option<Vec<u8>> {
        let (id, result) = match message {
            ServerJsonRpcMessage::Response(response) => (&response.id, Some(&response.result)),
            ServerJsonRpcMessage::Error(error) => (error.id.as_ref()?, None),
            _ => return None,
        };
        let place = self.awaited.iter().position(|(awaited, _)| awaited == id)?;
        let (_, asked) = self.awaited.remove(place);
        let result: Arc<[u8]> = serde_json::to_vec(result?).ok()?.into();
        let line = response(id, &result);
        self.known = Some((asked, result));
        line
    }
}

fn list_request(line: &[u8]) -> Option<Request<'_>> {
    // Most lines are no such request, and it is cheap to see.
    if line.len() > LONGEST || !line.windows(METHOD.len()).any(|part| part == METHOD.as_bytes()) {
        return None;
    }
    let request: Request<'_> = serde_json::from_slice(line).ok()?;
    (request.jsonrpc == "2.0" && request.method == METHOD).then_some(request)
}

/// A line without its end.
fn response(id: &RequestId, result: &[u8]) -> Option<Vec<u8>> {
    let mut line = Vec::with_capacity(result.len() + 64);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    serde_json::to_writer(&mut line, id).ok()?;
    line.extend_from_slice(br#","result":"#);
    line.extend_from_slice(result);
    line.push(b'}');
    Some(line)
}
