//! Signing in to an upstream: OAuth as the specification's authorization chapter wants it.
//!
//! rmcp knows the documents and the checks (discovery, metadata, PKCE, issuers, resources, scopes). What is ours: all its
//! requests go through the guarded HTTP client, one sign-in or refresh serves all callers, tokens and registrations are
//! kept encrypted and belong to one address, and a person is asked only where somebody is there to be asked.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use rmcp::transport::auth::{
    AuthorizationManager, OAuthClientConfig, ScopeUpgradeConfig, WWWAuthenticateParams,
};
use tokio::sync::Mutex;
use url::Url;

use super::{
    credentials::{Credentials, Registration, TokenStore},
    guarded::{GuardedClient, Reach},
    redirect::Redirect,
    services::{Browser, Services, expand},
    spec::{SignIn, UpstreamName},
};

/// How often scopes are added within one process; a server that wants ever more is not followed.
const STEP_UPS: u32 = 3;

pub(crate) struct Authorizer {
    name: UpstreamName,
    url: Url,
    sign_in: SignIn,
    services: Services,
    tokens: TokenStore,
    /// An async lock, because whoever signs in holds it until the token is there: the others wait and then find it.
    session: Mutex<Session>,
    step_ups: AtomicU32,
    people: People,
}

/// Whether somebody is signing in right now.
#[derive(Clone, Default)]
pub(crate) struct People(Arc<AtomicBool>);

impl People {
    pub(crate) fn are_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is known since the first sign-in or refresh of this process.
struct Session {
    manager: AuthorizationManager,
    /// Whether the manager has an authorization server's metadata and a client for it.
    is_ready: bool,
}

impl Authorizer {
    pub(crate) async fn new(
        name: &UpstreamName,
        url: &Url,
        sign_in: &SignIn,
        services: &Services,
        people: People,
    ) -> Result<Self, String> {
        let tokens = TokenStore::new(name, url, services);
        let client = Arc::new(GuardedClient::new(services.http.clone(), url));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(url.as_str(), client).await.map_err(told)?;
        manager.set_credential_store(tokens.clone());
        let mut upgrades = ScopeUpgradeConfig::default();
        upgrades.max_upgrade_attempts = STEP_UPS;
        manager.set_scope_upgrade_config(upgrades);
        Ok(Self {
            name: name.clone(),
            url: url.clone(),
            sign_in: sign_in.clone(),
            services: services.clone(),
            tokens,
            session: Mutex::new(Session { manager, is_ready: false }),
            step_ups: AtomicU32::new(0),
            people,
        })
    }

    /// The token to send, refreshed if it is about to end. None where nobody has signed in yet.
    pub(crate) async fn token(&self) -> Result<Option<String>, String> {
        let Some(kept) = self.tokens.current().await? else { return Ok(None) };
        if !kept.is_stale() {
            return Ok(kept.access_token());
        }
        let mut session = self.session.lock().await;
        // Somebody else may have been quicker.
        match self.tokens.reread().await? {
            Some(kept) if !kept.is_stale() => Ok(kept.access_token()),
            // What cannot be refreshed is sent as it is: the server says what it wants.
            Some(kept) => Ok(self.refresh(&mut session, &kept).await.or_else(|| kept.access_token())),
            None => Ok(None),
        }
    }

    /// After a 401: a new token, by refresh or by asking the person. `sent` is what the server did not take.
    pub(crate) async fn sign_in(&self, challenge: Option<&str>, sent: Option<&str>) -> Result<(), String> {
        let mut session = self.session.lock().await;
        if let Some(kept) = self.tokens.reread().await? {
            if kept.access_token().as_deref() != sent {
                return Ok(());
            }
            if sent.is_some() && self.refresh(&mut session, &kept).await.is_some() {
                return Ok(());
            }
        }
        self.authorize(&mut session, challenge, &[]).await
    }

