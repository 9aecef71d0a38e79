//! What rquickjs offers only as unsafe: reading bytes, bytecode, and the collector of garbage inside a call.

use std::ffi::CString;

use rquickjs::{Ctx, Error, Module, Result, Value, qjs};

use crate::source::STRICT;

/// A copy of an array buffer's bytes; `None` for a detached one.
pub(in super::super) fn copy_bytes(buffer: &rquickjs::ArrayBuffer<'_>) -> Option<Vec<u8>> {
    // SAFETY: the slice is read at once, and no script runs before it has been copied.
    unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec)
}

/// Bytecode that this process made of Pinza's own prelude, before any script ran.
pub(in super::super) fn load_own<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Module<'js>> {
    // SAFETY: the engine trusts bytecode, and this is its own, written moments ago by the same
    // build; scripts have no way to hand bytes in here.
    unsafe { Module::load(ctx.clone(), bytes) }
}

/// Frees cyclic garbage now.
pub(in super::super) fn collect_garbage(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive, and so is its runtime.
    unsafe { qjs::JS_RunGC(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

/// Looks for cyclic garbage once the engine has taken `more` bytes. A collection visits everything
/// that is alive, and most calls are over before it pays.
pub(in super::super) fn collect_after(ctx: &Ctx<'_>, used: usize, more: usize) {
    // The engine counts a few bytes more for each block than was asked for.
    let threshold = used.saturating_add(used / 4).saturating_add(more);
    // SAFETY: as above.
    unsafe { qjs::JS_SetGCThreshold(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), threshold as _) }
}

/// An ES module of a package, of what [`Module::write`] gave. As for [`Compiled::of_bytes`].
pub(in super::super) fn load_kept<'js>(ctx: &Ctx<'js>, bytes: &'static [u8]) -> Result<Module<'js>> {
    // SAFETY: as there; the engine goes on reading from bytes that are never freed.
    unsafe { Module::load(ctx.clone(), bytes) }
}

/// How a text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Mode {
    Strict,
    Sloppy,
}

/// A script as bytecode inside the engine: compiled once, run for each call.
pub(in super::super) struct Compiled<'js>(Value<'js>);

impl<'js> Compiled<'js> {
    /// Compiles a plain script, a strict one if it was written as a module, without running any of it.
    pub(in super::super) fn new(ctx: &Ctx<'js>, code: &[u8], file: &str) -> Result<Self> {
        match code.strip_prefix(STRICT.as_bytes()) {
            Some(code) => Self::text(ctx, code.to_vec(), file, Mode::Strict),
            None => Self::text(ctx, code.to_vec(), file, Mode::Sloppy),
        }
    }

    /// Compiles a plain script as it is.
    pub(in super::super) fn text(ctx: &Ctx<'js>, code: Vec<u8>, file: &str, mode: Mode) -> Result<Self> {
        let strict = match mode {
            Mode::Strict => qjs::JS_EVAL_FLAG_STRICT,
            Mode::Sloppy => 0,
        };
        let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY | strict;
        let code = CString::new(code)?;
        let file = CString::new(file)?;
        // SAFETY: context and texts live through the call; the engine wants the length without
        // the zero byte that ends the text, and copies what it keeps of both.
        let compiled = unsafe {
            qjs::JS_Eval(
                ctx.as_raw().as_ptr(),
                code.as_ptr(),
                code.as_bytes().len() as _,
                file.as_ptr(),
                flags as i32,
            )
        };
        taken(ctx, compiled).map(Self)
    }

    /// Runs it in the context that it was compiled in.
    pub(in super::super) fn run(&self) -> Result<Value<'js>> {
        let ctx = self.0.ctx();
        let context = ctx.as_raw().as_ptr();
        // SAFETY: the value is bytecode that `new` made in this context. The engine takes one
        // count of it for itself, so it is given one more.
        let value = unsafe { qjs::JS_EvalFunction(context, qjs::JS_DupValue(context, self.0.as_raw())) };
        taken(ctx, value)
    }

    /// Its bytecode, for [`of_bytes`](Self::of_bytes) in this process or another.
    pub(in super::super) fn bytes(&self) -> Result<Vec<u8>> {
        let context = self.0.ctx().as_raw().as_ptr();
        let mut length = 0;
        // SAFETY: the value is bytecode of this context. What is written is the receiver's, as long as
        // the engine says, and is freed once it has been copied.
        unsafe {
            let flags = qjs::JS_WRITE_OBJ_BYTECODE as i32;
            let bytes = qjs::JS_WriteObject(context, &mut length, self.0.as_raw(), flags);
            if bytes.is_null() {
                return Err(Error::Exception);
            }
            let copy = std::slice::from_raw_parts(bytes, length as usize).to_vec();
            qjs::js_free(context, bytes.cast());
            Ok(copy)
        }
    }

    /// Of what [`bytes`](Self::bytes) gave. The engine reads it where it is, for as long as it lives.
    pub(in super::super) fn of_bytes(ctx: &Ctx<'js>, bytes: &'static [u8]) -> Result<Self> {
        let flags = qjs::JS_READ_OBJ_BYTECODE | qjs::JS_READ_OBJ_ROM_DATA;
        // SAFETY: the engine trusts bytecode. A worker of the same build wrote this one, of the same text, and
        // Pinza kept it; see `units.rs` for why no script has had a hand in it.
        let read = unsafe {
            let context = ctx.as_raw().as_ptr();
            qjs::JS_ReadObject(context, bytes.as_ptr(), bytes.len() as _, flags as i32)
        };
        taken(ctx, read).map(Self)
    }

    pub(in super::super) fn into_value(self) -> Value<'js> {
        self.0
    }

    /// Of a value that [`into_value`](Self::into_value) gave.
    pub(in super::super) fn of_value(value: Value<'js>) -> Self {
        Self(value)
    }
}

/// Takes over a value that the engine handed out.
fn taken<'js>(ctx: &Ctx<'js>, value: qjs::JSValue) -> Result<Value<'js>> {
    // SAFETY: a value that the engine returns is its receiver's, and it belongs to this context.
    let value = unsafe { Value::from_raw(ctx.clone(), value) };
    // An exception waits in the context for whoever catches it.
    if value.is_exception() { Err(Error::Exception) } else { Ok(value) }
}
