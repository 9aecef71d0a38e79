//! Which file an import means, as Node and TypeScript look for it, within one [`Tree`].

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use serde_json::Value;

use super::{
    json::PackageJson,
    tree::{Tree, join, package_of},
};
use crate::node::is_builtin;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Code, by `import`.
    Import,
    /// Code, by `require`.
    Require,
    /// Declarations for TypeScript.
    Types,
}

/// For which of its builds a package is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    Node,
    Browser,
}

impl Wanted {
    fn conditions(self, platform: Platform) -> &'static [&'static str] {
        match (self, platform) {
            (Self::Import, Platform::Node) => &["node", "import", "module-sync", "default"],
            (Self::Require, Platform::Node) => &["node", "require", "module-sync", "default"],
            (Self::Import, Platform::Browser) => &["browser", "import", "default"],
            (Self::Require, Platform::Browser) => &["browser", "require", "default"],
            (Self::Types, _) => &["types", "node", "import", "require", "default"],
        }
    }

    /// What may be missing at the end of a path, the likeliest first.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Import | Self::Require => {
                &["", ".js", ".json", ".node", ".mjs", ".cjs", "/index.js", "/index.json", "/index.node"]
            }
            Self::Types => &[".d.ts", ".d.mts", ".d.cts", "", ".ts", "/index.d.ts", "/index.d.mts"],
        }
    }
}

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(String),
    /// One of Node's own modules, without `node:`.
    Builtin(String),
    Missing,
    /// The package's browser build does without it.
    Empty,
    /// It points out of the package or the tree; the path as it was written.
    Outside(String),
}

#[derive(Debug)]
pub(super) struct Resolver<'t> {
    tree: &'t Tree,
    platform: Platform,
    /// `package.json` files by their directory.
    known: RefCell<HashMap<String, Option<Rc<PackageJson>>>>,
}

impl<'t> Resolver<'t> {
    pub(super) fn new(tree: &'t Tree, platform: Platform) -> Self {
        Self { tree, platform, known: RefCell::default() }
    }

    pub(super) fn package_json(&self, directory: &str) -> Option<Rc<PackageJson>> {
        if let Some(known) = self.known.borrow().get(directory) {
            return known.clone();
        }
        let file = format!("{directory}/package.json");
        let read = || PackageJson::parse(&self.tree.text(&file).ok()?).ok().map(Rc::new);
        let found = self.tree.has(&file).then(read).flatten();
        self.known.borrow_mut().insert(directory.to_owned(), found.clone());
        found
    }

    /// Is a `.js` file here an ES module by its nearest `package.json`?
    pub(super) fn is_module_scope(&self, file: &str) -> bool {
        let package = package_of(file);
        let mut directory = file;
        while let Some((above, _)) = directory.rsplit_once('/') {
            if let Some(json) = self.package_json(above) {
                return json.is_module();
            }
            if above.len() <= package.len() {
                break;
            }
            directory = above;
        }
        false
    }

    pub(super) fn resolve(&self, from: &str, specifier: &str, wanted: Wanted) -> Target {
        match self.replacement(from, specifier, wanted) {
            Some(target) => target,
            None => self.swapped(self.resolve_plain(from, specifier, wanted), wanted),
        }
    }

    /// What a package's `browser` map puts in the place of an import by name.
    fn replacement(&self, from: &str, specifier: &str, wanted: Wanted) -> Option<Target> {
        if self.platform == Platform::Node || wanted == Wanted::Types || specifier.starts_with('.') {
            return None;
        }
        let directory = package_of(from);
        let json = self.package_json(directory)?;
        match json.0.get("browser")?.get(specifier)? {
            Value::Bool(false) => Some(Target::Empty),
            Value::String(path) if path.starts_with('.') => Some(self.within(directory, path, wanted)),
            Value::String(other) if other != specifier => Some(self.resolve_plain(from, other, wanted)),
            _ => None,
        }
    }

    /// What a package's `browser` map puts in the place of one of its files.
    fn swapped(&self, target: Target, wanted: Wanted) -> Target {
        let Target::File(file) = &target else { return target };
        if self.platform == Platform::Node || wanted == Wanted::Types {
            return target;
        }
        let directory = package_of(file);
        let json = self.package_json(directory).unwrap_or_default();
        let Some(map) = json.0.get("browser").and_then(Value::as_object) else { return target };
        let path = file.strip_prefix(directory).unwrap_or(file).trim_start_matches('/');
        let same = |key: &str| {
            let key = key.trim_start_matches("./");
            key == path || path.strip_suffix(".js").is_some_and(|stem| stem == key)
        };
        match map.iter().find(|(key, _)| same(key)).map(|(_, value)| value) {
            Some(Value::Bool(false)) => Target::Empty,
            Some(Value::String(other)) => self.within(directory, other, wanted),
            _ => target,
        }
    }

