//! From a type in TypeScript to a JSON Schema that a model can fill in.
//!
//! A schema here is help for whoever calls, not proof: where a type says more than JSON can, the schema
//! says less, and never something else.

use std::rc::Rc;

use oxc_ast::ast::*;
use serde_json::{Map, Value, json};

use super::{
    doc::Doc,
    scope::{Found, Item, Scope, World, name_parts},
    shape::{Shape, enumeration, intersection, literal, object, union},
};

/// Types within types; enough for aliases of aliases, too little for circles.
const MOST_DEPTH: usize = 12;
/// Parts of a union or properties of an object that are still help.
pub(super) const MOST_PARTS: usize = 60;

/// Type parameters and what they stand for.
#[derive(Default)]
pub(super) struct Bound<'a> {
    names: Vec<(&'a str, Option<Bind<'a>>)>,
    outer: Option<Rc<Bound<'a>>>,
}

/// A type and where it was written.
type Bind<'a> = (&'a TSType<'a>, Place<'a>);

/// Where a type is read: its scope, and the type parameters around it.
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub(super) scope: Rc<Scope<'a>>,
    pub(super) bound: Rc<Bound<'a>>,
}

impl<'a> Place<'a> {
    pub(super) fn new(scope: &Rc<Scope<'a>>) -> Self {
        Self { scope: Rc::clone(scope), bound: Rc::default() }
    }

    /// The same place inside something generic; parameters stand for their constraints, or for the
    /// arguments that are given, read where they were written.
    pub(super) fn with(
        &self,
        parameters: Option<&'a TSTypeParameterDeclaration<'a>>,
        arguments: Option<(&'a TSTypeParameterInstantiation<'a>, &Place<'a>)>,
    ) -> Self {
        let Some(parameters) = parameters else { return self.clone() };
        let names = parameters.params.iter().enumerate().map(|(index, parameter)| {
            let given = arguments.and_then(|(given, place)| Some((given.params.get(index)?, place.clone())));
            let own = parameter.constraint.as_ref().or(parameter.default.as_ref());
            let bind = given.or_else(|| own.map(|kind| (kind, self.clone())));
            (parameter.name.name.as_str(), bind)
        });
        let bound = Bound { names: names.collect(), outer: Some(Rc::clone(&self.bound)) };
        Self { scope: Rc::clone(&self.scope), bound: Rc::new(bound) }
    }

    /// `Some(None)` for a parameter that stands for anything.
    fn parameter(&self, name: &str) -> Option<Option<Bind<'a>>> {
        let mut bound = Some(&self.bound);
        while let Some(around) = bound {
            if let Some((_, bind)) = around.names.iter().find(|(known, _)| *known == name) {
                return Some(bind.clone());
            }
            bound = around.outer.as_ref();
        }
        None
    }
}

/// A member of an object's type.
pub(super) struct Member<'a> {
    pub(super) name: String,
    pub(super) place: Place<'a>,
    /// Where its comment is.
    pub(super) at: u32,
    pub(super) optional: bool,
    pub(super) what: MemberKind<'a>,
}

pub(super) enum MemberKind<'a> {
    Property(Option<&'a TSType<'a>>),
    Method(Signature<'a>),
    /// The object itself can be called.
    Call(Signature<'a>),
}

/// One way to call something.
#[derive(Clone)]
pub(super) struct Signature<'a> {
    pub(super) place: Place<'a>,
    pub(super) params: &'a FormalParameters<'a>,
    pub(super) returns: Option<&'a TSType<'a>>,
    pub(super) at: u32,
}

