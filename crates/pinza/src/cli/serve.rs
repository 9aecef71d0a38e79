//! `pinza serve`: tools over MCP, on stdin and stdout or over HTTP.

use std::{
    net::{SocketAddr, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use pinza::{
    Reload, Report, Rule, Selection, ServeOptions,
    core::{Caller, CancellationToken},
    mcp::{
        conformance,
        server::{Changes, Exposure, Front, KeepFront, Remember, Served, Server, StdioError},
    },
    web::{self, About, CallMeter, Guard, Site, Stop, Token},
};

mod front;

use front::FrontFile;

use super::{
    Done, Global, Result,
    args::{Expose, Serve},
    policy,
    session::{Noting, Session},
};
use crate::{
    log::Log,
    terminal::{Printer, write_stderr},
};

/// A client that has not asked for tools by then is one that takes its time.
const SOON: Duration = Duration::from_millis(50);
/// Where it listens unless something else is said.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7717";

pub(crate) fn run(global: &Global, printer: &Printer, arguments: Serve) -> Result {
    if arguments.stdio {
        return serve_stdio(global, &arguments);
    }
    let address = address(arguments.http.as_deref().unwrap_or(DEFAULT_ADDRESS))?;
    let token = token(arguments.token_env.as_deref())?;
    // Before anything is opened: who must not come in is not let in for a moment.
    let guard = Guard::new(address, arguments.host.clone(), token).map_err(|_| {
        anyhow::anyhow!(
            "other machines could reach {address}, and there is no token\nhint: put one into the \
             environment and name it: --token-env NAME; or serve this machine only: --http {DEFAULT_ADDRESS}"
        )
    })?;
    serve_http(global, printer, &arguments, address, guard)
}

/// One client, which started this program: stdout is the protocol, and nobody reads stderr.
fn serve_stdio(global: &Global, arguments: &Serve) -> Result {
    let file = FrontFile::find(global, arguments);
    let front = file.as_ref().and_then(FrontFile::read);
    let opening = Opening { changes: Changes::new(), meter: Arc::default(), front: file };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ran = match front {
        Some(front) => runtime.block_on(serve_ahead(front, global, arguments, opening)),
        None => serve_opened(&runtime, global, arguments, opening),
    };
    // What still runs on a blocking thread, such as a read from stdin, must not keep the end back.
    runtime.shutdown_background();
    let (opened, served) = ran?;
    if let Some(opened) = &opened {
        opened.log.line(&match &served {
            Ok(()) => "the client is gone".to_owned(),
            Err(error) => format!("the client could not be served: {error}"),
        });
    }
    served.map(|()| Done::Well).context("the client on stdin could not be served")
}

/// What was opened for a client, and how serving it ended.
type Ran = (Option<Opened>, std::result::Result<(), StdioError>);

fn serve_opened(
    runtime: &tokio::runtime::Runtime,
    global: &Global,
    arguments: &Serve,
    opening: Opening,
) -> Result<Ran> {
    let (opened, served) = Opened::new(global, arguments, opening)?;
    let server = Server::new(served).context(NO_CHANCE)?;
    runtime.block_on(async {
        let stop = stop_on_signal()?;
        let _watching = opened.begin_on_stdio();
        let served = server.serve_stdio(stop).await;
        Ok((Some(opened), served))
    })
}

/// Lets the front speak first. Nothing is opened for a client that leaves before it wanted more.
async fn serve_ahead(front: Front, global: &Global, arguments: &Serve, opening: Opening) -> Result<Ran> {
    let stop = stop_on_signal()?;
    let server = Server::ahead(front, opening.changes.clone());
    let serving = server.serve_stdio(stop);
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return Ok((None, served)),
        _ = tokio::time::timeout(SOON, server.wanted()) => {}
    }
    let (global, arguments) = (global.clone(), arguments.clone());
    let loading = tokio::task::spawn_blocking(move || Opened::new(&global, &arguments, opening));
    tokio::pin!(loading);
    tokio::select! {
        // What was begun is not left half done.
        served = &mut serving => Ok((Some(loading.await??.0), served)),
        loaded = &mut loading => {
            let (opened, served) = loaded??;
            server.open(served).context(NO_CHANCE)?;
            let _watching = opened.begin_on_stdio();
            let served = serving.await;
            Ok((Some(opened), served))
        }
    }
}

fn serve_http(
    global: &Global,
    printer: &Printer,
    arguments: &Serve,
    address: SocketAddr,
    guard: Guard,
) -> Result {
    let meter = Arc::new(CallMeter::new());
    let opening = Opening { changes: Changes::new(), meter: Arc::clone(&meter), front: None };
    let (opened, served) = Opened::new(global, arguments, opening)?;
    let server = Server::new(served).context(NO_CHANCE)?;
    printer.problems(&opened.session.all_problems());
    opened.log_problems();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let bound = web::bind(address).await.with_context(|| cannot_listen(address))?;
        let asked = stop_on_signal()?;
        let streams = CancellationToken::new();
        let line = format!("listening on http://{} (MCP at /mcp)", bound.address());
        opened.log.line(&line);
        write_stderr(&format!("{line}\n"));
        let tell = Printer::new(global);
        let _watching = opened.watch(move |line| tell.note(line));
        let about = opened.about(arguments.expose);
        let site = Site { endpoint: server.endpoint(streams.clone()), guard, meter, about };
        let meter = Arc::clone(&site.meter);
        let is_busy = move || {
            server.abandon_waiting();
            meter.running() > 0
        };
        let stop = Stop { asked, streams, is_busy: Arc::new(is_busy) };
        bound.serve(site.into_router(), stop).await;
        opened.log.line("stopped");
        anyhow::Ok(())
    })?;
    runtime.shutdown_background();
    Ok(Done::Well)
}

