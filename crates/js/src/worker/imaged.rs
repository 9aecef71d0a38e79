//! One engine for all calls, in an arena: after each call the bytes that it was made of are copied back.
//!
//! A script's image is taken when its top level has run, so calls begin right at its function. That
//! holds only for a top level that would do the same again: one that asked for the time, for
//! chance or for anything of Pinza but a library runs anew for each call, from its bytecode. (A
//! library may ask for the time: see [`Link::clock`].)

use std::{collections::HashMap, io, mem::ManuallyDrop, rc::Rc};

use rquickjs::{Ctx, Persistent, Value};

use super::{
    engine::{Call, Engine, PER_BYTE, PreludeCode, Sandbox, program},
    link::Link,
    memory::{Arena, Compiled, Image, collect_after, collect_garbage},
};
use crate::frame::{End, Entry};

/// Images of scripts that a worker keeps, in bytes; the one that was not used for longest goes first.
const IMAGES: usize = 32 << 20;

/// Calls after which pages that only one of them wrote to are protected again.
const PROTECT: u64 = 1024;

pub(super) struct Imaged {
    /// Never dropped: its arena outlives everything.
    engine: ManuallyDrop<Engine>,
    arena: Arena,
    base: Image,
    scripts: HashMap<u64, Kept>,
    /// Whose image the arena holds, untouched (`Some(None)` is the base); `None` once a call has begun.
    at: Option<Option<u64>>,
    /// The script whose last state is kept for its next call.
    live: Option<u64>,
    /// The memory that was in use when the state began; a heap is counted from there.
    floor: usize,
    calls: u64,
    /// Whether an image is new, or calls have been many, so that pages are to be protected anew.
    protect: bool,
}

/// A script in this worker.
struct Kept {
    /// Without one, the script's next call makes it.
    image: Option<Image>,
    state: State,
    /// The number of the last call that used it.
    used: u64,
}

/// A value in an image, valid only while that image is in the arena, and owned by the engine
/// there: it is never dropped.
type Inside = ManuallyDrop<Persistent<Value<'static>>>;

/// How far the image has come.
enum State {
    /// The top level has run. Functions are added at their first call.
    Ready(HashMap<String, Inside>),
    /// Only compiled, because the top level is different each time.
    Compiled(Option<Inside>),
}

impl Imaged {
    pub(super) fn new(link: &Rc<Link>, prelude: &PreludeCode) -> io::Result<Self> {
        let arena = Arena::reserve()?;
        let engine = ManuallyDrop::new(Engine::new(link, prelude, arena.allocator())?);
        engine.read_time_zone();
        engine.warm()?;
        engine.runtime.run_gc();
        let base = arena.image(None);
        // Where it is not watched, whole images are copied.
        let _ = arena.watch();
        Ok(Self {
            engine,
            arena,
            base,
            scripts: HashMap::new(),
            at: None,
            live: None,
            floor: 0,
            calls: 0,
            protect: true,
        })
    }

    /// Brings the image of a script into the arena, or the base where it has none.
    fn go_to(&mut self, script: Option<u64>) {
        let kept = script.and_then(|number| self.scripts.get_mut(&number).map(|kept| (number, kept)));
        let found = kept.and_then(|(number, kept)| {
            kept.used = self.calls;
            kept.image.as_ref().map(|image| (number, image))
        });
        let wanted = found.map(|(number, _)| number);
        if self.at == Some(wanted) {
            return;
        }
        #[expect(unsafe_code, reason = "copying an image back is")]
        // SAFETY: all values of a call are gone when `Engine::run` returns, and those that are
        // kept are of the time before their image, and used only with it.
        unsafe {
            self.arena.restore(&self.base, found.map(|(_, image)| image));
        }
        self.at = Some(wanted);
    }

    /// Images that were not used for long make room.
    fn make_room(&mut self) {
        let size = |kept: &Kept| kept.image.as_ref().map_or(0, Image::size);
        while self.scripts.len() > 1 && self.scripts.values().map(size).sum::<usize>() > IMAGES {
            let oldest = self.scripts.iter().min_by_key(|(_, kept)| kept.used).map(|(number, _)| *number);
            oldest.map(|number| self.scripts.remove(&number));
        }
    }
}

