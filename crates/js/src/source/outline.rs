//! Finds the names of a script and takes its `export`s away.
//!
//! The syntax tree says where they stand; the text round them is kept as it is, so that lines and columns
//! in an error are the author's.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Declaration, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, Expression, ForOfStatement, Function, Program, Statement,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, SourceType, Span};
use oxc_syntax::{module_record::ModuleRecord, scope::ScopeFlags};

use super::{DEFAULT, STRICT, Script, SourceFault, fault_at, parse};

pub(super) const NO_IMPORTS: &str = "imports are not available to tools; use lib(name)";

pub(super) fn outline(allocator: &Allocator, text: &str) -> Result<Script, Vec<SourceFault>> {
    let parsed = parse(allocator, text, SourceType::unambiguous())?;
    let is_module = parsed.program.source_type.is_module();
    let mut outline = Outline::default();
    outline.program(&parsed.program);
    outline.record(&parsed.module_record);
    if is_module {
        outline.visit_program(&parsed.program);
    }
    if !outline.faults.is_empty() {
        outline.faults.sort_by_key(|(offset, _)| *offset);
        let faults = outline.faults.iter().map(|(offset, message)| fault_at(text, *offset as usize, message));
        return Err(faults.collect());
    }
    let code = outline.apply(text, is_module);
    let Outline { functions, others, exported, is_commonjs, .. } = outline;
    let (reads_env, lines) = (false, Vec::new());
    Ok(Script { code, is_module, is_commonjs, functions, others, exported, reads_env, lines })
}

#[derive(Default)]
struct Outline {
    functions: BTreeSet<String>,
    others: BTreeMap<String, &'static str>,
    exported: BTreeMap<String, String>,
    is_commonjs: bool,
    /// What stands in the place of a part of the text, in the order of the text.
    edits: Vec<(Range<usize>, String)>,
    faults: Vec<(u32, &'static str)>,
}

impl Outline {
    fn program(&mut self, program: &Program<'_>) {
        if program.hashbang.is_some() {
            self.edits.push((0..2, "//".into()));
        }
        for statement in &program.body {
            self.statement(statement, program.source_text);
        }
    }

    fn statement(&mut self, statement: &Statement<'_>, text: &str) {
        match statement {
            Statement::ImportDeclaration(import) => self.fault(import.span, NO_IMPORTS),
            Statement::ExportAllDeclaration(export) => self.fault(export.span, NO_IMPORTS),
            Statement::ExportFromDeclaration(export) => self.fault(export.span, NO_IMPORTS),
            Statement::ExportDefaultDeclaration(export) => self.default_export(export, text),
            Statement::ExportDeclaration(export) => {
                for name in self.declaration(&export.declaration) {
                    self.exported.insert(name.clone(), name);
                }
                self.replace(export.span.start..export.declaration.span().start, ";", text);
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let (outside, inside) = (specifier.exported.name(), specifier.local.name());
                    self.exported.insert(outside.to_string(), inside.to_string());
                }
                self.replace(export.span.start..export.span.end, ";", text);
            }
            Statement::ExpressionStatement(statement) => {
                self.is_commonjs |= assigns_to_exports(&statement.expression);
            }
            _ => {
                if let Some(declaration) = statement.as_declaration() {
                    self.declaration(declaration);
                }
            }
        }
    }

