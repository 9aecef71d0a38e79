//! The names that declaration files declare, import and export, and what they stand for.
//!
//! Files are parsed when a name leads to them. All trees live in one allocator, so that a type in one
//! file can be read in the light of another.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    rc::{Rc, Weak},
};

use indexmap::IndexMap;
use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_span::{GetSpan, SourceType};

use super::{
    super::{
        parse::parse,
        resolve::{Platform, Resolver, Target, Wanted},
        tree::Tree,
    },
    doc::{Doc, Docs},
};

/// Declaration files that are read for one package.
const MOST_FILES: usize = 3000;
/// Imports that are followed for one name; more is a circle.
const MOST_STEPS: usize = 40;
/// The name under which `export = x` is kept; no other export can have it.
pub(super) const WHOLE: &str = "export=";

/// Everything declared for one package.
pub(super) struct World<'a, 't> {
    allocator: &'a Allocator,
    tree: &'t Tree,
    resolver: Resolver<'t>,
    files: RefCell<HashMap<String, Option<Rc<Scope<'a>>>>>,
    /// Blocks `declare module "…"` that add to a file, by that file.
    additions: RefCell<HashMap<String, Vec<Rc<Scope<'a>>>>>,
    /// Blocks `declare module "name"` that are a module of their own.
    ambient: RefCell<HashMap<String, Rc<Scope<'a>>>>,
    steps: Cell<usize>,
}

/// A file, a namespace or a `declare module` block.
pub(super) struct Scope<'a> {
    pub(super) path: Rc<str>,
    docs: Rc<Docs<'a>>,
    parent: Option<Weak<Scope<'a>>>,
    /// The file that it adds to, for a `declare module` block: its names are known here, too.
    adds_to: RefCell<Option<String>>,
    /// Its own names are what it exports: a namespace.
    is_open: bool,
    names: RefCell<IndexMap<String, Vec<Item<'a>>>>,
    exports: RefCell<Vec<(String, Item<'a>)>>,
    /// `export * from`.
    stars: RefCell<Vec<&'a str>>,
}

/// What a name stands for. Places are where its comment is attached.
#[derive(Clone)]
pub(super) enum Item<'a> {
    Function(&'a Function<'a>, u32),
    Value(Option<&'a TSType<'a>>, Option<&'a Expression<'a>>, u32),
    /// One property of a value: `const { name }: Type`.
    Part(&'a TSType<'a>, &'a str),
    Class(&'a Class<'a>, u32),
    Interface(&'a TSInterfaceDeclaration<'a>),
    Alias(&'a TSTypeAliasDeclaration<'a>),
    Enum(&'a TSEnumDeclaration<'a>),
    Namespace(Rc<Scope<'a>>),
    /// A name of this scope, or of one around it.
    Same(Vec<&'a str>),
    Import(&'a str, Imported<'a>),
}

#[derive(Clone, Copy)]
pub(super) enum Imported<'a> {
    Name(&'a str),
    Whole,
    All,
}

/// A declaration, and the scope that its types are read in.
pub(super) type Found<'a> = (Rc<Scope<'a>>, Item<'a>);

impl Item<'_> {
    /// The same declaration under two names has one key.
    pub(super) fn key(&self) -> usize {
        match self {
            Self::Function(it, _) => std::ptr::from_ref(*it).addr(),
            Self::Value(Some(it), ..) => std::ptr::from_ref(*it).addr(),
            Self::Value(_, Some(it), _) => std::ptr::from_ref(*it).addr(),
            Self::Class(it, _) => std::ptr::from_ref(*it).addr(),
            Self::Part(..) => 0,
            Self::Interface(it) => std::ptr::from_ref(*it).addr(),
            Self::Alias(it) => std::ptr::from_ref(*it).addr(),
            Self::Enum(it) => std::ptr::from_ref(*it).addr(),
            Self::Namespace(it) => Rc::as_ptr(it).addr(),
            Self::Value(None, None, _) | Self::Same(_) | Self::Import(..) => 0,
        }
    }
}

impl Scope<'_> {
    pub(super) fn doc(&self, place: u32) -> Doc {
        self.docs.at(place)
    }
}

impl<'a, 't> World<'a, 't> {
    pub(super) fn new(allocator: &'a Allocator, tree: &'t Tree) -> Self {
        Self {
            allocator,
            tree,
            resolver: Resolver::new(tree, Platform::Node),
            files: RefCell::default(),
            additions: RefCell::default(),
            ambient: RefCell::default(),
            steps: Cell::new(0),
        }
    }

