//! `pinza bench tokens`: what groups save, in tokens, with everything counted.
//!
//! Both arms are conversations of the real engine, played through to the end: one is given every tool from
//! the start, the other loads groups when it needs them. Every request of both is written by the same
//! serialiser and counted whole: system prompt, listing, tools, and all that was said so far, loader calls
//! and their results included. A saving is worth nothing where a tool was not there when it was needed, so
//! each row says for how many of its uses the tool was visible.

mod catalog;
mod play;
mod scenario;
mod table;
mod wire;

use std::sync::Arc;

use pinza::{
    agent::{ProviderKind, Reveal, TokenCounter},
    core::Snapshot,
};
use serde::Serialize;
use serde_json::json;

#[cfg(test)]
pub(crate) use table::page;

use super::super::{Done, Global, Result, args::BenchTokens, session::Session};
use crate::terminal::Printer;
use play::{Arm, Played, play};
use scenario::{Scenario, scenarios};

/// One scenario, over one API, in one way to reveal.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    provider: &'static str,
    reveal: &'static str,
    /// Whether it is what this provider gets where nobody says otherwise.
    is_default: bool,
    scenario: &'static str,
    everything: Cost,
    groups: Cost,
    /// Of all tokens of a conversation with every tool in every request, in percent.
    saved_percent: f64,
    /// Uses of tools, and how many of those tools the model had been shown when it used them.
    uses: usize,
    visible: usize,
}

/// What a whole conversation costs.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    requests: usize,
    /// All that the model reads in all requests, and what it writes.
    tokens: usize,
    /// Those of them that stood at the beginning of the request before, so that a provider's cache has them.
    cached_tokens: usize,
    /// What goes over the wire; with `native` that is more than the model reads.
    request_bytes: usize,
}

/// What an MCP client is given before anything is asked.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Exposure {
    expose: &'static str,
    tools: usize,
    standing_tokens: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Report {
    tools: usize,
    groups: usize,
    rows: Vec<Row>,
    mcp: Vec<Exposure>,
}

pub(crate) fn run(global: &Global, printer: &Printer, arguments: &BenchTokens) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let manifests = match &arguments.catalog {
        Some(directory) => catalog::read(directory)?,
        None => catalog::embedded(),
    };
    let report = measure(&session.pinza.snapshot(), manifests)?;
    printer.json_or(|| json!(report), |out| table::print(out, &report));
    Ok(Done::Well)
}

/// Plays every scenario over every API in every way to reveal.
fn measure(builtin: &Snapshot, manifests: Vec<catalog::Manifest>) -> Result<Report> {
    let scenarios = scenarios();
    let snapshot = catalog::build(builtin, manifests, &scenarios)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut counter = TokenCounter::default();
    let mut rows = Vec::new();
    for scenario in &scenarios {
        let everything = runtime.block_on(play(&snapshot, Arm::Everything, scenario))?;
        let grows = runtime.block_on(play(&snapshot, Arm::Grows, scenario))?;
        let describes = runtime.block_on(play(&snapshot, Arm::Describes, scenario))?;
        for (kind, reveal) in wire::ways() {
            let played = if reveal == Reveal::Stable { &describes } else { &grows };
            // With everything there nothing is loaded, so there is one way only.
            let full = cost(&mut counter, kind, Reveal::Append, &everything)?;
            let groups = cost(&mut counter, kind, reveal, played)?;
            rows.push(row(scenario, kind, reveal, played, full, groups));
        }
    }
    let mcp = exposures(&mut counter, &snapshot);
    Ok(Report { tools: snapshot.len(), groups: snapshot.groups().count(), rows, mcp })
}

fn row(
    scenario: &Scenario,
    kind: ProviderKind,
    reveal: Reveal,
    played: &Played,
    everything: Cost,
    groups: Cost,
) -> Row {
    let saved = 1.0 - groups.tokens as f64 / everything.tokens as f64;
    Row {
        provider: kind.name(),
        reveal: reveal.name(),
        is_default: reveal == Reveal::default_for(kind),
        scenario: scenario.id,
        everything,
        groups,
        saved_percent: (saved * 1000.0).round() / 10.0,
        uses: played.uses,
        visible: played.visible,
    }
}

