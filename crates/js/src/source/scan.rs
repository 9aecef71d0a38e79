//! A look over a script before it is parsed: how deep it nests, and how often the parser would read it.
//!
//! The parser calls itself once for each bracket, and where brackets are ambiguous (`(a = (…`
//! may begin an arrow function, `a<b<…` a type) it reads what follows twice: twenty kilobytes
//! of them take gigabytes. Nobody can stop it then, so the scan refuses such a text before.
//!
//! It must never see less than the parser does. Comments, strings and templates are
//! plain to see; a slash is not, for only a parser knows whether it divides or begins a
//! regular expression. Where the token before it does not tell, the scan takes the worse of both
//! readings, or refuses the text if they lead apart.

use super::{SourceFault, SourceKind, fault_at};

/// More brackets than any hand or bundler nests.
const DEPTH: usize = 500;
/// Tokens times the ambiguous brackets round them. A megabyte of ordinary code stays below two millions.
const WORK: usize = 4_000_000;

/// What the scan saw on its way.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The script names `_env`, as an identifier or as a key.
    pub(super) env: bool,
}

pub(super) fn scan(kind: SourceKind, text: &str) -> Result<Seen, SourceFault> {
    let mut scanner = Scanner {
        text,
        at: 0,
        is_typescript: kind == SourceKind::TypeScript,
        frames: vec![Frame::new(Bracket::Curly)],
        weight: 0,
        work: 0,
        doubt: 0,
        slash: Slash::Regex,
        word: Word::Other,
        is_first: true,
        seen: Seen::default(),
    };
    if text.starts_with("#!") {
        scanner.skip_line();
    }
    while let Some(character) = scanner.peek() {
        scanner.token(character)?;
    }
    Ok(scanner.seen)
}

/// What a slash would be after the last token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Regex,
    Division,
    Unsure,
}

/// The last token, where it changes what the next one means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// `.`, `?.` or `#`: the next word is a name, whatever it is called.
    Dot,
    /// `if`, `while`, `for`, `with`: a statement follows their parentheses.
    Head,
    For,
    Other,
}

enum Bracket {
    Paren { slash: Slash },
    Square,
    Curly,
    Template,
}

struct Frame {
    bracket: Bracket,
    /// `<` and `?` that may still be waiting for the other half, in TypeScript.
    angles: usize,
    questions: usize,
}

impl Frame {
    fn new(bracket: Bracket) -> Self {
        Self { bracket, angles: 0, questions: 0 }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    is_typescript: bool,
    /// Never empty: the first frame is the script itself.
    frames: Vec<Frame>,
    /// Ambiguous brackets that are open.
    weight: usize,
    work: usize,
    /// Brackets inside what may have been a division, counted as if they never closed.
    doubt: usize,
    slash: Slash,
    word: Word,
    /// The next token is the first of its line, where a statement may begin without a semicolon.
    is_first: bool,
    seen: Seen,
}

impl Scanner<'_> {
    fn token(&mut self, character: char) -> Result<(), SourceFault> {
        if is_space(character) {
            self.is_first |= is_line_end(character);
            self.at += character.len_utf8();
            return Ok(());
        }
        let rest = &self.text[self.at..];
        if rest.starts_with("//") {
            self.skip_line();
            return Ok(());
        }
        if rest.starts_with("/*") {
            let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
            self.is_first |= rest[..length].contains(is_line_end);
            self.at += length;
            return Ok(());
        }
        self.spend(self.weight + self.doubt)?;
        let found = match character {
            '"' | '\'' => {
                self.string(character);
                Ok(())
            }
            '`' => {
                self.at += 1;
                self.template()
            }
            '/' => self.slash(),
            '(' | '[' | '{' => self.open(character),
            ')' | ']' | '}' => self.close(character),
            _ if is_word(character) => {
                self.word();
                Ok(())
            }
            _ => self.punctuation(character),
        };
        self.is_first = false;
        found
    }

    fn spend(&mut self, work: usize) -> Result<(), SourceFault> {
        self.work += work;
        if self.work > WORK {
            return Err(self.fault("the script nests brackets too often to be read safely"));
        }
        Ok(())
    }

