//! Scripts that change while the library runs: what is saved is live a moment later, what is broken is not.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use pinza::{
    Pinza, Policy, Reload, Report, Rule, Settings, SettingsSource, Verdict, Watch,
    core::{Answer, Approver, BoxFuture, Caller, ErrorKind, Prompt, ToolCall},
    js::{Guard, Place, Problem, Standing},
};
use serde_json::json;
use tempfile::TempDir;

/// Far more than a second, for a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(10);

struct World {
    directory: TempDir,
    pinza: Pinza,
    watch: Watch,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Events,
    Looking,
}

impl World {
    /// Watches `tools`, which `before` may fill.
    fn new(before: impl FnOnce(&Path)) -> Self {
        Self::with(By::Events, before, |tools| Place::Directory(tools.to_owned()))
    }

    fn with(by: By, before: impl FnOnce(&Path), place: impl FnOnce(&Path) -> Place) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let tools = directory.path().join("tools");
        before(&tools);
        let pinza = Pinza::builder()
            .workspace(directory.path().join("work"))
            .helper(env!("CARGO_BIN_EXE_pinza"))
            .scripts([place(&tools)]);
        fs::create_dir(directory.path().join("work")).unwrap();
        let pinza = pinza.build().unwrap();
        let watch = match by {
            By::Events => pinza.watch(),
            By::Looking => pinza.watch_by_looking(),
        };
        Self { directory, pinza, watch: watch.unwrap() }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join("tools").join(file)
    }

    fn save(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).unwrap();
    }

    async fn call(&self, tool: &str) -> Result<String, ErrorKind> {
        let outcome = self.pinza.call(tool, json!({})).await;
        outcome.result.map(|output| output.as_text()).map_err(|error| error.kind)
    }

    /// The tool comes to answer so.
    async fn answers(&self, tool: &str, expected: Result<&str, ErrorKind>) {
        let start = Instant::now();
        loop {
            let answer = self.call(tool).await;
            if answer.as_deref() == expected.as_ref().map(|text| &**text) {
                return;
            }
            let problems = self.pinza.problems();
            assert!(start.elapsed() < PATIENCE, "{tool} answers {answer:?}, not {expected:?}: {problems:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The next reload that is as wanted.
    async fn reload(&mut self, what: &str, wanted: impl Fn(&Reload) -> bool) -> Reload {
        let mut seen = Vec::new();
        loop {
            let Ok(report) = tokio::time::timeout(PATIENCE, self.watch.next()).await else {
                panic!("no report about {what}: {seen:#?}")
            };
            match report.unwrap() {
                Report::Reloaded(reload) if wanted(&reload) => return reload,
                other => seen.push(other),
            }
        }
    }

    /// A problem is reported with these words, and the last good version stays.
    async fn stays(&mut self, words: &str) {
        let says = |reload: &Reload| {
            reload.problems.iter().any(|problem| {
                problem.message.contains(words) && problem.message.contains("; the version of ")
            })
        };
        self.reload(words, says).await;
    }
}

fn tool(directory: &Path, name: &str, script: &str) {
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join(format!("{name}.json")), manifest(name)).unwrap();
    fs::write(directory.join(format!("{name}.js")), script).unwrap();
}

fn manifest(name: &str) -> String {
    json!({"name": name, "description": "A tool"}).to_string()
}

/// A script that says one word.
fn says(word: &str) -> String {
    format!("function execute() {{ return '{word}' }}")
}

const GONE: Result<&str, ErrorKind> = Err(ErrorKind::ToolNotFound);

#[tokio::test]
async fn what_is_saved_is_live_and_what_is_broken_is_not() {
    for by in [By::Events, By::Looking] {
        let before = |tools: &Path| tool(tools, "greet", &says("one"));
        let mut world = World::with(by, before, |tools| Place::Directory(tools.to_owned()));
        world.answers("greet", Ok("one")).await;

        world.save("greet.js", &says("two"));
        let reload = world.reload("a save", |reload| !reload.changed.is_empty()).await;
        assert_eq!((reload.changed, reload.added.len()), (vec!["greet".parse().unwrap()], 0), "{by:?}");
        assert_eq!(world.call("greet").await.as_deref(), Ok("two"));

        let broken = [
            ("greet.js", "function execute( { return 'three' }", "Expected"),
            ("greet.js", "function run() { return 'three' }", "has no function 'execute'"),
            ("greet.js", "", "has no function 'execute'"),
            ("greet.json", "{\"name\": \"greet\", ", "Not valid JSON"),
            ("greet.json", "", "The file is empty"),
            ("greet.json", "{\"name\": \"greet\"}", "Missing required field: 'description'"),
        ];
        for (file, text, words) in broken {
            let good = fs::read_to_string(world.path(file)).unwrap();
            world.save(file, text);
            world.stays(words).await;
            assert_eq!(world.call("greet").await.as_deref(), Ok("two"), "{by:?}: {words}");
            world.save(file, &good);
            let solved = world.reload("a mended file", |reload| !reload.solved.is_empty()).await;
            assert_eq!((solved.changed.len(), world.pinza.problems().len()), (0, 0), "{by:?}: {solved:#?}");
        }

        fs::remove_file(world.path("greet.js")).unwrap();
        world.stays("Missing corresponding .js file").await;
        assert_eq!(world.call("greet").await.as_deref(), Ok("two"), "{by:?}");
        world.save("greet.ts", "export const execute = (): string => 'typed';");
        world.answers("greet", Ok("typed")).await;
        // Without its manifest it is no tool.
        fs::remove_file(world.path("greet.json")).unwrap();
        world.answers("greet", GONE).await;
    }
}

#[tokio::test]
async fn a_broken_file_says_when_its_last_good_version_is_from() {
    let mut world = World::new(|tools| tool(tools, "greet", &says("one")));
    world.save("greet.js", "function execute( {");
    world.stays("Expected").await;
    let problems = world.pinza.problems();
    let problem = problems.first().unwrap();
    assert_eq!((problem.line, problem.file.as_str()), (Some(1), world.path("greet.js").to_str().unwrap()));
    let (_, time) = problem.message.rsplit_once("; the version of ").unwrap();
    let time = time.strip_suffix(" stays in use").unwrap();
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (hour, minute) = time.rsplit(' ').next().unwrap().split_once(':').unwrap();
    assert!(digits(hour) && digits(minute), "{time}");
}

#[tokio::test]
async fn tools_come_and_go() {
    let mut world = World::new(|tools| tool(tools, "first", &says("first")));
    tool(&world.path(""), "second", &says("second"));
    world.answers("second", Ok("second")).await;
    let reload = world.reload("a new tool", |reload| !reload.added.is_empty()).await;
    assert_eq!(reload.added, ["second"]);
    fs::remove_file(world.path("first.json")).unwrap();
    fs::remove_file(world.path("first.js")).unwrap();
    world.answers("first", GONE).await;
    let reload = world.reload("a removed tool", |reload| !reload.removed.is_empty()).await;
    assert_eq!(reload.removed, ["first"]);
    // The name of a built-in tool is taken, also later.
    tool(&world.path(""), "read_file", &says("mine"));
    let clash = world.reload("a clash", |reload| !reload.problems.is_empty()).await;
    assert_eq!(clash.problems[0].message, "Name conflict with existing tool 'read_file' (skipped)");
    assert!(clash.added.is_empty(), "{clash:?}");
}

#[tokio::test]
async fn editors_save_in_many_ways() {
    let world = World::new(|tools| tool(tools, "greet", &says("one")));
    let script = world.path("greet.js");
    // Beside it, then over it.
    world.save("greet.js.tmp", &says("renamed"));
    fs::rename(world.path("greet.js.tmp"), &script).unwrap();
    world.answers("greet", Ok("renamed")).await;
    // From another directory.
    let elsewhere = world.directory.path().join("elsewhere.js");
    fs::write(&elsewhere, says("moved")).unwrap();
    fs::rename(&elsewhere, &script).unwrap();
    world.answers("greet", Ok("moved")).await;
    // The old one away, then a new one.
    fs::rename(&script, world.path("greet.js~")).unwrap();
    world.save("greet.js", &says("new"));
    world.answers("greet", Ok("new")).await;
    fs::remove_file(&script).unwrap();
    world.save("greet.js", &says("removed first"));
    world.answers("greet", Ok("removed first")).await;
    // In place, with the length and the time that it had.
    let modified = fs::metadata(&script).unwrap().modified().unwrap();
    world.save("greet.js", &says("removed again"));
    fs::File::options().write(true).open(&script).unwrap().set_modified(modified).unwrap();
    world.answers("greet", Ok("removed again")).await;
    // Through a link, to a file that changes elsewhere.
    fs::write(&elsewhere, says("linked")).unwrap();
    fs::remove_file(&script).unwrap();
    symlink(&elsewhere, &script).unwrap();
    world.answers("greet", Ok("linked")).await;
    fs::write(&elsewhere, says("changed elsewhere")).unwrap();
    world.answers("greet", Ok("changed elsewhere")).await;
}

#[tokio::test]
async fn of_many_saves_the_last_one_counts() {
    let world = World::new(|tools| tool(tools, "greet", &says("0")));
    for number in 1..=200 {
        world.save("greet.js", &says(&number.to_string()));
        if number % 50 == 0 {
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    }
    world.answers("greet", Ok("200")).await;
}

#[tokio::test]
async fn a_file_that_takes_its_time_is_never_half_live() {
    let world = World::new(|tools| tool(tools, "greet", &says("old")));
    let mut file = fs::File::create(world.path("greet.js")).unwrap();
    for part in ["const word = 'n", "ew';\nfunction exe", "cute() {", " return word", " }\n"] {
        file.write_all(part.as_bytes()).unwrap();
        // Longer than it takes to look.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let answer = world.call("greet").await;
        assert!(matches!(answer.as_deref(), Ok("old" | "new")), "{answer:?}");
    }
    drop(file);
    world.answers("greet", Ok("new")).await;
}

#[tokio::test]
async fn directories_come_and_go() {
    for by in [By::Events, By::Looking] {
        let world = World::with(by, |_| {}, |tools| Place::Optional(tools.join("deep/er")));
        assert_eq!(world.pinza.problems().len(), 0, "it need not be there");
        let directory = world.path("deep/er");
        for word in ["one", "two"] {
            tool(&directory, "greet", &says(word));
            world.answers("greet", Ok(word)).await;
            // In one go, and from far above.
            fs::remove_dir_all(world.path("")).unwrap();
            world.answers("greet", GONE).await;
        }
        tool(&directory, "greet", &says("three"));
        world.answers("greet", Ok("three")).await;
        // Another directory under the same name, as when a branch is checked out.
        tool(&world.path("deep/next"), "greet", &says("four"));
        fs::rename(&directory, world.path("deep/last")).unwrap();
        fs::rename(world.path("deep/next"), &directory).unwrap();
        world.answers("greet", Ok("four")).await;
        tool(&directory, "greet", &says("five"));
        world.answers("greet", Ok("five")).await;
        // A link in its place, and then another one.
        for word in ["six", "seven"] {
            tool(&world.path(word), "greet", &says(word));
            fs::remove_dir_all(&directory).or_else(|_| fs::remove_file(&directory)).unwrap();
            symlink(world.path(word), &directory).unwrap();
            world.answers("greet", Ok(word)).await;
            tool(&world.path(word), "greet", &says("behind a link"));
            world.answers("greet", Ok("behind a link")).await;
        }
    }
}

#[tokio::test]
async fn a_directory_that_must_be_there_is_missed_and_found_again() {
    let mut world = World::new(|tools| tool(tools, "greet", &says("one")));
    fs::remove_dir_all(world.path("")).unwrap();
    world.answers("greet", GONE).await;
    let says_so = |reload: &Reload| {
        reload.problems.iter().any(|problem| problem.message.starts_with("Cannot read the directory"))
    };
    world.reload("the missing directory", says_so).await;
    tool(&world.path(""), "greet", &says("two"));
    world.answers("greet", Ok("two")).await;
    assert_eq!(world.pinza.problems().len(), 0);
}

#[tokio::test]
async fn a_group_stays_together() {
    let entry = |name: &str| json!({"name": name, "description": "x", "function": name});
    let manifest =
        |names: &[&str]| json!(names.iter().map(|name| entry(name)).collect::<Vec<_>>()).to_string();
    let script = |word: &str, names: &[&str]| {
        let function = |name: &&str| format!("function {name}() {{ return '{name} {word}' }}\n");
        names.iter().map(function).collect::<String>()
    };
    let mut world = World::new(|tools| {
        fs::create_dir(tools).unwrap();
        fs::write(tools.join("all.json"), manifest(&["one", "two", "never"])).unwrap();
        fs::write(tools.join("all.js"), script("old", &["one", "two"])).unwrap();
    });
    world.answers("one", Ok("one old")).await;
    assert_eq!(world.call("never").await, Err(ErrorKind::ToolNotFound));

    // One function is lost: the others wait for it, so that no two versions are mixed.
    world.save("all.js", &script("new", &["one"]));
    world.stays("has no function 'two'").await;
    assert_eq!(world.call("one").await.as_deref(), Ok("one old"));
    assert_eq!(world.call("two").await.as_deref(), Ok("two old"));
    // What never worked holds nothing up.
    world.save("all.js", &script("new", &["one", "two"]));
    world.answers("two", Ok("two new")).await;
    // A tool that is taken out goes, without a word.
    world.save("all.json", &manifest(&["one", "never"]));
    world.answers("two", GONE).await;
    assert_eq!(world.call("one").await.as_deref(), Ok("one new"));
    // And so do all of them, but that is hardly what a group is for.
    world.save("all.json", "[]");
    world.answers("one", GONE).await;
    let problems = world.pinza.problems();
    let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["Empty tool group in 'all.json'"]);
}

#[tokio::test]
async fn libraries_are_live_too_and_stay_good() {
    let mut world = World::new(|tools| {
        tool(tools, "greet", "function execute() { return lib('words').hello }");
        fs::write(tools.join("words.js"), "export const hello = 'one'").unwrap();
        // Whatever this is, nobody asked for it.
        fs::write(tools.join("odd.js"), "import x from 'y'; (").unwrap();
    });
    world.answers("greet", Ok("one")).await;
    world.save("words.js", "export const hello = 'two'");
    let reload = world.reload("a library", |reload| !reload.libraries.is_empty()).await;
    assert_eq!(
        (reload.libraries, reload.changed),
        (vec![world.path("words.js").display().to_string()], vec![])
    );
    assert_eq!(world.call("greet").await.as_deref(), Ok("two"));
    world.save("words.js", "export const hello = ");
    world.stays("Unexpected").await;
    assert_eq!(world.call("greet").await.as_deref(), Ok("two"));
    world.save("words.js", "module.exports = { hello: 'three' }");
    world.answers("greet", Ok("three")).await;
    world.save("greet.js", "function execute() { return lib('more') }");
    world.answers("greet", Err(ErrorKind::NotFound)).await;
    world.save("more.ts", "module.exports = 'more' as string");
    world.answers("greet", Ok("more")).await;
    fs::remove_file(world.path("more.ts")).unwrap();
    world.answers("greet", Err(ErrorKind::NotFound)).await;
}

/// Workers keep a script as it is when its top level has run, with what it loaded there.
#[tokio::test]
async fn a_library_that_was_loaded_once_for_all_calls_is_live_too() {
    let mut world = World::new(|tools| {
        tool(tools, "greet", "const words = lib('words'); function execute() { return words.hello }");
        tool(
            tools,
            "late",
            "let more; try { more = lib('more') } catch {} function execute() { return more }",
        );
        fs::write(tools.join("words.js"), "module.exports = { hello: lib('inner') }").unwrap();
        fs::write(tools.join("inner.js"), "module.exports = 'one'").unwrap();
    });
    let twice = async |world: &World, tool: &str, word: &str| {
        for _ in 0..2 {
            assert_eq!(world.call(tool).await.as_deref(), Ok(word));
        }
    };
    let scope = world.pinza.scope(Caller::Library);
    twice(&world, "greet", "one").await;
    twice(&world, "late", "").await;
    // The library of a library.
    world.save("inner.js", "module.exports = 'two'");
    world.reload("a library", |reload| !reload.libraries.is_empty()).await;
    twice(&world, "greet", "two").await;
    world.save("words.js", "module.exports = { hello: 'three' }");
    world.reload("a library", |reload| !reload.libraries.is_empty()).await;
    twice(&world, "greet", "three").await;
    // One that was not there.
    world.save("more.js", "module.exports = 'more'");
    world.reload("a new library", |reload| !reload.libraries.is_empty()).await;
    twice(&world, "late", "more").await;
    fs::remove_file(world.path("more.js")).unwrap();
    world.reload("a removed library", |reload| !reload.libraries.is_empty()).await;
    twice(&world, "late", "").await;
    // A turn keeps what it began with.
    let outcome = world.pinza.engine().call(ToolCall::new("id", "greet", json!({})), &scope).await;
    assert_eq!(outcome.result.unwrap().as_text(), "one");
}

/// What was called before anybody watched had read its libraries then.
#[tokio::test]
async fn a_library_that_changed_before_files_are_watched_is_live_with_them() {
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools");
    tool(&tools, "greet", "const word = lib('word'); function execute() { return word }");
    fs::write(tools.join("word.js"), "module.exports = 'one'").unwrap();
    let pinza = Pinza::builder()
        .workspace(directory.path())
        .helper(env!("CARGO_BIN_EXE_pinza"))
        .scripts([Place::Directory(tools.clone())])
        .build()
        .unwrap();
    let answer = async || pinza.call("greet", json!({})).await.result.unwrap().as_text();
    assert_eq!((answer().await, answer().await), ("one".into(), "one".into()));
    fs::write(tools.join("word.js"), "module.exports = 'two'").unwrap();
    let _watch = pinza.watch().unwrap();
    assert_eq!((answer().await, answer().await), ("two".into(), "two".into()));
}

#[tokio::test]
async fn a_turn_keeps_what_it_began_with() {
    let world = World::new(|tools| {
        tool(tools, "greet", "function execute() { return lib('words') + ' one' }");
        fs::write(tools.join("words.js"), "module.exports = 'hello'").unwrap();
    });
    world.answers("greet", Ok("hello one")).await;
    let scope = world.pinza.scope(Caller::Library);
    world.save("words.js", "module.exports = 'goodbye'");
    world.save("greet.js", "function execute() { return lib('words') + ' two' }");
    world.answers("greet", Ok("goodbye two")).await;
    for file in ["greet.json", "greet.js", "words.js"] {
        fs::remove_file(world.path(file)).unwrap();
    }
    world.answers("greet", GONE).await;
    let outcome = world.pinza.engine().call(ToolCall::new("id", "greet", json!({})), &scope).await;
    assert_eq!(outcome.result.unwrap().as_text(), "hello one");
}

/// Says of its directory what it was told to say.
#[derive(Debug)]
struct Told {
    directory: PathBuf,
    witness: PathBuf,
    standing: Mutex<Standing>,
}

impl Guard for Told {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn witnesses(&self) -> Vec<PathBuf> {
        vec![self.witness.clone()]
    }

    fn standing(&self) -> Standing {
        self.standing.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn nothing_is_live_that_nobody_vouches_for() {
    let mut guard = None;
    let before = |tools: &Path| {
        tool(tools, "greet", "function execute() { return lib('words') }");
        fs::write(tools.join("words.js"), "module.exports = 'trusted'").unwrap();
    };
    let mut world = World::with(By::Events, before, |tools| {
        let (witness, standing) = (tools.with_file_name("witness"), Mutex::new(Standing::Good));
        let told = guard.insert(Arc::new(Told { directory: tools.to_owned(), witness, standing }));
        Place::Guarded(Arc::clone(told) as Arc<dyn Guard>)
    });
    let guard = guard.unwrap();
    let say = |standing: Standing| {
        *guard.standing.lock().unwrap() = standing;
        fs::write(&guard.witness, "it is time to ask").unwrap();
    };
    world.answers("greet", Ok("trusted")).await;

    say(Standing::Changed("look at it".into()));
    world.stays("look at it").await;
    world.save("words.js", "module.exports = 'theirs'");
    world.save("greet.js", "function execute() { return 'theirs' }");
    tool(&world.path(""), "more", &says("theirs"));
    // Time enough to do wrong.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.call("greet").await.as_deref(), Ok("trusted"));
    assert_eq!(world.call("more").await, Err(ErrorKind::ToolNotFound));

    say(Standing::Good);
    world.answers("more", Ok("theirs")).await;
    assert_eq!(world.call("greet").await.as_deref(), Ok("theirs"));
    say(Standing::Refused("never again".into()));
    world.answers("greet", GONE).await;
    assert_eq!(world.call("more").await, Err(ErrorKind::ToolNotFound));
    assert_eq!(world.pinza.problems()[0].message, "never again");
}

/// Denies what a file names, line by line, or allows it behind a plus.
struct Lines(PathBuf);

impl SettingsSource for Lines {
    fn files(&self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }

    fn read(&self) -> Result<Settings, Problem> {
        let text = fs::read_to_string(&self.0).unwrap();
        let rule = |line: &str| match line.strip_prefix('+') {
            Some(name) => Rule::capability(Verdict::Allow, name),
            None => Rule::capability(Verdict::Deny, line),
        };
        Ok(Settings { policy: Policy::new(text.lines().map(rule), []), disabled: Vec::new() })
    }
}

/// Says "always", and writes it down.
struct Keeper {
    file: PathBuf,
    asked: AtomicUsize,
}

impl Approver for Keeper {
    fn ask<'a>(&'a self, _prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        self.asked.fetch_add(1, SeqCst);
        Box::pin(std::future::ready(Answer::Always))
    }

    fn remember(&self, _rule: &Rule) -> Result<(), String> {
        fs::write(&self.file, "+exec\n").map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn rules_are_obeyed_from_the_moment_they_are_written_to_the_moment_they_are_gone() {
    let directory = tempfile::tempdir().unwrap();
    let (elsewhere, work) = (directory.path().join("elsewhere"), directory.path().join("work"));
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(&work).unwrap();
    // Where such files often are: behind a link.
    let (link, file) = (directory.path().join("rules"), elsewhere.join("rules"));
    fs::write(&file, "").unwrap();
    symlink(&file, &link).unwrap();
    let keeper = Arc::new(Keeper { file: file.clone(), asked: AtomicUsize::new(0) });
    let pinza = Pinza::builder()
        .workspace(work)
        .helper(env!("CARGO_BIN_EXE_pinza"))
        .settings(Arc::new(Lines(link)))
        .approver(keeper.clone())
        .build()
        .unwrap();
    let mut watch = pinza.watch().unwrap();
    let run = async || {
        let result = pinza.call("exec", json!({"command": "echo ran"})).await.result;
        result.map_err(|error| error.kind)
    };
    let mut reloaded = async || match tokio::time::timeout(PATIENCE, watch.next()).await.unwrap().unwrap() {
        Report::Reloaded(reload) => reload,
        other => panic!("{other:?}"),
    };
    for _ in 0..3 {
        run().await.unwrap();
    }
    assert_eq!(keeper.asked.load(SeqCst), 1);
    let rules = pinza.engine().policy().rules().len();
    assert_eq!(rules, 1, "it holds before anybody looks at the file");
    assert_eq!(reloaded().await, Reload { policy: true, ..Reload::default() });
    fs::write(&file, "").unwrap();
    assert_eq!(reloaded().await, Reload { policy: true, ..Reload::default() });
    run().await.unwrap();
    assert_eq!(keeper.asked.load(SeqCst), 2, "it was revoked, so it is asked again");
    reloaded().await;
    fs::write(&file, "exec\n").unwrap();
    let withheld = reloaded().await.withheld;
    assert!(withheld.contains(&"exec".parse().unwrap()), "{withheld:?}");
    assert_eq!(run().await.unwrap_err(), ErrorKind::PermissionDenied);
    fs::write(&file, "").unwrap();
    assert_eq!(reloaded().await.granted, withheld);
}
