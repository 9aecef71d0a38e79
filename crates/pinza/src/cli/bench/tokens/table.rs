//! The measure as tables: for a terminal, and for `docs/concepts/groups.md`.

use super::{Report, Row};
use crate::{
    cli::{author::counted, receipt::grouped},
    terminal::Out,
};

pub(super) fn print(out: &mut Out, report: &Report) {
    out.line(&format!(
        "{} tools in {} groups and the core; tokens (o200k) of whole conversations, every request counted whole.",
        report.tools, report.groups
    ));
    for (title, rows) in by_scenario(report) {
        out.line("");
        out.heading(title);
        let head = [
            "provider",
            "reveal",
            "requests",
            "everything",
            "groups",
            "saved",
            "visible",
            "cached",
            "bytes sent",
        ];
        let rows = rows.into_iter().map(|row| {
            let Row { everything, groups, .. } = row;
            let mark = if row.is_default { " *" } else { "" };
            [
                row.provider.to_owned(),
                format!("{}{mark}", row.reveal),
                format!("{} / {}", everything.requests, groups.requests),
                grouped(everything.tokens),
                grouped(groups.tokens),
                format!("{:.1} %", row.saved_percent),
                format!("{}/{}", row.visible, row.uses),
                format!("{} / {}", grouped(everything.cached_tokens), grouped(groups.cached_tokens)),
                format!("{} / {}", grouped(everything.request_bytes), grouped(groups.request_bytes)),
            ]
        });
        out.columns(std::iter::once(head.map(str::to_owned)).chain(rows));
    }
    out.line("");
    out.heading("Standing, over MCP");
    out.columns(report.mcp.iter().map(|exposure| {
        let (tools, tokens) = (exposure.tools, grouped(exposure.standing_tokens));
        [format!("--expose {}", exposure.expose), counted(tools, "tool"), format!("{tokens} tokens")]
    }));
    out.line("");
    out.line("* the provider's default. visible: uses of tools that the model had been shown. cached: tokens at the start of a");
    out.line("request that stood there in the one before. Pairs are: everything / groups.");
}

/// The rows of each scenario, under its title.
fn by_scenario(report: &Report) -> Vec<(&'static str, Vec<&Row>)> {
    let scenarios = super::scenarios();
    let of = |id: &str| report.rows.iter().filter(|row| row.scenario == id).collect();
    scenarios.iter().map(|scenario| (scenario.title, of(scenario.id))).collect()
}

/// The measure on the built-in tools alone and the embedded catalog, once for all tests.
#[cfg(test)]
pub(super) fn measured() -> &'static Report {
    static REPORT: std::sync::OnceLock<Report> = std::sync::OnceLock::new();
    REPORT.get_or_init(|| {
        let workspace = tempfile::tempdir().unwrap();
        let home = workspace.path().display().to_string();
        let typed = ["pinza", "--home", &home, "bench", "tokens"];
        let global = crate::cli::parse(&typed).unwrap().global;
        let pinza = crate::cli::session::Session::open(&global).unwrap().pinza;
        super::measure(&pinza.snapshot(), super::catalog::embedded()).unwrap()
    })
}

/// The tables of the page.
#[cfg(test)]
pub(crate) fn page() -> String {
    use std::fmt::Write as _;

    let report = measured();
    let mut text = format!("{} tools, {} groups.\n", report.tools, report.groups);
    for (title, rows) in by_scenario(report) {
        write!(text, "\n**{title}**\n\n| provider | reveal | requests | every tool | groups | saved | visible when used |\n|---|---|---|---|---|---|---|\n").unwrap();
        for row in rows {
            let mark = if row.is_default { " (default)" } else { "" };
            writeln!(
                text,
                "| {} | {}{mark} | {} → {} | {} | {} | {:.1} % | {} of {} |",
                row.provider,
                row.reveal,
                row.everything.requests,
                row.groups.requests,
                grouped(row.everything.tokens),
                grouped(row.groups.tokens),
                row.saved_percent,
                row.visible,
                row.uses
            )
            .unwrap();
        }
    }
    text.push_str("\n| MCP | tools | standing tokens |\n|---|---|---|\n");
    for exposure in &report.mcp {
        let (expose, tools) = (exposure.expose, exposure.tools);
        writeln!(text, "| `--expose {expose}` | {tools} | {} |", grouped(exposure.standing_tokens)).unwrap();
    }
    text
}