fn cost(counter: &mut TokenCounter, kind: ProviderKind, reveal: Reveal, played: &Played) -> Result<Cost> {
    let mut cost = Cost { requests: 0, tokens: 0, cached_tokens: 0, request_bytes: 0 };
    let mut last: Vec<String> = Vec::new();
    for index in 0..=played.rounds.len() {
        let request = wire::request(kind, reveal, played, index)?;
        let is_same = |(now, before): &(&String, &String)| now == before;
        let cached = request.pieces.iter().zip(&last).take_while(is_same).map(|(now, _)| now);
        cost.cached_tokens += cached.map(|piece| counter.tokens(piece)).sum::<usize>();
        cost.tokens += request.pieces.iter().map(|piece| counter.tokens(piece)).sum::<usize>();
        // What the model writes: calls, or in the end its answer.
        cost.tokens += request.answer.iter().map(|piece| counter.tokens(piece)).sum::<usize>();
        cost.requests += 1;
        cost.request_bytes += request.bytes;
        last = request.pieces;
    }
    Ok(cost)
}

fn exposures(counter: &mut TokenCounter, snapshot: &Arc<Snapshot>) -> Vec<Exposure> {
    let exposure = |(expose, pieces): (&'static str, Vec<String>)| Exposure {
        expose,
        tools: pieces.iter().filter(|piece| piece.starts_with('{')).count(),
        standing_tokens: pieces.iter().map(|piece| counter.tokens(piece)).sum(),
    };
    wire::exposures(snapshot).into_iter().map(exposure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The targets, and more: nobody is to buy a saving with tools that were not there.
    #[test]
    fn groups_save_and_lose_nothing() {
        let report = table::measured();
        assert!((140..200).contains(&report.tools), "{}", report.tools);
        assert_eq!(report.rows.len(), 4 * 10);
        for row in &report.rows {
            assert_eq!(row.visible, row.uses, "{row:?}");
            let least = match row.scenario {
                "simple" => 85.0,
                "email" => 80.0,
                "config+email" => 60.0,
                _ => continue,
            };
            assert!(row.saved_percent >= least, "{row:?}");
            assert!(row.groups.requests >= row.everything.requests, "{row:?}");
        }
        let search = report.mcp.iter().find(|exposure| exposure.expose == "search").unwrap();
        assert!(search.standing_tokens <= 150, "{search:?}");
    }

    /// As RFC-040 and the issue describe it, until the real groups are there.
    #[test]
    fn the_catalog_is_what_it_says() {
        let mut counter = TokenCounter::default();
        let mut google = Vec::new();
        for (group, tools) in catalog::described() {
            assert!((3..=24).contains(&tools.len()), "{group}: {}", tools.len());
            for (tool, text) in &tools {
                let tokens = counter.tokens(text);
                assert!((75..=125).contains(&tokens), "{tool}: {tokens} tokens");
            }
            google.extend(group.starts_with("google_").then_some(tools.len()));
        }
        assert_eq!(google.len(), 10);
        assert!((100..=120).contains(&google.iter().sum::<usize>()), "{google:?}");
    }

    /// Nothing that is loaded breaks the cache but `append`.
    #[test]
    fn only_append_rewrites_what_was_sent() {
        let report = table::measured();
        let of = |provider, reveal| {
            let row = report
                .rows
                .iter()
                .find(|row| (row.provider, row.reveal, row.scenario) == (provider, reveal, "config+email"));
            let groups = row.unwrap().groups;
            groups.cached_tokens as f64 / groups.tokens as f64
        };
        for provider in ["openai-responses", "anthropic"] {
            assert!(of(provider, "native") > of(provider, "append"));
        }
        assert!(of("gemini", "stable") > of("gemini", "append"));
    }
}