    fn resolve_plain(&self, from: &str, specifier: &str, wanted: Wanted) -> Target {
        if let Some(name) = specifier.strip_prefix("node:") {
            return Target::Builtin(name.to_owned());
        }
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        if specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..") {
            return match join(directory, specifier) {
                Some(path) => self.file_or_directory(&path, wanted),
                None => Target::Outside(specifier.to_owned()),
            };
        }
        if specifier.starts_with('/') || specifier.contains("://") {
            return Target::Outside(specifier.to_owned());
        }
        if specifier.starts_with('#') {
            return self.internal(from, specifier, wanted);
        }
        let (name, subpath) = split(specifier);
        // A package of the same name stands behind Node's own.
        if is_builtin(specifier) {
            return Target::Builtin(specifier.to_owned());
        }
        let mut above = Some(package_of(from));
        let own = package_of(from);
        if self.package_json(own).is_some_and(|json| json.text("name") == Some(name)) {
            return self.package(own, subpath, wanted);
        }
        while let Some(place) = above {
            let candidate =
                if place.is_empty() { name.to_owned() } else { format!("{place}/node_modules/{name}") };
            let found = self.tree.has_directory(&candidate);
            if found {
                match self.package(&candidate, subpath, wanted) {
                    Target::Missing if wanted == Wanted::Types => {}
                    target => return target,
                }
            }
            above = match place {
                "" => None,
                place => Some(place.rsplit_once("/node_modules/").map_or("", |(outer, _)| outer)),
            };
        }
        match wanted {
            Wanted::Types => self.foreign_types(name, subpath),
            _ => Target::Missing,
        }
    }

    /// The entry (`.`) or another export (`./x`) of the package in a directory.
    pub(super) fn package(&self, directory: &str, subpath: &str, wanted: Wanted) -> Target {
        self.swapped(self.package_plain(directory, subpath, wanted), wanted)
    }

    fn package_plain(&self, directory: &str, subpath: &str, wanted: Wanted) -> Target {
        let json = self.package_json(directory).unwrap_or_default();
        if let Some(exports) = json.0.get("exports").filter(|exports| !exports.is_null()) {
            let target = exported(exports, subpath, wanted.conditions(self.platform));
            if let Some(target) = target {
                return match self.within(directory, &target, wanted) {
                    Target::Missing if wanted == Wanted::Types => self.old_types(&json, directory, subpath),
                    found => found,
                };
            }
            if wanted != Wanted::Types {
                return Target::Missing;
            }
        }
        if wanted == Wanted::Types {
            return self.old_types(&json, directory, subpath);
        }
        if subpath != "." {
            return self.within(directory, subpath, wanted);
        }
        let browser = json.text("browser").filter(|_| self.platform == Platform::Browser);
        match browser.or_else(|| json.text("main")) {
            Some(main) => match self.within(directory, main, wanted) {
                Target::Missing => self.within(directory, "index.js", wanted),
                found => found,
            },
            None => self.within(directory, "index.js", wanted),
        }
    }

    /// Declarations as they were found before `exports`: `types`, beside `main`, `index.d.ts`.
    fn old_types(&self, json: &PackageJson, directory: &str, subpath: &str) -> Target {
        if subpath != "." {
            return self.within(directory, subpath, Wanted::Types);
        }
        let fields = ["types", "typings", "main"].into_iter().filter_map(|field| json.text(field));
        let mut found = fields.chain(["index"]).map(|path| self.within(directory, path, Wanted::Types));
        found.find(|target| *target != Target::Missing).unwrap_or(Target::Missing)
    }

    /// `@types/NAME`, for packages without declarations of their own.
    pub(super) fn foreign_types(&self, name: &str, subpath: &str) -> Target {
        let mangled = name.strip_prefix('@').map_or_else(|| name.to_owned(), |name| name.replace('/', "__"));
        let directory = format!("@types/{mangled}");
        if !self.tree.has_directory(&directory) {
            return Target::Missing;
        }
        self.package(&directory, subpath, Wanted::Types)
    }

    /// `#name`, from the package's own `imports`.
    fn internal(&self, from: &str, specifier: &str, wanted: Wanted) -> Target {
        let directory = package_of(from);
        let json = self.package_json(directory).unwrap_or_default();
        let Some(imports) = json.0.get("imports") else { return Target::Missing };
        match matching(imports, specifier, wanted.conditions(self.platform)) {
            Some(path) if path.starts_with("./") => self.within(directory, &path, wanted),
            Some(other) if !other.starts_with('#') => self.resolve(from, &other, wanted),
            _ => Target::Missing,
        }
    }

    /// A path that a package names of itself: it must stay in the package.
    fn within(&self, directory: &str, path: &str, wanted: Wanted) -> Target {
        match join(directory, path).filter(|_| !path.starts_with('/')) {
            Some(full) if full == directory || full.starts_with(&format!("{directory}/")) => {
                self.file_or_directory(&full, wanted)
            }
            _ => Target::Outside(path.to_owned()),
        }
    }

    fn file_or_directory(&self, path: &str, wanted: Wanted) -> Target {
        if wanted == Wanted::Types {
            // `./x.js` in a declaration means the declarations of x.js.
            let swapped = [
                (".js", ".d.ts"),
                (".mjs", ".d.mts"),
                (".cjs", ".d.cts"),
                (".jsx", ".d.ts"),
                (".ts", ".d.ts"),
                (".mts", ".d.mts"),
                (".cts", ".d.cts"),
            ];
            for (code, types) in swapped {
                let declared = path.strip_suffix(code).map(|stem| format!("{stem}{types}"));
                if let Some(file) = declared.filter(|file| self.tree.has(file)) {
                    return Target::File(file);
                }
            }
        }
        let is_types = |file: &str| is_declaration(file) || file.ends_with(".ts") || file.ends_with(".mts");
        for ending in wanted.endings() {
            let file = format!("{path}{ending}");
            if self.tree.has(&file) && (wanted != Wanted::Types || is_types(&file)) {
                return Target::File(file);
            }
        }
        // A directory with a `package.json` of its own.
        let main = self.package_json(path).filter(|_| package_of(path) != path);
        let fields: &[&str] = if wanted == Wanted::Types { &["types", "typings", "main"] } else { &["main"] };
        let main = main.and_then(|json| fields.iter().find_map(|field| json.text(field)).map(str::to_owned));
        match main.and_then(|main| join(path, &main)) {
            Some(main) if main != path && main.starts_with(path) => {
                let found = wanted.endings().iter().map(|ending| format!("{main}{ending}"));
                let mut found = found.filter(|file| wanted != Wanted::Types || is_types(file));
                found.find(|file| self.tree.has(file)).map_or(Target::Missing, Target::File)
            }
            _ => Target::Missing,
        }
    }
}

