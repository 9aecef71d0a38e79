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

use super::{
    SourceFault, SourceKind, fault_at,
    weights::{Bracket, Slash, Weights},
};

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
        weights: Weights::new(kind == SourceKind::TypeScript),
        slash: Slash::Regex,
        word: Word::Other,
        is_first: true,
        seen: Seen::default(),
    };
    if text.starts_with("#!") {
        scanner.skip_line();
    }
    while let Some(character) = scanner.peek() {
        let start = scanner.at;
        scanner.token(character).map_err(|message| fault_at(text, start, &message))?;
    }
    Ok(scanner.seen)
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

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    is_typescript: bool,
    weights: Weights,
    /// What a slash would be after the last token.
    slash: Slash,
    word: Word,
    /// The next token is the first of its line, where a statement may begin without a semicolon.
    is_first: bool,
    seen: Seen,
}

impl Scanner<'_> {
    fn token(&mut self, character: char) -> Result<(), String> {
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
        self.weights.token()?;
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

    fn punctuation(&mut self, character: char) -> Result<(), String> {
        let rest = &self.text[self.at..];
        if rest.starts_with("<!--") || (rest.starts_with("-->") && self.is_first) {
            return Err("comments in the manner of HTML (<!-- and -->) are not available to tools".into());
        }
        let is_value = self.slash == Slash::Division;
        let (length, slash) = match character {
            '@' => return Err("decorators are not available to tools".into()),
            '+' | '-' if rest[1..].starts_with(character) => (2, Slash::Unsure),
            '=' if rest.starts_with("=>") => (2, Slash::Regex),
            '?' if is_chain(rest) => (2, Slash::Regex),
            '?' if rest.starts_with("??") => (2, Slash::Regex),
            // In TypeScript these also end a value: `a!`, `f<T>`.
            '!' if is_value && self.is_typescript => (1, Slash::Unsure),
            '>' if self.is_typescript => (1, Slash::Unsure),
            _ => (character.len_utf8(), Slash::Regex),
        };
        self.weights.operator(&rest[..length]);
        self.at += length;
        self.slash = slash;
        self.word = if matches!(character, '.' | '#') || is_chain(rest) { Word::Dot } else { Word::Other };
        Ok(())
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
        if !is_name {
            self.weights.word(word);
        }
    }

    fn open(&mut self, character: char) -> Result<(), String> {
        let bracket = match character {
            '(' if matches!(self.word, Word::Head | Word::For) => Bracket::Paren(Slash::Regex),
            '(' => Bracket::Paren(Slash::Division),
            '[' => Bracket::Square,
            _ => Bracket::Curly,
        };
        self.at += 1;
        self.push(bracket)
    }

    fn push(&mut self, bracket: Bracket) -> Result<(), String> {
        (self.slash, self.word) = (Slash::Regex, Word::Other);
        self.weights.push(bracket)
    }

    fn close(&mut self, character: char) -> Result<(), String> {
        self.at += 1;
        self.word = Word::Other;
        self.slash = match self.weights.pop(character) {
            Some(Bracket::Template) => return self.template(),
            Some(Bracket::Paren(slash)) => slash,
            Some(Bracket::Square) => Slash::Division,
            Some(Bracket::Curly) | None => Slash::Unsure,
        };
        Ok(())
    }

    /// The text of a template, up to its end or to the next `${`.
    fn template(&mut self) -> Result<(), String> {
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

    fn slash(&mut self) -> Result<(), String> {
        // After a line end, even a value may be followed by a new statement.
        let is_unsure = self.slash == Slash::Unsure || (self.slash == Slash::Division && self.is_first);
        if self.slash == Slash::Division && !is_unsure {
            self.divide();
            return Ok(());
        }
        match regex_length(&self.text[self.at..]) {
            Ok(length) => {
                if is_unsure {
                    self.weights.doubt(&self.text[self.at + 1..self.at + length - 1])?;
                }
                self.at += length;
                (self.slash, self.word) = (Slash::Division, Word::Other);
                Ok(())
            }
            Err(line) if is_unsure && !line.contains('`') && !line.contains("/*") => {
                // Looking ahead in vain, over and over, takes its time as well.
                self.weights.spend(line.len() / 4)?;
                self.divide();
                Ok(())
            }
            Err(_) => Err("a regular expression does not end on its line".into()),
        }
    }

    fn divide(&mut self) {
        self.at += 1;
        (self.slash, self.word) = (Slash::Regex, Word::Other);
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at = rest.find(is_line_end).map_or(self.text.len(), |end| self.at + end);
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }
}

/// How long the regular expression is that may begin here; or the line, if it does not end there.
fn regex_length(text: &str) -> Result<usize, &str> {
    let mut in_class = false;
    let mut escaped = false;
    for (offset, character) in text.char_indices().skip(1) {
        match character {
            _ if is_line_end(character) => return Err(&text[..offset]),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Ok(offset + 1),
            _ => {}
        }
    }
    Err(text)
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
