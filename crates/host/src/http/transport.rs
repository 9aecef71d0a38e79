//! The one reqwest client beneath, stripped of everything it would decide by itself:
//! redirects, proxies, name resolution, reuse of connections.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use url::Url;

use super::{
    error::HttpError,
    hop::Hop,
    resolve::{VETTED, VettedOnly},
    tls::build_client,
};

#[derive(Debug)]
pub(super) struct Transport {
    client: reqwest::Client,
    /// Whether there are CA certificates to check servers with.
    https: bool,
}

impl Transport {
    pub(super) fn new(user_agent: &str, connect: Duration) -> Result<Self, HttpError> {
        let builder = || {
            reqwest::Client::builder()
                .user_agent(user_agent)
                .connect_timeout(connect)
                .no_proxy()
                .referer(false)
                .redirect(reqwest::redirect::Policy::none())
                .dns_resolver(VettedOnly)
                // Every hop is vetted for itself, so no connection outlives its hop.
                .pool_max_idle_per_host(0)
        };
        let built = build_client(builder);
        let built = built.map_err(|error| HttpError::Failed { reason: error.to_string() })?;
        Ok(Self { client: built.client, https: built.https })
    }

    /// Sends the hop to `target` (its own URL, or the user's detour) at the vetted addresses.
    pub(super) async fn send(
        &self,
        hop: &Hop,
        target: Url,
        vetted: Arc<[IpAddr]>,
        limit: Duration,
    ) -> Result<reqwest::Response, HttpError> {
        if target.scheme() == "https" && !self.https {
            return Err(HttpError::NoCertificates);
        }
        // The builder turns the URL's credentials into basic authorization; an explicit
        // header, set after it, wins.
        let mut request = self.client.request(hop.method.clone(), target).headers(hop.headers.clone());
        if let Some(body) = &hop.body {
            if body.is_empty() {
                // Many servers refuse a POST that does not say how long it is.
                request = request.header(reqwest::header::CONTENT_LENGTH, "0");
            }
            request = request.body(body.clone());
        }
        let sending = VETTED.scope(vetted.clone(), request.send());
        let response = match tokio::time::timeout(limit, sending).await {
            Err(_) => return Err(HttpError::TimedOut),
            Ok(sent) => sent.map_err(|error| HttpError::of_transport(error, &hop.written))?,
        };
        check_peer(response.remote_addr(), &vetted)?;
        Ok(response)
    }
}

/// The second line: whatever the layers below did, an answer from an address that was not
/// vetted is not handed on.
fn check_peer(peer: Option<SocketAddr>, vetted: &[IpAddr]) -> Result<(), HttpError> {
    let peer = peer.map(|peer| peer.ip().to_canonical());
    let is_peer = |address: &IpAddr| match address.to_canonical() {
        // A connection to 0.0.0.0 or :: arrives at this machine.
        address if address.is_unspecified() => peer.is_some_and(|peer| peer.is_loopback()),
        address => peer == Some(address),
    };
    if vetted.iter().any(is_peer) {
        return Ok(());
    }
    Err(HttpError::Failed { reason: "the answer came from an address that was not checked".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vetted_peers_answer() {
        let vetted: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        for (peer, fine) in [
            ("192.0.2.1:80", true),
            ("[::ffff:192.0.2.1]:80", true),
            ("[2001:db8::1]:443", true),
            ("192.0.2.2:80", false),
            ("127.0.0.1:80", false),
        ] {
            assert_eq!(check_peer(peer.parse().ok(), &vetted).is_ok(), fine, "{peer}");
        }
        assert!(check_peer(None, &vetted).is_err());
        let here: [IpAddr; 1] = ["0.0.0.0".parse().unwrap()];
        assert!(check_peer("127.0.0.1:80".parse().ok(), &here).is_ok());
        assert!(check_peer("192.0.2.1:80".parse().ok(), &here).is_err());
    }

    #[tokio::test]
    async fn nothing_connects_outside_of_a_hop() {
        let transport = Transport::new("test", Duration::from_secs(5)).unwrap();
        let error = transport.client.get("http://localhost:9/").send().await.unwrap_err();
        let error = HttpError::of_transport(error, "");
        let reason = "a connection was tried outside of a vetted hop".to_owned();
        assert_eq!(error, HttpError::Failed { reason });
    }
}
