//! An engine with the prelude loaded, and how one call runs in it.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    rc::Rc,
    sync::OnceLock,
};

use rquickjs::{
    CatchResultExt as _, CaughtError, Coerced, Context, Ctx, Function, Module, Object, Persistent, Promise,
    Runtime, Value, WriteOptions, allocator::Allocator, context::EvalOptions, promise::PromiseState,
};
use serde_json::json;

use super::{
    link::{Link, Next},
    memory::{Compiled, load_own},
    modules::{self, Modules},
    native,
    units::Units,
};
use crate::{
    frame::{CallFrame, End},
    prelude,
};

/// What a script may take while it loads, above its heap, for each byte of its text.
pub(super) const PER_BYTE: usize = 16;

/// The process has one stack, and the system decides how large: usually 8 MB.
const STACK_LIMIT: usize = 6 << 20;

/// What is told of an error. Its texts are a script's own, and could be of any size.
const TEXT_LIMIT: usize = 8 << 10;

/// Where the answer would not fit a frame.
const OUTPUT_LIMIT: usize = 16 << 20;

/// A loaded script.
pub(super) struct Script {
    pub(super) file: String,
    pub(super) code: Vec<u8>,
    /// The package that stands in the code's place.
    pub(super) package: Option<String>,
    /// The package's code, as far as it was compiled before.
    pub(super) units: Rc<Units>,
}

/// What a call's frame brings.
pub(super) struct Call<'a> {
    pub(super) script: &'a Script,
    pub(super) frame: &'a CallFrame,
    /// JSON text.
    pub(super) params: &'a [u8],
}

/// Runs calls, each on a state that no other call has touched.
pub(super) trait Sandbox {
    fn call(&mut self, call: &Call<'_>) -> (End, String);

    /// Makes the next call's state, once the answer of the last one is out.
    fn renew(&mut self) -> io::Result<()>;
}

pub(super) struct Engine {
    // Dropped before the runtime that they live in, because fields drop in this order.
    prelude: Prelude,
    pub(super) context: Context,
    pub(super) runtime: Runtime,
    pub(super) link: Rc<Link>,
    modules: Modules,
}

impl Drop for Engine {
    fn drop(&mut self) {
        // What the loader holds lives in the runtime, which goes before the loader does.
        self.modules.forget();
    }
}

/// The functions that the prelude hands out.
struct Prelude {
    settle: Persistent<Function<'static>>,
    run: Persistent<Function<'static>>,
    warm: Persistent<Function<'static>>,
    /// The code and hint of an error that came from a bridge; nothing for a script's own.
    origin: Persistent<Function<'static>>,
    /// Tells the prelude who loads what is no ES module.
    set_foreign: Persistent<Function<'static>>,
    /// The closures behind it are Rust's, outside the engine's memory. They live as long as the
    /// engine: an image would still lead to them.
    native: Persistent<Object<'static>>,
}

/// The prelude as bytecode: compiling its text takes longer than all the rest of a worker's start.
pub(super) struct PreludeCode(Vec<u8>);

impl PreludeCode {
    /// What was compiled by another worker, if it was one of the same build.
    pub(super) fn of_build(build: u64, bytes: Vec<u8>) -> Option<Self> {
        (build == Self::build() && !bytes.is_empty()).then_some(Self(bytes))
    }