    /// The package's own declarations, or those that somebody else wrote for it.
    pub(super) fn entry(&self, package: &str) -> Option<Rc<Scope<'a>>> {
        let own = self.resolver.package(package, ".", Wanted::Types);
        let foreign = || self.resolver.foreign_types(package, ".");
        let found = [own, foreign()].into_iter().find_map(|target| match target {
            Target::File(file) => self.file(&file),
            _ => None,
        })?;
        // A file that is no module declares one by name.
        let ambient = self.ambient.borrow().get(package).cloned();
        let exports = !found.exports.borrow().is_empty() || !found.stars.borrow().is_empty();
        Some(if exports { found } else { ambient.unwrap_or(found) })
    }

    fn file(&self, path: &str) -> Option<Rc<Scope<'a>>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        if self.files.borrow().len() >= MOST_FILES {
            return None;
        }
        self.files.borrow_mut().insert(path.to_owned(), None);
        let text = self.tree.text(path).ok()?;
        let source_type = SourceType::d_ts();
        let program = parse(self.allocator, &text, source_type)?;
        let scope = Rc::new(Scope {
            path: path.into(),
            docs: Rc::new(Docs::of(program)),
            parent: None,
            adds_to: RefCell::default(),
            is_open: false,
            names: RefCell::default(),
            exports: RefCell::default(),
            stars: RefCell::default(),
        });
        self.files.borrow_mut().insert(path.to_owned(), Some(Rc::clone(&scope)));
        self.fill(&scope, &program.body);
        for reference in references(&text) {
            if let Target::File(file) = self.resolver.resolve(path, &reference, Wanted::Types) {
                self.file(&file);
            }
        }
        Some(scope)
    }

    fn module(&self, from: &Scope<'a>, specifier: &str) -> Option<Rc<Scope<'a>>> {
        if let Some(ambient) = self.ambient.borrow().get(specifier) {
            return Some(Rc::clone(ambient));
        }
        match self.resolver.resolve(&from.path, specifier, Wanted::Types) {
            Target::File(file) => self.file(&file),
            _ => None,
        }
    }

    fn inner(&self, outer: &Rc<Scope<'a>>, body: &'a [Statement<'a>], is_open: bool) -> Rc<Scope<'a>> {
        let scope = Rc::new(Scope {
            path: Rc::clone(&outer.path),
            docs: Rc::clone(&outer.docs),
            parent: Some(Rc::downgrade(outer)),
            adds_to: RefCell::default(),
            is_open,
            names: RefCell::default(),
            exports: RefCell::default(),
            stars: RefCell::default(),
        });
        self.fill(&scope, body);
        scope
    }

    fn fill(&self, scope: &Rc<Scope<'a>>, body: &'a [Statement<'a>]) {
        for statement in body {
            self.statement(scope, statement);
        }
    }

    fn statement(&self, scope: &Rc<Scope<'a>>, statement: &'a Statement<'a>) {
        let export = |name: &str, item: Item<'a>| scope.exports.borrow_mut().push((name.to_owned(), item));
        match statement {
            Statement::ImportDeclaration(it) => self.import(scope, it),
            Statement::ExportAllDeclaration(it) => match &it.exported {
                Some(name) => export(&name.name(), Item::Import(it.source.value.as_str(), Imported::All)),
                None => scope.stars.borrow_mut().push(it.source.value.as_str()),
            },
            Statement::ExportFromDeclaration(it) => {
                for one in &it.specifiers {
                    let imported = named(one.local.name().as_str());
                    export(&one.exported.name(), Item::Import(it.source.value.as_str(), imported));
                }
            }
            Statement::ExportNamedDeclaration(it) => {
                for one in &it.specifiers {
                    export(&one.exported.name(), Item::Same(vec![one.local.name().as_str()]));
                }
            }
            Statement::ExportDeclaration(it) => {
                for name in self.declaration(scope, &it.declaration, it.span.start) {
                    export(name, Item::Same(vec![name]));
                }
            }
            Statement::ExportDefaultDeclaration(it) => {
                let place = it.span.start;
                let item = match &it.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        Some(Item::Function(function, place))
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => Some(Item::Class(class, place)),
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => Some(Item::Interface(it)),
                    other => other.as_expression().map(|it| expression_item(it, place)),
                };
                item.into_iter().for_each(|item| export("default", item));
            }
            Statement::TSExportAssignment(it) => {
                export(WHOLE, expression_item(&it.expression, it.span.start))
            }
            other => {
                if let Some(declaration) = other.as_declaration() {
                    self.declaration(scope, declaration, other.span().start);
                }
            }
        }
    }

    fn import(&self, scope: &Rc<Scope<'a>>, it: &'a ImportDeclaration<'a>) {
        let source = it.source.value.as_str();
        for one in it.specifiers.iter().flatten() {
            let imported = match one {
                ImportDeclarationSpecifier::ImportSpecifier(one) => named(one.imported.name().as_str()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Imported::Whole,
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => Imported::All,
            };
            add(scope, one.name().as_str(), Item::Import(source, imported));
        }
        if it.specifiers.is_none() {
            // For what it adds to others.
            self.module(scope, source);
        }
    }

    /// Adds a declaration's names and returns them.
    fn declaration(&self, scope: &Rc<Scope<'a>>, it: &'a Declaration<'a>, place: u32) -> Vec<&'a str> {
        let one = |name: &'a str, item: Item<'a>| {
            add(scope, name, item);
            vec![name]
        };
        match it {
            Declaration::FunctionDeclaration(it) => {
                it.id.as_ref().map(|id| one(id.name.as_str(), Item::Function(it, place))).unwrap_or_default()
            }
            Declaration::ClassDeclaration(it) => {
                it.id.as_ref().map(|id| one(id.name.as_str(), Item::Class(it, place))).unwrap_or_default()
            }
            Declaration::VariableDeclaration(it) => {
                it.declarations.iter().flat_map(|one| variable(scope, one, place)).collect()
            }
            Declaration::TSInterfaceDeclaration(it) => one(it.id.name.as_str(), Item::Interface(it)),
            Declaration::TSTypeAliasDeclaration(it) => one(it.id.name.as_str(), Item::Alias(it)),
            Declaration::TSEnumDeclaration(it) => one(it.id.name.as_str(), Item::Enum(it)),
            Declaration::TSNamespaceDeclaration(it) => {
                one(it.id.name.as_str(), Item::Namespace(self.namespace(scope, it)))
            }
            Declaration::TSExternalModuleDeclaration(it) => {
                self.external(scope, it);
                Vec::new()
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                let item = match &it.module_reference {
                    TSModuleReference::ExternalModuleReference(other) => {
                        Item::Import(other.expression.value.as_str(), Imported::Whole)
                    }
                    TSModuleReference::IdentifierReference(other) => Item::Same(vec![other.name.as_str()]),
                    TSModuleReference::QualifiedName(name) => {
                        let mut parts = name_parts(&name.left);
                        parts.push(name.right.name.as_str());
                        Item::Same(parts)
                    }
                };
                one(it.id.name.as_str(), item)
            }
            Declaration::TSGlobalDeclaration(it) => {
                self.fill(scope, &it.body.body);
                Vec::new()
            }
        }
    }

    fn namespace(&self, outer: &Rc<Scope<'a>>, it: &'a TSNamespaceDeclaration<'a>) -> Rc<Scope<'a>> {
        match &it.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => self.inner(outer, &block.body, true),
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(deeper) => {
                let scope = self.inner(outer, &[], true);
                let item = Item::Namespace(self.namespace(&scope, deeper));
                add(&scope, deeper.id.name.as_str(), item);
                scope
            }
        }
    }

    fn external(&self, scope: &Rc<Scope<'a>>, it: &'a TSExternalModuleDeclaration<'a>) {
        let Some(body) = &it.body else { return };
        let block = self.inner(scope, &body.body, true);
        // It is owned by its file, as namespaces are.
        add(scope, &format!("module {}", it.id.value), Item::Namespace(Rc::clone(&block)));
        match self.resolver.resolve(&scope.path, it.id.value.as_str(), Wanted::Types) {
            Target::File(file) if *file != *scope.path => {
                *block.adds_to.borrow_mut() = Some(file.clone());
                self.additions.borrow_mut().entry(file).or_default().push(block);
            }
            _ => drop(self.ambient.borrow_mut().insert(it.id.value.to_string(), block)),
        }
    }

    /// What a dotted name stands for, seen from a scope.
    pub(super) fn find(&self, scope: &Rc<Scope<'a>>, parts: &[&str]) -> Vec<Found<'a>> {
        let Some((first, rest)) = parts.split_first() else { return Vec::new() };
        let mut around = Some(Rc::clone(scope));
        let mut found = Vec::new();
        while let Some(scope) = around {
            found = self.declared(&scope, first);
            let target = scope.adds_to.borrow().clone().filter(|_| found.is_empty());
            if let Some(target) = target.and_then(|file| self.file(&file)) {
                found = self.member(&target, first);
            }
            if !found.is_empty() {
                break;
            }
            around = scope.parent.as_ref().and_then(Weak::upgrade);
        }
        for part in rest {
            let namespaces = found.iter().filter_map(|(_, item)| match item {
                Item::Namespace(scope) => Some(Rc::clone(scope)),
                _ => None,
            });
            let namespaces: Vec<_> = namespaces.collect();
            found = namespaces.iter().flat_map(|scope| self.member(scope, part)).collect();
        }
        found
    }

    /// A name that a scope itself declares, with what other files add to it.
    fn declared(&self, scope: &Rc<Scope<'a>>, name: &str) -> Vec<Found<'a>> {
        let own = scope.names.borrow().get(name).cloned().unwrap_or_default();
        let mut found: Vec<Found<'a>> = own.into_iter().flat_map(|item| self.follow(scope, item)).collect();
        found.extend(self.added(scope, name));
        found
    }

    /// What `declare module` blocks elsewhere add under a name.
    fn added(&self, scope: &Rc<Scope<'a>>, name: &str) -> Vec<Found<'a>> {
        let additions = self.additions.borrow().get(&*scope.path).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for block in additions.iter().filter(|block| !Rc::ptr_eq(block, scope)) {
            let more = block.names.borrow().get(name).cloned().unwrap_or_default();
            found.extend(more.into_iter().map(|item| (Rc::clone(block), item)));
        }
        found
    }

    /// Follows an import to the declarations that it means.
    fn follow(&self, scope: &Rc<Scope<'a>>, item: Item<'a>) -> Vec<Found<'a>> {
        if self.steps.get() > MOST_STEPS {
            return Vec::new();
        }
        self.steps.set(self.steps.get() + 1);
        let found = match item {
            Item::Same(parts) => self.find(scope, &parts),
            Item::Import(specifier, imported) => {
                let module = self.module(scope, specifier);
                module.map(|module| self.imported(&module, imported)).unwrap_or_default()
            }
            item => vec![(Rc::clone(scope), item)],
        };
        self.steps.set(self.steps.get() - 1);
        found
    }

    fn imported(&self, module: &Rc<Scope<'a>>, imported: Imported<'a>) -> Vec<Found<'a>> {
        match imported {
            Imported::Name(name) => self.member(module, name),
            Imported::All => vec![(Rc::clone(module), Item::Namespace(Rc::clone(module)))],
            Imported::Whole => {
                let found = self.member(module, "default");
                if found.is_empty() { self.member(module, WHOLE) } else { found }
            }
        }
    }

    /// One export of a module, or one name of a namespace.
    pub(super) fn member(&self, scope: &Rc<Scope<'a>>, name: &str) -> Vec<Found<'a>> {
        if self.steps.get() > MOST_STEPS {
            return Vec::new();
        }
        self.steps.set(self.steps.get() + 1);
        let found = self.member_inner(scope, name);
        self.steps.set(self.steps.get() - 1);
        found
    }

    fn member_inner(&self, scope: &Rc<Scope<'a>>, name: &str) -> Vec<Found<'a>> {
        let exports: Vec<Item<'a>> = scope
            .exports
            .borrow()
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, item)| item.clone())
            .collect();
        // Overloads are exported once each, and lead to the same declarations.
        let mut seen = HashSet::new();
        let followed = exports.into_iter().flat_map(|item| match &item {
            Item::Same(parts) if !seen.insert(parts.clone()) => Vec::new(),
            _ => self.follow(scope, item),
        });
        let found: Vec<Found<'a>> = followed.collect();
        if !found.is_empty() {
            return found;
        }
        if scope.is_open {
            let declared = self.declared(scope, name);
            if !declared.is_empty() {
                return declared;
            }
        }
        if name != "default" && name != WHOLE {
            let stars = scope.stars.borrow().clone();
            for star in stars {
                let found =
                    self.module(scope, star).map(|module| self.member(&module, name)).unwrap_or_default();
                if !found.is_empty() {
                    return found;
                }
            }
            let added = self.added(scope, name);
            if !added.is_empty() {
                return added;
            }
            // `export = x` exports the members of a namespace x.
            let whole = self.member(scope, WHOLE);
            for (_, item) in whole {
                if let Item::Namespace(inner) = item {
                    let found = self.member(&inner, name);
                    if !found.is_empty() {
                        return found;
                    }
                }
            }
        }
        Vec::new()
    }

    /// The names that a scope exports, in the order of its text.
    pub(super) fn exports(&self, scope: &Rc<Scope<'a>>) -> Vec<String> {
        let mut names = IndexMap::new();
        self.gather_exports(scope, &mut names, &mut HashSet::new());
        names.into_keys().collect()
    }

    fn gather_exports(
        &self,
        scope: &Rc<Scope<'a>>,
        names: &mut IndexMap<String, ()>,
        visited: &mut HashSet<*const Scope<'a>>,
    ) {
        if !visited.insert(Rc::as_ptr(scope)) || visited.len() > MOST_FILES {
            return;
        }
        names.extend(scope.exports.borrow().iter().map(|(name, _)| (name.clone(), ())));
        if scope.is_open {
            names.extend(scope.names.borrow().keys().map(|name| (name.clone(), ())));
        }
        for block in self.additions.borrow().get(&*scope.path).into_iter().flatten() {
            names.extend(block.names.borrow().keys().map(|name| (name.clone(), ())));
        }
        let stars = scope.stars.borrow().clone();
        for star in stars {
            if let Some(module) = self.module(scope, star) {
                let mut starred = IndexMap::new();
                self.gather_exports(&module, &mut starred, visited);
                // A star brings everything but the default.
                names.extend(starred.into_iter().filter(|(name, ())| name != "default" && name != WHOLE));
            }
        }
    }
}

fn named(name: &str) -> Imported<'_> {
    if name == "default" { Imported::Whole } else { Imported::Name(name) }
}

fn add<'a>(scope: &Scope<'a>, name: &str, item: Item<'a>) {
    scope.names.borrow_mut().entry(name.to_owned()).or_default().push(item);
}

/// Adds what a `const` declares, one name or several taken from one value; returns the names.
fn variable<'a>(scope: &Scope<'a>, it: &'a VariableDeclarator<'a>, place: u32) -> Vec<&'a str> {
    let kind = it.type_annotation.as_ref().map(|it| &it.type_annotation);
    match &it.id {
        BindingPattern::BindingIdentifier(id) => {
            add(scope, id.name.as_str(), Item::Value(kind, it.init.as_ref(), place));
            vec![id.name.as_str()]
        }
        BindingPattern::ObjectPattern(pattern) => {
            let part = |property: &'a BindingProperty<'a>| {
                let PropertyKey::StaticIdentifier(key) = &property.key else { return None };
                let BindingPattern::BindingIdentifier(id) = &property.value else { return None };
                add(scope, id.name.as_str(), Item::Part(kind?, key.name.as_str()));
                Some(id.name.as_str())
            };
            pattern.properties.iter().filter_map(part).collect()
        }
        _ => Vec::new(),
    }
}

/// What `export default x` and `export = x` stand for.
fn expression_item<'a>(it: &'a Expression<'a>, place: u32) -> Item<'a> {
    match it {
        Expression::Identifier(id) => Item::Same(vec![id.name.as_str()]),
        Expression::StaticMemberExpression(member) => match &member.object {
            Expression::Identifier(id) => Item::Same(vec![id.name.as_str(), member.property.name.as_str()]),
            _ => Item::Value(None, Some(it), place),
        },
        _ => Item::Value(None, Some(it), place),
    }
}

/// The parts of a dotted name in a type.
pub(super) fn name_parts<'a>(name: &'a TSTypeName<'a>) -> Vec<&'a str> {
    match name {
        TSTypeName::IdentifierReference(id) => vec![id.name.as_str()],
        TSTypeName::QualifiedName(name) => {
            let mut parts = name_parts(&name.left);
            parts.push(name.right.name.as_str());
            parts
        }
        TSTypeName::ThisExpression(_) => vec!["this"],
    }
}

/// `/// <reference path="…" />` at the head of a file.
fn references(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with("//"));
    let path = |line: &str| {
        let (_, rest) = line.strip_prefix("///")?.split_once("path=")?;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let path = rest[1..].split_once(quote)?.0;
        Some(if path.starts_with('.') { path.to_owned() } else { format!("./{path}") })
    };
    lines.filter_map(path).collect()
}
