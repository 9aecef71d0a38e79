//! The list of tools as it was written last, for clients that ask again.
//!
//! It is long, it is asked for again and again, and it changes seldom. What is kept is the answer that the
//! protocol's own code gave to the same parameters on the same connection, as long as the tools are the same; so
//! an answer from here differs from that one in its id alone.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Exposure, Shared,
    front::{Front, Late, Params},
    listing::Listing,
};
use crate::object::Object;

const METHOD: &str = "tools/list";
/// A request for a list that is longer is an odd one.
const LONGEST: usize = 4096;
/// Lists that are on their way at one time. A request that was given up is never answered, so it must make place.
const AWAITED: usize = 8;

pub(super) struct Memo {
    late: Arc<Late>,
    /// Of the protocol, as it was agreed upon.
    revision: Option<String>,
    awaited: Vec<(RequestId, Asked)>,
    known: Option<(Asked, Arc<[u8]>)>,
}

/// What an answer depends on. The listing is kept with it, so that its address is its own.
struct Asked {
    params: Params,
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
    pub(super) fn new(late: Arc<Late>) -> Self {
        Self { late, revision: None, awaited: Vec::new(), known: None }
    }

    pub(super) fn late(&self) -> &Arc<Late> {
        &self.late
    }

    /// The answer to a line, if it is known. If it is not but could come to be, its answer is awaited.
    pub(super) fn answer(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let request = list_request(line)?;
        // No parameters are written in two ways.
        let params = request.params.map(RawValue::get).filter(|text| *text != "{}");
        let params = Params { revision: self.revision.clone(), params: params.map(Into::into) };
        let Some(shared) = self.late.loaded() else {
            return response(&request.id, self.late.listed(&params)?);
        };
        let listing = listed(shared)?;
        if let Some((asked, result)) = &self.known
            && Arc::ptr_eq(&asked.listing, &listing)
            && asked.params == params
        {
            return response(&request.id, result);
        }
        if self.awaited.len() >= AWAITED {
            self.awaited.remove(0);
        }
        self.awaited.push((request.id, Asked { params, listing }));
        None
    }

    /// A client that begins anew may come to speak another revision.
    pub(super) fn hear(&mut self, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::InitializeRequest(_))
        {
            self.revision = None;
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
        if let Some(ServerResult::InitializeResult(agreed)) = result {
            self.revision = Some(agreed.protocol_version.to_string());
        }
        let place = self.awaited.iter().position(|(awaited, _)| awaited == id)?;
        let (_, asked) = self.awaited.remove(place);
        let result: Arc<[u8]> = serde_json::to_vec(result?).ok()?.into();
        let line = response(id, &result);
        if let Some(shared) = self.late.loaded()
            && let Some(keep) = &shared.served.keep_front
        {
            keep(&Front::new(shared, &asked.listing, &asked.params, &result));
        }
        self.known = Some((asked, result));
        line
    }
}

/// What is listed now; `None` if that is not the same for all requests of a connection.
fn listed(shared: &Shared) -> Option<Arc<Listing>> {
    match shared.served.exposure {
        // A list that grows is another one for each request.
        Exposure::Dynamic => None,
        exposure => Some(shared.listing(exposure, &[])),
    }
}

fn list_request(line: &[u8]) -> Option<Request<'_>> {
    // Most lines are no such request, and it is cheap to see.
    if line.len() > LONGEST || !line.windows(METHOD.len()).any(|part| part == METHOD.as_bytes()) {
        return None;
    }
    let Object(request): Object<Request<'_>> = serde_json::from_slice(line).ok()?;
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