pub(super) fn is_declaration(file: &str) -> bool {
    file.ends_with(".d.ts") || file.ends_with(".d.mts") || file.ends_with(".d.cts")
}

/// A package's name and the path below it: `@a/b/c` is `@a/b` and `./c`.
fn split(specifier: &str) -> (&str, &str) {
    let slashes = if specifier.starts_with('@') { 1 } else { 0 };
    match specifier.match_indices('/').nth(slashes) {
        // The subpath with its dot would need a new text; `within` takes it without as well.
        Some((at, _)) if at + 1 < specifier.len() => (&specifier[..at], &specifier[at + 1..]),
        Some((at, _)) => (&specifier[..at], "."),
        None => (specifier, "."),
    }
}

fn exported(exports: &Value, subpath: &str, conditions: &[&str]) -> Option<String> {
    let is_map = exports.as_object().is_some_and(|map| map.keys().any(|key| key.starts_with('.')));
    if is_map {
        let subpath = if subpath == "." { ".".to_owned() } else { format!("./{subpath}") };
        return matching(exports, &subpath, conditions);
    }
    (subpath == ".").then(|| chosen(exports, conditions)).flatten()
}

/// The entry of an `exports` or `imports` map for a key, patterns with `*` too.
fn matching(map: &Value, key: &str, conditions: &[&str]) -> Option<String> {
    let map = map.as_object()?;
    if let Some(exact) = map.get(key) {
        return chosen(exact, conditions);
    }
    let fitting = map.iter().filter_map(|(pattern, value)| {
        let (before, after) = pattern.split_once('*')?;
        let middle = key.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), middle, value))
    });
    let (_, middle, value) = fitting.max_by_key(|(length, ..)| *length)?;
    Some(chosen(value, conditions)?.replace('*', middle))
}

/// The first path whose conditions hold.
fn chosen(value: &Value, conditions: &[&str]) -> Option<String> {
    match value {
        Value::String(path) => Some(path.clone()),
        Value::Array(any) => any.iter().find_map(|value| chosen(value, conditions)),
        Value::Object(map) => {
            let holds = |key: &str| conditions.contains(&key);
            map.iter().filter(|(key, _)| holds(key)).find_map(|(_, value)| chosen(value, conditions))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exports_maps() {
        let require = Wanted::Require.conditions(Platform::Node);
        let types = Wanted::Types.conditions(Platform::Node);
        let map = json!({
            ".": { "import": { "types": "./i.d.mts", "default": "./i.mjs" }, "require": "./r.cjs" },
            "./a/*": "./lib/*.js",
            "./a/b/*": { "browser": "./never.js", "default": ["./deep/*.js"] },
        });
        for (exports, subpath, conditions, expected) in [
            (&json!("./x.js"), ".", require, Some("./x.js")),
            (&json!({ "import": "./m.js" }), ".", require, None),
            (&map, ".", require, Some("./r.cjs")),
            (&map, ".", types, Some("./i.d.mts")),
            (&map, "a/x", require, Some("./lib/x.js")),
            (&map, "a/b/x", require, Some("./deep/x.js")),
            (&map, "c", require, None),
        ] {
            assert_eq!(exported(exports, subpath, conditions).as_deref(), expected, "{exports} {subpath}");
        }
    }
}
