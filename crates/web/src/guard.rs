//! Who may come in: the names that a request may be addressed to, the pages that may send one, and the token.
//!
//! A web page that a user looks at can send requests to this machine, and by rebinding a name of its own
//! it can even read the answers. What it cannot do is to hide its name: `Host` and `Origin` tell. Whoever
//! comes from another machine has to show a token, whatever the names say.

use std::{hint::black_box, net::IpAddr, net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

/// What a client proves that it may come in with.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// `None` for a text that cannot be a token.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.into()))
    }

    /// Takes the same time wherever the texts differ.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differs =
            given.iter().enumerate().fold(u8::from(own.len() != given.len()), |differs, (at, byte)| {
                black_box(differs | (byte ^ own[at % own.len()]))
            });
        differs == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

#[derive(Clone, Debug)]
pub struct Guard {
    names: Names,
    token: Option<Token>,
}

#[derive(Clone, Debug)]
enum Names {
    /// Only this machine can reach it, and only under its own names for itself.
    Loopback,
    /// Addresses, which no name can be rebound to, and these names.
    Given(Arc<[String]>),
}

/// A listener that other machines reach needs a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("without a token only this machine may come in")]
pub struct NeedsToken;

impl Guard {
    /// For a listener on this address. `names` are those that other machines know this one by.
    pub fn new(
        address: SocketAddr,
        names: impl IntoIterator<Item = String>,
        token: Option<Token>,
    ) -> Result<Self, NeedsToken> {
        let names: Arc<[String]> = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        match (address.ip().to_canonical().is_loopback(), &token) {
            (true, _) if names.is_empty() => Ok(Self { names: Names::Loopback, token }),
            (true, _) | (false, Some(_)) => Ok(Self { names: Names::Given(names), token }),
            (false, None) => Err(NeedsToken),
        }
    }

    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = host(uri, headers).ok_or(Refusal::Host)?;
        if !self.is_named(&host) {
            return Err(Refusal::Host);
        }
        // Only browsers send it, for a page: which must be one that came from here.
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().ok().and_then(origin_authority).ok_or(Refusal::Origin)?;
            if !same_place(&origin, &host) {
                return Err(Refusal::Origin);
            }
        }
        Ok(())
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, text)) = one.to_str().ok().and_then(|text| text.split_once(' ')) else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && token.is(text.trim())
    }

    fn is_named(&self, host: &Authority) -> bool {
        let name = bare(host);
        let address: Option<IpAddr> = name.parse().ok();
        let is_here =
            name == "localhost" || address.is_some_and(|address| address.to_canonical().is_loopback());
        match &self.names {
            Names::Loopback => is_here,
            Names::Given(names) => is_here || address.is_some() || names.contains(&name),
        }
    }
}

/// Every request passes here first.
pub(crate) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = guard.check(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    // Whether it is alive is no secret, and whoever watches it has no token.
    if request.uri().path() != "/healthz" && !guard.admits(request.headers()) {
        let ask = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, ask, "a token is needed: Authorization: Bearer …\n")
            .into_response();
    }
    next.run(request).await
}

enum Refusal {
    Host,
    Origin,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let reason = match self {
            Self::Host => "this server is not known by that Host\n",
            Self::Origin => "pages of that Origin may not send requests here\n",
        };
        (StatusCode::FORBIDDEN, reason).into_response()
    }
}

/// The one authority that a request is addressed to. Two of them are none.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut given = headers.get_all(header::HOST).iter();
    match (given.next(), given.next(), uri.authority()) {
        (Some(host), None, None) => parse(host.to_str().ok()?),
        (Some(host), None, Some(authority)) => {
            parse(host.to_str().ok()?).filter(|host| same_place(host, authority))
        }
        (None, None, Some(authority)) => parse(authority.as_str()),
        _ => None,
    }
}

fn origin_authority(origin: &str) -> Option<Authority> {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    parse(rest)
}

/// A name or address with or without a port, and nothing else.
fn parse(text: &str) -> Option<Authority> {
    text.parse::<Authority>().ok().filter(|authority| !authority.as_str().contains('@'))
}

