//! The encrypted form of the store: JSON around XChaCha20-Poly1305.
//!
//! Its `check` is a tag over nothing, made with the same key. Decryption alone fails in the
//! same way for a wrong key and for a changed file, and the user must do opposite things
//! about them.

use std::{collections::BTreeMap, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{
    Secret, SecretsError, Variables, files,
    key::{Key, Salt, random},
};

const VERSION: u64 = 1;
const NONCE: usize = 24;

// What each ciphertext is for, so that one cannot stand in for the other.
const FOR_CHECK: &[u8] = b"pinza variables 1: check";
const FOR_DATA: &[u8] = b"pinza variables 1: data";

pub(super) struct Sealed {
    salt: Option<Salt>,
    check: Vec<u8>,
    nonce: [u8; NONCE],
    data: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    check: String,
    nonce: String,
    data: String,
}

impl Sealed {
    pub(super) fn salt(&self) -> Option<Salt> {
        self.salt
    }

    pub(super) fn seal(variables: &Variables, key: &Key, salt: Option<Salt>) -> Result<Self, SecretsError> {
        let plain: BTreeMap<&str, &str> =
            variables.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        let plain = serde_json::to_vec(&plain).map_err(|error| SecretsError::Crypto(error.to_string()))?;
        let plain = Zeroizing::new(plain);
        // Half of what is read back, as base64 makes it a third longer.
        if plain.len() as u64 > files::LIMIT / 2 {
            return Err(SecretsError::TooLarge { limit: files::LIMIT / 2 });
        }
        let check_nonce = random::<NONCE>()?;
        let mut check = check_nonce.to_vec();
        check.extend(encrypt(key, check_nonce, FOR_CHECK, b"")?);
        let nonce = random::<NONCE>()?;
        Ok(Self { salt, check, nonce, data: encrypt(key, nonce, FOR_DATA, &plain)? })
    }

    pub(super) fn open(&self, path: &Path, key: &Key) -> Result<Variables, SecretsError> {
        let tampered = || SecretsError::Tampered(path.to_owned());
        let plain = decrypt(key, self.nonce, FOR_DATA, &self.data)
            .ok_or_else(|| if self.fits(key) { tampered() } else { SecretsError::WrongKey })?;
        let variables: BTreeMap<String, String> = serde_json::from_slice(&plain).map_err(|_| tampered())?;
        Ok(variables.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
    }

    /// Whether the store was made with this key, whatever became of its data.
    fn fits(&self, key: &Key) -> bool {
        self.check
            .split_first_chunk()
            .is_some_and(|(nonce, tag)| decrypt(key, *nonce, FOR_CHECK, tag).is_some())
    }

    pub(super) fn parse(path: &Path, text: &[u8]) -> Result<Self, SecretsError> {
        let garbage = |reason: String| SecretsError::Garbage { path: path.to_owned(), reason };
        // Looked at first: a newer version may have other fields.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let Versioned { version } =
            serde_json::from_slice(text).map_err(|error| garbage(error.to_string()))?;
        if version > VERSION {
            return Err(SecretsError::Newer { path: path.to_owned(), version });
        }
        let wire: Wire = serde_json::from_slice(text).map_err(|error| garbage(error.to_string()))?;
        let decode = |field: &str, text: &str| {
            BASE64_STANDARD.decode(text).map_err(|_| garbage(format!("'{field}' is not base64")))
        };
        let wrong_length = |field: &str| garbage(format!("'{field}' has a wrong length"));
        Ok(Self {
            salt: match wire.salt {
                Some(salt) => Some(decode("salt", &salt)?.try_into().map_err(|_| wrong_length("salt"))?),
                None => None,
            },
            check: decode("check", &wire.check)?,
            nonce: decode("nonce", &wire.nonce)?.try_into().map_err(|_| wrong_length("nonce"))?,
            data: decode("data", &wire.data)?,
        })
    }

    pub(super) fn to_json(&self) -> Result<String, SecretsError> {
        let wire = Wire {
            version: VERSION,
            salt: self.salt.map(|salt| BASE64_STANDARD.encode(salt)),
            check: BASE64_STANDARD.encode(&self.check),
            nonce: BASE64_STANDARD.encode(self.nonce),
            data: BASE64_STANDARD.encode(&self.data),
        };
        serde_json::to_string(&wire).map_err(|error| SecretsError::Crypto(error.to_string()))
    }
}

fn encrypt(key: &Key, nonce: [u8; NONCE], aad: &[u8], msg: &[u8]) -> Result<Vec<u8>, SecretsError> {
    XChaCha20Poly1305::new((&**key).into())
        .encrypt(&XNonce::from(nonce), Payload { msg, aad })
        .map_err(|error| SecretsError::Crypto(error.to_string()))
}

fn decrypt(key: &Key, nonce: [u8; NONCE], aad: &[u8], msg: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    XChaCha20Poly1305::new((&**key).into())
        .decrypt(&XNonce::from(nonce), Payload { msg, aad })
        .ok()
        .map(Zeroizing::new)
}
