//! What a file of a package asks for: imports, and signs of what it does with them.
//!
//! Only what stands in the text is seen; a computed `require(name)` is not. Files that cannot be parsed
//! safely are looked over for quoted imports instead, so that they are never taken for harmless.

use std::collections::HashSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::SourceType;
use oxc_syntax::scope::ScopeFlags;

use super::parse::parse;

/// One import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) specifier: String,
    /// By `import` (or `export … from`), not by `require`.
    pub(super) by_import: bool,
    /// It happens when the file is loaded, not when one of its functions is called.
    pub(super) at_load: bool,
    /// Inside `try`: the file can do without.
    pub(super) optional: bool,
}

/// What a file asks for and does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) imports: Vec<Import>,
    /// It has `import` or `export` statements.
    pub(super) is_module: bool,
    /// It uses `fetch`, `XMLHttpRequest` or `WebSocket`.
    pub(super) fetches: bool,
    /// It calls a `createServer`.
    pub(super) serves: bool,
    /// It names a function of `fs` that changes files.
    pub(super) writes: bool,
    /// It names `WebAssembly`.
    pub(super) is_wasm: bool,
    /// It was only looked over.
    pub(super) unparsed: bool,
}

/// Functions of `fs` that change something, without `Sync`.
const WRITES: [&str; 17] = [
    "appendFile",
    "chmod",
    "chown",
    "copyFile",
    "cp",
    "createWriteStream",
    "link",
    "mkdir",
    "mkdtemp",
    "rename",
    "rm",
    "rmdir",
    "symlink",
    "truncate",
    "unlink",
    "utimes",
    "writeFile",
];

pub(super) fn look(text: &str) -> Seen {
    let allocator = Allocator::default();
    let text_type = SourceType::unambiguous();
    match parse(&allocator, text, text_type) {
        Some(program) => {
            let mut look = Look::default();
            look.seen.is_module = program.source_type.is_module();
            look.visit_program(program);
            look.seen
        }
        None => look_over(text),
    }
}

#[derive(Default)]
struct Look {
    seen: Seen,
    /// Functions around that run later than the file.
    later: usize,
    tries: usize,
}

impl Look {
    fn import(&mut self, specifier: &str, by_import: bool) {
        let (at_load, optional) = (self.later == 0, self.tries > 0);
        self.seen.imports.push(Import { specifier: specifier.to_owned(), by_import, at_load, optional });
    }

    /// A function's body as part of what is around it: it is called where it stands.
    fn visit_called_at_once<'a>(&mut self, callee: &Expression<'a>) -> bool {
        let callee = match callee.without_parentheses() {
            // `(function () { … }).call(this)`
            Expression::StaticMemberExpression(member)
                if matches!(member.property.name.as_str(), "call" | "apply") =>
            {
                member.object.without_parentheses()
            }
            callee => callee,
        };
        match callee {
            Expression::FunctionExpression(function) => {
                walk::walk_function(self, function, ScopeFlags::Function);
                true
            }
            Expression::ArrowFunctionExpression(arrow) => {
                walk::walk_arrow_function_expression(self, arrow);
                true
            }
            _ => false,
        }
    }
}

/// The text of a quoted argument.
fn literal<'a>(expression: &'a Expression<'_>) -> Option<&'a str> {
    match expression.without_parentheses() {
        Expression::StringLiteral(text) => Some(text.value.as_str()),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            template.quasis.first().and_then(|quasi| quasi.value.cooked.as_deref())
        }
        _ => None,
    }
}

