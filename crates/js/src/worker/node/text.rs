//! Texts as bytes and back, as lenient as Node's `Buffer`.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::NO_PAD},
};
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::{super::native::well_formed, buffer, bytes, unknown};

/// Accepts what is left over at the end: a stray bit is no reason to refuse a text.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(super) fn install<'js>(ctx: &Ctx<'js>, internal: &Object<'js>) -> Result<()> {
    let text = |ctx: Ctx<'js>, encoding: String, value: Value<'js>| {
        let bytes = bytes(&ctx, &value)?;
        decode(&encoding, bytes).ok_or_else(|| unknown(&ctx, "encoding"))
    };
    internal.set("text", Function::new(ctx.clone(), text)?)?;
    let bytes = |ctx: Ctx<'js>, encoding: String, text: rquickjs::String<'js>| {
        let made = encode(&encoding, well_formed(&text)).ok_or_else(|| unknown(&ctx, "encoding"))?;
        buffer(&ctx, made)
    };
    internal.set("bytes", Function::new(ctx.clone(), bytes)?)
}

fn decode(encoding: &str, bytes: Vec<u8>) -> Option<String> {
    Some(match encoding {
        "utf8" => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        "latin1" => bytes.into_iter().map(char::from).collect(),
        "ascii" => bytes.into_iter().map(|byte| char::from(byte & 0x7f)).collect(),
        "hex" => bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect(),
        "base64" => base64::engine::general_purpose::STANDARD.encode(bytes),
        "base64url" => GeneralPurpose::new(&URL_SAFE, NO_PAD).encode(bytes),
        _ => return None,
    })
}

fn hex_digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or('0')
}

fn encode(encoding: &str, text: String) -> Option<Vec<u8>> {
    Some(match encoding {
        "utf8" => text.into_bytes(),
        // The low byte of each UTF-16 unit.
        "latin1" | "ascii" => text.encode_utf16().map(|unit| unit as u8).collect(),
        "hex" => from_hex(&text),
        "base64" | "base64url" => from_base64(&text),
        _ => return None,
    })
}

/// Pairs of digits, up to the first that is none.
fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map_while(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Both alphabets at once, up to the first `=`; what belongs to neither is skipped.
fn from_base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().take_while(|byte| *byte != b'=').filter_map(|byte| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        byte if byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/' => Some(byte),
        _ => None,
    });
    let mut digits: Vec<u8> = digits.collect();
    // One digit by itself is not even a byte.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(digits).unwrap_or_default()
}
