//! Names to addresses: asked once a hop, by the guard alone.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use pinza_core::BoxFuture;

/// A source of addresses. A zone id cannot be expressed, so none can slip in.
pub trait Resolve: Send + Sync + fmt::Debug {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

tokio::task_local! {
    /// The vetted addresses of the hop that this task is about to connect.
    pub(super) static VETTED: Arc<[IpAddr]>;
}

/// The transport's resolver: it knows no names, only what the guard has vetted for the
/// running hop. Outside of a hop it fails, so a connection that nobody vetted cannot happen.
#[derive(Debug)]
pub(super) struct VettedOnly;

impl reqwest::dns::Resolve for VettedOnly {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let answer = match VETTED.try_with(Arc::clone) {
            // Port 0 stands for the URL's own.
            Ok(vetted) => Ok(vetted.iter().map(|ip| SocketAddr::new(*ip, 0)).collect::<Vec<_>>()),
            Err(_) => Err("a connection was tried outside of a vetted hop".into()),
        };
        Box::pin(std::future::ready(
            answer.map(|addresses| Box::new(addresses.into_iter()) as reqwest::dns::Addrs),
        ))
    }
}
