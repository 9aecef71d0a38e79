//! The worker: this program started again with [`WORK`], one JavaScript call at a time.
//!
//! It owns nothing: no files, no network, no environment, no way to start a process. All it
//! has is one socket to Pinza, through which scripts ask and Pinza decides. Every call gets a
//! state that no other call has touched, made while the worker waits for the call: by copying it
//! back ([`imaged`]), or by making an engine anew ([`fresh`]).

use std::{
    collections::HashMap,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::ExitCode,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

mod engine;
mod fresh;
mod imaged;
mod link;
mod memory;
mod native;
mod seal;

pub(crate) use memory::OUT_OF_MEMORY;

use crate::frame::{End, Entry, FromWorker, ToWorker};
use engine::{Call, Sandbox, Script};
use fresh::Fresh;
use imaged::Imaged;
use link::Link;

/// The hidden first argument that turns this program into a worker.
pub const WORK: &str = "__js-worker";

/// A second argument: a new engine for every call, where the other way could be had.
pub(crate) const FRESH: &str = "fresh";

/// The worker's main: never returns to the program around it.
pub fn work() -> ExitCode {
    let fresh = std::env::args_os().nth(2).is_some_and(|argument| argument == FRESH);
    match serve(fresh) {
        Ok(()) => ExitCode::SUCCESS,
        // Pinza went away or speaks another language: there is nobody to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(fresh: bool) -> io::Result<()> {
    let socket: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&stop))?;
    let link = Rc::new(Link::new(UnixStream::from(socket), stop)?);
    let mut scripts: HashMap<u64, Script> = HashMap::new();
    // The engine is made with the door still open: the C library reads the time zone from a
    // file, once, at the first local date.
    let mut sandbox: Box<dyn Sandbox> = match Imaged::new(&link) {
        Ok(imaged) if !fresh => Box::new(imaged),
        // Little address space is no reason to refuse a call.
        _ => Box::new(Fresh::new(&link)?),
    };
    link.send(&FromWorker::Ready { sandbox: seal::seal() }, &[])?;
    while serve_call(&link, sandbox.as_mut(), &mut scripts)? {
        // Pinza has the answer; a worker that what the call left behind brings down is found
        // when the next call comes.
        sandbox.renew()?;
    }
    Ok(())
}

/// Waits for a call and answers it; `false` where Pinza hung up instead.
fn serve_call(link: &Link, sandbox: &mut dyn Sandbox, scripts: &mut HashMap<u64, Script>) -> io::Result<bool> {
    loop {
        let (message, bytes) = match link.receive() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            received => received?,
        };
        match message {
            ToWorker::Load { script, file } => {
                scripts.insert(script, Script { file, code: bytes });
            }
            ToWorker::Call(frame) => {
                link.begin();
                let (end, text) = match scripts.get(&frame.script) {
                    Some(script) => sandbox.call(&Call { script, frame: &frame, params: &bytes }),
                    None => (End::Threw, engine::explained("the script was not loaded")),
                };
                link.send(&FromWorker::Result { end }, text.as_bytes())?;
                // A program is run once.
                if frame.entry == Entry::Program {
                    scripts.remove(&frame.script);
                }
                return Ok(true);
            }
            // To a call that has ended.
            ToWorker::Reply { .. } | ToWorker::Stop => {}
        }
    }
}
