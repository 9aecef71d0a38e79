//! Where the key comes from: a file of its own, or what the user gives.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use super::{Secret, SecretsError, files};

pub(super) type Key = Zeroizing<[u8; 32]>;

pub(super) type Salt = [u8; 16];

/// OWASP's first choice for argon2id (2023): 19 MiB, two passes, one lane. Fixed here, as
/// the store's version 1 implies it.
const MEMORY_KIB: u32 = 19 << 10;
const PASSES: u32 = 2;

/// Which key opens the store.
#[derive(Clone)]
pub enum KeySource {
    /// The file `key` in Pinza's home, made when the first variable is set.
    File,
    /// `PINZA_KEY`: 64 hex digits are the key itself, anything else is a passphrase.
    Given(String),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "File",
            Self::Given(_) => "Given([secret])",
        })
    }
}

/// Turns a source into the key of one store.
#[derive(Debug)]
pub(super) struct Keyring {
    home: PathBuf,
    /// For messages.
    store: &'static str,
    source: Source,
}

enum Source {
    File,
    Raw(Key),
    /// With the key derived last and its salt: deriving is slow on purpose. A plain lock,
    /// held while deriving, so that threads do not all derive the same key.
    Passphrase(Secret, Mutex<Option<(Salt, Key)>>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "File",
            Self::Raw(_) => "Raw([secret])",
            Self::Passphrase(..) => "Passphrase([secret])",
        })
    }
}

impl Keyring {
    pub(super) fn new(home: &Path, store: &'static str, source: KeySource) -> Result<Self, SecretsError> {
        let source = match source {
            KeySource::File => Source::File,
            KeySource::Given(text) => {
                let text = Secret::new(text);
                let trimmed = text.expose().trim();
                match from_hex(trimmed) {
                    Some(key) => Source::Raw(key),
                    None if trimmed.is_empty() => return Err(SecretsError::EmptyKey),
                    None => Source::Passphrase(text, Mutex::new(None)),
                }
            }
        };
        Ok(Self { home: home.to_owned(), store, source })
    }

    /// The key of a store with this salt. Only a passphrase has one, so a salt where none
    /// is due, or none where one is, means that the store was made with another key.
    pub(super) fn unlock(&self, salt: Option<Salt>) -> Result<Key, SecretsError> {
        match (&self.source, salt) {
            (Source::File, None) => self.read_key_file(),
            (Source::Raw(key), None) => Ok(key.clone()),
            (Source::Passphrase(passphrase, derived), Some(salt)) => {
                let mut derived = derived.lock().unwrap_or_else(PoisonError::into_inner);
                match &*derived {
                    Some((known, key)) if *known == salt => Ok(key.clone()),
                    _ => {
                        let key = derive(passphrase, &salt)?;
                        *derived = Some((salt, key.clone()));
                        Ok(key)
                    }
                }
            }
            (Source::File | Source::Raw(_), Some(_)) | (Source::Passphrase(..), None) => {
                Err(SecretsError::WrongKey)
            }
        }
    }

    /// The salt of a new store.
    pub(super) fn new_salt(&self) -> Result<Option<Salt>, SecretsError> {
        match self.source {
            Source::File | Source::Raw(_) => Ok(None),
            Source::Passphrase(..) => Ok(Some(random()?)),
        }
    }

    /// Makes the key file for a new store, unless it is there or another key is given.
    pub(super) fn create_key_file(&self) -> Result<(), SecretsError> {
        if !matches!(self.source, Source::File) || files::read(&self.path())?.is_some() {
            return Ok(());
        }
        let key = Zeroizing::new(random::<32>()?);
        files::create(&self.path(), to_hex_line(&key).as_bytes())
    }

    fn path(&self) -> PathBuf {
        self.home.join("key")
    }

    fn read_key_file(&self) -> Result<Key, SecretsError> {
        let path = self.path();
        let Some((bytes, mode)) = files::read_with_mode(&path)? else {
            return Err(SecretsError::KeyMissing { store: self.home.join(self.store), key: path });
        };
        let bytes = Zeroizing::new(bytes);
        if mode & 0o077 != 0 {
            return Err(SecretsError::KeyExposed { path, mode });
        }
        let key = str::from_utf8(&bytes).ok().and_then(|text| from_hex(text.trim()));
        key.ok_or(SecretsError::KeyUnreadable { path })
    }
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], SecretsError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| SecretsError::Crypto(error.to_string()))?;
    Ok(bytes)
}

fn derive(passphrase: &Secret, salt: &Salt) -> Result<Key, SecretsError> {
    let failed = |error: argon2::Error| SecretsError::Crypto(error.to_string());
    let params = Params::new(MEMORY_KIB, PASSES, 1, Some(32)).map_err(failed)?;
    let mut key = Key::default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose().as_bytes(), salt, &mut *key)
        .map_err(failed)?;
    Ok(key)
}

fn from_hex(text: &str) -> Option<Key> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut key = Key::default();
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(key)
}

fn to_hex_line(key: &[u8; 32]) -> Zeroizing<String> {
    // Room for all of it from the start: growing would leave copies behind.
    let mut line = Zeroizing::new(String::with_capacity(65));
    for byte in key {
        for digit in [byte >> 4, byte & 15] {
            line.push(char::from_digit(digit.into(), 16).unwrap_or_default());
        }
    }
    line.push('\n');
    line
}
