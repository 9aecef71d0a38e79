//! A new engine for every call: the portable way, and the reference that the fast one is compared with.

use std::{io, rc::Rc};

use super::{
    engine::{Call, Engine, PER_BYTE, PreludeCode, Sandbox, program},
    link::Link,
    memory::{Compiled, Meter, Metered},
};
use crate::frame::{End, Entry};

/// While the prelude loads.
const LOADING: usize = 256 << 20;

pub(super) struct Fresh {
    link: Rc<Link>,
    prelude: Rc<PreludeCode>,
    /// Made ahead of the call, thrown away after it.
    engine: Option<Engine>,
    meter: Meter,
}

impl Fresh {
    pub(super) fn new(link: &Rc<Link>, prelude: &Rc<PreludeCode>) -> io::Result<Self> {
        let (link, prelude) = (Rc::clone(link), Rc::clone(prelude));
        let mut fresh = Self { link, prelude, engine: None, meter: Meter::new() };
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
        self.meter.limit(call.frame.heap.saturating_add(PER_BYTE * call.script.code.len()));
        engine.run(call, |ctx| {
            let entry = match &call.frame.entry {
                Entry::Program => program(ctx, call.script)?,
                Entry::Function(name) => {
                    Compiled::new(ctx, &call.script.code, &call.script.file)?.run()?;
                    // The loader has parsed the script and found this name among its own bindings.
                    ctx.eval(name.as_str())?
                }
            };
            self.meter.limit(call.frame.heap);
            Ok(entry)
        })
    }

    fn renew(&mut self) -> io::Result<()> {
        // The old one goes first: what it held is counted no more.
        self.engine = None;
        self.meter = Meter::new();
        self.meter.limit(LOADING);
        self.engine = Some(Engine::new(&self.link, &self.prelude, Metered::new(self.meter.clone()))?);
        Ok(())
    }
}
