//! From bytes to text: encodings, byte-order marks, and telling text from anything else.

use encoding_rs::{Encoding, UTF_8};
use pinza_core::ToolError;

/// Decodes a file in a named encoding. A byte-order mark in the file wins over the name; what
/// is not text in that encoding is refused, because mojibake would be believed.
pub(crate) fn decode(bytes: &[u8], label: &str, path: &str) -> Result<String, ToolError> {
    let Some(encoding) = Encoding::for_label(label.trim().as_bytes()) else {
        let label = pinza_core::visible(label);
        return Err(ToolError::validation(format!("Unsupported encoding: '{label}'"))
            .hint("Use a name such as 'UTF-8', 'UTF-16LE', 'ISO-8859-1', 'windows-1252' or 'Shift_JIS'."));
    };
    let (text, used, malformed) = encoding.decode(bytes);
    if !malformed && !has_binary_controls(&text) {
        return Ok(text.into_owned());
    }
    let shown = pinza_core::visible(path);
    // A NUL in a single-byte or UTF-8 file is the mark of a binary; a bad byte sequence alone
    // is more likely another encoding.
    if has_binary_controls(&text) || bytes.contains(&0) {
        return Err(ToolError::validation(format!("File is binary, not text: {shown}")));
    }
    let error = ToolError::validation(format!("File is not valid {} text: {shown}", used.name()));
    Err(match guess(bytes) {
        guess if guess != UTF_8 => {
            error.hint(format!("It looks like {}; try that as the encoding.", guess.name()))
        }
        _ => error,
    })
}

/// Control characters that text files do not have: tab, line breaks, form feed and escape are fine.
fn has_binary_controls(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\0'..='\u{6}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}'))
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// The MIME type of an image, by what it holds and not by its name: a provider that is given anything else refuses the whole
/// conversation.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let cases: [(&[u8], &str, Result<&str, &str>); 11] = [
            (b"plain", "UTF-8", Ok("plain")),
            ("Grüße".as_bytes(), "utf8", Ok("Grüße")),
            (b"\xef\xbb\xbfmarked", "UTF-8", Ok("marked")),
            (b"Gr\xfc\xdfe", "ISO-8859-1", Ok("Grüße")),
            (b"\xff\xfeh\0i\0", "UTF-8", Ok("hi")),
            (b"h\0i\0", "UTF-16LE", Ok("hi")),
            (b"\x83\x65\x83\x58\x83\x67", "Shift_JIS", Ok("テスト")),
            (b"a\0b", "UTF-8", Err("File is binary, not text: f")),
            (b"\x7fELF\x02\x01\x01\0", "ISO-8859-1", Err("File is binary, not text: f")),
            (b"Gr\xfc\xdfe aus K\xf6ln", "UTF-8", Err("File is not valid UTF-8 text: f")),
            (b"x", "klingon", Err("Unsupported encoding: 'klingon'")),
        ];
        for (bytes, label, expected) in cases {
            let decoded = decode(bytes, label, "f");
            let decoded = decoded.as_deref().map_err(|error| error.message.as_str());
            assert_eq!(decoded, expected, "{label}");
        }
        let hint = decode(b"Gr\xfc\xdfe aus K\xf6ln", "UTF-8", "f").unwrap_err().hint.unwrap();
        assert!(hint.contains("windows-1252"), "{hint}");
    }
}
