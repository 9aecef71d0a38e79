//! The scan's books: which brackets are open, and how much work they make for the parser.

/// More brackets than any hand or bundler nests.
const DEPTH: usize = 500;
/// Tokens between two commas or semicolons: `!!!!…` and `a=>a=>…` nest without brackets.
const LENGTH: usize = 100_000;
/// Tokens times the ambiguous brackets round them. A megabyte of ordinary code stays below two millions.
const WORK: usize = 4_000_000;

/// What a slash is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Regex,
    Division,
    Unsure,
}

/// An open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// With what a slash is after it is closed: `if (a) /b/` or `(a) / b`.
    Paren(Slash),
    Square,
    Curly,
    /// `${` of a template.
    Template,
}

#[derive(Debug)]
pub(super) struct Weights {
    is_typescript: bool,
    /// Never empty: the first frame is the script itself.
    frames: Vec<Frame>,
    /// Ambiguous brackets that are open.
    open: usize,
    /// Brackets inside what may have been a division, counted as if they never closed.
    doubt: usize,
    work: usize,
}

#[derive(Debug)]
struct Frame {
    bracket: Bracket,
    /// `<` and `?` that may still be waiting for the other half, in TypeScript.
    angles: usize,
    questions: usize,
    /// Tokens since the last one that ends an expression and, of a chain of `else if`, all of them.
    length: usize,
    elses: usize,
}

impl Frame {
    fn new(bracket: Bracket) -> Self {
        Self { bracket, angles: 0, questions: 0, length: 0, elses: 0 }
    }
}

/// Every refusal is a message for the author.
type Weighed = Result<(), String>;

impl Weights {
    pub(super) fn new(is_typescript: bool) -> Self {
        let frames = vec![Frame::new(Bracket::Curly)];
        Self { is_typescript, frames, open: 0, doubt: 0, work: 0 }
    }

    /// Counts a token.
    pub(super) fn token(&mut self) -> Weighed {
        let frame = self.top();
        frame.length += 1;
        if frame.length > LENGTH {
            return Err(format!("a statement is longer than {LENGTH} tokens"));
        }
        self.spend(self.open + self.doubt)
    }

    pub(super) fn spend(&mut self, work: usize) -> Weighed {
        self.work += work;
        if self.work > WORK {
            return Err("the script nests brackets too often to be read safely".into());
        }
        Ok(())
    }

    pub(super) fn push(&mut self, bracket: Bracket) -> Weighed {
        self.open += usize::from(matches!(bracket, Bracket::Paren(_)));
        self.frames.push(Frame::new(bracket));
        self.check_depth()
    }

    /// Closes a bracket. One that closes nothing is the parser's to report: nothing is taken off for it.
    pub(super) fn pop(&mut self, character: char) -> Option<Bracket> {
        let top = self.frames.last().filter(|_| self.frames.len() > 1)?;
        let is_pair = match top.bracket {
            Bracket::Paren(_) => character == ')',
            Bracket::Square => character == ']',
            Bracket::Curly | Bracket::Template => character == '}',
        };
        let frame = is_pair.then(|| self.frames.pop()).flatten()?;
        self.open -= frame.angles + frame.questions + usize::from(character == ')');
        Some(frame.bracket)
    }

    /// Weighs what lies between two slashes as if it were code.
    pub(super) fn doubt(&mut self, body: &str) -> Weighed {
        let in_template = self.frames.iter().any(|frame| frame.bracket == Bracket::Template);
        let leads_apart =
            |c: char| matches!(c, '"' | '\'' | '`' | '/') || (in_template && matches!(c, '{' | '}'));
        if body.contains(leads_apart) {
            return Err("this may be a regular expression or a division; put it in parentheses".into());
        }
        self.doubt += body.matches(['(', '[', '{', '<', '?']).count();
        self.check_depth()
    }

    /// Takes notice of an operator that TypeScript's parser may try as a type or an arrow function.
    pub(super) fn operator(&mut self, token: &str) {
        if matches!(token, "," | ";") {
            self.end_expression();
        }
        if !self.is_typescript {
            return;
        }
        let frame = self.top();
        let before = frame.angles + frame.questions;
        match token {
            "<" => frame.angles += 1,
            ">" => frame.angles = frame.angles.saturating_sub(1),
            "?" => frame.questions += 1,
            "," => frame.questions = 0,
            ";" => (frame.angles, frame.questions) = (0, 0),
            _ => {}
        }
        let after = frame.angles + frame.questions;
        self.open = self.open - before + after;
    }

    /// Takes notice of a word that no type and no expression goes on past.
    pub(super) fn word(&mut self, word: &str) {
        match word {
            "const" | "var" | "export" | "return" | "switch" | "throw" | "try" | "break" | "case" => {
                self.operator(";");
            }
            // These hold another statement, which is deeper by one.
            "if" | "for" | "while" | "do" => {
                let length = self.top().length;
                self.operator(";");
                self.top().length = length;
            }
            "else" => self.top().elses += 1,
            _ => {}
        }
    }

    fn end_expression(&mut self) {
        let frame = self.top();
        frame.length = frame.elses;
    }

    fn check_depth(&self) -> Weighed {
        if self.frames.len() + self.doubt > DEPTH {
            return Err(format!("brackets are nested more than {DEPTH} deep"));
        }
        Ok(())
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }
}
