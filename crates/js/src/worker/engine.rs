//! One engine for one call: made ahead of the call, thrown away after it.

use std::{io, rc::Rc};

use rquickjs::{
    CatchResultExt as _, CaughtError, Coerced, Context, Ctx, Function, Module, Object, Persistent, Promise,
    Runtime, Value, WriteOptions, context::EvalOptions, promise::PromiseState,
};
use serde_json::json;

use super::{
    Script,
    link::Link,
    memory::{Meter, Metered, load_own},
    native,
};
use crate::{
    frame::{CallFrame, End, Entry},
    prelude,
};

/// While the prelude loads.
const LOADING: usize = 256 << 20;

/// What a script may take while it loads, above its heap, for each byte of its text.
const PER_BYTE: usize = 16;

/// The process has one stack, and the system decides how large: usually 8 MB.
const STACK_LIMIT: usize = 6 << 20;

/// What is told of an error. Its texts are a script's own, and could be of any size.
const TEXT_LIMIT: usize = 8 << 10;

/// Where the answer would not fit a frame.
const OUTPUT_LIMIT: usize = 16 << 20;

pub(super) struct Engine {
    // Dropped before the runtime that they live in, because fields drop in this order.
    prelude: Option<Prelude>,
    context: Context,
    runtime: Runtime,
    meter: Meter,
}

/// The two functions that the prelude hands out.
struct Prelude {
    settle: Persistent<Function<'static>>,
    run: Persistent<Function<'static>>,
}

/// The prelude, compiled once for all engines of a worker: its text alone takes milliseconds.
pub(super) struct Compiled(Vec<u8>);

impl Compiled {
    pub(super) fn prelude() -> io::Result<Self> {
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
}

impl Engine {
    pub(super) fn new(link: &Rc<Link>, compiled: &Compiled) -> io::Result<Self> {
        let meter = Meter::new();
        meter.limit(LOADING);
        let runtime = Runtime::new_with_alloc(Metered::new(meter.clone())).map_err(io::Error::other)?;
        let context = Context::full(&runtime).map_err(io::Error::other)?;
        let prelude = context.with(|ctx| {
            load_prelude(&ctx, link, compiled)
                .catch(&ctx)
                .map_err(|error| io::Error::other(error.to_string()))
        })?;
        Ok(Self { prelude: Some(prelude), context, runtime, meter })
    }

    /// Has the C library read the time zone, which it keeps for the life of the process.
    pub(super) fn read_time_zone(&self) {
        // Without one, dates are in UTC: nothing to report.
        let _ = self.context.with(|ctx| ctx.eval::<f64, _>("new Date(0).getTimezoneOffset()"));
    }

    /// Runs a script's function to its end. Everything it left behind goes with the engine.
    pub(super) fn call(&mut self, link: &Link, script: &Script, call: &CallFrame) -> (End, String) {
        self.runtime.set_max_stack_size(call.stack.min(STACK_LIMIT));
        let Some(prelude) = self.prelude.take() else {
            return (End::Threw, explained("the engine was used"));
        };
        self.context.with(|ctx| {
            let ended = run(&ctx, link, prelude, script, call, &self.meter);
            match ended.catch(&ctx) {
                Ok(end) => end,
                Err(error) => thrown(error),
            }
        })
    }
}

fn load_prelude<'js>(ctx: &Ctx<'js>, link: &Rc<Link>, compiled: &Compiled) -> rquickjs::Result<Prelude> {
    let globals = ctx.globals();
    // Shared memory is the one thing in the engine that could reach beyond a call.
    globals.remove("Atomics")?;
    globals.remove("SharedArrayBuffer")?;
    let (module, evaluated) = load_own(ctx, &compiled.0)?.eval()?;
    evaluated.finish::<()>()?;
    let install: Function<'js> = module.get("default")?;
    let made: Object<'js> = install.call((native::native(ctx, link)?, globals))?;
    let settle: Function<'js> = made.get("settle")?;
    let run: Function<'js> = made.get("run")?;
    Ok(Prelude { settle: Persistent::save(ctx, settle), run: Persistent::save(ctx, run) })
}

