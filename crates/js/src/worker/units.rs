//! What a package's load compiles, kept for the next process: compiling lodash and what stands around it takes
//! longer than all the rest of a first call.
//!
//! A unit is a text (a file, a built-in, the runner) and its bytecode. The engine trusts bytecode, so whoever
//! could forge one would own the worker that loads it. Three rules keep that from being worth anything. Units
//! are used for the package that made them and no other, which can do in its worker what it likes anyway. They are
//! taken from a worker that has served nobody else before. And they are found by a digest of the text, so a file
//! that changes is compiled anew.

use std::{cell::RefCell, collections::HashMap, io::Read};

use rquickjs::{Ctx, Module, Result, Value, WriteOptions, module::Declared};
use sha2::{Digest as _, Sha256};

use super::memory::{Compiled, Mode, load_kept};

/// A package with more is compiled each time.
const MOST: usize = 12 << 20;

type Digest = [u8; 32];

/// Name, digest of the text, code.
type Made = (String, Digest, Vec<u8>);

/// The units of one package in one worker.
#[derive(Default)]
pub(super) struct Units {
    known: HashMap<String, Unit>,
    /// What was compiled here; `None` where nobody asks for it, or no more.
    made: RefCell<Option<Vec<Made>>>,
}

struct Unit {
    digest: Digest,
    /// Never freed: images of the engine lead to it.
    code: &'static [u8],
}

/// Whether what is compiled is wanted by those who come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Units,
    Nothing,
}

impl Units {
    /// Of what [`written`](Self::written) gave in a worker of this build; anything else is as good as nothing.
    pub(super) fn read(build: u64, bytes: Vec<u8>, keep: Keep) -> Self {
        let known = match bytes.is_empty() {
            true => HashMap::new(),
            false => parse(build, bytes.leak()).unwrap_or_default(),
        };
        Self { known, made: RefCell::new((keep == Keep::Units).then(Vec::new)) }
    }

    /// Runs a plain script, whose text comes in parts, from its bytecode if it is known.
    pub(super) fn run<'js>(
        &self,
        ctx: &Ctx<'js>,
        parts: &[&str],
        file: &str,
        mode: Mode,
    ) -> Result<Value<'js>> {
        let digest = digest(&[mode as u8], parts.iter().map(|part| part.as_bytes()));
        if let Some(unit) = self.find(file, &digest) {
            return Compiled::of_bytes(ctx, unit)?.run();
        }
        let compiled = Compiled::text(ctx, parts.concat().into_bytes(), file, mode)?;
        self.keep(file, digest, || compiled.bytes());
        compiled.run()
    }

    /// Makes an ES module, likewise.
    pub(super) fn module<'js>(
        &self,
        ctx: &Ctx<'js>,
        code: Vec<u8>,
        file: &str,
    ) -> Result<Module<'js, Declared>> {
        let digest = digest(b"module", [&*code]);
        if let Some(unit) = self.find(file, &digest) {
            return load_kept(ctx, unit);
        }
        let module = Module::declare(ctx.clone(), file, code)?;
        self.keep(file, digest, || module.write(WriteOptions::default()));
        Ok(module)
    }

    /// All units, those that were known too; `None` if there is nothing new, or too much. Asked once.
    pub(super) fn written(&self, build: u64) -> Option<Vec<u8>> {
        let made = self.made.take()?;
        if made.is_empty() {
            return None;
        }
        let mut bytes = build.to_le_bytes().to_vec();
        let known = self.known.iter().filter(|(name, _)| made.iter().all(|(other, ..)| other != *name));
        let known = known.map(|(name, unit)| (name, &unit.digest, unit.code));
        let made = made.iter().map(|(name, digest, code)| (name, digest, &**code));
        for (name, digest, code) in known.chain(made) {
            bytes.extend(u32::try_from(name.len()).ok()?.to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend(digest);
            bytes.extend(u32::try_from(code.len()).ok()?.to_le_bytes());
            bytes.extend(code);
        }
        (bytes.len() <= MOST).then_some(bytes)
    }

    fn find(&self, name: &str, digest: &Digest) -> Option<&'static [u8]> {
        self.known.get(name).filter(|unit| unit.digest == *digest).map(|unit| unit.code)
    }

    fn keep(&self, name: &str, digest: Digest, code: impl FnOnce() -> Result<Vec<u8>>) {
        // What cannot be written is compiled again.
        if let Some(made) = &mut *self.made.borrow_mut()
            && let Ok(code) = code()
        {
            made.push((name.to_owned(), digest, code));
        }
    }
}

fn digest<'a>(kind: &[u8], text: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let begun = Sha256::new().chain_update(kind).chain_update([0]);
    text.into_iter().fold(begun, |digest, part| digest.chain_update(part)).finalize().into()
}

/// `build | (length | name | digest | length | code)*`, little-endian.
fn parse(build: u64, mut bytes: &'static [u8]) -> Option<HashMap<String, Unit>> {
    let mut eight = [0; 8];
    bytes.read_exact(&mut eight).ok()?;
    if u64::from_le_bytes(eight) != build {
        return None;
    }
    let mut units = HashMap::new();
    while !bytes.is_empty() {
        let name = String::from_utf8(counted(&mut bytes)?.to_vec()).ok()?;
        let mut digest = Digest::default();
        bytes.read_exact(&mut digest).ok()?;
        units.insert(name, Unit { digest, code: counted(&mut bytes)? });
    }
    Some(units)
}

fn counted(bytes: &mut &'static [u8]) -> Option<&'static [u8]> {
    let mut length = [0; 4];
    bytes.read_exact(&mut length).ok()?;
    let (part, rest) = bytes.split_at_checked(u32::from_le_bytes(length) as usize)?;
    *bytes = rest;
    Some(part)
}
