//! Candidates from a package's declarations (`.d.ts`).

use std::{
    collections::{HashSet, VecDeque},
    rc::Rc,
};

use indexmap::IndexMap;
use oxc_ast::ast::{BindingPattern, ClassElement, Expression, MethodDefinitionKind, TSType};
use serde_json::{Map, json};

use super::{
    candidate::{Candidate, Candidates, Class, Made, Param, ROOT, document},
    doc::Doc,
    scope::{Found, Item, Scope, WHOLE, World},
    shape::Shape,
    types::{Member, MemberKind, Place, Side, Signature, class_members, function},
};

/// Functions of functions' properties: `a.b.c` is far enough.
const MOST_PARTS: usize = 3;
/// A package with more exports is looked at up to here.
const MOST_CANDIDATES: usize = 2000;

pub(super) fn candidates<'a>(world: &World<'a, '_>, entry: &Rc<Scope<'a>>) -> Candidates {
    let mut reading =
        Reading { world, found: Candidates::default(), known: HashSet::new(), queue: VecDeque::new() };
    // The library itself first: what it also offers by name is then the same function.
    for name in [WHOLE, "default"] {
        reading.queue.push_back((Vec::new(), world.member(entry, name)));
    }
    for name in world.exports(entry) {
        if name != WHOLE && name != "default" {
            let found = world.member(entry, &name);
            reading.queue.push_back((vec![name], found));
        }
    }
    while let Some((path, found)) = reading.queue.pop_front() {
        if reading.found.functions.len() >= MOST_CANDIDATES {
            break;
        }
        reading.entity(&path, &found);
    }
    // Where calling the library makes such objects, that is how they are meant to be made.
    let mut found = reading.found;
    let called: Vec<String> = found
        .classes
        .iter()
        .filter(|class| matches!(class.made, Made::Called))
        .map(|class| class.name.clone())
        .collect();
    found.classes.retain(|class| matches!(class.made, Made::Called) || !called.contains(&class.name));
    found
}

struct Reading<'w, 'a, 't> {
    world: &'w World<'a, 't>,
    found: Candidates,
    /// Declarations that have had their turn, by where they lie.
    known: HashSet<usize>,
    queue: VecDeque<(Vec<String>, Vec<Found<'a>>)>,
}

