//! ES modules and CommonJS ones: how a package's files come into the engine.
//!
//! Where a file lies and what it holds is asked of Pinza; a package reaches nothing else. What an
//! ES module imports from a CommonJS file or a built-in is a small ES module made for it.

use std::{cell::RefCell, fmt::Write as _, rc::Rc};

use rquickjs::{
    Ctx, Error, Exception, Function, IntoJs as _, Module, Object, Persistent, Result, Value,
    loader::{ImportAttributes, Loader, Resolver},
    module::Declared,
    promise::PromiseState,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    link::{Link, Reply},
    memory::Mode,
    units::Units,
};
use crate::module::runner;

/// `require` and its kin, see the file.
const LOADER: &str = include_str!("../module/loader.js");

/// Files that are no ES modules, by the names that ES modules know them under.
const FOREIGN: [&str; 3] = ["cjs:", "node:", "pinza:"];

/// How the engine asks for modules. Shared by all scripts of an engine; a script without a package
/// has none, because Pinza answers so.
#[derive(Clone)]
pub(super) struct Modules {
    link: Rc<Link>,
    /// Of the engine's state: a function of the prelude that leads to the loader of the script.
    foreign: Rc<RefCell<Option<Persistent<Function<'static>>>>>,
}

#[derive(Deserialize)]
struct Resolved {
    /// `None` for a file that the package says is empty here.
    file: Option<String>,
    format: Option<String>,
}

impl Modules {
    pub(super) fn new(link: &Rc<Link>) -> Self {
        Self { link: Rc::clone(link), foreign: Rc::default() }
    }

    pub(super) fn set_foreign(&self, foreign: Persistent<Function<'static>>) {
        *self.foreign.borrow_mut() = Some(foreign);
    }

    pub(super) fn forget(&self) {
        self.foreign.borrow_mut().take();
    }

    fn ask(&self, ctx: &Ctx<'_>, op: &str, payload: &serde_json::Value) -> Result<Reply> {
        let reply = self.link.request_sync(op, &payload.to_string(), None);
        let reply = reply.map_err(|reason| Exception::throw_message(ctx, &reason))?;
        if reply.ok {
            return Ok(reply);
        }
        let json = reply.json.unwrap_or_default();
        let message = serde_json::from_str::<serde_json::Value>(&json).ok();
        let message =
            message.as_ref().and_then(|error| error["message"].as_str()).unwrap_or("no such module");
        Err(Exception::throw_message(ctx, message))
    }
}

impl Resolver for Modules {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if FOREIGN.iter().any(|scheme| name.starts_with(scheme)) || (base.is_empty() && name.starts_with('/'))
        {
            return Ok(name.to_owned());
        }
        if crate::node::is_builtin(name) {
            return Ok(format!("node:{name}"));
        }
        let from = base.strip_prefix("cjs:").unwrap_or(base);
        let payload = json!({ "specifier": name, "from": from, "kind": "import" });
        let reply = self.ask(ctx, "module.resolve", &payload)?;
        let resolved: Resolved = serde_json::from_str(&reply.json.unwrap_or_default())
            .map_err(|_| Error::new_resolving(base.to_owned(), name.to_owned()))?;
        Ok(match (resolved.file, resolved.format.as_deref()) {
            (Some(file), Some("esm")) => file,
            (Some(file), _) => format!("cjs:{file}"),
            (None, _) => "pinza:empty".into(),
        })
    }
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if FOREIGN.iter().any(|scheme| name.starts_with(scheme)) {
            return self.foreign(ctx, name);
        }
        let reply = self.ask(ctx, "module.source", &json!({ "file": name }))?;
        self.link.loads_library(name);
        let module = self.link.units().module(ctx, reply.bytes.unwrap_or_default(), name)?;
        let meta = module.meta()?;
        let directory = name.rsplit_once('/').map_or("/", |(directory, _)| directory);
        meta.set("url", format!("file://{name}"))?;
        meta.set("filename", name)?;
        meta.set("dirname", directory)?;
        Ok(module)
    }
}

impl Modules {
    fn foreign<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
        let foreign = self.foreign.borrow().clone().ok_or_else(|| Error::new_loading(name.to_owned()))?;
        let made: Object<'js> = foreign.restore(ctx)?.call((name,))?;
        let exports: Value<'js> = made.get("exports")?;
        let names: Vec<String> = made.get("names")?;
        let mut source = String::from("const exported = import.meta.exported; export default exported;\n");
        for (index, name) in names.iter().enumerate() {
            // Names are identifiers, perhaps reserved ones: those may stand after `as`.
            let _ =
                writeln!(source, "const name{index} = exported.{name}; export {{ name{index} as {name} }};");
        }
        let module = Module::declare(ctx.clone(), name, source)?;
        module.meta()?.set("exported", exports)?;
        Ok(module)
    }
}