/// What both ways have in common.
struct Opened {
    session: Session,
    changes: Changes,
    log: Arc<Log>,
    /// Dropped last: it writes what is left to write.
    _noting: Noting,
}

/// What is there before anything is loaded.
struct Opening {
    changes: Changes,
    meter: Arc<CallMeter>,
    front: Option<FrontFile>,
}

const NO_CHANCE: &str = "this system has no randomness to give";

impl Opened {
    fn new(global: &Global, arguments: &Serve, opening: Opening) -> Result<(Self, Served)> {
        let Opening { changes, meter, front } = opening;
        let fixtures = if arguments.conformance { conformance::tools(&changes) } else { Vec::new() };
        let (session, noting) = Session::open_noting_with(global, |builder| {
            fixtures.into_iter().fold(builder.observer(meter), |builder, tool| builder.shared_tool(tool))
        })?;
        let log = Arc::new(Log::open(&session.home)?);
        let options = ServeOptions {
            exposure: exposure(arguments.expose),
            selection: selection(&session, arguments)?,
            desk: global.yes.then(|| session.pinza.scope(Caller::Library).desk),
            remember: Some(remember(&session)),
            changes: changes.clone(),
            keep_front: front.map(keep),
        };
        let mut served = session.pinza.served(options);
        if arguments.conformance {
            served.prompts.push(conformance::prompts());
            served.resources.push(conformance::resources());
        }
        Ok((Self { session, changes, log, _noting: noting }, served))
    }

    /// Within a runtime.
    fn begin_on_stdio(&self) -> tokio::task::JoinHandle<()> {
        self.log.line(&format!("serving on stdio, pid {}", std::process::id()));
        self.log_problems();
        self.watch(|_| {})
    }

    fn log_problems(&self) {
        for problem in self.session.all_problems() {
            self.log.line(&super::problem_line(&problem));
        }
    }

    /// Follows scripts and settings, and tells clients of what changes.
    fn watch(&self, tell: impl Fn(&str) + Send + 'static) -> tokio::task::JoinHandle<()> {
        let (pinza, changes, log) = (self.session.pinza.clone(), self.changes.clone(), Arc::clone(&self.log));
        tokio::spawn(async move {
            // The first look reads every file: nobody has to wait for that.
            let watch = tokio::task::spawn_blocking(move || pinza.watch()).await;
            let mut watch = match watch {
                Ok(Ok(watch)) => watch,
                Ok(Err(error)) => return log.line(&format!("scripts are not watched: {error}")),
                Err(error) => return log.line(&format!("scripts are not watched: {error}")),
            };
            while let Some(report) = watch.next().await {
                for line in lines(&report) {
                    log.line(&line);
                    tell(&line);
                }
                if let Report::Reloaded(reload) = report {
                    announce(&reload, &changes);
                }
            }
        })
    }

    fn about(&self, expose: Expose) -> Arc<dyn Fn() -> About + Send + Sync> {
        let pinza = self.session.pinza.clone();
        Arc::new(move || About {
            version: env!("CARGO_PKG_VERSION").into(),
            tools: pinza.view().tools().count(),
            exposure: match expose {
                Expose::Groups => "groups",
                Expose::Search => "search",
                Expose::Full => "full",
                Expose::Dynamic => "dynamic",
            },
        })
    }
}

