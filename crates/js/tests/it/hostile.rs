//! Scripts, workers and neighbours that mean harm: every call gets its one answer in time, the
//! next call is right, and nothing is left behind.

use std::{
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, future::join_all, stream};
use pinza_core::{ErrorKind, ToolError};
use pinza_js::{JsTool, Limits, Pool, WORK};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{World, worker_program};

const FINE: &str = "function execute() { return 'fine' }";

/// A file of `fixtures/hostile/js`: a script, and in its head what is expected of it.
struct Case {
    name: String,
    source: String,
    /// Codes, or `ok RESULT`; any of them is right.
    expected: Vec<String>,
    arguments: Value,
    timeout: Duration,
}

impl Case {
    fn read(path: &Path) -> Self {
        let source = std::fs::read_to_string(path).unwrap();
        let head = |key: &str| {
            let start = format!("// {key}: ");
            let lines = source.split('\n').take_while(|line| line.starts_with("// "));
            lines.filter_map(|line| line.strip_prefix(&start)).next().map(String::from)
        };
        let expected: Vec<String> = head("expect").unwrap().split('|').map(String::from).collect();
        // A script that ends by itself has all the time that a busy machine needs.
        let default = if expected.iter().any(|code| code == "timeout") { 300 } else { 20_000 };
        let timeout = head("timeout").map_or(default, |text| text.parse().unwrap());
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            expected,
            arguments: head("arguments").map_or(json!({}), |text| serde_json::from_str(&text).unwrap()),
            timeout: Duration::from_millis(timeout),
            source,
        }
    }

    fn all() -> Vec<Self> {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hostile/js");
        let mut paths: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn admits(&self, result: &Result<String, ToolError>) -> bool {
        self.expected.iter().any(|expected| match result {
            Ok(text) => expected == "ok" || expected.strip_prefix("ok ").is_some_and(|wanted| wanted == text),
            Err(error) => expected == error.kind.code(),
        })
    }

    /// Runs it and then an innocent script, most likely in the same worker.
    async fn check(&self, world: &World) -> (Option<String>, Duration) {
        let begun = Instant::now();
        let outcome =
            world.run_tool(timed(world.tool(&self.source), self.timeout), self.arguments.clone()).await;
        let took = begun.elapsed();
        let result = outcome.result.map(|output| output.as_text());
        let next = world.text(FINE, json!({})).await;
        let shown = match &result {
            Ok(text) => format!("ok {}", text.chars().take(80).collect::<String>()),
            Err(error) => error.to_string().chars().take(200).collect(),
        };
        let name = &self.name;
        let wrong = if !self.admits(&result) {
            Some(format!("{name}: {shown}, not {:?}", self.expected))
        } else if took > self.timeout + Duration::from_secs(5) {
            Some(format!("{name}: took {took:?}: {shown}"))
        } else if next != "fine" {
            Some(format!("{name}: the next call answered {next}"))
        } else {
            None
        };
        (wrong, took)
    }
}

/// A world whose workers can be told from those of other tests.
fn world(name: &str) -> (World, PathBuf) {
    let mut world = World::new();
    let program = world.workspace.path().join(name);
    std::os::unix::fs::symlink(worker_program(), &program).unwrap();
    employ(&mut world, &program);
    (world, program)
}

fn employ(world: &mut World, program: &Path) {
    Arc::get_mut(&mut world.host).unwrap().pool = Arc::new(Pool::new(program));
}

fn timed(tool: JsTool, timeout: Duration) -> JsTool {
    JsTool { definition: tool.definition.clone().timeout(timeout), ..tool }
}

/// The processes that run `program` now.
fn workers(program: &Path) -> Vec<Pid> {
    let name = program.to_str().unwrap();
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ours = processes.filter_map(|id| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        line.starts_with(name.as_bytes()).then(|| Pid::from_raw(id.parse().ok()?)).flatten()
    });
    ours.collect()
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..500 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within five seconds: {what}");
}