/// The native functions that the loader stands on.
pub(super) fn natives<'js>(ctx: &Ctx<'js>, native: &Object<'js>, link: &Rc<Link>) -> Result<()> {
    let shared = Rc::clone(link);
    let compile_text = move |ctx: Ctx<'js>, source: String, file: String, parameters: String| {
        shared.loads_library(&file);
        compile(&ctx, &shared.units(), &source, &file, &parameters)
    };
    native.set("compileWith", Function::new(ctx.clone(), compile_text)?)?;
    let shared = Rc::clone(link);
    // A file's function, or the error that Pinza answers with, as JSON. The text does not become a string of the
    // engine's on its way.
    let compile_file = move |ctx: Ctx<'js>, file: String, parameters: String| -> Result<Value<'js>> {
        let reply = shared.request_sync("module.source", &json!({ "file": file }).to_string(), None);
        let reply = reply.map_err(|reason| Exception::throw_message(&ctx, &reason))?;
        if !reply.ok {
            return reply.json.into_js(&ctx);
        }
        let bytes = reply.bytes.unwrap_or_default();
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        shared.loads_library(&file);
        let body = compile(&ctx, &shared.units(), &text, &file, &parameters)?;
        // Beside its text Pinza says what only old libraries need.
        if let (Some(_), Some(function)) = (&reply.json, body.as_object()) {
            function.set("statics", true)?;
        }
        Ok(body)
    };
    native.set("compileFile", Function::new(ctx.clone(), compile_file)?)?;
    native.set("importSync", Function::new(ctx.clone(), import_sync)?)?;
    native.set("builtinSource", Function::new(ctx.clone(), |name: String| crate::node::source(&name))?)?;
    native.set("isBuiltin", Function::new(ctx.clone(), |name: String| crate::node::is_builtin(&name))?)?;
    native.set("node", super::node::node(ctx, link)?)
}

/// A file as a function. It is a package's own and could do as much without closing the function early.
fn compile<'js>(
    ctx: &Ctx<'js>,
    units: &Units,
    source: &str,
    file: &str,
    parameters: &str,
) -> Result<Value<'js>> {
    // A line that tells a shell what to run is a comment.
    let hashbang = if source.starts_with("#!") { "//" } else { "" };
    // Not in brackets: the parser would read through all of it, looking for the arrow behind them.
    let parts = ["0, function (", parameters, ") {", hashbang, source, "\n}"];
    units.run(ctx, &parts, file, Mode::Sloppy)
}

/// The namespace of an ES module, now. One that waits for something outside cannot be had this way.
fn import_sync<'js>(ctx: Ctx<'js>, file: String) -> Result<Value<'js>> {
    let promise = Module::import(&ctx, format!("/{}", file.trim_start_matches('/')))?;
    while promise.state() == PromiseState::Pending && ctx.execute_pending_job() {}
    promise.result::<Value<'js>>().unwrap_or_else(|| {
        let message = format!("{file} waits at its top level, which require() cannot do");
        Err(Exception::throw_message(&ctx, &message))
    })
}

/// Loads a package and makes the function that runs plans on it.
pub(super) fn open<'js>(
    ctx: &Ctx<'js>,
    units: &Units,
    native: &Object<'js>,
    set_foreign: &Function<'js>,
    package: &str,
) -> Result<Value<'js>> {
    let own = |source: &str, file: &str| -> Result<Function<'js>> {
        Function::from_value(units.run(ctx, &[source], file, Mode::Strict)?)
    };
    // It keeps the built-ins that it needs, as they are before the library has seen them.
    let make_runner = own(runner::SOURCE, "prelude:runner")?;
    let loader: Object<'js> = own(LOADER, "prelude:loader")?.call((native.clone(), ctx.globals()))?;
    set_foreign.call::<_, ()>((loader.get::<_, Function<'js>>("foreign")?,))?;
    let library: Value<'js> = loader.get::<_, Function<'js>>("open")?.call((package,))?;
    let invoke: Function<'js> = make_runner.call((library,))?;
    own(
        "(invoke) => (plan) => plan.describe === undefined ? invoke(plan) : invoke.describe(plan.describe)",
        "prelude:plans",
    )?
    .call((invoke,))
}
