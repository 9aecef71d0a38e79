//! A contender's processes: started, asked, and what the kernel says of them.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Contender, Revision,
    client::{Connection, Link, PATIENCE, Pipes},
};

/// For a server on stdio to end by itself, as clients let it; it may have something to keep for its next start.
const FAREWELL: Duration = Duration::from_secs(2);

pub(crate) struct Server {
    /// Dropped before the process: a server on stdio ends when its client hangs up.
    pub(crate) link: Box<dyn Link>,
    process: Process,
    /// Where it is reached over HTTP.
    pub(crate) address: Option<String>,
    call: Value,
}

#[derive(Clone, Copy)]
pub(crate) enum Ask {
    List,
    Call,
}

impl Server {
    /// Starts it and shakes hands, as far as the revision has that.
    pub(crate) fn start(contender: &Contender, revision: Revision) -> Self {
        let call = contender.call.clone();
        if contender.over_http() {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut process = Process::start(contender, &port.to_string(), Stdio::null);
            let address = format!("127.0.0.1:{port}");
            process.wait_for(&address);
            let link = Box::new(Connection::open(&address, revision));
            Self { link, process, address: Some(address), call }
        } else {
            let mut process = Process::start(contender, "", Stdio::piped);
            let link = Box::new(Pipes::open(&mut process));
            Self { link, process, address: None, call }
        }
    }

    pub(crate) fn prepare(&mut self, ask: Ask) -> String {
        match ask {
            Ask::List => self.link.prepare("tools/list", &json!({})),
            Ask::Call => self.link.prepare("tools/call", &self.call),
        }
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> &str {
        let request = self.prepare(ask);
        self.link.exchange(&request)
    }

    /// CPU time so far in seconds, with that of descendants that have ended.
    pub(crate) fn cpu(&self) -> f64 {
        // utime, stime, cutime and cstime, which the kernel shows in hundredths of a second: proc_pid_stat(5).
        let ticks =
            |stat: &Stat| stat.fields[11..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>();
        self.process.tree().iter().map(ticks).sum::<f64>() / 100.0
    }

    /// Resident memory in MB.
    pub(crate) fn memory(&self) -> f64 {
        let resident = |stat: &Stat| {
            let status = fs::read_to_string(format!("/proc/{}/status", stat.pid)).ok()?;
            let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
            line.split_whitespace().nth(1)?.parse::<f64>().ok()
        };
        self.process.tree().iter().filter_map(resident).sum::<f64>() / 1024.0
    }
}

/// A server's first process. The others end when it does: their stdin closes.
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) child: Child,
    on_stdio: bool,
}

impl Process {
    fn start(contender: &Contender, port: &str, streams: fn() -> Stdio) -> Self {
        let words: Vec<String> = contender.command.iter().map(|word| word.replace("{port}", port)).collect();
        let child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(streams())
            .stdout(streams())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
        Self { name: contender.name.clone(), child, on_stdio: !contender.over_http() }
    }

    fn wait_for(&mut self, address: &str) {
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(self.child.try_wait().unwrap().is_none(), "{} ended before it listened", self.name);
            assert!(begun.elapsed() < PATIENCE, "{} does not listen", self.name);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// This process and all its descendants.
    fn tree(&self) -> Vec<Stat> {
        let mut others: Vec<Stat> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Stat::read)
            .collect();
        let mut tree: Vec<Stat> = others.extract_if(.., |stat| stat.pid == self.child.id()).collect();
        let mut next = 0;
        while let Some(parent) = tree.get(next).map(|stat| stat.pid) {
            tree.extend(others.extract_if(.., |stat| stat.parent == parent));
            next += 1;
        }
        tree
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let begun = Instant::now();
        while self.on_stdio && begun.elapsed() < FAREWELL && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the kernel tells of a process.
struct Stat {
    pid: u32,
    parent: u32,
    /// From the state on, which is behind the name.
    fields: Vec<String>,
}

impl Stat {
    /// Nothing if it has just ended.
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<String> = stat.rsplit(')').next()?.split_whitespace().map(str::to_owned).collect();
        Some(Self { pid, parent: fields[1].parse().ok()?, fields })
    }
}
