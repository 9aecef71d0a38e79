//! The alternatives, run by `node.js`.

use std::{collections::BTreeMap, path::Path, process::Stdio, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{cases::Case, lodash};

/// A Node process that answers a line with a line.
struct Node {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Node {
    async fn start(mode: &str, cases: &[Case]) -> std::io::Result<Self> {
        let mut child = Command::new("node")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/call/node.js"))
            .arg(mode)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut node = Self { _child: child, input, output: BufReader::new(output) };
        let scripts: BTreeMap<_, _> = cases.iter().map(|case| (case.tool, case.source)).collect();
        node.send(&json!({ "scripts": scripts, "lodash": lodash::file() })).await;
        Ok(node)
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, message: &Value) -> String {
        self.send(message).await;
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        line
    }
}

/// `node:vm` with a new context a call. It times itself, so that the way to it costs nothing.
pub(crate) struct NewContexts(Node);

#[derive(Deserialize)]
struct Block {
    /// Nanoseconds.
    times: Vec<u64>,
    result: String,
}

impl NewContexts {
    pub(crate) async fn start(cases: &[Case]) -> std::io::Result<Self> {
        Node::start("vm", cases).await.map(Self)
    }

    /// A block of calls, and what the last one answered.
    pub(crate) async fn block(
        &mut self,
        case: &Case,
        calls: usize,
        time: Duration,
    ) -> (Vec<Duration>, String) {
        let message = json!({
            "script": case.tool,
            "params": case.arguments.to_string(),
            "calls": calls,
            "milliseconds": u64::try_from(time.as_millis()).unwrap(),
        });
        let block: Block = serde_json::from_str(&self.0.ask(&message).await).unwrap();
        (block.times.into_iter().map(Duration::from_nanos).collect(), block.result)
    }
}

/// A Node process that stays, with everything loaded, and runs each call as a plain function.
pub(crate) struct NoIsolation {
    node: Node,
    calls: u64,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    result: String,
}

impl NoIsolation {
    pub(crate) async fn start(cases: &[Case]) -> std::io::Result<Self> {
        Node::start("child", cases).await.map(|node| Self { node, calls: 0 })
    }

    pub(crate) async fn call(&mut self, case: &Case) -> String {
        self.calls += 1;
        let message = json!({ "id": self.calls, "script": case.tool, "params": case.arguments });
        let answer: Answer = serde_json::from_str(&self.node.ask(&message).await).unwrap();
        assert_eq!(answer.id, self.calls);
        answer.result
    }
}
