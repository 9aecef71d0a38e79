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
mod modules;
mod native;
mod node;
mod seal;
mod units;

pub(crate) use memory::OUT_OF_MEMORY;

use crate::frame::{End, EngineKind, Entry, FromWorker, ToWorker};
use engine::{Call, PreludeCode, Sandbox, Script};
use fresh::Fresh;
use imaged::Imaged;
use link::Link;
use units::{Keep, Units};

/// The hidden first argument that turns this program into a worker.
pub const WORK: &str = "__js-worker";

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
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&stop))?;
    let link = Rc::new(Link::new(UnixStream::from(socket), stop)?);
    let (ToWorker::Start { engine, build }, bytes) = link.receive()? else {
        return Err(io::Error::other("Pinza began with something else than a start"));
    };
    let (prelude, compiled) = match PreludeCode::of_build(build, bytes) {
        Some(prelude) => (Rc::new(prelude), None),
        None => {
            let prelude = Rc::new(PreludeCode::compile()?);
            (Rc::clone(&prelude), Some(prelude))
        }
    };
    // The engine is made with the door still open: the C library reads the time zone from a
    // file, once, at the first local date.
    let mut sandbox = sandbox(engine, &link, &prelude)?;
    node::read_time_zone();
    let ready = FromWorker::Ready { sandbox: seal::seal(), build: PreludeCode::build() };
    link.send(&ready, compiled.as_ref().map_or(&[], |compiled| compiled.bytes()))?;
    let mut scripts: HashMap<u64, Script> = HashMap::new();
    loop {
        match serve_call(&link, sandbox.as_mut(), &mut scripts)? {
            Served::Call => {
                // Pinza has the answer; a worker that what the call left behind brings down is
                // found when the next call comes.
                sandbox.renew()?;
            }
            Served::Kept => {}
            Served::End => return Ok(()),
        }
    }
}

fn sandbox(engine: EngineKind, link: &Rc<Link>, prelude: &Rc<PreludeCode>) -> io::Result<Box<dyn Sandbox>> {
    if engine == EngineKind::Imaged
        && let Ok(imaged) = Imaged::new(link, prelude)
    {
        return Ok(Box::new(imaged));
    }
    // Little address space is no reason to refuse calls.
    Ok(Box::new(Fresh::new(link, prelude)?))
}

enum Served {
    Call,
    /// A call whose state stays as it is.
    Kept,
    /// Pinza hung up.
    End,
}

/// Waits for a call and answers it.
fn serve_call(
    link: &Link,
    sandbox: &mut dyn Sandbox,
    scripts: &mut HashMap<u64, Script>,
) -> io::Result<Served> {
    loop {
        let (message, bytes) = match link.receive() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Served::End),
            received => received?,
        };
        match message {
            ToWorker::Load { script, file, package: None, .. } => {
                scripts.insert(script, Script { file, code: bytes, package: None, units: Rc::default() });
            }
            ToWorker::Load { script, file, package, keep } => {
                let keep = if keep { Keep::Units } else { Keep::Nothing };
                let units = Rc::new(Units::read(PreludeCode::build(), bytes, keep));
                scripts.insert(script, Script { file, code: Vec::new(), package, units });
            }
            ToWorker::Call(frame) => {
                let script = scripts.get(&frame.script);
                link.begin(script.map(|script| Rc::clone(&script.units)).unwrap_or_default());
                let (end, text) = match script {
                    Some(script) => sandbox.call(&Call { script, frame: &frame, params: &bytes }),
                    None => (End::Threw, engine::explained("the script was not loaded")),
                };
                let took = link.now_micros();
                // What was compiled in the first call of a worker is wanted by those who come later.
                let units = script.and_then(|script| script.units.written(PreludeCode::build()));
                if let Some(units) = units.filter(|_| end == End::Ok) {
                    link.send(&FromWorker::Units, &units)?;
                }
                link.send(&FromWorker::Result { end, took }, text.as_bytes())?;
                link.stay_alert(frame.alert);
                // A program is run once.
                if frame.entry == Entry::Program {
                    scripts.remove(&frame.script);
                }
                return Ok(if frame.keep { Served::Kept } else { Served::Call });
            }
            // To a call that has ended.
            ToWorker::Reply { .. } | ToWorker::Stop => {}
            ToWorker::Start { .. } => return Err(io::Error::other("Pinza starts a worker twice")),
        }
    }
}