/// In kilobytes.
fn resident(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn every_hostile_script_meets_its_fate() {
    let cases = Case::all();
    assert!(cases.len() >= 90, "{} cases", cases.len());
    let lanes: Vec<_> = (0..4).map(|lane| world(&format!("lane{lane}"))).collect();
    for (world, _) in &lanes {
        assert_eq!(world.text(FINE, json!({})).await, "fine");
    }
    let before = resident("self");

    let chunks = lanes.iter().enumerate().map(|(lane, (world, _))| {
        let share: Vec<&Case> = cases.iter().skip(lane).step_by(lanes.len()).collect();
        async move {
            let checks = stream::iter(share).then(|case| async move { (case, case.check(world).await) });
            checks.collect::<Vec<_>>().await
        }
    });
    let mut checked: Vec<_> = join_all(chunks).await.into_iter().flatten().collect();
    checked.sort_by_key(|(case, (_, took))| std::cmp::Reverse(took.saturating_sub(case.timeout)));
    for (case, (_, took)) in checked.iter().take(5) {
        println!("{}: {took:?} of {:?}", case.name, case.timeout);
    }
    let wrong: Vec<_> = checked.iter().filter_map(|(_, (wrong, _))| wrong.as_deref()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));

    let programs: Vec<_> = lanes.into_iter().map(|(_, program)| program).collect();
    until("no worker is left", || programs.iter().all(|program| workers(program).is_empty())).await;
    let grown = resident("self").saturating_sub(before);
    println!("{} cases, {grown} kB more than before", cases.len());
    // Generous, because the tests beside this one are in the same process: the scripts asked for
    // gigabytes in all, and a leak of their answers would show all the same.
    assert!(grown < 500 << 10, "{grown} kB");
}