    /// Bytecode is for the engine that made it, and for no other.
    pub(super) fn build() -> u64 {
        static BUILD: OnceLock<u64> = OnceLock::new();
        *BUILD.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            (env!("CARGO_PKG_VERSION"), prelude::source()).hash(&mut hasher);
            hasher.finish()
        })
    }

    pub(super) fn compile() -> io::Result<Self> {
        let runtime = Runtime::new().map_err(io::Error::other)?;
        let context = Context::full(&runtime).map_err(io::Error::other)?;
        let source = format!("export default {}", prelude::source());
        let compiled = context.with(|ctx| {
            let module = Module::declare(ctx.clone(), "prelude", source);
            module
                .and_then(|module| {
                    module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })
                })
                .catch(&ctx)
                .map_err(|error| error.to_string())
        });
        compiled.map(Self).map_err(io::Error::other)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Engine {
    pub(super) fn new<A: Allocator + 'static>(
        link: &Rc<Link>,
        prelude: &PreludeCode,
        allocator: A,
    ) -> io::Result<Self> {
        let runtime = Runtime::new_with_alloc(allocator).map_err(io::Error::other)?;
        let stop = Rc::clone(link);
        runtime.set_interrupt_handler(Some(Box::new(move || stop.is_stopped())));
        let modules = Modules::new(link);
        runtime.set_loader(modules.clone(), modules.clone());
        let context = Context::full(&runtime).map_err(io::Error::other)?;
        let prelude = context.with(|ctx| {
            load_prelude(&ctx, link, prelude, &modules)
                .catch(&ctx)
                .map_err(|error| io::Error::other(error.to_string()))
        })?;
        Ok(Self { prelude, context, runtime, link: Rc::clone(link), modules })
    }

    /// Has the C library read the time zone, which it keeps for the life of the process.
    pub(super) fn read_time_zone(&self) {
        // Without one, dates are in UTC: nothing to report.
        let _ = self.context.with(|ctx| ctx.eval::<f64, _>("new Date(0).getTimezoneOffset()"));
    }

    /// Makes everything that the prelude makes at its first use.
    pub(super) fn warm(&self) -> io::Result<()> {
        self.context.with(|ctx| {
            let warmed = self.prelude.warm.clone().restore(&ctx).and_then(|warm| warm.call::<_, ()>(()));
            warmed.catch(&ctx).map_err(|error| io::Error::other(error.to_string()))
        })
    }

    /// Loads a script: runs its top level and finds its function, or loads its package and makes
    /// the function that runs plans.
    pub(super) fn load<'js>(
        &self,
        ctx: &Ctx<'js>,
        script: &Script,
        name: &str,
    ) -> rquickjs::Result<Value<'js>> {
        let Some(package) = &script.package else {
            Compiled::new(ctx, &script.code, &script.file)?.run()?;
            // The loader has parsed the script and found this name among its own bindings.
            return ctx.eval(name);
        };
        let native = self.prelude.native.clone().restore(ctx)?;
        let set_foreign = self.prelude.set_foreign.clone().restore(ctx)?;
        modules::open(ctx, &script.units, &native, &set_foreign, package)
    }

    /// Finds what is called, with `entry`, and runs it to its end.
    pub(super) fn run(
        &self,
        call: &Call<'_>,
        entry: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<Value<'js>>,
    ) -> (End, String) {
        self.runtime.set_max_stack_size(call.frame.stack.min(STACK_LIMIT));
        let (end, text) = self.context.with(|ctx| {
            let ended = entry(&ctx).and_then(|entry| self.settled(&ctx, entry, call.params));
            match ended.catch(&ctx) {
                Ok(end) => end,
                Err(error) => self.thrown(&ctx, error),
            }
        });
        // Whatever an interrupted script looked like from inside, it was interrupted.
        if self.link.is_stopped() { (End::Stopped, String::new()) } else { (end, text) }
    }

    fn settled<'js>(
        &self,
        ctx: &Ctx<'js>,
        entry: Value<'js>,
        params: &[u8],
    ) -> rquickjs::Result<(End, String)> {
        let settle = self.prelude.settle.clone().restore(ctx)?;
        let run = self.prelude.run.clone().restore(ctx)?;
        let params = std::str::from_utf8(params).unwrap_or_default();
        let promise: Promise<'js> = run.call((entry, params))?;
        loop {
            // The result first: a script that is done may leave an endless chain of jobs behind.
            if promise.state() != PromiseState::Pending {
                break;
            }
            if self.link.is_stopped() {
                return Ok((End::Stopped, String::new()));
            }
            if ctx.execute_pending_job() {
                continue;
            }
            match self.link.next() {
                Ok(Next::Reply(reply)) => settle.call::<_, ()>(native::settled(ctx, reply)?)?,
                Ok(Next::Nothing) => return Ok((End::Stalled, String::new())),
                Ok(Next::Stop) => return Ok((End::Stopped, String::new())),
                Err(error) => return Ok((End::Threw, explained(&error.to_string()))),
            }
        }
        match promise.result::<rquickjs::String<'js>>() {
            Some(result) => {
                let text = native::well_formed(&result?);
                Ok(if text.len() > OUTPUT_LIMIT {
                    (End::Output, text.len().to_string())
                } else {
                    (End::Ok, text)
                })
            }
            None => Ok((End::Stalled, String::new())),
        }
    }

    /// What was thrown, for the answer: message, place, and the code and hint of a bridge's error.
    fn thrown<'js>(&self, ctx: &Ctx<'js>, error: CaughtError<'js>) -> (End, String) {
        let exception = match error {
            CaughtError::Exception(exception) => exception,
            CaughtError::Value(value) => return (End::Threw, explained(&shown(&value))),
            CaughtError::Error(error) => return (End::Threw, explained(&error.to_string())),
        };
        let object = exception.as_object();
        let name = property(object, "name").unwrap_or_default();
        let message = property(object, "message").unwrap_or_default();
        if name == "InternalError" && message == "out of memory" {
            return (End::Memory, String::new());
        }
        let origin = self.prelude.origin.clone().restore(ctx);
        let origin = origin.and_then(|origin| origin.call::<_, Option<Object<'js>>>((object.clone(),)));
        let origin = origin.ok().flatten();
        let of_bridge = |key: &str| origin.as_ref().and_then(|origin| property(origin, key));
        // A bridge's error says with its code what it is; others say it with their name.
        let plain = origin.is_some() || name.is_empty() || name == "Error";
        let message = if plain { message } else { format!("{name}: {message}") };
        let place = property(object, "stack").and_then(|stack| place(&stack));
        let text = json!({
            "message": message,
            "code": of_bridge("code"),
            "place": place,
            "hint": of_bridge("hint"),
        });
        (End::Threw, text.to_string())
    }
}

