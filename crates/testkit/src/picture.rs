//! A captured screen as a page that a browser can draw, for people who want to see what a test saw.
//!
//! Only what tmux writes is understood: SGR sequences, with 16, 256 and all colours, and hyperlinks, which are
//! left out. Every character has the cells that a terminal gives it, whatever the font thinks.

use std::{fmt::Write as _, path::Path, process::Command};

use unicode_width::UnicodeWidthChar as _;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// In pixels, as the page below has them.
const CELL: (usize, usize) = (9, 20);
const MARGIN: usize = 16;
/// What a window has beyond its page, also where nobody sees it.
const FRAME: usize = 90;

/// Draws a file of [`Terminal::keep`](crate::Terminal::keep) as a PNG.
pub fn picture(screen: &Path, picture: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(screen).map_err(|error| format!("{}: {error}", screen.display()))?;
    let (page, (width, height)) = page(&text);
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = directory.path().join("screen.html");
    std::fs::write(&file, page).map_err(|error| error.to_string())?;
    let profile = format!("--user-data-dir={}", directory.path().join("profile").display());
    let shot = format!(
        "--screenshot={}",
        std::path::absolute(picture).map_err(|error| error.to_string())?.display()
    );
    let size = format!("--window-size={width},{}", height + FRAME);
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &profile, &shot, &size];
    for browser in BROWSERS {
        let Ok(output) = Command::new(browser).args(flags).arg(&file).output() else { continue };
        if output.status.success() && picture.exists() {
            return Ok(());
        }
        return Err(format!("{browser}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Err("no browser to draw with\nhint: apt-get install chromium fonts-dejavu-core".to_owned())
}

/// The page, and how many pixels it takes.
fn page(screen: &str) -> (String, (usize, usize)) {
    let mut style = Style::default();
    let mut rows = String::new();
    let mut columns = 80;
    for line in screen.lines() {
        let (row, width) = row(line, &mut style);
        columns = columns.max(width);
        // Writing to a String cannot fail.
        let _ = writeln!(rows, "<div>{row}</div>");
    }
    let size = (columns * CELL.0 + 2 * MARGIN, screen.lines().count() * CELL.1 + 2 * MARGIN);
    let page = format!(
        "<!doctype html><meta charset=utf-8><style>
         body {{ margin: {MARGIN}px; background: #16181d; color: #d8dbe0; font: 15px/{1}px 'DejaVu Sans Mono', monospace }}
         div {{ height: {1}px; white-space: nowrap }}
         i {{ font-style: normal; display: inline-block; width: {0}px; height: {1}px; text-align: center; vertical-align: top; white-space: pre }}
         i.w {{ width: {2}px }}
         </style>{rows}",
        CELL.0,
        CELL.1,
        CELL.0 * 2,
    );
    (page, size)
}

fn row(line: &str, style: &mut Style) -> (String, usize) {
    let (mut row, mut width) = (String::new(), 0);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\x1b[") {
            let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
            style.apply(&after[..end]);
            rest = after.get(end + 1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("\x1b]") {
            rest = after.split_once("\x1b\\").map_or("", |(_, rest)| rest);
        } else {
            let cells = c.width().unwrap_or(0);
            let class = if cells > 1 { " class=w" } else { "" };
            let _ = write!(row, "<i{class} style=\"{}\">{}</i>", style.css(), escaped(c));
            width += cells;
            rest = &rest[c.len_utf8()..];
        }
    }
    (row, width)
}

fn escaped(c: char) -> String {
    match c {
        '<' | '>' | '&' | '"' => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    }
}

#[derive(Clone, Debug, Default)]
struct Style {
    ink: Option<String>,
    paper: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    struck: bool,
    reversed: bool,
}

impl Style {
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                7 => self.reversed = true,
                9 => self.struck = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.reversed = false,
                29 => self.struck = false,
                30..=37 => self.ink = Some(colour(code - 30)),
                40..=47 => self.paper = Some(colour(code - 40)),
                90..=97 => self.ink = Some(colour(code - 82)),
                100..=107 => self.paper = Some(colour(code - 92)),
                39 => self.ink = None,
                49 => self.paper = None,
                38 => self.ink = wide(&mut codes),
                48 => self.paper = wide(&mut codes),
                _ => {}
            }
        }
    }

    fn css(&self) -> String {
        let ink = self.ink.clone().unwrap_or("#d8dbe0".to_owned());
        let (ink, paper) = match (&self.paper, self.reversed) {
            (paper, true) => (paper.clone().unwrap_or("#16181d".to_owned()), Some(ink)),
            (paper, false) => (ink, paper.clone()),
        };
        let mut css = format!("color:{ink};");
        let mut add = |holds: bool, rule: &str| {
            if holds {
                css.push_str(rule);
            }
        };
        add(self.bold, "font-weight:bold;");
        add(self.dim, "opacity:.6;");
        add(self.italic, "font-style:italic;");
        add(self.underlined, "text-decoration:underline;");
        add(self.struck, "text-decoration:line-through;");
        if let Some(paper) = paper {
            let _ = write!(css, "background:{paper};");
        }
        css
    }
}

/// `5;N` or `2;R;G;B`, after 38 or 48.
fn wide(codes: &mut impl Iterator<Item = u16>) -> Option<String> {
    match codes.next()? {
        5 => Some(colour(codes.next()?)),
        2 => Some(format!("rgb({},{},{})", codes.next()?, codes.next()?, codes.next()?)),
        _ => None,
    }
}

/// One of the 256 colours, as xterm has them.
fn colour(number: u16) -> String {
    const FIRST: [&str; 16] = [
        "#2b2f36", "#e5616b", "#7fbf6a", "#d9b25f", "#5fa3e0", "#c07fd0", "#4fb8b8", "#c9ccd1", "#6b717c",
        "#ff7b85", "#9be085", "#f2cc78", "#7fbdf7", "#d99be8", "#6fd3d3", "#ffffff",
    ];
    let step = |level: u16| if level == 0 { 0 } else { 55 + level * 40 };
    match number {
        0..=15 => FIRST[usize::from(number)].to_owned(),
        16..=231 => {
            let cube = number - 16;
            format!("rgb({},{},{})", step(cube / 36), step(cube / 6 % 6), step(cube % 6))
        }
        _ => format!("rgb({0},{0},{0})", 8 + number.min(255).saturating_sub(232) * 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_widths() {
        let (page, size) = page("\x1b[1;31ma\x1b[0m世<\n\x1b[38;5;196mb\x1b[39mc\x1b[38;2;1;2;3md");
        assert_eq!(size, (80 * 9 + 32, 2 * 20 + 32));
        for cell in [
            "<i style=\"color:#e5616b;font-weight:bold;\">a</i>",
            "<i class=w style=\"color:#d8dbe0;\">世</i>",
            "<i style=\"color:#d8dbe0;\">&#60;</i>",
            "<i style=\"color:rgb(255,0,0);\">b</i>",
            "<i style=\"color:#d8dbe0;\">c</i>",
            "<i style=\"color:rgb(1,2,3);\">d</i>",
        ] {
            assert!(page.contains(cell), "{cell} in {page}");
        }
    }
}
