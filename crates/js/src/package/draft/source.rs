//! Candidates from a package's code, where it comes without declarations.
//!
//! Only what the text shows: `exports.x = function (a, b)`, `export function`, `module.exports = {…}` and
//! what they lead to. Types are those of the comments, if there are any.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

use indexmap::IndexMap;
use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, SourceType};
use serde_json::{Map, Value as Json, json};

use super::{
    super::{
        installed::Installed,
        parse::parse,
        resolve::{Platform, Resolver, Target, Wanted},
    },
    candidate::{Candidate, Candidates, Param, ROOT, document},
    doc::{Doc, Docs},
    shape::number,
};

/// Steps from an export to its function; more is a circle.
const MOST_STEPS: usize = 20;
const MOST_PARTS: usize = 3;
const MOST_FILES: usize = 1000;

pub(super) fn candidates(package: &Installed) -> Candidates {
    let code =
        Code { package, resolver: Resolver::new(&package.tree, Platform::Node), files: RefCell::default() };
    let mut found = Candidates::default();
    for wanted in [Wanted::Require, Wanted::Import] {
        if let Target::File(entry) = code.resolver.package(&package.name, ".", wanted) {
            let mut seen = HashSet::new();
            code.whole(&entry, &mut Vec::new(), &mut found, &mut seen, 0);
        }
        if !found.functions.is_empty() {
            break;
        }
    }
    found
}

struct Code<'p> {
    package: &'p Installed,
    resolver: Resolver<'p>,
    files: RefCell<HashMap<String, Rc<File>>>,
}

/// What one file names and exports.
#[derive(Default)]
struct File {
    names: HashMap<String, Value>,
    /// `name.property = value`.
    properties: HashMap<String, Vec<(String, Value)>>,
    exports: IndexMap<String, Value>,
    /// `module.exports = value`, `export default value`.
    whole: Option<Value>,
    /// Files whose exports are its own, too.
    stars: Vec<Value>,
}

/// What an expression is, as far as it can be seen.
#[derive(Clone, Debug)]
enum Value {
    Function(Rc<Candidate>),
    Object(Vec<(String, Value)>),
    Name(String),
    /// A module, all of it.
    Module(String, Wanted),
    Member(Box<Value>, String),
    Other,
}