    /// After a 403 that names further scopes: those that were granted, and these.
    pub(crate) async fn step_up(&self, challenge: &str, sent: Option<&str>) -> Result<(), String> {
        let mut session = self.session.lock().await;
        let kept = self.tokens.reread().await?;
        if kept.as_ref().is_some_and(|kept| kept.access_token().as_deref() != sent) {
            return Ok(());
        }
        if self.step_ups.fetch_add(1, Ordering::Relaxed) >= STEP_UPS {
            return Err(format!("the server asked for further rights more than {STEP_UPS} times"));
        }
        let wanted = WWWAuthenticateParams::parse(challenge, &self.url).scope.unwrap_or_default();
        let mut scopes = kept.map(|kept| kept.scopes().to_vec()).unwrap_or_default();
        for scope in wanted.split_whitespace() {
            if !scopes.iter().any(|known| known == scope) {
                scopes.push(scope.to_owned());
            }
        }
        self.authorize(&mut session, Some(challenge), &scopes).await
    }

    /// The refreshed token, or none where there is no way but a new sign-in.
    async fn refresh(&self, session: &mut Session, kept: &Credentials) -> Option<String> {
        if !kept.has_refresh_token() {
            return None;
        }
        if !session.is_ready {
            let found = session.manager.resolve_metadata().await.ok()?;
            // A token is for the server that gave it. Another one must not see it.
            if kept.issuer() != found.metadata.issuer.as_deref() {
                return None;
            }
            session.manager.set_metadata(found.metadata);
            session.manager.configure_client(kept.registration().config()).ok()?;
            session.is_ready = true;
        }
        session.manager.refresh_token().await.ok()?;
        self.tokens.current().await.ok().flatten()?.access_token()
    }

    /// Asks the person. `scopes` where it is known what to ask for, else what the server says.
    async fn authorize(
        &self,
        session: &mut Session,
        challenge: Option<&str>,
        scopes: &[String],
    ) -> Result<(), String> {
        let browser = self.services.browser.clone().ok_or_else(|| {
            format!("{} wants you to sign in. Do it with: pinza mcp test {}", self.name, self.name)
        })?;
        session.is_ready = false;
        let found = session.manager.resolve_metadata_from_challenge(challenge).await.map_err(told)?;
        let issuer = found.metadata.issuer.clone();
        let takes_metadata_urls =
            found.metadata.additional_fields.get("client_id_metadata_document_supported")
                == Some(&serde_json::Value::Bool(true));
        check_page(&self.url, &found.metadata.authorization_endpoint)?;
        session.manager.set_metadata(found.metadata);

        let scopes = match (scopes, self.sign_in.scopes.as_slice()) {
            ([], []) => session.manager.select_initial_scopes(&[]).await,
            ([], configured) => configured.to_vec(),
            (known, _) => known.to_vec(),
        };
        let kept = self.tokens.registration(issuer.as_deref()).await;
        let redirect = Redirect::bind(kept.as_ref().and_then(Registration::port)).await?;
        let registration =
            self.client(session, &redirect, kept, issuer.as_deref(), takes_metadata_urls, &scopes).await?;
        session.manager.configure_client(registration.config()).map_err(told)?;
        self.tokens.register(registration).await;

        let wanted: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let page = session.manager.get_authorization_url(&wanted).await.map_err(told)?;
        self.people.0.store(true, Ordering::Relaxed);
        let callback = match check_page(&self.url, &page) {
            Ok(()) => visit(&*browser, self.name.as_str(), &page, redirect).await,
            Err(error) => Err(error),
        };
        self.people.0.store(false, Ordering::Relaxed);
        let callback = callback?;
        session
            .manager
            .exchange_code_for_token_with_issuer(&callback.code, &callback.state, callback.issuer.as_deref())
            .await
            .map_err(told)?;
        session.is_ready = true;
        Ok(())
    }

