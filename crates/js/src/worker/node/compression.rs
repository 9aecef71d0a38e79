//! zlib's formats and brotli, a whole text at a time and never without a bound.

use std::io::{Read as _, Write as _};

use flate2::{
    Compression, Crc, Decompress, FlushDecompress, Status,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::{buffer, bytes, unknown};

/// A text that decompresses to more is refused: this is memory outside the engine's count.
const OUTPUT: usize = 64 << 20;

/// What is wrong with a compressed text, in zlib's words.
type Fault = &'static str;

const CUT_OFF: Fault = "unexpected end of file";
const HEADER: Fault = "incorrect header check";
const BROKEN: Fault = "invalid compressed data";
const CHECK: Fault = "incorrect data check";
const LARGE: Fault = "too large";

pub(super) fn install<'js>(ctx: &Ctx<'js>, internal: &Object<'js>) -> Result<()> {
    internal.set("compress", Function::new(ctx.clone(), compress)?)?;
    let decompress = |ctx: Ctx<'js>, format: String, data: Value<'js>, limit: f64| {
        let data = bytes(&ctx, &data)?;
        let limit = if limit >= 0.0 { (limit as usize).min(OUTPUT) } else { OUTPUT };
        let made = match format.as_str() {
            "gzip" => gunzip(&data, limit),
            "deflate" => inflate(&data, true, limit).map(|(made, _)| made),
            "raw" => inflate(&data, false, limit).map(|(made, _)| made),
            "brotli" => brotli(&data, limit),
            _ => return Err(unknown(&ctx, "format")),
        };
        buffer(&ctx, made.map_err(|fault| Exception::throw_message(&ctx, fault))?)
    };
    internal.set("decompress", Function::new(ctx.clone(), decompress)?)
}

fn compress<'js>(ctx: Ctx<'js>, format: String, level: i32, data: Value<'js>) -> Result<Value<'js>> {
    let data = bytes(&ctx, &data)?;
    let level = u32::try_from(level).map_or(Compression::default(), |level| Compression::new(level.min(9)));
    let made = match format.as_str() {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(&data).and_then(|()| encoder.finish())
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(&data).and_then(|()| encoder.finish())
        }
        "raw" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(&data).and_then(|()| encoder.finish())
        }
        _ => return Err(unknown(&ctx, "format")),
    };
    buffer(&ctx, made.map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?)
}

/// What was compressed, and how much of the data it took; what comes after is the caller's.
fn inflate(data: &[u8], header: bool, limit: usize) -> std::result::Result<(Vec<u8>, usize), Fault> {
    // RFC 1950 §2.2, so that the fault is named as zlib does.
    if header
        && data.len() >= 2
        && (data[0] & 15 != 8 || !u16::from_be_bytes([data[0], data[1]]).is_multiple_of(31))
    {
        return Err(HEADER);
    }
    let mut engine = Decompress::new(header);
    let mut made = Vec::new();
    loop {
        let (taken, given) = (engine.total_in() as usize, made.len());
        // One byte beyond the limit tells that there is more.
        made.reserve((given + given / 2).clamp(1 << 12, 1 << 20));
        let status = engine.decompress_vec(&data[taken..], &mut made, FlushDecompress::None);
        if made.len() > limit {
            return Err(LARGE);
        }
        match status {
            Ok(Status::StreamEnd) => return Ok((made, engine.total_in() as usize)),
            Ok(_) if engine.total_in() as usize == taken && made.len() == given => return Err(CUT_OFF),
            Ok(_) => {}
            Err(_) => return Err(BROKEN),
        }
    }
}

/// RFC 1952: one member after the other. Zeros behind the last are padding; anything else is a fault.
fn gunzip(data: &[u8], limit: usize) -> std::result::Result<Vec<u8>, Fault> {
    let mut made = Vec::new();
    let mut rest = data;
    loop {
        let body = rest.get(gzip_header(rest)?..).ok_or(CUT_OFF)?;
        let (part, taken) = inflate(body, false, limit - made.len())?;
        let trailer = body.get(taken..taken + 8).ok_or(CUT_OFF)?;
        let mut sum = Crc::new();
        sum.update(&part);
        if trailer[..4] != sum.sum().to_le_bytes() || trailer[4..] != sum.amount().to_le_bytes() {
            return Err(CHECK);
        }
        made.extend(part);
        rest = &body[taken + 8..];
        if rest.first().is_none_or(|byte| *byte == 0) {
            return Ok(made);
        }
    }
}

/// The length of a member's header.
fn gzip_header(data: &[u8]) -> std::result::Result<usize, Fault> {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    let seen = data.len().min(MAGIC.len());
    if data[..seen] != MAGIC[..seen] {
        return Err(HEADER);
    }
    let fixed = data.get(..10).ok_or(CUT_OFF)?;
    let flags = fixed[3];
    let mut at = 10;
    if flags & 4 != 0 {
        let length = data.get(at..at + 2).ok_or(CUT_OFF)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // The file's name and a comment, each with a zero behind it.
    for flag in [8, 16] {
        if flags & flag != 0 {
            at +=
                1 + data.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)).ok_or(CUT_OFF)?;
        }
    }
    Ok(if flags & 2 != 0 { at + 2 } else { at })
}

fn brotli(data: &[u8], limit: usize) -> std::result::Result<Vec<u8>, Fault> {
    let mut made = Vec::new();
    let mut reader = brotli_decompressor::Decompressor::new(data, 1 << 12).take(limit as u64 + 1);
    reader.read_to_end(&mut made).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => CUT_OFF,
        _ => BROKEN,
    })?;
    if made.len() > limit { Err(LARGE) } else { Ok(made) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzipped(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = gzipped(&vec![0; 1 << 20]);
        assert_eq!(gunzip(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        assert_eq!(gunzip(&bomb, (1 << 20) - 1), Err(LARGE));
        // Each member is below the limit, all of them are not.
        assert_eq!(gunzip(&bomb.repeat(3), 2 << 20), Err(LARGE));
        // A megabyte of zeros, as Node compresses it.
        let bomb = [91, 255, 255, 143, 127, 2, 32, 30, 11, 4, 114, 239, 31, 0];
        assert_eq!(brotli(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        assert_eq!(brotli(&bomb, (1 << 20) - 1), Err(LARGE));
    }

    #[test]
    fn every_cut_of_a_text_is_an_end_and_not_a_wait() {
        let whole = gzipped(b"hello hello hello hello");
        for length in 0..whole.len() {
            assert_eq!(gunzip(&whole[..length], 1 << 10), Err(CUT_OFF), "{length}");
        }
    }

    #[test]
    fn any_bytes_are_a_text_or_a_fault() {
        let mut bytes = gzipped(b"hello hello hello hello");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                let _ = (
                    gunzip(&bytes, 1 << 12),
                    inflate(&bytes[10..], false, 1 << 12),
                    inflate(&bytes, true, 1 << 12),
                );
                let _ = brotli(&bytes, 1 << 12);
                bytes[at] ^= 1 << bit;
            }
        }
        assert_eq!(gunzip(&bytes, 1 << 12).unwrap(), b"hello hello hello hello");
    }
}
