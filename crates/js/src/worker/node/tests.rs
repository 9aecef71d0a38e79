//! Every file of `fixtures/node/cases` on the real engine, with the real prelude: Node's built-ins answer as
//! Node does. Its README says how the files are made.

use std::{
    collections::BTreeSet,
    io::Write as _,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, atomic::AtomicBool, mpsc},
    thread,
    time::{Duration, Instant},
};

use pinza_core::{FileType, FsError, FsVerb, Removal, WriteMode};
use pinza_host::files::{Jail, Workspace, WorkspaceOptions};
use rquickjs::{CatchResultExt as _, Ctx, Function, Object, Value, allocator::RustAllocator};
use serde_json::json;

use super::{node, read_time_zone};
use crate::{
    frame::{self, CallFrame, End, Entry, FromWorker, ToWorker},
    node::{NAMES, source},
    worker::{
        engine::{Call, Engine, PreludeCode, Script},
        link::Link,
    },
};

/// A `require` as a library gets it: `internal/…` only for what is inside.
const LOADER: &str = r#"(function (compile, internal) {
    const loaded = new Map();
    return function require(name) {
        name = name.replace(/^node:/, "");
        if (!loaded.has(name)) {
            const module = { exports: {} };
            const body = compile(name);
            if (body === undefined) throw new Error(`there is no built-in '${name}'`);
            loaded.set(name, module);
            body(module, module.exports, require, internal);
        }
        return loaded.get(name).exports;
    };
})"#;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/node")
}

/// An engine whose `require` reaches the built-ins, and somebody at the other end of its socket.
fn engine() -> Engine {
    read_time_zone();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let link = Rc::new(Link::new(ours, Arc::new(AtomicBool::new(false))).unwrap());
    thread::spawn(move || serve(theirs));
    let prelude = PreludeCode::compile().unwrap();
    let engine = Engine::new(&link, &prelude, RustAllocator).unwrap();
    link.begin(Rc::default());
    engine.context.with(|ctx| {
        install(&ctx, &link).catch(&ctx).map_err(|error| error.to_string()).unwrap();
    });
    engine
}

fn install<'js>(ctx: &Ctx<'js>, link: &Rc<Link>) -> rquickjs::Result<()> {
    let compile = |ctx: Ctx<'js>, name: String| -> rquickjs::Result<Option<Value<'js>>> {
        let Some(source) = source(&name) else { return Ok(None) };
        let mut options = rquickjs::context::EvalOptions::default();
        options.strict = false;
        options.filename = Some(format!("node:{name}"));
        let code = format!("(function (module, exports, require, internal) {{{source}\n}})");
        ctx.eval_with_options(code, options).map(Some)
    };
    let internal: Object<'js> = node(ctx, link)?;
    let loader: Function<'js> = ctx.eval(LOADER)?;
    let require: Value<'js> = loader.call((Function::new(ctx.clone(), compile)?, internal))?;
    ctx.globals().set("builtins", require)
}

/// The host: timers, a workspace, and a server that tells what it was sent.
fn serve(socket: UnixStream) {
    let root = tempfile::tempdir().unwrap();
    let files = Workspace::open(root.path(), WorkspaceOptions::default()).unwrap();
    let sink = Arc::new(Mutex::new(socket.try_clone().unwrap()));
    let timers = timers(Arc::clone(&sink));
    while let Ok((message, bytes)) = frame::read::<FromWorker>(&socket) {
        let FromWorker::Request { id, op, json, .. } = message else { continue };
        let asked: serde_json::Value = serde_json::from_str(&json).unwrap();
        if op == "timer" {
            let wait = Duration::from_secs_f64(asked["ms"].as_f64().unwrap() / 1000.0);
            let _ = timers.send((Instant::now() + wait, id));
        } else {
            reply(&sink, id, answer(&op, &asked, &bytes, files.jail()));
        }
    }
}

/// Ends timers in the order in which they are due, however late that is: on a busy machine, threads that sleep
/// wake up in any order.
fn timers(sink: Arc<Mutex<UnixStream>>) -> mpsc::Sender<(Instant, u32)> {
    let (sender, started) = mpsc::channel();
    thread::spawn(move || {
        let mut due = BTreeSet::new();
        loop {
            let wait =
                due.first().map(|(at, _): &(Instant, u32)| at.saturating_duration_since(Instant::now()));
            match started.recv_timeout(wait.unwrap_or(Duration::from_secs(3600))) {
                Ok(timer) => drop(due.insert(timer)),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Some((_, id)) = due.pop_first() {
                        reply(&sink, id, (true, json!(null), None));
                    }
                }
            }
        }
    });
    sender
}

fn reply(sink: &Mutex<UnixStream>, id: u32, (ok, json, bytes): Answer) {
    let json = (!json.is_null()).then(|| json.to_string());
    let reply = ToWorker::Reply { id, ok, json, has_bytes: bytes.is_some() };
    // The engine may be gone.
    let _ = sink.lock().unwrap().write_all(&frame::encode(&reply, &bytes.unwrap_or_default()));
}

type Answer = (bool, serde_json::Value, Option<Vec<u8>>);