impl Code<'_> {
    fn file(&self, path: &str) -> Option<Rc<File>> {
        if let Some(known) = self.files.borrow().get(path) {
            return Some(Rc::clone(known));
        }
        if self.files.borrow().len() >= MOST_FILES {
            return None;
        }
        let text = self.package.tree.text(path).ok()?;
        let allocator = Allocator::default();
        let program = parse(&allocator, &text, SourceType::unambiguous())?;
        let docs = Docs::of(program);
        let mut collect = Collect { docs, file: File::default(), place: 0 };
        collect.visit_program(program);
        let file = Rc::new(collect.file);
        self.files.borrow_mut().insert(path.to_owned(), Rc::clone(&file));
        Some(file)
    }

    /// Everything that a file exports, below a path.
    fn whole(
        &self,
        path: &str,
        at: &mut Vec<String>,
        found: &mut Candidates,
        seen: &mut HashSet<String>,
        steps: usize,
    ) {
        let Some(file) = self.file(path).filter(|_| steps < MOST_STEPS) else { return };
        if !seen.insert(format!("{path} {}", at.join("."))) {
            return;
        }
        if let Some(value) = &file.whole {
            self.value(path, &file, value, at, found, seen, steps + 1);
        }
        for (name, value) in &file.exports {
            at.push(name.clone());
            self.value(path, &file, value, at, found, seen, steps + 1);
            at.pop();
        }
        for star in &file.stars {
            self.value(path, &file, star, at, found, seen, steps + 1);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a walk carries where it is and what it found")]
    fn value(
        &self,
        path: &str,
        file: &File,
        value: &Value,
        at: &mut Vec<String>,
        found: &mut Candidates,
        seen: &mut HashSet<String>,
        steps: usize,
    ) {
        if steps > MOST_STEPS || at.len() > MOST_PARTS {
            return;
        }
        match value {
            Value::Function(function) => {
                let name = if at.is_empty() { ROOT.to_owned() } else { at.join(".") };
                if !found.functions.iter().any(|known| known.path == name) {
                    found.functions.push(Candidate { path: name, ..(**function).clone() });
                }
            }
            Value::Object(properties) => {
                for (name, value) in properties {
                    at.push(name.clone());
                    self.value(path, file, value, at, found, seen, steps + 1);
                    at.pop();
                }
            }
            Value::Name(name) => {
                if let Some(value) = file.names.get(name) {
                    self.value(path, file, value, at, found, seen, steps + 1);
                }
                for (property, value) in file.properties.get(name).into_iter().flatten() {
                    at.push(property.clone());
                    self.value(path, file, value, at, found, seen, steps + 1);
                    at.pop();
                }
            }
            Value::Module(specifier, wanted) => {
                if let Target::File(other) = self.resolver.resolve(path, specifier, *wanted) {
                    self.whole(&other, at, found, seen, steps + 1);
                }
            }
            Value::Member(object, name) => self.member(path, file, object, name, at, found, seen, steps),
            Value::Other => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a walk carries where it is and what it found")]
    fn member(
        &self,
        path: &str,
        file: &File,
        object: &Value,
        name: &str,
        at: &mut Vec<String>,
        found: &mut Candidates,
        seen: &mut HashSet<String>,
        steps: usize,
    ) {
        if steps > MOST_STEPS {
            return;
        }
        match object {
            Value::Name(known) => {
                if let Some(value) = file.names.get(known) {
                    self.member(path, file, value, name, at, found, seen, steps + 1);
                }
            }
            Value::Object(properties) => {
                if let Some((_, value)) = properties.iter().find(|(known, _)| known == name) {
                    self.value(path, file, value, at, found, seen, steps + 1);
                }
            }
            Value::Module(specifier, wanted) => {
                let Target::File(other) = self.resolver.resolve(path, specifier, *wanted) else { return };
                let Some(module) = self.file(&other) else { return };
                if let Some(value) = module.exports.get(name) {
                    self.value(&other, &module, value, at, found, seen, steps + 1);
                } else if let Some(whole) = &module.whole {
                    if name == "default" {
                        self.value(&other, &module, whole, at, found, seen, steps + 1);
                    } else {
                        self.member(&other, &module, whole, name, at, found, seen, steps + 1);
                    }
                } else {
                    for star in &module.stars {
                        self.member(&other, &module, star, name, at, found, seen, steps + 1);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Gathers a file's names wherever they stand: a bundle declares within functions.
struct Collect<'a> {
    docs: Docs<'a>,
    file: File,
    /// The statement around, before which its comment stands.
    place: u32,
}

impl Collect<'_> {
    fn name(&mut self, name: &str, value: Value) {
        // The outermost declaration comes first.
        self.file.names.entry(name.to_owned()).or_insert(value);
    }

    fn export(&mut self, name: &str, value: Value) {
        if name == "default" {
            self.file.whole.get_or_insert(value);
        } else if name != "__esModule" && !matches!(value, Value::Other) {
            self.file.exports.insert(name.to_owned(), value);
        }
    }

    fn expression(&self, it: &Expression<'_>, place: u32, depth: usize) -> Value {
        if depth > 4 {
            return Value::Other;
        }
        match it.without_parentheses() {
            Expression::FunctionExpression(it) => self.function(&it.params, it.generator, place),
            Expression::ArrowFunctionExpression(it) => self.function(&it.params, false, place),
            Expression::Identifier(id) => Value::Name(id.name.to_string()),
            Expression::ObjectExpression(it) => {
                let property = |one: &ObjectPropertyKind<'_>| match one {
                    ObjectPropertyKind::ObjectProperty(it) => {
                        let name = it.key.static_name()?.into_owned();
                        Some((name, self.expression(&it.value, it.span.start, depth + 1)))
                    }
                    ObjectPropertyKind::SpreadProperty(_) => None,
                };
                Value::Object(it.properties.iter().filter_map(property).collect())
            }
            Expression::ClassExpression(it) => self.class(it),
            Expression::StaticMemberExpression(it) => {
                let object = self.expression(&it.object, place, depth + 1);
                Value::Member(Box::new(object), it.property.name.to_string())
            }
            Expression::AssignmentExpression(it) => self.expression(&it.right, place, depth + 1),
            Expression::CallExpression(it) => {
                let argument = it.arguments.first().and_then(Argument::as_expression);
                let callee = it.callee.get_identifier_reference().map(|id| id.name.as_str());
                match (callee, argument) {
                    (Some("require"), Some(Expression::StringLiteral(specifier))) => {
                        Value::Module(specifier.value.to_string(), Wanted::Require)
                    }
                    // Babel's and TypeScript's helpers round a `require`.
                    (Some(name), Some(inner)) if name.contains("nterop") || name.starts_with("__import") => {
                        self.expression(inner, place, depth + 1)
                    }
                    _ => Value::Other,
                }
            }
            _ => Value::Other,
        }
    }

    fn function(&self, params: &FormalParameters<'_>, generator: bool, place: u32) -> Value {
        let doc = self.docs.at(place);
        let (mut list, mut refusal) = parameters(params, &doc);
        if generator {
            refusal = Some("it is a generator".into());
        }
        document(&mut list, &doc);
        let (description, avoid) = (doc.summary, doc.avoid);
        Value::Function(Rc::new(Candidate { path: String::new(), description, params: list, avoid, refusal }))
    }

    /// A class as what it offers without an object: its static methods.
    fn class(&self, it: &Class<'_>) -> Value {
        let method = |element: &ClassElement<'_>| match element {
            ClassElement::MethodDefinition(it)
                if it.r#static && !it.computed && it.kind == MethodDefinitionKind::Method =>
            {
                let name = it.key.static_name()?.into_owned();
                Some((name, self.function(&it.value.params, it.value.generator, it.span.start)))
            }
            _ => None,
        };
        Value::Object(it.body.body.iter().filter_map(method).collect())
    }

    /// `exports.a = …`, `module.exports = …`, `module.exports.a = …`, `name.a = …`, `name = …`.
    fn assignment(&mut self, it: &AssignmentExpression<'_>) {
        let value = self.expression(&it.right, self.place, 0);
        if let AssignmentTarget::AssignmentTargetIdentifier(id) = &it.left {
            if matches!(value, Value::Function(_)) {
                self.name(id.name.as_str(), value);
            }
            return;
        }
        let Some(member) = it.left.as_member_expression() else { return };
        let Some(property) = member.static_property_name().map(str::to_owned) else { return };
        let object = member.object().without_parentheses();
        let is_module_exports = |it: &Expression<'_>| {
            let Expression::StaticMemberExpression(it) = it else { return false };
            it.property.name == "exports" && it.object.is_specific_id("module")
        };
        if object.is_specific_id("exports") || is_module_exports(object) {
            self.export(&property, value);
        } else if object.is_specific_id("module") && property == "exports" {
            if let Expression::ObjectExpression(object) = it.right.without_parentheses() {
                let spreads = object.properties.iter().filter_map(|one| match one {
                    ObjectPropertyKind::SpreadProperty(it) => Some(self.expression(&it.argument, 0, 0)),
                    ObjectPropertyKind::ObjectProperty(_) => None,
                });
                let spreads: Vec<Value> = spreads.collect();
                self.file.stars.extend(spreads);
            }
            self.file.whole = Some(value);
        } else if let Some(id) = object.get_identifier_reference() {
            let known = self.file.properties.entry(id.name.to_string()).or_default();
            if matches!(value, Value::Function(_) | Value::Name(_)) {
                known.push((property, value));
            }
        }
    }

    /// `Object.defineProperty(exports, 'a', { get: function () { return b.c; } })` and `__exportStar(…)`.
    fn helper(&mut self, it: &CallExpression<'_>) {
        let argument = |index: usize| it.arguments.get(index).and_then(Argument::as_expression);
        let called = match it.callee.without_parentheses() {
            Expression::Identifier(id) => id.name.as_str(),
            Expression::StaticMemberExpression(member) => member.property.name.as_str(),
            _ => return,
        };
        match (called, argument(0), argument(1)) {
            ("__exportStar", Some(from), _) => {
                let star = self.expression(from, 0, 0);
                self.file.stars.push(star);
            }
            ("defineProperty", Some(target), Some(Expression::StringLiteral(name)))
                if target.is_specific_id("exports") =>
            {
                let Some(Expression::ObjectExpression(descriptor)) = argument(2) else { return };
                let getter = descriptor.properties.iter().find_map(|one| match one {
                    ObjectPropertyKind::ObjectProperty(it) if it.key.is_specific_static_name("get") => {
                        returned(&it.value)
                    }
                    _ => None,
                });
                if let Some(getter) = getter {
                    let value = self.expression(getter, 0, 0);
                    self.export(name.value.as_str(), value);
                }
            }
            _ => {}
        }
    }
}

/// What a getter returns.
fn returned<'e, 'a>(getter: &'e Expression<'a>) -> Option<&'e Expression<'a>> {
    let statements = match getter {
        Expression::FunctionExpression(it) => &it.body.as_ref()?.statements,
        Expression::ArrowFunctionExpression(it) => match &it.body {
            ArrowFunctionBody::FunctionBody(body) => &body.statements,
            body => return body.as_expression(),
        },
        _ => return None,
    };
    match statements.first()? {
        Statement::ReturnStatement(it) => it.argument.as_ref(),
        _ => None,
    }
}

impl<'a> Visit<'a> for Collect<'a> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let before = std::mem::replace(&mut self.place, it.span().start);
        match it {
            Statement::FunctionDeclaration(function) => {
                if let Some(id) = &function.id {
                    let value = self.function(&function.params, function.generator, self.place);
                    self.name(id.name.as_str(), value);
                }
            }
            Statement::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    let value = self.class(class);
                    self.name(id.name.as_str(), value);
                }
            }
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::ClassDeclaration(class) => {
                    if let Some(id) = &class.id {
                        let value = self.class(class);
                        self.export(id.name.as_str(), value);
                    }
                }
                Declaration::FunctionDeclaration(function) => {
                    if let Some(id) = &function.id {
                        let value = self.function(&function.params, function.generator, self.place);
                        self.export(id.name.as_str(), value);
                    }
                }
                Declaration::VariableDeclaration(variables) => {
                    for one in &variables.declarations {
                        if let (BindingPattern::BindingIdentifier(id), Some(init)) = (&one.id, &one.init) {
                            let value = self.expression(init, self.place, 0);
                            self.export(id.name.as_str(), value);
                        }
                    }
                }
                _ => {}
            },
            Statement::ExportNamedDeclaration(export) => {
                for one in &export.specifiers {
                    let value = Value::Name(one.local.name().to_string());
                    self.export(&one.exported.name(), value);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                for one in &export.specifiers {
                    let module = Value::Module(export.source.value.to_string(), Wanted::Import);
                    let value = Value::Member(Box::new(module), one.local.name().to_string());
                    self.export(&one.exported.name(), value);
                }
            }
            Statement::ExportAllDeclaration(export) => {
                let module = Value::Module(export.source.value.to_string(), Wanted::Import);
                match &export.exported {
                    Some(name) => self.export(&name.name(), module),
                    None => self.file.stars.push(module),
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let value = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(it) => {
                        self.function(&it.params, it.generator, self.place)
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(it) => self.class(it),
                    other => {
                        other.as_expression().map_or(Value::Other, |it| self.expression(it, self.place, 0))
                    }
                };
                self.file.whole = Some(value);
            }
            Statement::ImportDeclaration(import) => {
                let module = Value::Module(import.source.value.to_string(), Wanted::Import);
                for one in import.specifiers.iter().flatten() {
                    let value = match one {
                        ImportDeclarationSpecifier::ImportSpecifier(it) => {
                            Value::Member(Box::new(module.clone()), it.imported.name().to_string())
                        }
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                            Value::Member(Box::new(module.clone()), "default".into())
                        }
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => module.clone(),
                    };
                    self.name(one.name().as_str(), value);
                }
            }
            _ => {}
        }
        walk::walk_statement(self, it);
        self.place = before;
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(id), Some(init)) = (&it.id, &it.init) {
            let value = self.expression(init, self.place, 0);
            self.name(id.name.as_str(), value);
        }
        // `const { a } = require('x')`
        if let (BindingPattern::ObjectPattern(pattern), Some(init)) = (&it.id, &it.init) {
            let object = self.expression(init, self.place, 0);
            for property in &pattern.properties {
                let key = property.key.static_name();
                if let (Some(key), BindingPattern::BindingIdentifier(id)) = (key, &property.value) {
                    let value = Value::Member(Box::new(object.clone()), key.into_owned());
                    self.name(id.name.as_str(), value);
                }
            }
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.assignment(it);
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.helper(it);
        walk::walk_call_expression(self, it);
    }
}

