//! What Node's built-ins (`crate::node`) cannot do in JavaScript, or only slowly: encodings, digests and
//! ciphers, compression, time zones. None of it reaches outside but by asking Pinza; all that is handed out is copied
//! into the engine's memory, and no state stays here between two calls of a function.

use std::rc::Rc;

use rquickjs::{
    Array, ArrayBuffer, Ctx, Exception, Function, IntoJs as _, Object, Promise, Result, Value,
    promise::PromiseState,
};

mod cipher;
mod compression;
mod digest;
mod text;
mod zones;

#[cfg(test)]
mod tests;

use super::{link::Link, memory::copy_bytes, native::request_sync};

/// The object that each built-in gets as `internal`.
pub(super) fn node<'js>(ctx: &Ctx<'js>, link: &Rc<Link>) -> Result<Object<'js>> {
    let internal = Object::new(ctx.clone())?;
    internal.set("global", ctx.globals())?;
    internal.set("names", crate::node::NAMES.to_vec())?;
    internal.set("promiseState", Function::new(ctx.clone(), promise_state)?)?;
    internal.set("requestSync", request_sync(ctx, link)?)?;
    text::install(ctx, &internal)?;
    digest::install(ctx, &internal)?;
    cipher::install(ctx, &internal)?;
    compression::install(ctx, &internal)?;
    zones::install(ctx, &internal)?;
    Ok(internal)
}

/// Has this machine's time zone read, for `Intl`; without it, zones are UTC by default. Like
/// [`Engine::read_time_zone`](super::engine::Engine::read_time_zone), for before the worker is sealed.
pub(super) fn read_time_zone() {
    zones::read();
}

/// `[state, result]`: only the engine can look into a promise.
fn promise_state<'js>(ctx: Ctx<'js>, promise: Promise<'js>) -> Result<Array<'js>> {
    let answer = Array::new(ctx.clone())?;
    let state = match promise.state() {
        PromiseState::Pending => "pending",
        PromiseState::Resolved => "fulfilled",
        PromiseState::Rejected => "rejected",
    };
    answer.set(0, state)?;
    match promise.result::<Value<'js>>() {
        None => {}
        Some(Ok(value)) => answer.set(1, value)?,
        // The reason waits in the context, as if it had been thrown.
        Some(Err(_)) => answer.set(1, ctx.catch())?,
    }
    Ok(answer)
}

/// The bytes of a whole `ArrayBuffer`.
fn bytes<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    let buffer = ArrayBuffer::from_value(value.clone());
    let bytes = buffer.as_ref().and_then(copy_bytes);
    bytes.ok_or_else(|| Exception::throw_type(ctx, "not an ArrayBuffer, or a detached one"))
}

fn buffer<'js>(ctx: &Ctx<'js>, bytes: impl AsRef<[u8]>) -> Result<Value<'js>> {
    ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_js(ctx)
}

fn unknown<'js>(ctx: &Ctx<'js>, what: &str) -> rquickjs::Error {
    Exception::throw_type(ctx, &format!("unknown {what}"))
}
