//! One engine for one call: made ahead of the call, thrown away after it.

use std::{io, rc::Rc};

use rquickjs::{
    CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Persistent, Promise, Runtime, Value,
    context::EvalOptions, promise::PromiseState,
};
use serde_json::json;

use super::{
    Script,
    link::Link,
    memory::{Meter, Metered},
    native,
};
use crate::{
    frame::{CallFrame, End},
    prelude,
};

/// While the prelude and the script itself load.
const LOADING: usize = 256 << 20;

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

impl Engine {
    pub(super) fn new(link: &Rc<Link>) -> io::Result<Self> {
        let meter = Meter::new();
        meter.limit(LOADING);
        let runtime = Runtime::new_with_alloc(Metered::new(meter.clone())).map_err(io::Error::other)?;
        let context = Context::full(&runtime).map_err(io::Error::other)?;
        let prelude = context.with(|ctx| {
            load_prelude(&ctx, link).catch(&ctx).map_err(|error| io::Error::other(error.to_string()))
        })?;
        Ok(Self { prelude: Some(prelude), context, runtime, meter })
    }

    /// Runs a script's function to its end. Everything it left behind goes with the engine.
    pub(super) fn call(&mut self, link: &Link, script: &Script, call: &CallFrame) -> (End, String) {
        self.runtime.set_max_stack_size(call.stack);
        let Some(prelude) = self.prelude.take() else { return (End::Threw, explained("the engine was used")) };
        self.context.with(|ctx| {
            let ended = run(&ctx, link, prelude, script, call, &self.meter);
            match ended.catch(&ctx) {
                Ok(end) => end,
                Err(error) => thrown(error),
            }
        })
    }
}

fn load_prelude<'js>(ctx: &Ctx<'js>, link: &Rc<Link>) -> rquickjs::Result<Prelude> {
    let globals = ctx.globals();
    // Shared memory is the one thing in the engine that could reach beyond a call.
    globals.remove("Atomics")?;
    globals.remove("SharedArrayBuffer")?;
    let mut options = EvalOptions::default();
    options.filename = Some("prelude".into());
    let install: Function<'js> = ctx.eval_with_options(prelude::source(), options)?;
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
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(script.file.clone());
    ctx.eval_with_options::<Value<'js>, _>(script.code.as_slice(), options)?;
    // The loader has parsed the script and found this name among its own bindings.
    let entry: Value<'js> = ctx.eval(call.function.as_str())?;
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
            Ok(if text.len() > OUTPUT_LIMIT { (End::Output, text.len().to_string()) } else { (End::Ok, text) })
        }
        None => Ok((End::Stalled, String::new())),
    }
}

/// What was thrown, for the answer: message, code (of a bridge's error) and place.
fn thrown(error: CaughtError<'_>) -> (End, String) {
    let text = match error {
        CaughtError::Exception(exception) => {
            let object = exception.as_object();
            let name: String = object.get("name").unwrap_or_default();
            let message = exception.message().unwrap_or_default();
            if name == "InternalError" && message == "out of memory" {
                return (End::Memory, String::new());
            }
            let message = if name.is_empty() || name == "Error" { message } else { format!("{name}: {message}") };
            let code: Option<String> = object.get("code").ok();
            json!({ "message": message, "code": code, "place": exception.stack().and_then(|stack| place(&stack)) })
                .to_string()
        }
        CaughtError::Value(value) => explained(&shown(&value)),
        CaughtError::Error(error) => explained(&error.to_string()),
    };
    (End::Threw, text)
}

fn explained(message: &str) -> String {
    json!({ "message": message }).to_string()
}

/// A thrown value that is no Error.
fn shown(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return native::well_formed(text);
    }
    let json = value.ctx().json_stringify(value.clone()).ok().flatten();
    json.and_then(|text| text.to_string().ok()).unwrap_or_else(|| format!("a {}", value.type_name()))
}

/// The first place in a stack that is not ours: `weather.js:3:5`.
fn place(stack: &str) -> Option<String> {
    let line = stack.lines().find(|line| !line.contains("prelude") && line.contains(':'))?;
    let place = line.rsplit_once('(').map_or(line.trim().trim_start_matches("at "), |(_, place)| place.trim_end_matches(')'));
    Some(place.to_owned())
}