/// Names that mean a function wherever they are used.
const CALLBACKS: [&str; 9] =
    ["callback", "cb", "comparator", "done", "fn", "func", "iteratee", "next", "predicate"];

fn parameters(params: &FormalParameters<'_>, doc: &Doc) -> (Vec<Param>, Option<String>) {
    let mut list: Vec<Param> = Vec::new();
    let mut refusal = None;
    for (index, item) in params.items.iter().enumerate() {
        let mut schema = Map::new();
        let said = match &item.pattern {
            BindingPattern::BindingIdentifier(id) => doc.param(id.name.as_str()),
            _ => doc.own_params().nth(index),
        };
        let name = match &item.pattern {
            BindingPattern::BindingIdentifier(id) => id.name.to_string(),
            pattern => {
                if let BindingPattern::ObjectPattern(pattern) = pattern {
                    let keys = pattern.properties.iter().filter_map(|one| one.key.static_name());
                    let properties: Map<String, Json> =
                        keys.map(|key| (key.into_owned(), json!({}))).collect();
                    schema.insert("type".into(), "object".into());
                    schema.insert("properties".into(), properties.into());
                }
                let plain =
                    if schema.is_empty() { format!("argument{}", index + 1) } else { "options".into() };
                said.map_or(plain, |said| said.name.clone())
            }
        };
        let optional = item.initializer.is_some() || said.is_some_and(|said| said.optional);
        let kind = said.and_then(|said| said.kind.as_deref()).map(documented);
        let is_callback = matches!(kind, Some(Documented::Callback))
            || (kind.is_none() && CALLBACKS.contains(&name.as_str()));
        match kind {
            _ if is_callback && optional => break,
            _ if is_callback => refusal = Some(format!("it takes a function ('{name}')")),
            Some(Documented::Foreign(what)) if !optional => {
                refusal = Some(format!("'{name}' must be a {what}"))
            }
            Some(Documented::Foreign(_)) => break,
            Some(Documented::Json(kind)) if schema.is_empty() => schema.extend(kind),
            _ => {}
        }
        if let Some((kind, default)) = item.initializer.as_deref().and_then(literal) {
            if schema.is_empty() {
                schema.insert("type".into(), kind.into());
            }
            if let Some(default) = default {
                schema.insert("default".into(), default);
            }
        }
        list.push(Param { name, schema, required: !optional, rest: false });
    }
    if let Some(rest) = &params.rest {
        let name = match &rest.rest.argument {
            BindingPattern::BindingIdentifier(id) => id.name.to_string(),
            _ => "rest".into(),
        };
        let schema = Map::from_iter([("type".to_owned(), json!("array"))]);
        list.push(Param { name, schema, required: false, rest: true });
    }
    (list, refusal)
}