impl<'a> World<'a, '_> {
    pub(super) fn shape(&self, kind: &'a TSType<'a>, place: &Place<'a>) -> Shape {
        self.shape_at(kind, place, 0, true)
    }

    fn shape_at(&self, kind: &'a TSType<'a>, place: &Place<'a>, depth: usize, open: bool) -> Shape {
        if depth > MOST_DEPTH {
            return Shape::Any;
        }
        let inner = |kind: &'a TSType<'a>| self.shape_at(kind, place, depth + 1, open);
        match kind {
            TSType::TSStringKeyword(_) | TSType::TSTemplateLiteralType(_) => Shape::kind("string"),
            TSType::TSNumberKeyword(_) => Shape::kind("number"),
            TSType::TSBooleanKeyword(_) | TSType::TSTypePredicate(_) => Shape::kind("boolean"),
            TSType::TSObjectKeyword(_) | TSType::TSMappedType(_) => Shape::kind("object"),
            TSType::TSBigIntKeyword(_) => Shape::Foreign("a bigint".into()),
            TSType::TSSymbolKeyword(_) => Shape::Foreign("a symbol".into()),
            TSType::TSUndefinedKeyword(_) | TSType::TSNullKeyword(_) | TSType::TSVoidKeyword(_) => {
                Shape::Nothing
            }
            TSType::TSNeverKeyword(_) => Shape::Foreign("nothing at all".into()),
            TSType::TSFunctionType(_) => Shape::Callback,
            TSType::TSConstructorType(_) => Shape::Foreign("a class".into()),
            TSType::TSThisType(_) => Shape::Foreign("an object of its own kind".into()),
            TSType::TSArrayType(it) => Shape::array(self.shape_at(&it.element_type, place, depth + 1, false)),
            TSType::TSTupleType(it) => self.tuple(it, place, depth),
            TSType::TSParenthesizedType(it) => inner(&it.type_annotation),
            TSType::TSTypeOperatorType(it) => match it.operator {
                TSTypeOperatorOperator::Keyof => Shape::kind("string"),
                TSTypeOperatorOperator::Readonly => inner(&it.type_annotation),
                TSTypeOperatorOperator::Unique => Shape::Foreign("a symbol".into()),
            },
            TSType::TSLiteralType(it) => literal(&it.literal),
            TSType::TSUnionType(it) => union(it.types.iter().map(inner).collect()),
            TSType::TSIntersectionType(it) => intersection(it.types.iter().map(inner).collect()),
            TSType::TSTypeLiteral(_) => self.object(kind, place, depth, open),
            TSType::TSTypeReference(it) => self.reference(it, place, depth, open),
            TSType::TSTypeQuery(_)
            | TSType::TSConditionalType(_)
            | TSType::TSIndexedAccessType(_)
            | TSType::TSInferType(_)
            | TSType::TSImportType(_)
            | TSType::TSAnyKeyword(_)
            | TSType::TSUnknownKeyword(_)
            | TSType::TSIntrinsicKeyword(_)
            | TSType::TSNamedTupleMember(_)
            | TSType::JSDocNullableType(_)
            | TSType::JSDocNonNullableType(_)
            | TSType::JSDocUnknownType(_) => Shape::Any,
        }
    }

    fn tuple(&self, it: &'a TSTupleType<'a>, place: &Place<'a>, depth: usize) -> Shape {
        let kinds = it.element_types.iter().map(|element| match element {
            TSTupleElement::TSOptionalType(it) => Some(&it.type_annotation),
            TSTupleElement::TSRestType(_) => None,
            TSTupleElement::TSNamedTupleMember(it) => it.element_type.as_ts_type(),
            other => other.as_ts_type(),
        });
        let shape = |kind: Option<&'a TSType<'a>>| {
            kind.map_or(Shape::Any, |kind| self.shape_at(kind, place, depth + 1, false))
        };
        let shapes: Vec<Shape> = kinds.map(shape).collect();
        if shapes.iter().any(|shape| matches!(shape, Shape::Callback | Shape::Foreign(_))) {
            return Shape::Foreign("a tuple that JSON cannot be".into());
        }
        Shape::array(union(shapes))
    }

    fn reference(&self, it: &'a TSTypeReference<'a>, place: &Place<'a>, depth: usize, open: bool) -> Shape {
        let parts = name_parts(&it.type_name);
        if let [name] = parts[..] {
            match place.parameter(name) {
                Some(Some((kind, written))) => return self.shape_at(kind, &written, depth + 1, open),
                Some(None) => return Shape::Any,
                None => {}
            }
        }
        let arguments = it.type_arguments.as_deref();
        let found = self.find(&place.scope, &parts);
        let types = found.into_iter().filter(|(_, item)| {
            matches!(item, Item::Interface(_) | Item::Alias(_) | Item::Class(..) | Item::Enum(_))
        });
        let types: Vec<Found<'a>> = types.collect();
        match types.first() {
            None => self.well_known(&parts, arguments, place, depth, open),
            Some((scope, Item::Alias(alias))) => {
                let inside = Place::new(scope)
                    .with(alias.type_parameters.as_deref(), arguments.map(|arguments| (arguments, place)));
                self.shape_at(&alias.type_annotation, &inside, depth + 1, open)
            }
            Some((_, Item::Enum(it))) => enumeration(it),
            Some((_, Item::Class(..))) => Shape::Foreign(format!("a {}", parts.join("."))),
            Some(_) => {
                let members = self.reference_members(&types, arguments, place, depth);
                self.object_of(&members, &format!("a {}", parts.join(".")), depth, open)
            }
        }
    }

    /// The language's own types, and some of the platform's.
    fn well_known(
        &self,
        parts: &[&str],
        arguments: Option<&'a TSTypeParameterInstantiation<'a>>,
        place: &Place<'a>,
        depth: usize,
        open: bool,
    ) -> Shape {
        let argument = |index: usize| arguments.and_then(|all| all.params.get(index));
        let shape = |index: usize, open: bool| {
            argument(index).map_or(Shape::Any, |kind| self.shape_at(kind, place, depth + 1, open))
        };
        match parts.last().copied().unwrap_or_default() {
            "String" | "PropertyKey" | "Uppercase" | "Lowercase" | "Capitalize" | "Uncapitalize" => {
                Shape::kind("string")
            }
            "Number" => Shape::kind("number"),
            "Boolean" => Shape::kind("boolean"),
            "Object" | "ThisType" => Shape::kind("object"),
            "Array" | "ReadonlyArray" | "ArrayLike" | "Iterable" | "IterableIterator" => {
                Shape::array(shape(0, false))
            }
            "Record" => match shape(1, false) {
                Shape::Json(values) => {
                    Shape::Json(object(json!({ "type": "object", "additionalProperties": values })))
                }
                Shape::Foreign(what) => Shape::Foreign(format!("an object of {what}")),
                Shape::Callback => Shape::Foreign("an object of functions".into()),
                Shape::Any | Shape::Nothing => Shape::kind("object"),
            },
            "Partial" => match shape(0, open) {
                Shape::Json(mut schema) => {
                    schema.remove("required");
                    Shape::Json(schema)
                }
                other => other,
            },
            "Required" | "Readonly" | "NonNullable" | "Pick" | "Omit" | "Exclude" | "Extract" | "NoInfer"
            | "Awaited" => shape(0, open),
            "Function" | "CallableFunction" | "NewableFunction" => Shape::Callback,
            name if FOREIGN.contains(&name) || parts.first() == Some(&"NodeJS") => {
                Shape::Foreign(format!("a {name}"))
            }
            _ => Shape::Any,
        }
    }

    fn object(&self, kind: &'a TSType<'a>, place: &Place<'a>, depth: usize, open: bool) -> Shape {
        self.object_of(&self.members_at(kind, place, depth), "an object", depth, open)
    }

    /// An object that is given as JSON: its simple properties, one level deep.
    fn object_of(&self, members: &[Member<'a>], name: &str, depth: usize, open: bool) -> Shape {
        if members.iter().any(|member| matches!(member.what, MemberKind::Call(_))) {
            return Shape::Callback;
        }
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for member in members.iter().take(MOST_PARTS) {
            let shape = match &member.what {
                MemberKind::Property(Some(kind)) => self.shape_at(kind, &member.place, depth + 1, false),
                MemberKind::Property(None) => Shape::Any,
                MemberKind::Method(_) | MemberKind::Call(_) => Shape::Callback,
            };
            let mut schema = match shape {
                Shape::Json(schema) => schema,
                Shape::Any => Map::new(),
                Shape::Nothing => continue,
                Shape::Callback | Shape::Foreign(_) if member.optional => continue,
                // Only code can make such an object; what is inside of it does not matter.
                Shape::Callback | Shape::Foreign(_) => {
                    return Shape::Foreign(format!("{name} of the library"));
                }
            };
            if !open {
                continue;
            }
            if let Doc { summary: Some(text), .. } = member.place.scope.doc(member.at) {
                schema.insert("description".into(), text.into());
            }
            if !member.optional {
                required.push(member.name.clone().into());
            }
            properties.insert(member.name.clone(), schema.into());
        }
        let mut schema = object(json!({ "type": "object" }));
        if open && !properties.is_empty() {
            schema.insert("properties".into(), properties.into());
            if !required.is_empty() {
                schema.insert("required".into(), required.into());
            }
        }
        Shape::Json(schema)
    }

    /// The members of a type, where it has any that can be seen.
    pub(super) fn members(&self, kind: &'a TSType<'a>, place: &Place<'a>) -> Vec<Member<'a>> {
        self.members_at(kind, place, 0)
    }

    fn members_at(&self, kind: &'a TSType<'a>, place: &Place<'a>, depth: usize) -> Vec<Member<'a>> {
        if depth > MOST_DEPTH {
            return Vec::new();
        }
        match kind {
            TSType::TSTypeLiteral(it) => signatures(&it.members, place),
            TSType::TSParenthesizedType(it) => self.members_at(&it.type_annotation, place, depth + 1),
            TSType::TSIntersectionType(it) => {
                it.types.iter().flat_map(|kind| self.members_at(kind, place, depth + 1)).collect()
            }
            TSType::TSFunctionType(it) => {
                let inside = place.with(it.type_parameters.as_deref(), None);
                let (at, returns) = (it.span.start, Some(&it.return_type.type_annotation));
                vec![call(Signature { place: inside, params: &it.params, returns, at }, place, at)]
            }
            TSType::TSTypeQuery(it) => {
                let TSTypeQueryExprName::IdentifierReference(id) = &it.expr_name else { return Vec::new() };
                let found = self.find(&place.scope, &[id.name.as_str()]);
                found.iter().flat_map(|found| self.item_members(found, depth + 1)).collect()
            }
            TSType::TSTypeReference(it) => {
                let parts = name_parts(&it.type_name);
                if let [name] = parts[..]
                    && let Some(bind) = place.parameter(name)
                {
                    return bind.map(|(kind, at)| self.members_at(kind, &at, depth + 1)).unwrap_or_default();
                }
                let found = self.find(&place.scope, &parts);
                self.reference_members(&found, it.type_arguments.as_deref(), place, depth)
            }
            _ => Vec::new(),
        }
    }

    /// What a value declared by this item can do.
    pub(super) fn item_members(&self, (scope, item): &Found<'a>, depth: usize) -> Vec<Member<'a>> {
        let place = Place::new(scope);
        match item {
            Item::Function(it, at) => {
                let signature = function(it, &place, *at);
                vec![call(signature, &place, *at)]
            }
            Item::Value(Some(kind), _, _) => self.members_at(kind, &place, depth + 1),
            _ => Vec::new(),
        }
    }

    /// The members of a class's objects, inherited ones too.
    pub(super) fn item_class_members(&self, class: &Found<'a>) -> Vec<Member<'a>> {
        self.reference_members(std::slice::from_ref(class), None, &Place::new(&class.0), 0)
    }

    fn reference_members(
        &self,
        found: &[Found<'a>],
        arguments: Option<&'a TSTypeParameterInstantiation<'a>>,
        place: &Place<'a>,
        depth: usize,
    ) -> Vec<Member<'a>> {
        let mut members = Vec::new();
        for (scope, item) in found {
            let around = Place::new(scope);
            let arguments = arguments.map(|arguments| (arguments, place));
            match item {
                Item::Interface(it) => {
                    let inside = around.with(it.type_parameters.as_deref(), arguments);
                    members.extend(signatures(&it.body.body, &inside));
                    for parent in &it.extends {
                        let parents = self.find(scope, &name_parts(&parent.type_name));
                        let given = parent.type_arguments.as_deref();
                        if depth < MOST_DEPTH {
                            members.extend(self.reference_members(&parents, given, &inside, depth + 1));
                        }
                    }
                }
                Item::Class(it, _) => {
                    let inside = around.with(it.type_parameters.as_deref(), arguments);
                    members.extend(class_members(it, &inside, Side::Instance));
                    let parent = it.heritage.as_ref().and_then(|heritage| match &heritage.expression {
                        Expression::Identifier(id) => Some(id.name.as_str()),
                        _ => None,
                    });
                    if let Some(parent) = parent.filter(|_| depth < MOST_DEPTH) {
                        let parents = self.find(scope, &[parent]);
                        members.extend(self.reference_members(&parents, None, &inside, depth + 1));
                    }
                }
                Item::Alias(it) => {
                    let inside = around.with(it.type_parameters.as_deref(), arguments);
                    members.extend(self.members_at(&it.type_annotation, &inside, depth + 1));
                }
                _ => {}
            }
        }
        members
    }

    /// The name and members of the object that a function returns, if it has methods.
    pub(super) fn returned(&self, signature: &Signature<'a>) -> Option<(String, Vec<Member<'a>>)> {
        let TSType::TSTypeReference(it) = signature.returns? else { return None };
        let parts = name_parts(&it.type_name);
        let name = *parts.last()?;
        if matches!(name, "Promise" | "Array" | "Record" | "Partial") {
            return None;
        }
        let members = self.members(signature.returns?, &signature.place);
        let has_methods = members.iter().any(|member| matches!(member.what, MemberKind::Method(_)));
        has_methods.then(|| (name.to_owned(), members))
    }
}

/// Objects of the platform that JSON cannot be.
const FOREIGN: [&str; 44] = [
    "AbortSignal",
    "ArrayBuffer",
    "AsyncIterable",
    "AsyncIterator",
    "Blob",
    "Buffer",
    "BufferSource",
    "CryptoKey",
    "DataView",
    "Date",
    "Document",
    "Duplex",
    "Element",
    "Error",
    "EventEmitter",
    "EventTarget",
    "File",
    "FormData",
    "Generator",
    "HTMLElement",
    "Headers",
    "Int32Array",
    "Iterator",
    "KeyObject",
    "Map",
    "Node",
    "Promise",
    "PromiseLike",
    "ReadStream",
    "Readable",
    "ReadableStream",
    "ReadonlyMap",
    "ReadonlySet",
    "RegExp",
    "Request",
    "Response",
    "Set",
    "TemplateStringsArray",
    "URL",
    "URLSearchParams",
    "Uint8Array",
    "WeakMap",
    "WritableStream",
    "WriteStream",
];

/// Which members of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Instance,
    Static,
}

pub(super) fn function<'a>(it: &'a Function<'a>, place: &Place<'a>, at: u32) -> Signature<'a> {
    let returns = it.return_type.as_ref().map(|it| &it.type_annotation);
    let place = place.with(it.type_parameters.as_deref(), None);
    Signature { place, params: &it.params, returns, at }
}

pub(super) fn class_members<'a>(it: &'a Class<'a>, place: &Place<'a>, side: Side) -> Vec<Member<'a>> {
    let member = |element: &'a ClassElement<'a>| {
        let is_static = element.r#static();
        if is_static != (side == Side::Static) {
            return None;
        }
        match element {
            ClassElement::MethodDefinition(it) => {
                let is_public = !it.accessibility.is_some_and(|it| it != TSAccessibility::Public);
                let is_method = it.kind == MethodDefinitionKind::Method;
                let name = it.key.static_name().filter(|_| is_public && is_method && !it.computed)?;
                let signature = function(&it.value, place, it.span.start);
                let (at, optional) = (it.span.start, it.optional);
                let what = MemberKind::Method(signature);
                Some(Member { name: name.into_owned(), place: place.clone(), at, optional, what })
            }
            ClassElement::PropertyDefinition(it) => {
                let is_public = !it.accessibility.is_some_and(|it| it != TSAccessibility::Public);
                let name = it.key.static_name().filter(|_| is_public && !it.computed)?;
                let what = MemberKind::Property(it.type_annotation.as_ref().map(|it| &it.type_annotation));
                let (at, optional) = (it.span.start, it.optional);
                Some(Member { name: name.into_owned(), place: place.clone(), at, optional, what })
            }
            _ => None,
        }
    };
    it.body.body.iter().filter_map(member).collect()
}

