//! A new engine for every call: the portable way, and the reference that the fast one is compared with.

use std::{io, rc::Rc};

use rquickjs::{Persistent, Value};

use super::{
    engine::{Call, Engine, PER_BYTE, PreludeCode, Sandbox, program},
    link::Link,
    memory::{Meter, Metered},
};
use crate::frame::{End, Entry};

/// While the prelude loads.
const LOADING: usize = 256 << 20;

pub(super) struct Fresh {
    link: Rc<Link>,
    prelude: Rc<PreludeCode>,
    /// The function of a script whose state is kept for its next call. It goes before the engine.
    live: Option<Persistent<Value<'static>>>,
    /// Made ahead of the call, thrown away after it.
    engine: Option<Engine>,
    meter: Meter,
}

impl Fresh {
    pub(super) fn new(link: &Rc<Link>, prelude: &Rc<PreludeCode>) -> io::Result<Self> {
        let (link, prelude) = (Rc::clone(link), Rc::clone(prelude));
        let mut fresh = Self { link, prelude, engine: None, meter: Meter::new(), live: None };
        fresh.renew()?;
        fresh.engine.iter().for_each(Engine::read_time_zone);
        Ok(fresh)
    }
}

impl Sandbox for Fresh {
    fn call(&mut self, call: &Call<'_>) -> (End, String) {
        let Some(engine) = &self.engine else {
            return (End::Threw, super::engine::explained("there is no engine"));
        };
        if let Some(function) = &self.live {
            return engine.run(call, |ctx| function.clone().restore(ctx));
        }
        self.meter.limit(call.frame.heap.saturating_add(PER_BYTE * call.script.code.len()));
        let live = &mut self.live;
        engine.run(call, |ctx| {
            let entry = match &call.frame.entry {
                Entry::Program => program(ctx, call.script)?,
                Entry::Function(name) => engine.load(ctx, call.script, name)?,
            };
            self.meter.limit(call.frame.heap);
            *live = call.frame.keep.then(|| Persistent::save(ctx, entry.clone()));
            Ok(entry)
        })
    }

    fn renew(&mut self) -> io::Result<()> {
        // The old one goes first: what it held is counted no more.
        self.live = None;
        self.engine = None;
        self.meter = Meter::new();
        self.meter.limit(LOADING);
        self.engine = Some(Engine::new(&self.link, &self.prelude, Metered::new(self.meter.clone()))?);
        Ok(())
    }
}