/// The type and value of a default.
fn literal(it: &Expression<'_>) -> Option<(&'static str, Option<Json>)> {
    Some(match it {
        Expression::StringLiteral(it) => ("string", Some(it.value.as_str().into())),
        Expression::NumericLiteral(it) => ("number", Some(number(it.value))),
        Expression::BooleanLiteral(it) => ("boolean", Some(it.value.into())),
        Expression::ObjectExpression(_) => ("object", None),
        Expression::ArrayExpression(_) => ("array", None),
        _ => return None,
    })
}

/// What a type in a comment says.
enum Documented {
    Json(Map<String, Json>),
    Callback,
    Foreign(String),
}

fn documented(kind: &str) -> Documented {
    let kind = kind.trim_matches(['?', '!', '=', '(', ')', ' ']).trim_start_matches("...");
    let mut kinds: Vec<&str> = Vec::new();
    let mut foreign = None;
    for part in kind.split('|').map(str::trim) {
        let known = match part {
            "string" | "String" => "string",
            "number" | "Number" | "float" | "int" | "integer" => "number",
            "boolean" | "Boolean" | "bool" => "boolean",
            "Object" | "object" | "Object.<string, *>" => "object",
            "null" | "undefined" | "void" => continue,
            "*" | "any" | "mixed" => return Documented::Json(Map::new()),
            part if part.ends_with("[]") || part.starts_with("Array") => "array",
            part if part.starts_with("Object<") || part.starts_with("Object.<") || part.starts_with('{') => {
                "object"
            }
            part if part.starts_with("function") || part == "Function" || part.contains("=>") => {
                foreign = foreign.or(Some(Documented::Callback));
                continue;
            }
            "Date" | "RegExp" | "Buffer" | "Map" | "Set" | "Stream" | "Uint8Array" | "Promise" => {
                foreign = foreign.or(Some(Documented::Foreign(part.to_owned())));
                continue;
            }
            _ => return Documented::Json(Map::new()),
        };
        if !kinds.contains(&known) {
            kinds.push(known);
        }
    }
    match (&kinds[..], foreign) {
        ([], Some(foreign)) => foreign,
        ([], None) => Documented::Json(Map::new()),
        ([one], _) => Documented::Json(Map::from_iter([("type".to_owned(), json!(one))])),
        (several, _) => Documented::Json(Map::from_iter([("type".to_owned(), json!(several))])),
    }
}