fn call<'a>(signature: Signature<'a>, place: &Place<'a>, at: u32) -> Member<'a> {
    let what = MemberKind::Call(signature);
    Member { name: String::new(), place: place.clone(), at, optional: false, what }
}

fn signatures<'a>(all: &'a [TSSignature<'a>], place: &Place<'a>) -> Vec<Member<'a>> {
    let member = |one: &'a TSSignature<'a>| match one {
        TSSignature::TSPropertySignature(it) if !it.computed => {
            let what = MemberKind::Property(it.type_annotation.as_ref().map(|it| &it.type_annotation));
            let name = it.key.static_name()?.into_owned();
            Some(Member { name, place: place.clone(), at: it.span.start, optional: it.optional, what })
        }
        TSSignature::TSMethodSignature(it) if !it.computed && it.kind == TSMethodSignatureKind::Method => {
            let inside = place.with(it.type_parameters.as_deref(), None);
            let returns = it.return_type.as_ref().map(|it| &it.type_annotation);
            let at = it.span.start;
            let what = MemberKind::Method(Signature { place: inside, params: &it.params, returns, at });
            let name = it.key.static_name()?.into_owned();
            Some(Member { name, place: place.clone(), at, optional: it.optional, what })
        }
        TSSignature::TSCallSignatureDeclaration(it) => {
            let inside = place.with(it.type_parameters.as_deref(), None);
            let returns = it.return_type.as_ref().map(|it| &it.type_annotation);
            let at = it.span.start;
            Some(call(Signature { place: inside, params: &it.params, returns, at }, place, at))
        }
        _ => None,
    };
    all.iter().filter_map(member).collect()
}
