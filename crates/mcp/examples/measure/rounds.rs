//! Contenders take turns; this is who is asked when, and how often.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    Contender, Revision,
    client::{Connection, Link as _},
    figures::{median, micros},
    servers::{Ask, Server},
};

const START_ROUNDS: usize = 3;
const STARTS_A_ROUND: usize = 4;
/// Many and short: where the kernel puts client and server decides about a round, and is another matter in the next.
const ROUNDS: usize = 25;
const CALLS_A_ROUND: usize = 200;
pub(crate) const LISTS_A_ROUND: usize = 4;
/// Until a server that compiles what is called often has done so.
const FIRST_CALLS: usize = 500;
pub(crate) const CONNECTIONS: usize = 64;
pub(crate) const SPANS: usize = 5;
const SPAN: Duration = Duration::from_secs(1);
/// Between turns. What a server puts off until it has answered, or its children until they notice its end, is not to be the
/// next one's loss.
const REST: Duration = Duration::from_millis(60);

/// In microseconds.
pub(crate) struct Measured {
    pub(crate) median: f64,
    /// The lowest of the rounds' medians: undisturbed, with client and server where the kernel should have put them.
    pub(crate) best: f64,
    pub(crate) cpu: f64,
}

impl Measured {
    pub(crate) fn beyond(&self, other: &Self) -> Self {
        Self { median: self.median - other.median, best: self.best - other.best, cpu: self.cpu - other.cpu }
    }
}

/// From nothing to the list of tools; sorted.
pub(crate) fn measure_starts(contenders: &[Contender]) -> Vec<Vec<Duration>> {
    let mut spans = vec![Vec::new(); contenders.len()];
    for _ in 0..START_ROUNDS {
        for (contender, spans) in contenders.iter().zip(&mut spans) {
            // The first one of a round finds nothing in caches, its own, the kernel's or the processor's: it is not counted.
            for start in 0..=STARTS_A_ROUND {
                let begun = Instant::now();
                let mut server = Server::start(contender, Revision::Sessions);
                server.ask(Ask::List);
                if start > 0 {
                    spans.push(begun.elapsed());
                }
                drop(server);
                thread::sleep(REST);
            }
        }
    }
    spans.iter_mut().for_each(|spans| spans.sort_unstable());
    spans
}

pub(crate) fn measure_calls(servers: &mut [Server]) -> Vec<Measured> {
    for server in &mut *servers {
        // An error could be faster than an answer.
        let answer = server.ask(Ask::Call);
        assert!(!answer.replace(' ', "").contains("\"isError\":true"), "{answer}");
        for _ in 0..FIRST_CALLS {
            server.ask(Ask::Call);
        }
    }
    alternate(servers, CALLS_A_ROUND, Ask::Call)
}

/// Asks each server in turn, so many times a round.
pub(crate) fn alternate(servers: &mut [Server], times: usize, ask: Ask) -> Vec<Measured> {
    let mut spans = vec![Vec::new(); servers.len()];
    let mut cpu = vec![0.0; servers.len()];
    let mut best = vec![Duration::MAX; servers.len()];
    let warm = times.div_ceil(10);
    for _ in 0..ROUNDS {
        for (index, server) in servers.iter_mut().enumerate() {
            let before = server.cpu();
            // After the others' turns, nothing of it is in the processor's caches: these are not timed. Their CPU is counted,
            // as it is known in hundredths of a second only, and what a round is short of has to be the next one's.
            for _ in 0..warm {
                server.ask(ask);
            }
            for _ in 0..times {
                let request = server.prepare(ask);
                let begun = Instant::now();
                server.link.exchange(&request);
                spans[index].push(begun.elapsed());
            }
            let round = spans[index].len() - times;
            spans[index][round..].sort_unstable();
            best[index] = best[index].min(median(&spans[index][round..]));
            thread::sleep(REST);
            cpu[index] += server.cpu() - before;
        }
    }
    let each = 1e6 / (ROUNDS * (warm + times)) as f64;
    (0..servers.len())
        .map(|index| {
            spans[index].sort_unstable();
            Measured {
                median: micros(median(&spans[index])),
                best: micros(best[index]),
                cpu: cpu[index] * each,
            }
        })
        .collect()
}

/// Calls a second over many connections in a few spans, for those that are reached over HTTP; sorted.
pub(crate) fn measure_rates(
    contenders: &[Contender],
    servers: &[Server],
    revision: Revision,
) -> Vec<Vec<f64>> {
    let mut rates = vec![Vec::new(); servers.len()];
    for _ in 0..SPANS {
        for ((contender, server), rates) in contenders.iter().zip(servers).zip(&mut rates) {
            if let Some(address) = &server.address {
                rates.push(calls_in_a_span(address, revision, &contender.call) as f64 / SPAN.as_secs_f64());
            }
        }
    }
    rates.iter_mut().for_each(|rates| rates.sort_unstable_by(f64::total_cmp));
    rates
}

fn calls_in_a_span(address: &str, revision: Revision, call: &Value) -> usize {
    let mut connections: Vec<Connection> =
        (0..CONNECTIONS).map(|_| Connection::open(address, revision)).collect();
    let begun = Instant::now();
    let calls = thread::scope(|scope| {
        let callers: Vec<_> = connections
            .iter_mut()
            .map(|connection| {
                scope.spawn(move || {
                    let mut calls = 0;
                    while begun.elapsed() < SPAN {
                        connection.request("tools/call", call);
                        calls += 1;
                    }
                    calls
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    connections.into_iter().for_each(Connection::close);
    thread::sleep(REST);
    calls
}
