//! How a library becomes something to call: `type` and `initialization`.

use crate::module::template::{Names, Template};

use super::{
    Dependency,
    fields::{Fields, missing},
    function::FunctionPath,
};

/// How a library is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryType {
    /// `new Library(config)`.
    Constructor,
    /// `Library.create(config)`.
    Factory,
    /// `Library.getInstance()`.
    Singleton,
    /// As it is.
    Static,
}

const TYPES: [(&str, LibraryType); 4] = [
    ("constructor", LibraryType::Constructor),
    ("factory", LibraryType::Factory),
    ("singleton", LibraryType::Singleton),
    ("static", LibraryType::Static),
];

impl LibraryType {
    pub fn name(self) -> &'static str {
        match self {
            Self::Constructor => "constructor",
            Self::Factory => "factory",
            Self::Singleton => "singleton",
            Self::Static => "static",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Initialization {
    pub kind: LibraryType,
    /// The function that makes the instance, where one is named. Else it is `create` or `getInstance`, or a factory
    /// without `create` is called itself; whoever has the library knows.
    pub method: Option<FunctionPath>,
    /// `lib(config)`, without `new` and without a method.
    pub treat_as_constructor: bool,
    /// The export to construct.
    pub class_name: Option<FunctionPath>,
    pub config: Option<Template>,
}

pub(super) const FIELDS: [&str; 5] = ["type", "method", "treatAsConstructor", "className", "config"];

/// `initialization.type` wins over `type`.
pub(super) fn read(module: &Fields<'_>, dependencies: &[Dependency]) -> Option<Initialization> {
    let outer = module.word("type", &TYPES);
    let spot = module.spot.key("initialization");
    let fields = match module.get("initialization") {
        None => None,
        Some(value) => Some(Fields::of(value, "'initialization'", &spot)?),
    };
    let inner = fields.as_ref().and_then(|fields| fields.word("type", &TYPES));
    if module.get("type").is_none() {
        let taken = inner.unwrap_or(LibraryType::Static).name();
        let message = format!("{}, one of constructor, factory, singleton, static", missing("type"));
        module.spot.forgivable(format!("{message} (here: {taken})"));
    }
    if let (Some(outer), Some(inner)) = (outer, inner)
        && outer != inner
    {
        let (outer, inner) = (outer.name(), inner.name());
        spot.key("type").warning(format!("'{inner}' counts here, 'type' of the module says '{outer}'"));
    }
    let kind = inner.or(outer).unwrap_or(LibraryType::Static);
    let Some(fields) = fields else { return Some(Initialization::plain(kind)) };
    fields.warn_of_unknown(&FIELDS);
    warn_of_unused(&fields, kind);
    let names = Names { parameters: None, dependencies: Some(dependencies) };
    Some(Initialization {
        method: path(&fields, "method"),
        treat_as_constructor: fields.boolean("treatAsConstructor", false),
        class_name: path(&fields, "className"),
        config: fields
            .get("config")
            .and_then(|config| Template::parse(config, &names, &fields.spot.key("config"))),
        ..Initialization::plain(kind)
    })
}

impl Initialization {
    fn plain(kind: LibraryType) -> Self {
        Self { kind, method: None, treat_as_constructor: false, class_name: None, config: None }
    }
}

fn path(fields: &Fields<'_>, name: &str) -> Option<FunctionPath> {
    let text = fields.text(name)?;
    let parsed = text.parse().map_err(|error| format!("'{name}': {error}"));
    fields.checked(name, parsed)
}

fn warn_of_unused(fields: &Fields<'_>, kind: LibraryType) {
    let unused: &[&str] = match kind {
        LibraryType::Static => &["method", "treatAsConstructor", "className", "config"],
        LibraryType::Constructor => &["method"],
        LibraryType::Factory | LibraryType::Singleton => &[],
    };
    for name in unused.iter().filter(|name| fields.get(name).is_some()) {
        let kind = kind.name();
        fields.spot.key(name).key_warning(format!("'{name}' says nothing to a module of type '{kind}'"));
    }
}
