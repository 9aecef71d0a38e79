//! Digests, and what is made of them: HMAC and keys from passwords.

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512, Sha512_256};

use super::{buffer, bytes, unknown};

/// What `scrypt` may take, as in Node by default.
const SCRYPT_MEMORY: u64 = 64 << 20;

/// Keys are short; this is memory outside the engine's count.
const KEY_LENGTH: usize = 1 << 20;

/// Runs a generic expression with the digest that a name means.
macro_rules! with_digest {
    ($name:expr, $digest:ident => $run:expr) => {
        match $name {
            "md5" => {
                type $digest = Md5;
                Some($run)
            }
            "sha1" => {
                type $digest = Sha1;
                Some($run)
            }
            "sha224" => {
                type $digest = Sha224;
                Some($run)
            }
            "sha256" => {
                type $digest = Sha256;
                Some($run)
            }
            "sha384" => {
                type $digest = Sha384;
                Some($run)
            }
            "sha512" => {
                type $digest = Sha512;
                Some($run)
            }
            "sha512-256" => {
                type $digest = Sha512_256;
                Some($run)
            }
            "ripemd160" => {
                type $digest = ripemd::Ripemd160;
                Some($run)
            }
            _ => None,
        }
    };
}

pub(super) fn install<'js>(ctx: &Ctx<'js>, internal: &Object<'js>) -> Result<()> {
    let hash = |ctx: Ctx<'js>, name: String, data: Value<'js>| {
        let data = bytes(&ctx, &data)?;
        let digest = with_digest!(name.as_str(), D => D::digest(&data).to_vec());
        buffer(&ctx, digest.ok_or_else(|| unknown(&ctx, "digest"))?)
    };
    internal.set("hash", Function::new(ctx.clone(), hash)?)?;
    internal.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    internal.set("pbkdf2", Function::new(ctx.clone(), pbkdf2)?)?;
    internal.set("scrypt", Function::new(ctx.clone(), scrypt)?)
}

fn hmac<'js>(ctx: Ctx<'js>, name: String, key: Value<'js>, data: Value<'js>) -> Result<Value<'js>> {
    let (key, data) = (bytes(&ctx, &key)?, bytes(&ctx, &data)?);
    let code = with_digest!(name.as_str(), D => {
        // A key of any length is one.
        Hmac::<D>::new_from_slice(&key).map(|mac| mac.chain_update(&data).finalize().into_bytes().to_vec())
    });
    let code = code.and_then(std::result::Result::ok);
    buffer(&ctx, code.ok_or_else(|| unknown(&ctx, "digest"))?)
}

fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    name: String,
    password: Value<'js>,
    salt: Value<'js>,
    iterations: u32,
    length: usize,
) -> Result<Value<'js>> {
    let (password, salt) = (bytes(&ctx, &password)?, bytes(&ctx, &salt)?);
    let mut key = vec![0; bounded(&ctx, length)?];
    let made =
        with_digest!(name.as_str(), D => pbkdf2::pbkdf2_hmac::<D>(&password, &salt, iterations, &mut key));
    made.ok_or_else(|| unknown(&ctx, "digest"))?;
    buffer(&ctx, key)
}

fn scrypt<'js>(
    ctx: Ctx<'js>,
    password: Value<'js>,
    salt: Value<'js>,
    log_n: u8,
    r: u32,
    p: u32,
    length: usize,
) -> Result<Value<'js>> {
    let (password, salt) = (bytes(&ctx, &password)?, bytes(&ctx, &salt)?);
    let needed = 1u64.checked_shl(log_n.into()).and_then(|n| n.checked_mul(128 * u64::from(r)));
    if needed.is_none_or(|needed| needed > SCRYPT_MEMORY) {
        return Err(Exception::throw_range(&ctx, "memory limit exceeded"));
    }
    let parameters = scrypt::Params::new(log_n, r, p);
    let parameters = parameters.map_err(|error| Exception::throw_range(&ctx, &error.to_string()))?;
    let mut key = vec![0; bounded(&ctx, length)?];
    let made = scrypt::scrypt(&password, &salt, &parameters, &mut key);
    made.map_err(|error| Exception::throw_range(&ctx, &error.to_string()))?;
    buffer(&ctx, key)
}

fn bounded(ctx: &Ctx<'_>, length: usize) -> Result<usize> {
    match length {
        0..=KEY_LENGTH => Ok(length),
        _ => Err(Exception::throw_range(ctx, "the key is too long")),
    }
}