impl Sandbox for Imaged {
    fn call(&mut self, call: &Call<'_>) -> (End, String) {
        self.calls += 1;
        let name = match &call.frame.entry {
            Entry::Program => None,
            Entry::Function(name) => Some(name),
        };
        let goes_on = call.frame.keep && self.live.take() == Some(call.frame.script);
        if !goes_on {
            self.go_to(name.map(|_| call.frame.script));
            self.floor = self.arena.used();
        }
        self.at = None;
        let loading = PER_BYTE * call.script.code.len();
        self.arena.limit(self.floor, call.frame.heap.saturating_add(loading));
        let (arena, scripts, floor) = (&self.arena, &mut self.scripts, &mut self.floor);
        let (engine, link) = (&self.engine, &self.engine.link);
        let mut loader =
            Loader { arena, base: &self.base, engine, link, call, used: self.calls, made: false };
        let ended = self.engine.run(call, |ctx| {
            let entry = match name {
                None => program(ctx, call.script)?,
                Some(name) => loader.function(ctx, scripts, name)?,
            };
            if !goes_on {
                *floor = arena.used();
            }
            arena.limit(*floor, call.frame.heap);
            collect_after(ctx, arena.used(), call.frame.heap / 2);
            Ok(entry)
        });
        self.live = call.frame.keep.then_some(call.frame.script);
        self.protect = loader.made || self.calls.is_multiple_of(PROTECT);
        if loader.made {
            self.make_room();
        }
        ended
    }

    fn renew(&mut self) -> io::Result<()> {
        // The script that was just called is the likeliest next one.
        let last = self.scripts.iter().max_by_key(|(_, kept)| kept.used).map(|(number, _)| *number);
        self.go_to(last);
        if self.protect {
            self.arena.protect();
            self.protect = false;
        }
        Ok(())
    }
}

/// Finds a script's function: in its image, or by loading it and taking one.
struct Loader<'a> {
    arena: &'a Arena,
    base: &'a Image,
    engine: &'a Engine,
    link: &'a Link,
    call: &'a Call<'a>,
    used: u64,
    /// Whether it made an image.
    made: bool,
}

impl Loader<'_> {
    fn function<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        scripts: &mut HashMap<u64, Kept>,
        name: &str,
    ) -> rquickjs::Result<Value<'js>> {
        let Some(kept) = scripts.get_mut(&self.call.frame.script) else {
            let (function, kept) = self.load(ctx, name)?;
            scripts.insert(self.call.frame.script, kept);
            return Ok(function);
        };
        match &mut kept.state {
            State::Ready(functions) => {
                if let Some(function) = functions.get(name) {
                    return (**function).clone().restore(ctx);
                }
                let function = find(ctx, name)?;
                functions.insert(name.to_owned(), inside(ctx, &function));
                kept.image = Some(self.image());
                Ok(function)
            }
            State::Compiled(code) => {
                let compiled = match code {
                    Some(code) => Compiled::of_value((**code).clone().restore(ctx)?),
                    None => {
                        let compiled = self.compile(ctx)?.into_value();
                        *code = Some(inside(ctx, &compiled));
                        kept.image = Some(self.image());
                        Compiled::of_value(compiled)
                    }
                };
                compiled.run()?;
                find(ctx, name)
            }
        }
    }

    /// Loads a script for the first time in this worker.
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<(Value<'js>, Kept)> {
        self.link.watch();
        let loaded = self.engine.load(ctx, self.call.script, name);
        // A package is loaded once, as in Node, whatever it asks for meanwhile.
        let repeatable = !self.link.watched() || self.call.script.package.is_some();
        let function = loaded?;
        if !repeatable {
            // This call goes on with what it has; the next one keeps the bytecode.
            return Ok((function, Kept { image: None, state: State::Compiled(None), used: self.used }));
        }
        collect_garbage(ctx);
        let functions = HashMap::from([(name.to_owned(), inside(ctx, &function))]);
        let image = Some(self.image());
        Ok((function, Kept { image, state: State::Ready(functions), used: self.used }))
    }

    fn image(&mut self) -> Image {
        self.made = true;
        self.arena.image(Some(self.base))
    }

    fn compile<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Compiled<'js>> {
        Compiled::new(ctx, &self.call.script.code, &self.call.script.file)
    }
}

/// The loader of manifests has parsed the script and found this name among its own bindings.
fn find<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    ctx.eval(name)
}

fn inside<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Inside {
    ManuallyDrop::new(Persistent::save(ctx, value.clone()))
}