fn load_prelude<'js>(
    ctx: &Ctx<'js>,
    link: &Rc<Link>,
    code: &PreludeCode,
    modules: &Modules,
) -> rquickjs::Result<Prelude> {
    let globals = ctx.globals();
    // Shared memory is the one thing in the engine that could reach beyond a call.
    globals.remove("Atomics")?;
    globals.remove("SharedArrayBuffer")?;
    let (module, evaluated) = load_own(ctx, &code.0)?.eval()?;
    evaluated.finish::<()>()?;
    let install: Function<'js> = module.get("default")?;
    let native = native::native(ctx, link)?;
    let made: Object<'js> = install.call((native.clone(), globals))?;
    let function =
        |name: &str| made.get::<_, Function<'js>>(name).map(|function| Persistent::save(ctx, function));
    modules.set_foreign(function("foreign")?);
    Ok(Prelude {
        settle: function("settle")?,
        run: function("run")?,
        warm: function("warm")?,
        origin: function("origin")?,
        set_foreign: function("setForeign")?,
        native: Persistent::save(ctx, native),
    })
}

/// A function that waits for the script's end and then calls its `main`, or hands out its value.
pub(super) fn program<'js>(ctx: &Ctx<'js>, script: &Script) -> rquickjs::Result<Value<'js>> {
    // Made before the script runs, so that it cannot be in the way.
    let (glue, as_body): (Function<'js>, Function<'js>) = (
        ctx.eval(
            "((evaluate) => (ended) => async (params) => {
                const { value } = await ended;
                const main = evaluate('typeof main === \"function\" ? main : undefined');
                return main === undefined ? value : main(params);
            })(globalThis.eval)",
        )?,
        ctx.eval("(async () => {}).constructor")?,
    );
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = true;
    options.filename = Some(script.file.clone());
    match ctx.eval_with_options::<Value<'js>, _>(script.code.as_slice(), options) {
        Ok(ended) => glue.call((ended,)),
        Err(rquickjs::Error::Exception) => {
            let error = ctx.catch();
            // Models write the body of a function as readily as a program: what is one gets one.
            let is_body = |error: &Object<'js>| {
                property(error, "name").as_deref() == Some("SyntaxError")
                    && property(error, "message").is_some_and(|message| message.contains("return"))
            };
            let code = str::from_utf8(&script.code).unwrap_or_default();
            match error.as_object().filter(|error| is_body(error)).map(|_| as_body.call((code,))) {
                Some(Ok(body)) => Ok(body),
                _ => Err(ctx.throw(error)),
            }
        }
        Err(error) => Err(error),
    }
}

/// A property as text. Reading it may run a script's own code, and fail.
fn property(object: &Object<'_>, name: &str) -> Option<String> {
    let value: Option<Coerced<rquickjs::String<'_>>> = object.get(name).ok()?;
    value.map(|text| clipped(native::well_formed(&text.0)))
}

fn clipped(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_LIMIT));
    text
}

pub(super) fn explained(message: &str) -> String {
    json!({ "message": message }).to_string()
}

/// A thrown value that is no Error.
fn shown(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return clipped(native::well_formed(text));
    }
    if value.is_undefined() {
        return "undefined".into();
    }
    let json = value.ctx().json_stringify(value.clone()).ok().flatten();
    json.map(|text| clipped(native::well_formed(&text))).unwrap_or_else(|| format!("a {}", value.type_name()))
}

/// The first place in a stack that is not ours: `weather.js:3:5`.
fn place(stack: &str) -> Option<String> {
    stack.lines().find_map(|line| {
        // `at name (file:line:column)`, or the place alone. A file's name may have brackets too.
        let frame = line.trim().strip_prefix("at ")?;
        let place = match frame.split_once(" (") {
            Some((_, place)) if frame.ends_with(')') => place.strip_suffix(')')?,
            _ => frame,
        };
        (place.contains(':') && !place.starts_with("prelude:")).then(|| place.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_place_of_an_error_is_the_first_that_is_not_ours() {
        let check =
            |stack: &str, expected: Option<&str>| assert_eq!(place(stack).as_deref(), expected, "{stack}");
        check("    at execute (weather.js:3:5)\n    at run (prelude:1:2)\n", Some("weather.js:3:5"));
        check("    at parse (native)\n    at execute (/a/b.js:1:2)\n", Some("/a/b.js:1:2"));
        check("    at convert (prelude:9:1)\n    at b.js:7:8\n", Some("b.js:7:8"));
        check("    at execute (/tmp/my (1)/s.js:1:29)\n", Some("/tmp/my (1)/s.js:1:29"));
        check("    at /tmp/my (1)/s.js:1:29\n", Some("/tmp/my (1)/s.js:1:29"));
        check("    at execute (/home/prelude/s.js:4:4)\n", Some("/home/prelude/s.js:4:4"));
        check("    at run (prelude:1:2)\n", None);
        check("", None);
    }
}