    /// The names that a declaration makes; those that may be called are kept as such.
    fn declaration(&mut self, declaration: &Declaration<'_>) -> Vec<String> {
        let names: Vec<(String, Option<&'static str>)> = match declaration {
            Declaration::ClassDeclaration(class) => {
                class.id.iter().map(|id| (id.name.to_string(), Some(CLASS))).collect()
            }
            Declaration::FunctionDeclaration(function) => {
                function.id.iter().map(|id| (id.name.to_string(), no_plain_function(function))).collect()
            }
            Declaration::VariableDeclaration(variables) => {
                let bound = |one: &VariableDeclarator<'_>| {
                    // What a variable holds may change later, and what a pattern takes apart is not seen here.
                    let is_seen = variables.kind.is_const() && one.id.is_binding_identifier();
                    let other = one.init.as_ref().filter(|_| is_seen).and_then(no_function);
                    let names = one.id.get_binding_identifiers();
                    names.into_iter().map(|id| (id.name.to_string(), other)).collect::<Vec<_>>()
                };
                variables.declarations.iter().flat_map(bound).collect()
            }
            _ => Vec::new(),
        };
        names.into_iter().map(|(name, other)| self.name(name, other)).collect()
    }

    fn name(&mut self, name: String, other: Option<&'static str>) -> String {
        match other {
            None => drop(self.functions.insert(name.clone())),
            Some(what) => drop(self.others.insert(name.clone(), what)),
        }
        name
    }

    fn default_export(&mut self, export: &ExportDefaultDeclaration<'_>, text: &str) {
        let (inside, other) = match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                (&function.id, no_plain_function(function))
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => (&class.id, Some(CLASS)),
            declaration => (&None, declaration.as_expression().and_then(no_function)),
        };
        let name = inside.as_ref().map_or(DEFAULT, |id| id.name.as_str()).to_owned();
        let value = export.declaration.span();
        let before = export.span.start..value.start;
        if inside.is_some() {
            self.replace(before, ";", text);
        } else {
            self.replace(before, &format!(";const {DEFAULT} = "), text);
            // A declaration ends by itself, the value of a constant does not.
            if !export.declaration.is_expression() {
                self.edits.push((value.end as usize..value.end as usize, ";".into()));
            }
        }
        let name = self.name(name, other);
        self.exported.insert("default".into(), name);
    }

    fn record(&mut self, record: &ModuleRecord<'_>) {
        for import in &record.dynamic_imports {
            self.fault(import.span, NO_IMPORTS);
        }
        for meta in &record.import_metas {
            self.fault(*meta, "import.meta is not available to tools");
        }
    }

    /// `new` and spaces take the place, so that lines and columns stay; a semicolon first, so that the
    /// statement before ends where it did.
    fn replace(&mut self, range: Range<u32>, new: &str, text: &str) {
        let range = range.start as usize..range.end as usize;
        let keep = |(index, c): (usize, char)| match c {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(c),
            _ if index < new.len() => None,
            _ => Some(' '),
        };
        let blank: String = text[range.clone()].chars().enumerate().filter_map(keep).collect();
        self.edits.push((range, format!("{new}{blank}")));
    }

    fn fault(&mut self, span: Span, message: &'static str) {
        self.faults.push((span.start, message));
    }

    fn apply(&self, text: &str, is_module: bool) -> String {
        let mut code = String::with_capacity(text.len() + 16);
        if is_module {
            code.push_str(STRICT);
        }
        let mut at = 0;
        for (range, new) in &self.edits {
            code.push_str(&text[at..range.start]);
            code.push_str(new);
            at = range.end;
        }
        code.push_str(&text[at..]);
        code
    }
}

const CLASS: &str = "a class";
const GENERATOR: &str = "a generator";

/// What a function is that cannot simply be called for its result.
fn no_plain_function(function: &Function<'_>) -> Option<&'static str> {
    function.generator.then_some(GENERATOR)
}

/// What a value is, where it is no function for certain.
fn no_function(value: &Expression<'_>) -> Option<&'static str> {
    match value.without_parentheses() {
        Expression::FunctionExpression(function) => no_plain_function(function),
        Expression::ClassExpression(_) => Some(CLASS),
        Expression::ObjectExpression(_) => Some("an object"),
        Expression::ArrayExpression(_) => Some("an array"),
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Some("a text"),
        Expression::NumericLiteral(_) | Expression::BigIntLiteral(_) => Some("a number"),
        Expression::BooleanLiteral(_) | Expression::NullLiteral(_) | Expression::RegExpLiteral(_) => {
            Some("no function")
        }
        _ => None,
    }
}

/// `module.exports = …`, `module.exports.a = …`, `exports.a = …`.
fn assigns_to_exports(expression: &Expression<'_>) -> bool {
    let Expression::AssignmentExpression(assignment) = expression else { return false };
    let mut target = assignment.left.as_member_expression();
    while let Some(member) = target {
        let name = member.object().get_identifier_reference().map(|id| id.name.as_str());
        let of_module = name == Some("module") && member.static_property_name() == Some("exports");
        if of_module || name == Some("exports") {
            return true;
        }
        target = member.object().as_member_expression();
    }
    false
}

/// A plain script cannot wait at its top level; functions may.
impl<'a> Visit<'a> for Outline {
    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.fault(it.span, TOP_LEVEL_AWAIT);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.fault(it.span, TOP_LEVEL_AWAIT);
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
}

const TOP_LEVEL_AWAIT: &str = "await is only available inside an async function";