/// Keeps fronts on a thread of its own: whoever waits for an answer does not wait for a disk.
fn keep(file: FrontFile) -> KeepFront {
    Arc::new(move |front: &Front| {
        let (file, front) = (file.clone(), front.clone());
        tokio::task::spawn_blocking(move || file.keep(&front));
    })
}

fn announce(reload: &Reload, changes: &Changes) {
    if !reload.skills.is_empty() {
        changes.prompts();
    }
    // Skills count for what the tool that loads them is shown with.
    let tools = [&reload.added, &reload.changed, &reload.removed, &reload.withheld, &reload.granted];
    if tools.iter().any(|names| !names.is_empty()) || !reload.skills.is_empty() {
        changes.tools();
    }
}

/// What a report says, line by line.
fn lines(report: &Report) -> Vec<String> {
    match report {
        Report::Looking(reason) => vec![format!("scripts are looked at twice a second: {reason}")],
        Report::Reloaded(reload) => {
            let names = |what: &str, names: &[pinza::ToolName]| {
                let names: Vec<&str> = names.iter().map(pinza::ToolName::as_str).collect();
                (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
            };
            let tools = [
                names("added", &reload.added),
                names("changed", &reload.changed),
                names("removed", &reload.removed),
                reload.policy.then(|| "the rules have changed".to_owned()),
                names("withheld, by a rule or a switch", &reload.withheld),
                names("no longer withheld", &reload.granted),
            ];
            let skills: Vec<&str> = reload.skills.iter().map(|name| name.as_str()).collect();
            let skills = (!skills.is_empty()).then(|| format!("skills: {}", skills.join(", ")));
            let problems =
                reload.problems.iter().map(|problem| format!("{}: {}", problem.file, problem.message));
            tools.into_iter().flatten().chain(skills).chain(problems).collect()
        }
    }
}

fn exposure(expose: Expose) -> Exposure {
    match expose {
        Expose::Groups => Exposure::Groups,
        Expose::Search => Exposure::Search,
        Expose::Full => Exposure::Full,
        Expose::Dynamic => Exposure::Dynamic,
    }
}

fn selection(session: &Session, arguments: &Serve) -> Result<Selection> {
    let selection = Selection {
        profile: arguments.profile,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
    };
    let snapshot = session.pinza.snapshot();
    let idle = selection.idle(&snapshot).find(|name| !super::session::is_known(&session.pinza, name));
    match idle {
        None => Ok(selection),
        Some(idle) => bail!(
            "there is no tool or set '{}'\nhint: see what there is: pinza tools list",
            pinza::core::visible(idle)
        ),
    }
}

/// Writes rules to the user's configuration; from then on they hold here, too.
fn remember(session: &Session) -> Remember {
    let (file, pinza) = (session.home.config_file(), session.pinza.clone());
    Arc::new(move |rule: &Rule| {
        policy::keep(&file, rule)?;
        // All that is written there, and not this rule alone: it may be gone again.
        pinza.renew_policy().map_err(|problem| problem.message)
    })
}

/// `HOST:PORT`, or a port of this machine.
fn address(text: &str) -> Result<SocketAddr> {
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let hint = "hint: give an address and a port, such as 127.0.0.1:7717";
    let found = text.to_socket_addrs().with_context(|| format!("--http {text}: no such address\n{hint}"))?;
    found.into_iter().next().with_context(|| format!("--http {text}: no such address\n{hint}"))
}

fn token(variable: Option<&str>) -> Result<Option<Token>> {
    let Some(name) = variable else { return Ok(None) };
    let text = std::env::var(name)
        .with_context(|| format!("--token-env {name}: the environment has no such variable"))?;
    ensure!(!text.trim().is_empty(), "--token-env {name}: the variable is empty");
    let token = Token::new(&text).with_context(|| {
        format!("--token-env {name}: its value cannot be a token, which has only visible ASCII characters")
    })?;
    Ok(Some(token))
}

fn cannot_listen(address: SocketAddr) -> String {
    format!(
        "cannot listen on {address}\nhint: another program may be there already; choose another port, or 0 \
         for any that is free"
    )
}

/// Cancelled by Ctrl-C and SIGTERM; a second one ends the program at once.
fn stop_on_signal() -> Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stopping.cancel();
    });
    Ok(stop)
}