fn run<'js>(
    ctx: &Ctx<'js>,
    link: &Link,
    prelude: Prelude,
    script: &Script,
    call: &CallFrame,
    meter: &Meter,
) -> rquickjs::Result<(End, String)> {
    let settle = prelude.settle.restore(ctx)?;
    let run = prelude.run.restore(ctx)?;
    meter.limit(call.heap.saturating_add(PER_BYTE * script.code.len()));
    let entry = match &call.entry {
        Entry::Function(name) => {
            evaluate(ctx, script, Awaiting::No)?;
            // The loader has parsed the script and found this name among its own bindings.
            ctx.eval::<Value<'js>, _>(name.as_str())?
        }
        Entry::Program => program(ctx, script)?,
    };
    meter.limit(call.heap);
    let promise: Promise<'js> = run.call((entry, call.params.as_str()))?;
    loop {
        // The result first: a script that is done may leave an endless chain of jobs behind.
        if promise.state() != PromiseState::Pending {
            break;
        }
        if ctx.execute_pending_job() {
            continue;
        }
        match link.next_reply() {
            Ok(Some(reply)) => settle.call::<_, ()>(native::settled(ctx, reply)?)?,
            Ok(None) => return Ok((End::Stalled, String::new())),
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

enum Awaiting {
    No,
    AtTopLevel,
}

fn evaluate<'js>(ctx: &Ctx<'js>, script: &Script, awaiting: Awaiting) -> rquickjs::Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = matches!(awaiting, Awaiting::AtTopLevel);
    options.filename = Some(script.file.clone());
    ctx.eval_with_options(script.code.as_slice(), options)
}

/// A function that waits for the script's end and then calls its `main`, or hands out its value.
fn program<'js>(ctx: &Ctx<'js>, script: &Script) -> rquickjs::Result<Value<'js>> {
    // Made before the script runs, so that it cannot be in the way.
    let glue: Function<'js> = ctx.eval(
        "((evaluate) => (ended) => async (params) => {
            const { value } = await ended;
            const main = evaluate('typeof main === \"function\" ? main : undefined');
            return main === undefined ? value : main(params);
        })(globalThis.eval)",
    )?;
    let ended = evaluate(ctx, script, Awaiting::AtTopLevel)?;
    glue.call((ended,))
}

/// What was thrown, for the answer: message, code (of a bridge's error) and place.
fn thrown(error: CaughtError<'_>) -> (End, String) {
    let text = match error {
        CaughtError::Exception(exception) => {
            let object = exception.as_object();
            let name = property(object, "name").unwrap_or_default();
            let message = property(object, "message").unwrap_or_default();
            if name == "InternalError" && message == "out of memory" {
                return (End::Memory, String::new());
            }
            // A bridge's error says with its code what it is; others say it with their name.
            let code = property(object, "code");
            let plain = code.is_some() || name.is_empty() || name == "Error";
            let message = if plain { message } else { format!("{name}: {message}") };
            let place = property(object, "stack").and_then(|stack| place(&stack));
            let hint = property(object, "hint");
            json!({ "message": message, "code": code, "place": place, "hint": hint }).to_string()
        }
        CaughtError::Value(value) => explained(&shown(&value)),
        CaughtError::Error(error) => explained(&error.to_string()),
    };
    (End::Threw, text)
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
    let json = value.ctx().json_stringify(value.clone()).ok().flatten();
    json.map(|text| clipped(native::well_formed(&text))).unwrap_or_else(|| format!("a {}", value.type_name()))
}

/// The first place in a stack that is not ours: `weather.js:3:5`.
fn place(stack: &str) -> Option<String> {
    let line = stack.lines().find(|line| !line.contains("prelude") && line.contains(':'))?;
    let place = line
        .rsplit_once('(')
        .map_or(line.trim().trim_start_matches("at "), |(_, place)| place.trim_end_matches(')'));
    Some(place.to_owned())
}
