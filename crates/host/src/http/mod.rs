//! HTTP on tools' behalf, through a guard that a hostile URL, server or resolver cannot pass.
//!
//! What is defended: the private network behind this machine and the cloud's metadata
//! service (`address`, `guard`), credentials (`hop`: nothing follows a redirect to another
//! origin unless it is harmless), and this process's memory and time (`response`, timeouts).
//!
//! How: redirects are followed by our own loop. On every hop the host's addresses are looked
//! up once, classified, and the connection goes to exactly those: the transport has no
//! resolver of its own, so a second, different DNS answer is never asked for. Proxy variables
//! are ignored, because a proxy would resolve and connect out of our sight.

mod address;
mod client;
mod error;
mod guard;
mod hop;
mod request;
mod resolve;
mod response;
mod rewrite;
mod tls;
mod transport;

pub use address::{AddressClass, classify};
pub use client::{HttpClient, HttpOptions};
pub use error::HttpError;
pub use request::{HttpRequest, Redirects};
pub use resolve::{Resolve, SystemResolver};
pub use response::HttpResponse;
pub use rewrite::RewriteError;
pub use tls::{BuiltClient, build_client};