    fn punctuation(&mut self, character: char) -> Result<(), SourceFault> {
        let rest = &self.text[self.at..];
        if rest.starts_with("<!--") || (rest.starts_with("-->") && self.is_first) {
            return Err(
                self.fault("comments in the manner of HTML (<!-- and -->) are not available to tools")
            );
        }
        let is_value = self.slash == Slash::Division;
        let (length, slash) = match character {
            '@' => return Err(self.fault("decorators are not available to tools")),
            '+' | '-' if rest[1..].starts_with(character) => (2, Slash::Unsure),
            '=' if rest.starts_with("=>") => (2, Slash::Regex),
            '?' if is_chain(rest) => (2, Slash::Regex),
            '?' if rest.starts_with("??") => (2, Slash::Regex),
            // In TypeScript these also end a value: `a!`, `f<T>`.
            '!' if is_value && self.is_typescript => (1, Slash::Unsure),
            '>' if self.is_typescript => (1, Slash::Unsure),
            _ => (character.len_utf8(), Slash::Regex),
        };
        self.wait_for_other_half(&rest[..length]);
        self.at += length;
        self.slash = slash;
        self.word = if matches!(character, '.' | '#') || is_chain(rest) { Word::Dot } else { Word::Other };
        Ok(())
    }

    /// Keeps count of what TypeScript's parser tries as types and as arrow functions.
    fn wait_for_other_half(&mut self, token: &str) {
        let Some(frame) = self.frames.last_mut().filter(|_| self.is_typescript) else { return };
        let before = frame.angles + frame.questions;
        match token {
            "<" => frame.angles += 1,
            ">" => frame.angles = frame.angles.saturating_sub(1),
            "?" => frame.questions += 1,
            "," => frame.questions = 0,
            ";" => (frame.angles, frame.questions) = (0, 0),
            _ => {}
        }
        self.weight = self.weight - before + frame.angles + frame.questions;
    }

    fn word(&mut self) {
        let start = self.at;
        let is_number = self.text.as_bytes()[start].is_ascii_digit();
        while let Some(character) = self.peek() {
            if self.text[self.at..].starts_with("\\u{") {
                self.at = self.text[self.at..].find('}').map_or(self.text.len(), |end| self.at + end + 1);
            } else if is_word(character) || (is_number && character == '.') {
                self.at += character.len_utf8();
            } else {
                break;
            }
        }
        let word = &self.text[start..self.at];
        self.seen.env |= word == "_env";
        let is_name = self.word == Word::Dot;
        let after_for = self.word == Word::For;
        (self.slash, self.word) = match word {
            _ if is_name || is_number => (Slash::Division, Word::Other),
            "if" | "while" | "with" => (Slash::Unsure, Word::Head),
            "for" => (Slash::Unsure, Word::For),
            "await" if after_for => (Slash::Unsure, Word::Head),
            "return" | "typeof" | "case" | "do" | "else" | "in" | "instanceof" | "new" | "void"
            | "delete" | "throw" | "extends" | "default" | "break" | "continue" | "debugger" => {
                (Slash::Regex, Word::Other)
            }
            "of" | "yield" | "await" | "const" | "var" | "function" | "class" | "switch" | "try"
            | "catch" | "finally" | "import" | "export" | "enum" | "let" | "as" | "satisfies" => {
                (Slash::Unsure, Word::Other)
            }
            _ => (Slash::Division, Word::Other),
        };
        // No type and no expression goes on past the beginning of a statement.
        if !is_name && BEGINNINGS.contains(&word) {
            self.wait_for_other_half(";");
        }
    }

    fn open(&mut self, character: char) -> Result<(), SourceFault> {
        let bracket = match character {
            '(' if matches!(self.word, Word::Head | Word::For) => Bracket::Paren { slash: Slash::Regex },
            '(' => Bracket::Paren { slash: Slash::Division },
            '[' => Bracket::Square,
            _ => Bracket::Curly,
        };
        self.weight += usize::from(character == '(');
        self.at += 1;
        self.push(bracket)
    }

    fn push(&mut self, bracket: Bracket) -> Result<(), SourceFault> {
        self.frames.push(Frame::new(bracket));
        (self.slash, self.word) = (Slash::Regex, Word::Other);
        if self.frames.len() + self.doubt > DEPTH {
            return Err(self.fault(&format!("brackets are nested more than {DEPTH} deep")));
        }
        Ok(())
    }

