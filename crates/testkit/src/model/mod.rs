//! Scripted model servers: they speak each provider's true wire format and say what a script
//! tells them to.
//!
//! Which provider is spoken follows from the path that is called, so one script serves all of
//! them. The server is as strict as the real ones where an agent could go wrong: a call without
//! its result, a result without its call, a tool that is named and was never sent, a wrong key.

mod check;
mod script;
mod wire;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};

pub use script::{Call, Chunks, Expect, Failure, Script, Turn, Usage};
pub use wire::Provider;

use self::wire::Answer;
use crate::wire::{RecordedRequest, Reply, WireServer};

/// What every scripted server says it has.
const MODELS: [&str; 2] = ["m", "scripted"];

/// A running model. Every request takes the next turn of the script.
#[derive(Debug)]
pub struct ModelServer {
    server: WireServer,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    script: Script,
    used: Vec<bool>,
    answered: usize,
    failures: Vec<String>,
    record: Option<PathBuf>,
}

impl ModelServer {
    /// On a free port.
    #[expect(clippy::expect_used, reason = "a test whose server cannot start has failed")]
    pub fn start(script: Script) -> Self {
        Self::start_at(0, script, None).expect("a free port")
    }

    /// On one port (0 for a free one), writing the body of every request to a file in `record`.
    pub fn start_at(port: u16, script: Script, record: Option<PathBuf>) -> std::io::Result<Self> {
        if let Some(directory) = &record {
            std::fs::create_dir_all(directory)?;
        }
        let used = vec![false; script.turns.len()];
        let state = State { script, used, answered: 0, failures: Vec::new(), record };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        let server = WireServer::start_at(port, move |request| lock(&shared).answer(request))?;
        Ok(Self { server, state })
    }

    /// What the provider's own SDK takes as its base URL.
    pub fn base_url(&self, provider: Provider) -> String {
        match provider {
            Provider::OpenAi | Provider::OpenAiResponses => self.server.url("/v1"),
            Provider::Anthropic | Provider::Gemini => self.server.url(""),
        }
    }

    /// The address, without a path.
    pub fn url(&self) -> String {
        self.server.url("")
    }

    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.server.requests()
    }

    /// The bodies of all requests, in order.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().iter().map(RecordedRequest::json).collect()
    }

    /// How many connections are open now: a dropped stream closes its own.
    pub fn open_connections(&self) -> usize {
        self.server.open_connections()
    }

    /// What was not as the script expects, or as the provider demands.
    pub fn failures(&self) -> Vec<String> {
        lock(&self.state).failures.clone()
    }

    /// Turns that no request has taken yet.
    pub fn turns_left(&self) -> usize {
        let state = lock(&self.state);
        let turns = state.script.turns.iter().zip(&state.used);
        turns.filter(|(turn, used)| !**used && !turn.keep).count()
    }
}

impl State {
    fn answer(&mut self, request: &RecordedRequest) -> Reply {
        if request.method() == "GET"
            && request.path().split('?').next().is_some_and(|path| path.ends_with("/models"))
        {
            return self.list(request);
        }
        let Some(provider) = Provider::of_path(request.path()) else {
            return self.refuse(
                Provider::OpenAi,
                "404 Not Found",
                &format!("no such path: {}", request.path()),
            );
        };
        let body = request.json();
        self.answered += 1;
        self.record(provider, request);
        if !provider.has_key(request, self.script.key.as_deref()) {
            // Wrong keys are what some scripts are about, and no failure of the script.
            return error(provider, "401 Unauthorized", &[], "Incorrect API key provided");
        }
        if let Err(fault) = check::conversation(provider, &body) {
            return self.refuse(provider, "400 Bad Request", &fault);
        }
        let open = self.used.iter().zip(&self.script.turns).position(|(used, turn)| {
            !used && turn.when.as_ref().is_none_or(|when| when.check(provider, request).is_ok())
        });
        let Some(index) = open else {
            return self.refuse(provider, "400 Bad Request", "the script has no turn for this request");
        };
        let turn = self.script.turns[index].clone();
        self.used[index] = !turn.keep;
        if let Err(fault) = turn.expect.check(provider, request) {
            return self.refuse(provider, "400 Bad Request", &format!("turn {index}: {fault}"));
        }
        reply(provider, &turn, &body, self.answered)
    }

    /// The list of models, in every provider's form at once.
    fn list(&self, request: &RecordedRequest) -> Reply {
        let has_key = |provider: &Provider| provider.has_key(request, self.script.key.as_deref());
        if !Provider::ALL.iter().any(has_key) {
            return error(Provider::OpenAi, "401 Unauthorized", &[], "Incorrect API key provided");
        }
        let data = MODELS.map(|name| json!({ "id": name }));
        let models = MODELS.map(|name| json!({ "name": format!("models/{name}") }));
        Reply::json(&json!({ "data": data, "models": models }))
    }

    fn refuse(&mut self, provider: Provider, status: &str, fault: &str) -> Reply {
        self.failures.push(format!("{provider}: {fault}"));
        error(provider, status, &[], fault)
    }

    fn record(&self, provider: Provider, request: &RecordedRequest) {
        let Some(directory) = &self.record else { return };
        let file = directory.join(format!("{:04}-{provider}.json", self.answered));
        // Whoever asked for records will miss them.
        let _ = std::fs::write(file, &request.body);
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reply(provider: Provider, turn: &Turn, request: &Value, number: usize) -> Reply {
    if turn.hang {
        return Reply::Hang;
    }
    if let Some(failure) = &turn.error {
        let headers: Vec<(&str, &str)> =
            failure.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let status = format!("{} Scripted", failure.status);
        return match &failure.body {
            Some(body) => Reply::new(&status, &headers, body),
            None => error(provider, &status, &headers, &failure.message),
        };
    }
    let stream = match &turn.raw {
        Some(raw) => raw.clone(),
        None => wire::stream(provider, &Answer { turn, request, number }),
    };
    chunked(stream.as_bytes(), turn)
}

/// The stream in pieces, as the transfer encoding that providers use. A cut stream lacks the last
/// piece, and the connection ends.
fn chunked(stream: &[u8], turn: &Turn) -> Reply {
    let headers = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")];
    let mut parts = vec![(Duration::ZERO, crate::wire::head("200 OK", &headers))];
    let whole = turn.cut.is_none();
    let stream = &stream[..turn.cut.unwrap_or(stream.len()).min(stream.len())];
    let delay = Duration::from_millis(turn.chunks.delay_ms);
    for piece in stream.chunks(turn.chunks.bytes.unwrap_or(stream.len()).max(1)) {
        let frame = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        parts.push((delay, frame));
    }
    if turn.stall {
        return Reply::Stall(parts);
    }
    if whole {
        parts.push((delay, b"0\r\n\r\n".to_vec()));
    }
    Reply::Parts(parts)
}

fn error(provider: Provider, status: &str, headers: &[(&str, &str)], message: &str) -> Reply {
    let code: u16 = status.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(500);
    let body = wire::error(provider, code, message).to_string();
    let headers = [headers, &[("content-type", "application/json")]].concat();
    Reply::new(status, &headers, body)
}
