//! The guard: which addresses a hop may connect to.

use std::{net::IpAddr, sync::Arc, time::Duration};

use pinza_core::{Capability, Permission, Permits, capability};
use tokio::time::timeout;
use url::{Host, Url};

use super::{
    address::{AddressClass, classify},
    error::HttpError,
    request::shown,
    resolve::Resolve,
};

/// Addresses of the URL's host, without judging them.
pub(super) async fn addresses(
    url: &Url,
    resolver: &dyn Resolve,
    limit: Duration,
) -> Result<Arc<[IpAddr]>, HttpError> {
    let name = match url.host() {
        Some(Host::Ipv4(address)) => return Ok(Arc::new([address.into()])),
        Some(Host::Ipv6(address)) => return Ok(Arc::new([address.into()])),
        Some(Host::Domain(name)) => name,
        None => return Err(HttpError::InvalidUrl { url: shown(url) }),
    };
    match timeout(limit, resolver.resolve(name)).await {
        Err(_) => Err(HttpError::TimedOut),
        Ok(Ok(found)) if !found.is_empty() => Ok(found.into()),
        Ok(_) => Err(HttpError::Unresolvable { host: name.to_owned() }),
    }
}

/// Refuses forbidden addresses, and asks before a private one is touched. One private
/// address among public ones counts: which of them is connected is up to chance.
pub(super) async fn vet(url: &Url, addresses: &[IpAddr], permits: &dyn Permits) -> Result<(), HttpError> {
    let host = url.host_str().unwrap_or_default();
    let worst = addresses.iter().max_by_key(|address| classify(**address));
    match worst.map(|address| (classify(*address), address)) {
        Some((AddressClass::Public, _)) => Ok(()),
        Some((AddressClass::Private, address)) => {
            let detail = format!("{host} is at {address}, on this machine or in a private network");
            ask(capability::NET_PRIVATE, url, Some(detail), permits).await
        }
        Some((AddressClass::Forbidden, address)) => {
            Err(HttpError::ForbiddenAddress { host: host.to_owned(), address: *address })
        }
        None => Err(HttpError::Unresolvable { host: host.to_owned() }),
    }
}

pub(super) async fn ask(
    capability: &'static str,
    url: &Url,
    detail: Option<String>,
    permits: &dyn Permits,
) -> Result<(), HttpError> {
    let permission = Permission::new(Capability::known(capability)).about("url", shown(url));
    permits.permit(Permission { detail, ..permission }).await.map_err(HttpError::Denied)
}