    /// A closing bracket that closes nothing is the parser's to report: nothing is taken off for it.
    fn close(&mut self, character: char) -> Result<(), SourceFault> {
        self.at += 1;
        self.word = Word::Other;
        let top = self.frames.last().filter(|_| self.frames.len() > 1).map(|frame| &frame.bracket);
        let (matches, slash) = match (top, character) {
            (Some(Bracket::Paren { slash }), ')') => (true, *slash),
            (Some(Bracket::Square), ']') => (true, Slash::Division),
            (Some(Bracket::Curly | Bracket::Template), '}') => (true, Slash::Unsure),
            _ => (false, Slash::Unsure),
        };
        self.slash = slash;
        let Some(frame) = matches.then(|| self.frames.pop()).flatten() else { return Ok(()) };
        self.weight -= frame.angles + frame.questions + usize::from(character == ')');
        if matches!(frame.bracket, Bracket::Template) { self.template() } else { Ok(()) }
    }

    /// The text of a template, up to its end or to the next `${`.
    fn template(&mut self) -> Result<(), SourceFault> {
        (self.slash, self.word) = (Slash::Division, Word::Other);
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    return Ok(());
                }
                b'$' if bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 2;
                    return self.push(Bracket::Template);
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn string(&mut self, quote: char) {
        let start = self.at + 1;
        self.at = start;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\\' if bytes[self.at..].starts_with(b"\\\r\n") => self.at += 3,
                b'\\' => self.at += 2,
                b'\n' | b'\r' => break,
                _ if byte == quote as u8 => break,
                _ => self.at += 1,
            }
        }
        self.seen.env |= bytes.get(start..self.at) == Some(b"_env");
        self.at += usize::from(bytes.get(self.at) == Some(&(quote as u8)));
        (self.slash, self.word) = (Slash::Division, Word::Other);
    }

    fn slash(&mut self) -> Result<(), SourceFault> {
        // After a line end, even a value may be followed by a new statement.
        let is_unsure = self.slash == Slash::Unsure || (self.slash == Slash::Division && self.is_first);
        if self.slash == Slash::Division && !is_unsure {
            self.divide();
            return Ok(());
        }
        let line = &self.text[self.at..];
        let line = &line[..line.find(is_line_end).unwrap_or(line.len())];
        match regex_length(line) {
            Some(length) => {
                if is_unsure {
                    self.doubt(&line[1..length - 1])?;
                }
                self.at += length;
                (self.slash, self.word) = (Slash::Division, Word::Other);
                Ok(())
            }
            None if is_unsure && !line.contains('`') && !line.contains("/*") => {
                // Looking ahead in vain, over and over, takes its time as well.
                self.spend(line.len() / 8)?;
                self.divide();
                Ok(())
            }
            None => Err(self.fault("a regular expression does not end on its line")),
        }
    }

    fn divide(&mut self) {
        self.at += 1;
        (self.slash, self.word) = (Slash::Regex, Word::Other);
    }

    /// Weighs what lies between two slashes as if it were code.
    fn doubt(&mut self, body: &str) -> Result<(), SourceFault> {
        let in_template = self.frames.iter().any(|frame| matches!(frame.bracket, Bracket::Template));
        let leads_apart =
            |c: char| matches!(c, '"' | '\'' | '`' | '/') || (in_template && matches!(c, '{' | '}'));
        if body.contains(leads_apart) {
            let message = "this may be a regular expression or a division; put it in parentheses";
            return Err(self.fault(message));
        }
        self.doubt += body.matches(['(', '[', '{', '<', '?']).count();
        if self.frames.len() + self.doubt > DEPTH {
            return Err(self.fault(&format!("brackets are nested more than {DEPTH} deep")));
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at = rest.find(is_line_end).map_or(self.text.len(), |end| self.at + end);
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn fault(&self, message: &str) -> SourceFault {
        fault_at(self.text, self.at, message)
    }
}

/// Words that begin a statement and are never part of an expression or a type.
const BEGINNINGS: [&str; 13] = [
    "const", "var", "export", "return", "if", "for", "while", "switch", "throw", "try", "do", "break", "case",
];

/// How long the regular expression is that may begin this line.
fn regex_length(line: &str) -> Option<usize> {
    let mut in_class = false;
    let mut escaped = false;
    for (offset, character) in line.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Some(offset + 1),
            _ => {}
        }
    }
    None
}

/// `?.`, but not the `?` of `a ?.5 : b`.
fn is_chain(rest: &str) -> bool {
    rest.strip_prefix("?.").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn is_word(character: char) -> bool {
    let is_ascii_word = character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '\\');
    is_ascii_word || (!character.is_ascii() && !is_space(character))
}