fn same_place(one: &Authority, other: &Authority) -> bool {
    bare(one) == bare(other) && one.port_u16() == other.port_u16()
}

fn bare(authority: &Authority) -> String {
    authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn verdict(guard: &Guard, headers: &[(HeaderName, &str)]) -> Option<&'static str> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect();
        match guard.check(&Uri::from_static("/mcp"), &headers) {
            Ok(()) => None,
            Err(Refusal::Host) => Some("host"),
            Err(Refusal::Origin) => Some("origin"),
        }
    }

    fn guard(address: &str, names: &[&str], token: Option<&str>) -> Guard {
        let token = token.and_then(Token::new);
        Guard::new(address.parse().unwrap(), names.iter().map(ToString::to_string), token).unwrap()
    }

    #[test]
    fn a_loopback_listener_is_reached_by_loopback_names_only() {
        let guard = guard("127.0.0.1:7717", &[], None);
        let cases = [
            ("localhost:7717", None),
            ("LOCALHOST", None),
            ("127.0.0.1:7717", None),
            ("127.9.9.9", None),
            ("[::1]:7717", None),
            ("evil.example", Some("host")),
            ("localhost.evil.example", Some("host")),
            ("127.0.0.1.nip.io", Some("host")),
            ("evil@localhost", Some("host")),
            ("192.168.1.4", Some("host")),
            ("", Some("host")),
            ("local host", Some("host")),
        ];
        for (host, expected) in cases {
            assert_eq!(verdict(&guard, &[(header::HOST, host)]), expected, "{host}");
        }
        assert_eq!(verdict(&guard, &[]), Some("host"));
        let two = [(header::HOST, "localhost")];
        assert_eq!(verdict(&guard, &two), None);
    }

    #[test]
    fn a_page_must_come_from_here() {
        let guard = guard("127.0.0.1:7717", &[], None);
        let cases = [
            ("http://localhost:7717", None),
            ("http://localhost:3000", Some("origin")),
            ("http://127.0.0.1:7717", Some("origin")),
            ("http://evil.example", Some("origin")),
            ("https://localhost:7717", None),
            ("null", Some("origin")),
            ("file://", Some("origin")),
            ("http://localhost:7717@evil.example", Some("origin")),
        ];
        for (origin, expected) in cases {
            let headers = [(header::HOST, "localhost:7717"), (header::ORIGIN, origin)];
            assert_eq!(verdict(&guard, &headers), expected, "{origin}");
        }
    }

    #[test]
    fn beyond_loopback_a_token_is_needed_and_names_must_be_known() {
        let address: SocketAddr = "0.0.0.0:7717".parse().unwrap();
        assert_eq!(Guard::new(address, [], None).unwrap_err(), NeedsToken);
        let mapped: SocketAddr = "[::ffff:10.0.0.1]:7717".parse().unwrap();
        assert_eq!(Guard::new(mapped, [], None).unwrap_err(), NeedsToken);
        let guard = guard("0.0.0.0:7717", &["Pinza.example"], Some("s3cret"));
        for (host, expected) in
            [("192.168.1.4:7717", None), ("pinza.example", None), ("evil.example", Some("host"))]
        {
            assert_eq!(verdict(&guard, &[(header::HOST, host)]), expected, "{host}");
        }
    }

    #[test]
    fn only_the_token_is_the_token() {
        let guard = guard("0.0.0.0:1", &[], Some("s3cret"));
        let admits = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            guard.admits(&headers)
        };
        assert!(admits(&["Bearer s3cret"]));
        assert!(admits(&["bearer s3cret"]));
        let wrong = [
            "Bearer s3cre",
            "Bearer s3crett",
            "Bearer s3creT",
            "Bearer ",
            "Bearer",
            "Basic s3cret",
            "s3cret",
        ];
        for wrong in wrong {
            assert!(!admits(&[wrong]), "{wrong}");
        }
        assert!(!admits(&[]));
        assert!(!admits(&["Bearer s3cret", "Bearer s3cret"]));
        assert!(!admits(&["Bearer s3crets3cret"]));
    }
}
