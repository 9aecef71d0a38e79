//! Tokens and registrations: in memory for every request, encrypted on disk for the next process.
//!
//! They belong to one name *and* one address: where the configuration comes to name another server, nothing that was
//! given for the old one is sent to it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pinza_core::BoxFuture;
use pinza_host::secrets::VariableStore;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{services::Services, spec::UpstreamName};

/// A token that ends within this time is refreshed before it is sent.
const MARGIN: u64 = 30;

/// A refresh is one request; whoever has held the lock this long hangs.
const LOCK_PATIENCE: Duration = Duration::from_secs(40);

#[derive(Clone)]
pub(crate) struct TokenStore {
    /// The name of its variable in the store.
    key: String,
    url: String,
    lock: PathBuf,
    disk: Option<Arc<VariableStore>>,
    /// A std lock: held to copy, never across an await.
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    was_read: bool,
    record: Record,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Record {
    url: String,
    credentials: Option<StoredCredentials>,
    registration: Option<Registration>,
}

/// Who Pinza is for one authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Registration {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    pub(crate) redirect: String,
    pub(crate) issuer: Option<String>,
}

impl Registration {
    pub(crate) fn config(&self) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(&self.client_id, &self.redirect);
        match &self.client_secret {
            Some(secret) => config.with_client_secret(secret),
            None => config,
        }
    }

    pub(crate) fn port(&self) -> Option<u16> {
        Url::parse(&self.redirect).ok()?.port()
    }
}

/// A token with its registration.
pub(crate) struct Credentials {
    stored: StoredCredentials,
    /// rmcp's token type is read through its wire form.
    token: serde_json::Value,
    registration: Registration,
}

impl Credentials {
    pub(crate) fn access_token(&self) -> Option<String> {
        self.token.get("access_token")?.as_str().map(str::to_owned)
    }

    pub(crate) fn has_refresh_token(&self) -> bool {
        self.token.get("refresh_token").is_some_and(serde_json::Value::is_string)
    }

    pub(crate) fn is_stale(&self) -> bool {
        let lasts = self.token.get("expires_in").and_then(serde_json::Value::as_u64);
        let (Some(lasts), Some(since)) = (lasts, self.stored.token_received_at) else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        now.saturating_sub(since) + MARGIN > lasts
    }

    pub(crate) fn issuer(&self) -> Option<&str> {
        self.stored.issuer.as_deref()
    }

    pub(crate) fn scopes(&self) -> &[String] {
        &self.stored.granted_scopes
    }

    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }
}

impl TokenStore {
    pub(crate) fn new(name: &UpstreamName, url: &Url, services: &Services) -> Self {
        // `-` cannot stand in a variable's name, and must not make two servers one.
        let key = name.as_str().replace('_', "__").replace('-', "_M");
        Self {
            key: format!("OAUTH_{key}"),
            url: url.to_string(),
            lock: services.directory.join(format!("{name}.lock")),
            disk: services.tokens.clone(),
            memory: Arc::default(),
        }
    }

    /// As known to this process.
    pub(crate) async fn current(&self) -> Result<Option<Credentials>, String> {
        let was_read = self.memory().was_read;
        if !was_read {
            return self.reread().await;
        }
        Ok(self.credentials())
    }

    /// As another process may have left it.
    pub(crate) async fn reread(&self) -> Result<Option<Credentials>, String> {
        if let Some(disk) = &self.disk {
            let (disk, key) = (Arc::clone(disk), self.key.clone());
            let text = blocking(move || disk.get(&key).map_err(|error| error.to_string())).await?;
            let record: Option<Record> = text.and_then(|text| serde_json::from_str(text.expose()).ok());
            let record = record.filter(|record| record.url == self.url).unwrap_or_default();
            self.memory().record = record;
        }
        self.memory().was_read = true;
        Ok(self.credentials())
    }

    /// The registration with this authorization server.
    pub(crate) async fn registration(&self, issuer: Option<&str>) -> Option<Registration> {
        self.current().await.ok()?;
        let kept = self.memory().record.registration.clone();
        kept.filter(|kept| kept.issuer.as_deref() == issuer)
    }

    /// Kept with the next token, and not before: a sign-in that fails leaves what was there.
    pub(crate) async fn register(&self, registration: Registration) {
        self.memory().record.registration = Some(registration);
    }

    /// Forgets all that was kept under a name.
    pub(crate) fn forget(name: &UpstreamName, services: &Services) -> Result<bool, String> {
        let Some(disk) = &services.tokens else { return Ok(false) };
        let placeholder = Url::parse("http://localhost/").map_err(|error| error.to_string())?;
        let key = Self::new(name, &placeholder, services).key;
        disk.remove(&key).map_err(|error| error.to_string())
    }

    fn credentials(&self) -> Option<Credentials> {
        let record = self.memory().record.clone();
        let stored = record.credentials?;
        let token = serde_json::to_value(stored.token_response.as_ref()?).ok()?;
        Some(Credentials { stored, token, registration: record.registration? })
    }

    async fn write(&self) -> Result<(), AuthError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let record = self.memory().record.clone();
        let text = serde_json::to_string(&record)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        let (disk, key) = (Arc::clone(disk), self.key.clone());
        let text = zeroize::Zeroizing::new(text);
        let set = move || disk.set(&key, &text).map_err(|error| error.to_string());
        blocking(set).await.map_err(AuthError::CredentialStoreError)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// rmcp's trait is written with `async_trait`; these are the signatures that it stands for.
impl CredentialStore for TokenStore {
    fn load<'a: 'f, 'f>(&'a self) -> BoxFuture<'f, Result<Option<StoredCredentials>, AuthError>>
    where
        Self: 'f,
    {
        Box::pin(async {
            self.reread().await.map_err(AuthError::CredentialStoreError)?;
            Ok(self.memory().record.credentials.clone())
        })
    }

    fn save<'a: 'f, 'f>(&'a self, credentials: StoredCredentials) -> BoxFuture<'f, Result<(), AuthError>>
    where
        Self: 'f,
    {
        Box::pin(async {
            {
                let mut memory = self.memory();
                memory.was_read = true;
                memory.record.url.clone_from(&self.url);
                memory.record.credentials = Some(credentials);
            }
            self.write().await
        })
    }

    fn clear<'a: 'f, 'f>(&'a self) -> BoxFuture<'f, Result<(), AuthError>>
    where
        Self: 'f,
    {
        Box::pin(async {
            self.memory().record = Record::default();
            self.write().await
        })
    }

    fn acquire_refresh_guard<'a: 'f, 'f>(
        &'a self,
    ) -> BoxFuture<'f, Result<Option<CredentialRefreshGuard>, AuthError>>
    where
        Self: 'f,
    {
        Box::pin(async {
            if self.disk.is_none() {
                return Ok(None);
            }
            let path = self.lock.clone();
            let file = blocking(move || locked(&path)).await.map_err(AuthError::CredentialStoreError)?;
            Ok(Some(CredentialRefreshGuard::new(file)))
        })
    }
}

/// Held until the file is dropped, also by a crash.
fn locked(path: &std::path::Path) -> Result<File, String> {
    let failed = |error: std::io::Error| format!("cannot lock {}: {error}", path.display());
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err("another Pinza has been refreshing the token for too long".into());
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}
