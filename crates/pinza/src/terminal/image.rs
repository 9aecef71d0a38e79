//! Images in the terminal itself, where it can: kitty's graphics protocol, or iTerm2's inline images.
//!
//! Which of them a terminal speaks is known from its environment alone: asking it would wait for an answer
//! that others never give. Inside a multiplexer none of them is safe, as it does not know how tall an image is.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Larger images are not for a chat.
const LARGEST: usize = 4 * 1024 * 1024;
/// As much as kitty takes in one escape sequence.
const CHUNK: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Kitty,
    Iterm,
}

/// The escape sequence that shows it here, at most `columns` wide and with the line after it as the
/// next; `None` where the terminal cannot.
pub(crate) fn image(data: &[u8], mime: &str, columns: usize) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    shown(data, mime, columns, protocols(variable))
}

/// What the terminal speaks, the better one first.
fn protocols(variable: impl Fn(&str) -> Option<String>) -> &'static [Protocol] {
    let term = variable("TERM").unwrap_or_default();
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let multiplexed = ["TMUX", "STY", "ZELLIJ"].iter().any(|name| variable(name).is_some())
        || ["tmux", "screen", "dumb"].iter().any(|name| term.starts_with(name));
    let named = |name: &str| term.contains(name) || program.eq_ignore_ascii_case(name);
    if multiplexed {
        &[]
    } else if named("wezterm") {
        &[Protocol::Kitty, Protocol::Iterm]
    } else if variable("KITTY_WINDOW_ID").is_some() || named("kitty") || named("ghostty") {
        &[Protocol::Kitty]
    } else if program == "iTerm.app" {
        &[Protocol::Iterm]
    } else {
        &[]
    }
}

fn shown(data: &[u8], mime: &str, columns: usize, protocols: &[Protocol]) -> Option<String> {
    let size = size(data, mime)?;
    if data.len() > LARGEST || columns == 0 {
        return None;
    }
    let columns = size.map_or(columns, |(width, _)| columns.min(cells(width)));
    protocols.iter().find_map(|protocol| match protocol {
        // PNG is the one format that kitty decodes itself.
        Protocol::Kitty if mime == "image/png" => Some(kitty(data, columns)),
        Protocol::Kitty => None,
        Protocol::Iterm => Some(iterm(data, columns)),
    })
}

/// Is it the image that it says it is? Its width and height in pixels, where they are easily read: a small
/// icon is not blown up to the whole width.
fn size(data: &[u8], mime: &str) -> Option<Option<(u32, u32)>> {
    match mime {
        "image/png" => {
            let header = data.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
            let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
            Some(Some((number(0)?, number(4)?)))
        }
        "image/jpeg" => data.starts_with(&[0xff, 0xd8, 0xff]).then_some(None),
        "image/gif" => (data.starts_with(b"GIF87a") || data.starts_with(b"GIF89a")).then_some(None),
        "image/webp" => (data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP")).then_some(None),
        _ => None,
    }
}

/// About how many columns so many pixels are.
fn cells(pixels: u32) -> usize {
    usize::try_from(pixels.div_ceil(8)).unwrap_or(usize::MAX).max(1)
}

/// `a=T`: send and show; `f=100`: PNG; `q=2`: the terminal answers nothing, which would look like typing.
fn kitty(data: &[u8], columns: usize) -> String {
    let text = STANDARD.encode(data);
    let mut written = String::with_capacity(text.len() + text.len() / 100 + 64);
    let mut rest = text.as_str();
    let mut keys = format!("a=T,f=100,q=2,c={columns},");
    loop {
        let (chunk, after) = rest.split_at(rest.len().min(CHUNK));
        let more = u8::from(!after.is_empty());
        written.push_str(&format!("\u{1b}_G{keys}m={more};{chunk}\u{1b}\\"));
        if after.is_empty() {
            return written;
        }
        keys = "q=2,".to_owned();
        rest = after;
    }
}

fn iterm(data: &[u8], columns: usize) -> String {
    let (size, text) = (data.len(), STANDARD.encode(data));
    format!("\u{1b}]1337;File=inline=1;size={size};width={columns};preserveAspectRatio=1:{text}\u{7}")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    fn png(width: u32, bytes: usize) -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(width.to_be_bytes());
        png.extend(10_u32.to_be_bytes());
        png.resize(bytes.max(png.len()), 7);
        png
    }

    #[test]
    fn a_terminal_is_known_by_its_environment() {
        let cases: [(Variables, &[Protocol]); 10] = [
            (&[("TERM", "xterm-kitty")], &[Protocol::Kitty]),
            (&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")], &[Protocol::Kitty]),
            (&[("TERM", "xterm-ghostty")], &[Protocol::Kitty]),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")], &[Protocol::Kitty]),
            (&[("TERM_PROGRAM", "WezTerm")], &[Protocol::Kitty, Protocol::Iterm]),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM", "xterm-256color")], &[Protocol::Iterm]),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TMUX", "/tmp/tmux")], &[]),
            (&[("KITTY_WINDOW_ID", "1"), ("TERM", "screen-256color")], &[]),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], &[]),
            (&[], &[]),
        ];
        for (environment, expected) in cases {
            let variable = |name: &str| {
                environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(protocols(variable), expected, "{environment:?}");
        }
    }

    #[test]
    fn kitty_gets_a_png_in_chunks() {
        let data = png(4000, 10_000);
        let written = shown(&data, "image/png", 80, &[Protocol::Kitty]).unwrap();
        let chunks: Vec<_> = written.split_inclusive("\u{1b}\\").collect();
        let mut text = String::new();
        for (index, chunk) in chunks.iter().enumerate() {
            let (keys, payload) = chunk.strip_suffix("\u{1b}\\").unwrap().split_once(';').unwrap();
            let more = u8::from(index + 1 < chunks.len());
            let first = if index == 0 { "a=T,f=100,q=2,c=80," } else { "q=2," };
            assert_eq!(keys, format!("\u{1b}_G{first}m={more}"));
            assert!(payload.len() <= CHUNK);
            text.push_str(payload);
        }
        assert!(chunks.len() > 1);
        assert_eq!(STANDARD.decode(text).unwrap(), data);
        assert_eq!(shown(b"\xff\xd8\xff\xe0", "image/jpeg", 80, &[Protocol::Kitty]), None);
    }

    #[test]
    fn iterm_gets_what_it_knows() {
        let both = [Protocol::Kitty, Protocol::Iterm];
        let written = shown(b"GIF89a", "image/gif", 80, &both).unwrap();
        let expected = "\u{1b}]1337;File=inline=1;size=6;width=80;preserveAspectRatio=1:R0lGODlh\u{7}";
        assert_eq!(written, expected);
        assert!(shown(&png(40, 0), "image/png", 80, &[Protocol::Iterm]).unwrap().contains(";width=5;"));
    }

    #[test]
    fn what_is_no_image_or_too_large_is_not_shown() {
        let both = [Protocol::Kitty, Protocol::Iterm];
        for (data, mime) in [
            (b"<svg/>".to_vec(), "image/svg+xml"),
            (b"no image".to_vec(), "image/png"),
            (b"no image".to_vec(), "image/jpeg"),
            (png(10, LARGEST + 1), "image/png"),
        ] {
            assert_eq!(shown(&data, mime, 80, &both), None, "{mime}");
        }
        assert_eq!(shown(&png(10, 0), "image/png", 80, &[]), None);
    }
}