#[tokio::test]
async fn good_and_bad_calls_do_not_notice_each_other() {
    let world = World::new();
    let kinds = [
        ("function execute() { while (true); }", 400, "timeout: Tool execution timed out after 0.4s"),
        (
            "function execute() { const a = []; for (;;) a.push('x'.repeat(1000) + a.length) }",
            60_000,
            "memory_limit: The script used more memory than it may",
        ),
        (
            "function execute() { throw new Error('no') }",
            60_000,
            "execution_error: Tool execution failed: no",
        ),
    ];
    let calls = (0..200_u64).map(|number| {
        let world = &world;
        async move {
            let good = ("function execute(p) { return p.n * 2 }", 60_000, &*format!("{}", number * 2));
            let (source, timeout, expected) = *kinds.get(number as usize % 10).unwrap_or(&good);
            let tool = timed(world.tool(source), Duration::from_millis(timeout));
            let answer = match world.run_tool(tool, json!({ "n": number })).await.result {
                Ok(output) => output.as_text(),
                Err(error) => error.to_string(),
            };
            assert_eq!(answer, expected, "call {number}");
        }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn a_worker_killed_in_the_middle_of_a_call_is_one_answer() {
    let (world, program) = world("killed");
    let begun = Instant::now();
    let call = world.run("function execute() { while (true); }", json!({}));
    let kill = async {
        until("a worker runs", || !workers(&program).is_empty()).await;
        // Long enough for the call to begin, most of the time: both moments are good ones.
        tokio::time::sleep(Duration::from_millis(300)).await;
        for worker in workers(&program) {
            kill_process(worker, Signal::KILL).unwrap();
        }
    };
    let (outcome, ()) = tokio::join!(call, kill);
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExecutionError, "{error}");
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert_eq!(world.text(FINE, json!({})).await, "fine");
}

#[tokio::test]
async fn a_worker_killed_while_it_waits_is_not_given_out() {
    let (world, program) = world("waiting");
    for _ in 0..3 {
        assert_eq!(world.text(FINE, json!({})).await, "fine");
        // It has said that it is ready, and nobody has read it yet.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let killed = workers(&program);
        for worker in &killed {
            kill_process(*worker, Signal::KILL).unwrap();
        }
        until("the worker is dead", || killed.iter().all(|worker| is_dead(*worker))).await;
    }
}

/// Ended and not only ending: a process loses its command line before its descriptors are closed.
fn is_dead(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')))
}

/// An HTTP server with one answer; its address.
async fn server(body: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

#[tokio::test]
async fn an_answer_under_way_when_the_script_ends_spoils_only_its_worker() {
    let world = World::new();
    let url = server("x".repeat(4 << 20)).await;
    // The answer comes while the script is busy: it fills the socket, and is not read.
    let source = "function execute({ url }) {
        fetch(url).catch(() => {});
        const end = Date.now() + 1000;
        while (Date.now() < end);
        return 'done';
    }";
    for _ in 0..2 {
        assert_eq!(world.text(source, json!({ "url": url })).await, "done");
        assert_eq!(world.text(FINE, json!({})).await, "fine");
    }
}

#[tokio::test]
async fn a_worker_does_not_keep_scripts_for_ever() {
    let (world, program) = world("keeping");
    let padding = "/".repeat(2 << 20);
    let mut most = 0;
    for number in 0..40 {
        let answer =
            world.text(&format!("function execute() {{ return {number} }} //{padding}"), json!({})).await;
        assert_eq!(answer, number.to_string());
        let sizes =
            workers(&program).into_iter().map(|worker| resident(&worker.as_raw_nonzero().to_string()));
        most = most.max(sizes.max().unwrap_or_default());
    }
    assert!(most < 70 << 10, "{most} kB");
}

#[tokio::test]
async fn loading_is_bounded_too() {
    let (world, program) = world("loading");
    let source = "const keep = []; for (let i = 0; i < 100; i++) keep.push(new Uint8Array(1 << 20).fill(1));
        function execute() { return keep.length }";
    let error = world.run(source, json!({})).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MemoryLimit, "{error}");
    until("the worker is gone", || workers(&program).is_empty()).await;
}

#[tokio::test]
async fn results_and_requests_beyond_the_limit_are_refused_by_the_worker() {
    let world = World { limits: Limits { heap: 128 << 20, ..Limits::default() }, ..World::new() };
    let source = "function execute() { return 'x'.repeat(20e6) }";
    let error = world.run(source, json!({})).await.result.unwrap_err();
    assert_eq!(error.to_string(), "output_limit: The result has 20000000 bytes, more than 16 MiB");
    let source = "function execute() { return fs.writeFile('x', '\"'.repeat(5e6)) }";
    let error = world.run(source, json!({})).await.result.unwrap_err();
    assert_eq!(error.to_string(), "execution_error: Tool execution failed: the request is too large");
}

#[tokio::test]
async fn a_stack_larger_than_the_process_has_is_cut_down() {
    let world = World { limits: Limits { stack: 1 << 30, ..Limits::default() }, ..World::new() };
    let source = "function execute() { try { return execute() } catch (error) { return error.name } }";
    assert_eq!(world.text(source, json!({})).await, "RangeError");
}

#[tokio::test]
async fn what_a_script_says_of_its_error_is_bounded_and_readable() {
    let world = World::new();
    let cases = [
        ("throw new Error('\\0'.repeat(4e6))", "execution_error: Tool execution failed: \0\0"),
        ("throw '\\0'.repeat(4e6)", "execution_error: Tool execution failed: \0\0"),
        ("throw { text: '\\0'.repeat(5e5) }", r#"execution_error: Tool execution failed: {"text":"\u0000"#),
        ("throw new Error('a\\ud800b')", "execution_error: Tool execution failed: a\u{fffd}b"),
        (
            "throw Object.assign(new Error('m'), { name: 'x'.repeat(1e6) })",
            "execution_error: Tool execution failed: xx",
        ),
    ];
    for (source, expected) in cases {
        let answer = world.text(&format!("function execute() {{ {source} }}"), json!({})).await;
        let head: String = answer.chars().take(80).collect();
        assert!(answer.starts_with(expected), "{source}: {head:?}");
        assert!(answer.len() < 20 << 10, "{source}: {} bytes", answer.len());
    }
}

/// A program in a worker's place: says `frames` and then nothing.
fn impostor(world: &mut World, name: &str, frames: &[u8]) {
    let directory = world.workspace.path();
    std::fs::write(directory.join(name).with_extension("frames"), frames).unwrap();
    let program = directory.join(name);
    let mut file = std::fs::File::create(&program).unwrap();
    writeln!(file, "#!/bin/sh\n/bin/cat '{}.frames' >&0\nexec /bin/sleep 60", program.display()).unwrap();
    file.set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
    drop(file);
    employ(world, &program);
}

fn frame(json: &str, bytes: &[u8]) -> Vec<u8> {
    let length = |length: usize| u32::try_from(length).unwrap().to_le_bytes();
    [&length(4 + json.len() + bytes.len()), &length(json.len()), json.as_bytes(), bytes].concat()
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_an_answer() {
    let mut world = World { timeout: Duration::from_secs(60), ..World::new() };
    for program in ["/bin/true", "/bin/cat", "/nonexistent", "/etc/passwd", "/"] {
        employ(&mut world, Path::new(program));
        let error = world.run(FINE, json!({})).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ExecutionError, "{program}: {error}");
    }
    let ready = frame(r#"{"type":"ready","sandbox":[]}"#, &[]);
    let cases: [(&str, &[u8]); 10] = [
        ("impossible", &[0xff; 16]),
        ("zeros", &[0; 16]),
        ("json_beyond_body", &[5, 0, 0, 0, 9, 0, 0, 0, b'{']),
        ("garbage", &frame("{nonsense", b"")),
        ("empty", &frame("", b"")),
        ("unknown", &frame(r#"{"type":"root"}"#, b"")),
        ("wrong_field", &frame(r#"{"type":"ready","sandbox":5}"#, b"")),
        ("deep", &frame(&"[".repeat(100_000), b"")),
        ("not_utf8", &[12, 0, 0, 0, 8, 0, 0, 0, b'"', 0xff, 0xfe, b'"', b' ', b' ', b' ', b' ']),
        ("result_first", &frame(r#"{"type":"result","end":"ok"}"#, b"forged")),
    ];
    for (name, frames) in cases {
        for (when, frames) in [("first", frames.to_vec()), ("later", [&ready, frames].concat())] {
            if (name, when) == ("result_first", "later") {
                continue;
            }
            impostor(&mut world, &format!("{name}_{when}"), &frames);
            let begun = Instant::now();
            let error = world.run(FINE, json!({})).await.result.unwrap_err();
            assert_eq!(error.kind, ErrorKind::ExecutionError, "{name} {when}: {error}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{name} {when}");
        }
    }
}

#[tokio::test]
async fn a_worker_that_takes_more_than_it_may_is_stopped() {
    let mut world = World { timeout: Duration::from_secs(60), ..World::new() };
    let ready = frame(r#"{"type":"ready","sandbox":[]}"#, &[]);
    let line = frame(r#"{"type":"log","level":"log","text":"x"}"#, &[]);
    let long = json!({ "type": "log", "level": "log", "text": "x".repeat(20 << 10) }).to_string();
    let request = |id: usize| {
        let message =
            json!({ "type": "request", "id": id, "op": "timer", "json": "{\"ms\":1e6}", "has_bytes": false });
        frame(&message.to_string(), &[])
    };
    let cases = [
        ("lines", line.repeat(1100), "it logs more than it may"),
        ("long_line", frame(&long, &[]), "it logs more than it may"),
        ("requests", (0..300).flat_map(request).collect(), "it asks for more than it may"),
        ("one_id", request(1).repeat(2), "it asks for more than it may"),
        ("greeting", ready.clone(), "it greets twice"),
    ];
    for (name, frames, why) in cases {
        impostor(&mut world, name, &[ready.clone(), frames].concat());
        let answer = world.text(FINE, json!({})).await;
        let expected =
            format!("execution_error: Tool execution failed: the script's process was stopped: {why}");
        assert_eq!(answer, expected, "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_fits_no_frame_is_refused_and_not_the_end_of_the_worker() {
    let world = World { limits: Limits { heap: 128 << 20, ..Limits::default() }, ..World::new() };
    // Seven bytes each, once in the answer's JSON and once in the frame's.
    std::fs::write(world.workspace.path().join("zeros"), vec![0; 3 << 20]).unwrap();
    let error =
        world.run("function execute() { return fs.readFile('zeros').length }", json!({})).await.result;
    assert_eq!(error.unwrap_err().kind, ErrorKind::OutputLimit);
}

#[tokio::test]
async fn answers_that_nobody_reads_do_not_pile_up() {
    let limits = Limits { heap: 512 << 20, ..Limits::default() };
    let world = World { timeout: Duration::from_secs(60), limits, ..World::new() };
    let url = server("x".repeat(4 << 20)).await;
    let source = "async function execute({ url }) {
        const all = Array.from({ length: 40 }, () => fetch(url).then(() => 'read', (error) => error.code));
        const end = Date.now() + 4000;
        while (Date.now() < end);
        const ends = await Promise.all(all);
        return ends.includes('read') && ends.includes('output_limit');
    }";
    assert_eq!(world.text(source, json!({ "url": url })).await, "true");
}

// The clock stands still, so that waiting for a worker that never speaks takes no time.
#[tokio::test(start_paused = true)]
async fn a_silent_program_is_given_up() {
    let mut world = World { timeout: Duration::from_secs(60), ..World::new() };
    let frames: [(&str, &[u8]); 3] =
        [("nothing", &[]), ("half_a_head", &[5, 0, 0]), ("half_a_body", &[200, 0, 0, 0, 100, 0, 0, 0, b'{'])];
    let answer = "execution_error: Tool execution failed: no worker: the worker did not start";
    for (name, frames) in frames {
        impostor(&mut world, name, frames);
        assert_eq!(world.text(FINE, json!({})).await, answer, "{name}");
    }
    employ(&mut world, Path::new("/usr/bin/yes"));
    assert_eq!(world.text(FINE, json!({})).await, answer);
}

#[test]
fn a_sealed_worker_reaches_nothing() {
    let attempt = |what: &str| {
        let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.write_all(&frame(r#"{"type":"start","engine":"imaged","build":0}"#, &[])).unwrap();
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        let mut command = Command::new(worker_program());
        command.args([WORK, what]).env_clear().stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        drop(ours);
        status
    };
    // Without an attempt it ends as it likes: what ends the others is what they tried.
    assert!(attempt("nothing").success());
    // What an allocator does when it needs more memory.
    assert!(attempt("name").success());
    let forbidden = [
        "open", "create", "list", "socket", "connect", "pair", "fork", "thread", "exec", "kill", "chdir",
        "dump",
    ];
    for what in forbidden {
        let status = attempt(what);
        assert_eq!(status.signal(), Some(Signal::SYS.as_raw()), "{what}: {status}");
    }
    assert!(!Path::new("/tmp/pinza-escaped").exists());
}
