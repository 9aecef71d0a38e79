//! The worker: this program started again with [`WORK`], one JavaScript call at a time.
//!
//! It owns nothing: no files, no network, no environment, no way to start a process. All it
//! has is one socket to Pinza, through which scripts ask and Pinza decides. Every call gets a
//! fresh engine, made while the worker waits for the call.

use std::{
    collections::HashMap,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::ExitCode,
    rc::Rc,
};

mod engine;
mod link;
mod memory;
mod native;
mod seal;

pub(crate) use memory::OUT_OF_MEMORY;

use crate::frame::{End, FromWorker, ToWorker};
use engine::{Compiled, Engine};
use link::Link;

/// The hidden first argument that turns this program into a worker.
pub const WORK: &str = "__js-worker";

/// A loaded script.
struct Script {
    file: String,
    code: Vec<u8>,
}

/// The worker's main: never returns to the program around it.
pub fn work() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // Pinza went away or speaks another language: there is nobody to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let socket: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let link = Rc::new(Link::new(UnixStream::from(socket)));
    let mut scripts: HashMap<u64, Script> = HashMap::new();
    // The first engine is made with the door still open: the C library reads the time zone
    // from a file, once, at the first local date.
    let prelude = Compiled::prelude()?;
    let mut engine = Engine::new(&link, &prelude)?;
    engine.read_time_zone();
    let sandbox = seal::seal();
    loop {
        link.send(&FromWorker::Ready { sandbox: sandbox.clone() }, &[])?;
        if !serve_call(&link, &mut engine, &mut scripts)? {
            return Ok(());
        }
        // What the call left behind is gone before Pinza hears of the next engine.
        drop(engine);
        engine = Engine::new(&link, &prelude)?;
    }
}

/// Waits for a call and answers it; `false` where Pinza hung up instead.
fn serve_call(link: &Link, engine: &mut Engine, scripts: &mut HashMap<u64, Script>) -> io::Result<bool> {
    loop {
        let (message, bytes) = match link.receive() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            received => received?,
        };
        match message {
            ToWorker::Load { script, file } => {
                scripts.insert(script, Script { file, code: bytes });
            }
            ToWorker::Call(call) => {
                let (end, text) = match scripts.get(&call.script) {
                    Some(script) => engine.call(link, script, &call),
                    None => (End::Threw, engine::explained("the script was not loaded")),
                };
                link.send(&FromWorker::Result { end }, text.as_bytes())?;
                link.forget();
                return Ok(true);
            }
            // An answer to a request of a call that has ended.
            ToWorker::Reply { .. } => {}
        }
    }
}