impl<'a> Reading<'_, 'a, '_> {
    /// One exported thing, which may be a function, an object, a namespace and a class at once.
    fn entity(&mut self, path: &[String], found: &[Found<'a>]) {
        let mut signatures = Vec::new();
        for (scope, item) in found {
            let place = Place::new(scope);
            match item {
                Item::Function(it, at) => signatures.push(function(it, &place, *at)),
                Item::Value(Some(kind), _, at) => {
                    let mut members = self.world.members(kind, &place);
                    // What is said of the constant is said of the function that it holds.
                    for member in &mut members {
                        if let MemberKind::Call(signature) = &mut member.what
                            && scope.doc(signature.at) == Doc::default()
                        {
                            signature.at = *at;
                            signature.place.scope = Rc::clone(scope);
                        }
                    }
                    signatures.extend(self.members(path, members));
                }
                Item::Value(None, Some(init), at) => match init {
                    Expression::ArrowFunctionExpression(it) => {
                        let returns = it.return_type.as_ref().map(|it| &it.type_annotation);
                        let place = place.with(it.type_parameters.as_deref(), None);
                        signatures.push(Signature { place, params: &it.params, returns, at: *at });
                    }
                    Expression::FunctionExpression(it) => signatures.push(function(it, &place, *at)),
                    _ => {}
                },
                Item::Part(kind, name) => {
                    let (_, mut methods) = sorted(self.world, self.world.members(kind, &place));
                    signatures.extend(methods.swap_remove(*name).unwrap_or_default());
                }
                Item::Class(it, at) if self.known.insert(item.key()) => {
                    self.class(path, scope, it, *at);
                    let members = class_members(it, &place, Side::Static);
                    self.members(path, members);
                }
                Item::Namespace(inner) if path.len() < MOST_PARTS && self.known.insert(item.key()) => {
                    for name in self.world.exports(inner) {
                        let member = self.world.member(inner, &name);
                        let is_whole = name == WHOLE || name == "default";
                        let mut path = path.to_vec();
                        path.extend((!is_whole).then_some(name));
                        self.queue.push_back((path, member));
                    }
                }
                _ => {}
            }
        }
        self.function(path, signatures);
    }

    /// Queues what an object offers; returns the ways to call the object itself.
    fn members(&mut self, path: &[String], members: Vec<Member<'a>>) -> Vec<Signature<'a>> {
        if path.is_empty() {
            // `_.utils.trim`: the parts of a library that is one object.
            for member in &members {
                let MemberKind::Property(Some(kind)) = member.what else { continue };
                let inside = self.world.members(kind, &member.place);
                if !inside.iter().any(|inner| matches!(inner.what, MemberKind::Call(_))) {
                    self.members(std::slice::from_ref(&member.name), inside);
                }
            }
        }
        let (calls, methods) = sorted(self.world, members);
        for (name, signatures) in methods {
            let mut path = path.to_vec();
            path.push(name);
            if path.len() <= MOST_PARTS {
                self.function(&path, signatures);
            }
        }
        calls
    }

    fn function(&mut self, path: &[String], signatures: Vec<Signature<'a>>) {
        let Some(first) = signatures.first() else { return };
        if !self.known.insert(std::ptr::from_ref(first.params).addr()) {
            return;
        }
        let name = if path.is_empty() { ROOT.to_owned() } else { path.join(".") };
        let (candidate, chosen) = candidate(self.world, name, &signatures);
        if path.is_empty() {
            let returned = self.world.returned(chosen);
            let class = returned.map(|(name, members)| {
                let methods = methods(self.world, members);
                Class { name, made: Made::Called, methods, refusal: candidate.refusal.clone() }
            });
            self.found.classes.extend(class.filter(|class| !class.methods.is_empty()));
        }
        self.found.functions.push(candidate);
    }

    fn class(&mut self, path: &[String], scope: &Rc<Scope<'a>>, it: &'a oxc_ast::ast::Class<'a>, at: u32) {
        let own = it.id.as_ref().map_or("default", |id| id.name.as_str());
        let place = Place::new(scope).with(it.type_parameters.as_deref(), None);
        let constructors = it.body.body.iter().filter_map(|element| match element {
            ClassElement::MethodDefinition(it) if it.kind == MethodDefinitionKind::Constructor => {
                Some(function(&it.value, &place, it.span.start))
            }
            _ => None,
        });
        let constructors: Vec<Signature<'a>> = constructors.collect();
        let (config, refusal) = match constructors.is_empty() {
            true => (None, None),
            false => config(candidate(self.world, "constructor".into(), &constructors).0),
        };
        let refusal = if it.r#abstract { Some("it is abstract".to_owned()) } else { refusal };
        let members = self.world.item_class_members(&(Rc::clone(scope), Item::Class(it, at)));
        let export = (!path.is_empty()).then(|| path.join("."));
        let name = export.clone().unwrap_or_else(|| own.to_owned());
        let methods = methods(self.world, members);
        self.found.classes.push(Class { name, made: Made::New { export, config }, methods, refusal });
    }
}

/// The one argument that a constructor is given.
fn config(constructor: Candidate) -> (Option<Param>, Option<String>) {
    let required = constructor.params.iter().filter(|param| param.required).count();
    if let Some(reason) = constructor.refusal {
        return (None, Some(format!("its constructor cannot be called: {reason}")));
    }
    if required > 1 {
        return (None, Some(format!("its constructor takes {required} arguments")));
    }
    (constructor.params.into_iter().next().filter(|param| param.required && !param.rest), None)
}

/// Ways to call an object, and its methods with theirs.
fn sorted<'a>(
    world: &World<'a, '_>,
    members: Vec<Member<'a>>,
) -> (Vec<Signature<'a>>, IndexMap<String, Vec<Signature<'a>>>) {
    let mut calls = Vec::new();
    let mut methods: IndexMap<String, Vec<Signature<'a>>> = IndexMap::new();
    for member in members {
        match member.what {
            MemberKind::Call(signature) => calls.push(signature),
            MemberKind::Method(signature) => methods.entry(member.name).or_default().push(signature),
            MemberKind::Property(Some(kind)) => {
                let inside = world.members(kind, &member.place);
                let own = inside.into_iter().filter_map(|inner| match inner.what {
                    // The comment stands at the property, not at its type.
                    MemberKind::Call(mut signature) => {
                        let place =
                            Place { scope: Rc::clone(&member.place.scope), ..signature.place.clone() };
                        if !matches!(kind, TSType::TSTypeReference(_)) {
                            signature.place = place;
                            signature.at = member.at;
                        }
                        Some(signature)
                    }
                    _ => None,
                });
                let own: Vec<Signature<'a>> = own.collect();
                if !own.is_empty() {
                    methods.entry(member.name).or_default().extend(own);
                }
            }
            MemberKind::Property(None) => {}
        }
    }
    (calls, methods)
}

fn methods<'a>(world: &World<'a, '_>, members: Vec<Member<'a>>) -> Vec<Candidate> {
    let (_, methods) = sorted(world, members);
    methods.into_iter().map(|(name, signatures)| candidate(world, name, &signatures).0).collect()
}

