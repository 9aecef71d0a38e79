//! The encrypted variable store: named secrets that tools may declare.
//!
//! All variables are one encrypted file in Pinza's home, replaced as a whole, so that a
//! reader sees the old store or the new one and a crash leaves one of them. Writers take
//! turns by a lock file. Nothing is ever written over a store that could not be read: a
//! wrong key must not cost the user what the right one still opens.
//!
//! Every call reads the file anew, because another Pinza may have changed it. The calls
//! block; from async code they belong on a blocking thread.

mod error;
mod files;
mod key;
mod sealed;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

pub use error::SecretsError;
pub use key::KeySource;

use key::Keyring;
use sealed::Sealed;

const STORE: &str = "env.enc";

/// Kept apart from what tools may declare: a manifest that names a token shall not get it.
const TOKENS: &str = "tokens.enc";

/// A value that leaves no trace: wiped from memory on drop, and never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// The value itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

type Variables = BTreeMap<String, Secret>;

#[derive(Debug)]
pub struct VariableStore {
    home: PathBuf,
    file: &'static str,
    keyring: Keyring,
}

impl VariableStore {
    /// The store in this home. Nothing is read or created yet.
    pub fn open(home: &Path, key: KeySource) -> Result<Self, SecretsError> {
        Self::of_file(home, STORE, key)
    }

    /// The store of what Pinza itself signs in with, beside the one of variables and under the same key.
    pub fn tokens(home: &Path, key: KeySource) -> Result<Self, SecretsError> {
        Self::of_file(home, TOKENS, key)
    }

    fn of_file(home: &Path, file: &'static str, key: KeySource) -> Result<Self, SecretsError> {
        Ok(Self { home: home.to_owned(), file, keyring: Keyring::new(home, file, key)? })
    }

    /// Sets a variable; the first one creates the store, and the key file if no key is given.
    pub fn set(&self, name: &str, value: &str) -> Result<(), SecretsError> {
        if !crate::process::is_env_name(name) {
            return Err(SecretsError::BadName(pinza_core::visible(name)));
        }
        files::create_home(&self.home)?;
        let _lock = files::lock(&self.path().with_extension("lock"))?;
        let (sealed, mut variables) = match self.load()? {
            Some((sealed, variables)) => (Some(sealed), variables),
            None => {
                self.keyring.create_key_file()?;
                (None, Variables::new())
            }
        };
        variables.insert(name.to_owned(), Secret::new(value));
        self.save(sealed.as_ref(), &variables)
    }

    /// Whether there was such a variable.
    pub fn remove(&self, name: &str) -> Result<bool, SecretsError> {
        // Without a store there is nothing to lock, and nothing shall be created.
        if !self.path().exists() {
            return Ok(false);
        }
        let _lock = files::lock(&self.path().with_extension("lock"))?;
        let Some((sealed, mut variables)) = self.load()? else { return Ok(false) };
        if variables.remove(name).is_none() {
            return Ok(false);
        }
        self.save(Some(&sealed), &variables)?;
        Ok(true)
    }

    /// All names, sorted.
    pub fn names(&self) -> Result<Vec<String>, SecretsError> {
        Ok(self.load()?.map(|(_, variables)| variables.into_keys().collect()).unwrap_or_default())
    }

    pub fn get(&self, name: &str) -> Result<Option<Secret>, SecretsError> {
        Ok(self.load()?.and_then(|(_, mut variables)| variables.remove(name)))
    }

    /// Every variable, for whoever must not let any of them through.
    pub fn all(&self) -> Result<Vec<(String, Secret)>, SecretsError> {
        Ok(self.load()?.map(|(_, variables)| variables.into_iter().collect()).unwrap_or_default())
    }

    fn path(&self) -> PathBuf {
        self.home.join(self.file)
    }

    /// `None` where there is no store yet.
    fn load(&self) -> Result<Option<(Sealed, Variables)>, SecretsError> {
        let Some(text) = files::read(&self.path())? else { return Ok(None) };
        let sealed = Sealed::parse(&self.path(), &text)?;
        let variables = self.keyring.unlock(sealed.salt()).and_then(|key| sealed.open(&self.path(), &key))?;
        Ok(Some((sealed, variables)))
    }

    /// The salt of a passphrase stays, so that its key needs to be derived only once.
    fn save(&self, before: Option<&Sealed>, variables: &Variables) -> Result<(), SecretsError> {
        let salt = match before {
            Some(sealed) => sealed.salt(),
            None => self.keyring.new_salt()?,
        };
        let key = self.keyring.unlock(salt)?;
        files::replace(&self.path(), Sealed::seal(variables, &key, salt)?.to_json()?.as_bytes())
    }
}