fn answer(op: &str, asked: &serde_json::Value, body: &[u8], files: &Jail) -> Answer {
    let text = |key: &str| asked[key].as_str().unwrap_or_default().to_owned();
    match op {
        op if op.starts_with("fs.") => {
            let path = text("path");
            file(op, &path, &text("to"), body, files).unwrap_or_else(|error| {
                let error = error.answer(FsVerb::Read, &path);
                (false, json!({ "code": error.kind, "message": error.message }), None)
            })
        }
        "fetch" if text("url").contains("refused") => (
            false,
            json!({ "code": "network_error", "name": "TypeError", "message": "Connection refused" }),
            None,
        ),
        "fetch" => {
            let status =
                text("url").rsplit_once("/status/").and_then(|(_, status)| status.parse::<u16>().ok());
            let told = json!({
                "method": asked["method"],
                "url": asked["url"],
                "headers": asked["headers"],
                "redirect": asked["redirect"],
                "body": String::from_utf8_lossy(body),
            });
            let head = json!({
                "status": status.unwrap_or(200),
                "statusText": "",
                "headers": [["Content-Type", "application/json"], ["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"], ["X-Two", "1"], ["X-Two", "2"]],
                "url": asked["url"],
                "redirected": false,
                "truncated": false,
            });
            (true, head, Some(told.to_string().into_bytes()))
        }
        op => (
            false,
            json!({ "code": "validation_error", "message": format!("There is no bridge '{op}'") }),
            None,
        ),
    }
}

/// What the bridge does with files, without its policy.
fn file(op: &str, path: &str, to: &str, body: &[u8], files: &Jail) -> Result<Answer, FsError> {
    let kind = |kind: FileType| format!("{kind:?}").to_lowercase();
    let done = |(): ()| json!(null);
    let answer = match op {
        "fs.bytes" => match files.read(path, 1 << 20) {
            Ok(bytes) => return Ok((true, json!(null), Some(bytes))),
            Err(error) => Err(error),
        },
        "fs.stat" => files.stat(path).map(|found| {
            found.map_or(
                json!(null),
                |found| json!({ "type": kind(found.file_type), "size": found.size, "modified": 1.5e12 }),
            )
        }),
        "fs.list" => files.list(path).map(|found| {
            found.iter().map(|one| json!({ "name": one.name, "type": kind(one.file_type) })).collect()
        }),
        "fs.put" => files.write(path, body, WriteMode::Replace).map(done),
        "fs.add" => files.write(path, body, WriteMode::Append).map(done),
        "fs.mkdir" => files.mkdirp(path).map(done),
        "fs.unlink" => files.remove(path, Removal::File).map(done),
        "fs.rmdir" => files.remove(path, Removal::Directory).map(done),
        "fs.rename" => files.rename(path, to).map(done),
        op => panic!("there is no {op}"),
    };
    let errno = match answer {
        Ok(json) => return Ok((true, json, None)),
        Err(FsError::NotFound) => "ENOENT",
        Err(FsError::IsDirectory) => "EISDIR",
        Err(FsError::NotADirectory) => "ENOTDIR",
        Err(FsError::NotEmpty) => "ENOTEMPTY",
        Err(error) => return Err(error),
    };
    Ok((true, json!({ "errno": errno }), None))
}

/// Runs a program to its end.
fn run(engine: &Engine, code: &str, params: &serde_json::Value) -> (End, String) {
    let script = Script { file: "test.js".into(), code: code.into(), package: None, units: Rc::default() };
    let frame = CallFrame {
        script: 0,
        entry: Entry::Program,
        heap: usize::MAX,
        stack: 4 << 20,
        alert: false,
        keep: false,
    };
    let params = params.to_string();
    engine.run(&Call { script: &script, frame: &frame, params: params.as_bytes() }, |ctx| ctx.eval(code))
}

#[test]
fn the_built_ins_answer_as_node_does() {
    let show = std::fs::read_to_string(fixtures().join("show.js")).unwrap();
    let code = format!(
        "((evaluate) => async ({{ text }}) => {{
            const cases = await evaluate(text, builtins);
            return cases.filter((one) => one.actual !== one.expected);
        }})(({show})())"
    );
    let only = std::env::var("CASES").ok();
    let mut failed = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(fixtures().join("cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| only.as_ref().is_none_or(|only| path.file_stem().unwrap() == only.as_str()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (end, answer) = run(&engine(), &code, &json!({ "text": text }));
        if end != End::Ok {
            failed.push(format!("{name}: {end:?} {answer}"));
            continue;
        }
        let different: Vec<serde_json::Value> = serde_json::from_str(&answer).unwrap();
        failed.extend(different.iter().map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or("nothing").to_owned();
            let line = one["line"].as_u64().unwrap_or_default() + 1;
            format!(
                "{name}:{line}: {}\n  expected {}\n  actual   {}",
                text("expression"),
                text("expected"),
                text("actual")
            )
        }));
    }
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_built_in_loads_and_touches_nothing_that_differs_between_calls() {
    let globals = "(builtins('intl'), builtins('globals').install(), global.process, Buffer)".to_owned();
    let all = NAMES.iter().map(|name| format!("builtins({name:?})"));
    for name in all.chain([globals]) {
        let engine = engine();
        engine.link.watch();
        let code = format!("async () => typeof {name}");
        let (end, answer) = run(&engine, &code, &json!({}));
        assert_eq!(end, End::Ok, "{name}: {answer}");
        assert!(answer == "object" || answer == "function", "{name}: {answer}");
        // An image of a loaded library is used for many calls.
        assert!(
            !engine.link.watched(),
            "{name} asked for the clock, for chance or for the host while it loaded"
        );
    }
}