/// The best of several overloads: the first that is simple, else the first that is possible.
fn candidate<'s, 'a>(
    world: &World<'a, '_>,
    path: String,
    signatures: &'s [Signature<'a>],
) -> (Candidate, &'s Signature<'a>) {
    let mut best: Option<(u8, Candidate, &Signature<'a>)> = None;
    let mut summary = None;
    let mut avoid = true;
    for signature in signatures {
        let doc = signature.place.scope.doc(signature.at);
        let is_pointer = doc.summary.as_deref().is_some_and(|text| text.starts_with("See "));
        summary = summary.or(doc.summary.clone().filter(|_| !is_pointer));
        avoid &= doc.avoid;
        if best.as_ref().is_some_and(|(rating, ..)| *rating == 0) {
            continue;
        }
        let (params, refusal, is_simple) = params(world, signature, &doc);
        let returns = signature.returns.map(|kind| world.shape(kind, &signature.place));
        let refusal = refusal
            .or_else(|| (returns == Some(Shape::Callback)).then(|| "it returns a function".to_owned()));
        let rating = if refusal.is_some() { 2 } else { u8::from(!is_simple) };
        if best.as_ref().is_none_or(|(known, ..)| rating < *known) {
            let description = doc.summary.filter(|_| !is_pointer);
            let found = Candidate { path: path.clone(), description, params, avoid: doc.avoid, refusal };
            best = Some((rating, found, signature));
        }
    }
    let empty = || Candidate { path, description: None, params: Vec::new(), avoid: false, refusal: None };
    let (mut found, chosen) = match best {
        Some((_, found, chosen)) => (found, chosen),
        None => (empty(), &signatures[0]),
    };
    found.description = found.description.or(summary);
    found.avoid = avoid;
    (found, chosen)
}

/// The parameters that JSON can fill in; a reason where a needed one is not among them; whether all are simple.
fn params<'a>(
    world: &World<'a, '_>,
    signature: &Signature<'a>,
    doc: &Doc,
) -> (Vec<Param>, Option<String>, bool) {
    let mut params: Vec<Param> = Vec::new();
    let mut is_simple = true;
    // After a parameter that must be left out, later ones have no place.
    let mut is_cut = false;
    let mut refusal = None;
    for (index, item) in signature.params.items.iter().enumerate() {
        let name = match &item.pattern {
            BindingPattern::BindingIdentifier(id) => id.name.as_str().to_owned(),
            BindingPattern::ObjectPattern(_) => "options".to_owned(),
            _ => format!("argument{}", index + 1),
        };
        if name == "this" {
            continue;
        }
        let kind = item.type_annotation.as_ref().map(|it| &it.type_annotation);
        let shape = kind.map_or(Shape::Any, |kind| world.shape(kind, &signature.place));
        let optional = item.optional || item.initializer.is_some() || shape == Shape::Nothing;
        let schema = match shape {
            _ if is_cut && optional => continue,
            Shape::Json(schema) if !is_cut => schema,
            Shape::Any if !is_cut => {
                is_simple = false;
                Map::new()
            }
            Shape::Callback | Shape::Foreign(_) | Shape::Nothing if optional => {
                is_cut = true;
                continue;
            }
            Shape::Callback => {
                refusal = refusal.or(Some(format!("it takes a function ('{name}')")));
                continue;
            }
            Shape::Foreign(what) => {
                refusal = refusal.or(Some(format!("'{name}' must be {what}")));
                continue;
            }
            _ => {
                refusal = refusal.or(Some(format!("'{name}' comes after something that JSON cannot be")));
                continue;
            }
        };
        params.push(Param { name: unused(&params, name), schema, required: !optional, rest: false });
    }
    if let Some(rest) = signature.params.rest.as_ref().filter(|_| !is_cut) {
        let name = match &rest.rest.argument {
            BindingPattern::BindingIdentifier(id) => id.name.as_str().to_owned(),
            _ => "rest".to_owned(),
        };
        let kind = rest.type_annotation.as_ref().map(|it| &it.type_annotation);
        let array = || json!({ "type": "array" }).as_object().cloned().unwrap_or_default();
        let schema = match kind.map_or(Shape::Any, |kind| world.shape(kind, &signature.place)) {
            Shape::Json(schema) if schema.get("type") == Some(&json!("array")) => Some(schema),
            Shape::Json(_) | Shape::Any | Shape::Nothing => Some(array()),
            Shape::Callback | Shape::Foreign(_) => None,
        };
        match schema {
            Some(schema) => {
                params.push(Param { name: unused(&params, name), schema, required: false, rest: true });
            }
            None if params.is_empty() => {
                refusal = refusal.or(Some(format!("it takes functions or objects ('{name}')")));
            }
            None => {}
        }
    }
    document(&mut params, doc);
    (params, refusal, is_simple)
}

fn unused(params: &[Param], name: String) -> String {
    let taken = |name: &str| params.iter().any(|param| param.name == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|number| format!("{name}{number}")).find(|name| !taken(name)).unwrap_or(name)
}