    /// Who Pinza is for this authorization server: as configured, by a metadata document, as registered before, or
    /// registered now; in this order.
    async fn client(
        &self,
        session: &mut Session,
        redirect: &Redirect,
        kept: Option<Registration>,
        issuer: Option<&str>,
        takes_metadata_urls: bool,
        scopes: &[String],
    ) -> Result<Registration, String> {
        let address = redirect.address().to_owned();
        let issuer = issuer.map(str::to_owned);
        if let Some(id) = &self.sign_in.client_id {
            let look_up = |text: &String| expand(text, &*self.services.variables);
            let secret = self.sign_in.client_secret.as_ref().map(look_up).transpose()?;
            let secret = secret.map(|secret| secret.expose().to_owned());
            return Ok(Registration {
                client_id: id.clone(),
                client_secret: secret,
                redirect: address,
                issuer,
            });
        }
        if let Some(id) = self.sign_in.client_metadata_url.as_ref().filter(|_| takes_metadata_urls) {
            return Ok(Registration {
                client_id: id.clone(),
                client_secret: None,
                redirect: address,
                issuer,
            });
        }
        if let Some(kept) = kept.filter(|kept| kept.redirect == address) {
            return Ok(kept);
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered = session.manager.register_client("Pinza", &address, &scopes).await.map_err(|error| {
            format!(
                "Pinza cannot be registered with the authorization server: {}. Register it by hand and configure \
                 oauth.client_id",
                told(error)
            )
        })?;
        let OAuthClientConfig { client_id, client_secret, .. } = registered;
        Ok(Registration { client_id, client_secret, redirect: address, issuer })
    }
}

impl std::fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorizer").field("name", &self.name).finish_non_exhaustive()
    }
}

async fn visit(
    browser: &dyn Browser,
    server: &str,
    page: &str,
    redirect: Redirect,
) -> Result<super::redirect::Callback, String> {
    let came_back = redirect.wait();
    tokio::pin!(came_back);
    // The answer may come while the browser is still being opened.
    tokio::select! {
        answer = &mut came_back => return answer,
        opened = browser.open(server, page) => opened?,
    }
    came_back.await
}

/// A page that a person is sent to: no `file:`, no `javascript:`, no program that is registered for a scheme. And no page
/// of this machine or its network, unless the server is there: a browser there is signed in to other things.
fn check_page(upstream: &Url, address: &str) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| format!("the sign-in page is no address: {error}"))?;
    match url.scheme() {
        "http" | "https" if Reach::of(upstream).allows_page(&url) => Ok(()),
        "http" | "https" => Err(format!(
            "the sign-in page is at {}, on this machine or a private network, where a server may not send you",
            pinza_core::visible(url.host_str().unwrap_or_default())
        )),
        other => Err(format!("the sign-in page has an address with {other}:, which is not followed")),
    }
}

fn told(error: impl std::fmt::Display) -> String {
    pinza_core::visible(&error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_pages_are_opened() {
        let upstream = "https://mcp.example.com/mcp".parse().unwrap();
        assert!(check_page(&upstream, "https://example.com/authorize?x=1").is_ok());
        for bad in ["javascript:alert(1)", "file:///etc/passwd", "vscode://x", "nonsense"] {
            assert!(check_page(&upstream, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_page_of_this_machine_is_opened_for_a_server_elsewhere() {
        let opens = |upstream: &str, page: &str| check_page(&upstream.parse().unwrap(), page).is_ok();
        for page in [
            "http://127.0.0.1:8394/auth",
            "http://2130706433/auth",
            "http://[::1]/auth",
            "http://[::ffff:10.0.0.1]/auth",
            "http://localhost/auth",
            "http://LOCALHOST./auth",
            "http://a.localhost/auth",
            "http://10.0.0.6/auth",
            "http://192.168.1.1/auth",
            "http://169.254.169.254/auth",
            "http://router/auth",
            "http://nas.local/auth",
        ] {
            assert!(!opens("http://192.0.2.2/mcp", page), "{page}");
            assert!(!opens("https://mcp.example.com/mcp", page), "{page}");
            assert!(opens("http://127.0.0.1:3000/mcp", page), "{page}");
        }
        assert!(opens("http://10.0.0.5/mcp", "http://10.0.0.5:81/auth"));
        assert!(opens("http://localhost:3000/mcp", "https://sso.example.com/auth"));
    }
}
