//! AES, in the modes that packages use.

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::{
    AesGcm,
    aead::{AeadInOut as _, KeyInit as _},
};
use cbc::cipher::{
    BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher,
    array::Array,
    block_padding::{NoPadding, Pkcs7},
    consts::{U12, U16},
};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::{buffer, bytes, unknown};

type Ctr<A> = ctr::Ctr128BE<A>;

pub(super) fn install<'js>(ctx: &Ctx<'js>, internal: &Object<'js>) -> Result<()> {
    internal.set("cipher", Function::new(ctx.clone(), cipher)?)?;
    internal.set("seal", Function::new(ctx.clone(), seal)?)?;
    internal.set("open", Function::new(ctx.clone(), open)?)
}

/// A whole text at once; a text that does not fit its blocks or padding is a `RangeError`.
fn cipher<'js>(
    ctx: Ctx<'js>,
    name: String,
    encrypts: bool,
    key: Value<'js>,
    iv: Value<'js>,
    data: Value<'js>,
    padding: bool,
) -> Result<Value<'js>> {
    let (key, iv, mut data) = (bytes(&ctx, &key)?, bytes(&ctx, &iv)?, bytes(&ctx, &data)?);
    let whole = data.len() % 16 == 0;
    if name.ends_with("cbc") && !whole && (!encrypts || !padding) {
        return Err(Exception::throw_range(&ctx, "wrong final block length"));
    }
    let made = match name.as_str() {
        "aes-128-cbc" => cbc_mode::<Aes128>(&key, &iv, &data, encrypts, padding),
        "aes-192-cbc" => cbc_mode::<Aes192>(&key, &iv, &data, encrypts, padding),
        "aes-256-cbc" => cbc_mode::<Aes256>(&key, &iv, &data, encrypts, padding),
        "aes-128-ctr" => ctr_mode::<Ctr<Aes128>>(&key, &iv, &mut data).map(|()| data),
        "aes-192-ctr" => ctr_mode::<Ctr<Aes192>>(&key, &iv, &mut data).map(|()| data),
        "aes-256-ctr" => ctr_mode::<Ctr<Aes256>>(&key, &iv, &mut data).map(|()| data),
        _ => return Err(unknown(&ctx, "cipher")),
    };
    buffer(&ctx, made.ok_or_else(|| Exception::throw_range(&ctx, "bad decrypt"))?)
}

fn cbc_mode<A>(key: &[u8], iv: &[u8], data: &[u8], encrypts: bool, padding: bool) -> Option<Vec<u8>>
where
    A: cbc::cipher::BlockCipherEncrypt + cbc::cipher::BlockCipherDecrypt,
    cbc::Encryptor<A>: KeyIvInit + BlockModeEncrypt,
    cbc::Decryptor<A>: KeyIvInit + BlockModeDecrypt,
{
    if encrypts {
        let mode = cbc::Encryptor::<A>::new_from_slices(key, iv).ok()?;
        return Some(match padding {
            true => mode.encrypt_padded_vec::<Pkcs7>(data),
            false => mode.encrypt_padded_vec::<NoPadding>(data),
        });
    }
    let mode = cbc::Decryptor::<A>::new_from_slices(key, iv).ok()?;
    match padding {
        true => mode.decrypt_padded_vec::<Pkcs7>(data).ok(),
        false => mode.decrypt_padded_vec::<NoPadding>(data).ok(),
    }
}

fn ctr_mode<M: KeyIvInit + StreamCipher>(key: &[u8], iv: &[u8], data: &mut [u8]) -> Option<()> {
    M::new_from_slices(key, iv).ok()?.try_apply_keystream(data).ok()
}

/// Runs an expression with the GCM that key and nonce ask for.
macro_rules! with_gcm {
    ($name:expr, $key:expr, $nonce:expr, ($mode:ident, $iv:ident) => $run:expr) => {
        match ($name, $nonce.len()) {
            ("aes-128-gcm", 12) => with_gcm!(@ Aes128, U12, $key, $nonce, ($mode, $iv) => $run),
            ("aes-128-gcm", 16) => with_gcm!(@ Aes128, U16, $key, $nonce, ($mode, $iv) => $run),
            ("aes-192-gcm", 12) => with_gcm!(@ Aes192, U12, $key, $nonce, ($mode, $iv) => $run),
            ("aes-192-gcm", 16) => with_gcm!(@ Aes192, U16, $key, $nonce, ($mode, $iv) => $run),
            ("aes-256-gcm", 12) => with_gcm!(@ Aes256, U12, $key, $nonce, ($mode, $iv) => $run),
            ("aes-256-gcm", 16) => with_gcm!(@ Aes256, U16, $key, $nonce, ($mode, $iv) => $run),
            _ => None,
        }
    };
    (@ $cipher:ident, $size:ident, $key:expr, $nonce:expr, ($mode:ident, $iv:ident) => $run:expr) => {
        match (AesGcm::<$cipher, $size>::new_from_slice($key), <&Array<u8, $size>>::try_from($nonce)) {
            (Ok($mode), Ok($iv)) => $run,
            _ => None,
        }
    };
}

/// The sealed text and, behind it, its tag of 16 bytes.
fn seal<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: Value<'js>,
    iv: Value<'js>,
    data: Value<'js>,
    aad: Value<'js>,
) -> Result<Value<'js>> {
    let (key, iv, aad) = (bytes(&ctx, &key)?, bytes(&ctx, &iv)?, bytes(&ctx, &aad)?);
    let mut data = bytes(&ctx, &data)?;
    let sealed = with_gcm!(name.as_str(), &key, iv.as_slice(), (mode, nonce) => {
        let tag = mode.encrypt_inout_detached(nonce, &aad, data.as_mut_slice().into()).ok();
        tag.map(|tag| tag.to_vec())
    });
    let tag = sealed.ok_or_else(|| unknown(&ctx, "cipher, or an iv that is neither 12 nor 16 bytes long"))?;
    data.extend(tag);
    buffer(&ctx, data)
}

/// The opened text; nothing if it, or what belongs to it, was changed.
fn open<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: Value<'js>,
    iv: Value<'js>,
    data: Value<'js>,
    tag: Value<'js>,
    aad: Value<'js>,
) -> Result<Option<Value<'js>>> {
    let (key, iv, aad) = (bytes(&ctx, &key)?, bytes(&ctx, &iv)?, bytes(&ctx, &aad)?);
    let (mut data, tag) = (bytes(&ctx, &data)?, bytes(&ctx, &tag)?);
    let opened = with_gcm!(name.as_str(), &key, iv.as_slice(), (mode, nonce) => {
        let tag = <&Array<u8, U16>>::try_from(tag.as_slice()).ok();
        tag.and_then(|tag| mode.decrypt_inout_detached(nonce, &aad, data.as_mut_slice().into(), tag).ok())
    });
    opened.map(|()| buffer(&ctx, data)).transpose()
}