impl<'a> Visit<'a> for Look {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.import(it.source.value.as_str(), true);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.import(it.source.value.as_str(), true);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.import(it.source.value.as_str(), true);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if let Some(specifier) = literal(&it.source) {
            self.import(specifier, true);
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let name = match it.callee.without_parentheses() {
            Expression::Identifier(id) => Some(id.name.as_str()),
            Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
            _ => None,
        };
        match name {
            Some("require") => {
                if let Some(specifier) =
                    it.arguments.first().and_then(Argument::as_expression).and_then(literal)
                {
                    self.import(specifier, false);
                }
            }
            Some("createServer" | "createSecureServer") => self.seen.serves = true,
            _ => {}
        }
        if self.visit_called_at_once(&it.callee) {
            it.arguments.iter().for_each(|argument| self.visit_argument(argument));
            return;
        }
        // `!function (root, factory) { factory(require('x')) }(this, function (x) { … })`: a factory handed to
        // a wrapper is called by it, but nothing here can tell; its own requires are seen as later ones.
        walk::walk_call_expression(self, it);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.tries += 1;
        self.visit_block_statement(&it.block);
        self.tries -= 1;
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.later += 1;
        walk::walk_function(self, it, flags);
        self.later -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.later += 1;
        walk::walk_arrow_function_expression(self, it);
        self.later -= 1;
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.global(it.name.as_str());
        self.name(it.name.as_str());
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        let object = it.object.get_identifier_reference().map(|id| id.name.as_str());
        if matches!(object, Some("globalThis" | "window" | "self" | "global")) {
            self.global(it.property.name.as_str());
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_identifier_name(&mut self, it: &IdentifierName<'a>) {
        self.name(it.name.as_str());
    }
}

impl Look {
    fn global(&mut self, name: &str) {
        self.seen.fetches |= matches!(name, "fetch" | "XMLHttpRequest" | "WebSocket" | "EventSource");
        self.seen.is_wasm |= name == "WebAssembly";
    }

    fn name(&mut self, name: &str) {
        let plain = name.strip_suffix("Sync").unwrap_or(name);
        self.seen.writes |= WRITES.binary_search(&plain).is_ok();
    }
}

/// Imports by their look: `require("x")`, `from "x"`, `import "x"`, `import("x")`. One pass over the words,
/// for the text may be large.
fn look_over(text: &str) -> Seen {
    let mut look = Look::default();
    let mut known = HashSet::new();
    let (mut exports, mut common) = (false, false);
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        // A word begins and ends at ASCII, so it can be cut there.
        let word = &text[start..at];
        match word {
            "require" | "from" | "import" => {
                if let Some(specifier) =
                    quoted(&text[at..]).filter(|one| known.insert((word, one.to_owned())))
                {
                    look.import(specifier, word != "require");
                }
            }
            "export" => exports = true,
            "exports" | "module" => common = true,
            "createServer" => look.seen.serves = true,
            _ => {
                look.global(word);
                look.name(word);
            }
        }
    }
    Seen { unparsed: true, is_module: exports && !common, ..look.seen }
}

/// The text in quotes that follows at once, if it can be a module's name.
fn quoted(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    let rest = rest.strip_prefix('(').unwrap_or(rest).trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let end = rest[1..].find([quote, '\n', ' ', '$'])?;
    let is_name = end > 0 && end < 200 && rest[1 + end..].starts_with(quote);
    is_name.then(|| &rest[1..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let seen = look(text);
        let flag = |is: bool, word: &'static str| is.then_some(word);
        let import = |import: &Import| {
            let words = [
                Some(import.specifier.as_str()),
                flag(import.by_import, "import"),
                flag(!import.at_load, "later"),
                flag(import.optional, "optional"),
            ];
            words.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        let mut words: Vec<String> = seen.imports.iter().map(import).collect();
        let flags = [
            flag(seen.is_module, "MODULE"),
            flag(seen.fetches, "FETCHES"),
            flag(seen.serves, "SERVES"),
            flag(seen.writes, "WRITES"),
            flag(seen.unparsed, "UNPARSED"),
        ];
        words.extend(flags.into_iter().flatten().map(str::to_owned));
        assert_eq!(words.join(", "), expected, "{text}");
    }

    #[test]
    fn imports_and_signs() {
        assert!(WRITES.is_sorted());
        check(
            "import a from 'a'; export * from './b'; const c = import('c')",
            "a import, ./b import, c import, MODULE",
        );
        check("const fs = require('fs'); fs.readFileSync('x')", "fs");
        check("const fs = require('fs'); fs.writeFileSync('x')", "fs, WRITES");
        check("function f() { return require('net') }", "net later");
        check("(function () { require('net') })()", "net");
        check("(function () { require('net') }).call(this)", "net");
        check("!function (g) { g(require('net')) }(function (net) { require('tls') })", "net, tls later");
        check("try { require('bufferutil') } catch {}", "bufferutil optional");
        check("require('http').createServer(app)", "http, SERVES");
        check("export const get = url => fetch(url)", "MODULE, FETCHES");
        check("window.fetch(url)", "FETCHES");
        check("cache.fetch(key)", "");
        check("require(name); require(`a`); require(`a${b}`)", "a");
        check("this is not JavaScript; require('x')", "x, UNPARSED");
    }
}
