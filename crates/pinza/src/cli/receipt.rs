//! A receipt for people: what a session's tools cost, against sending all of them every time.

use pinza::{
    agent::{Receipt, Talk, ToolCost},
    core::visible,
};

use super::{Result, author::counted, chat::explain};
use crate::terminal::Out;

/// How many tools are shown one by one; the rest is one line.
const SHOWN: usize = 20;

/// All of it.
pub(crate) fn lines(receipt: &Receipt) -> Vec<String> {
    let mut out = Out::default();
    out.line(&summary(receipt));
    if receipt.unrecorded > 0 {
        let answers = counted(receipt.unrecorded, "earlier answer");
        out.line(&format!("{answers} of this session came before receipts were kept: not counted here."));
    }
    out.line("");
    spent(&mut out, receipt);
    out.line("");
    cache(&mut out, receipt);
    out.line("");
    groups(&mut out, receipt);
    out.line("");
    tools(&mut out, receipt);
    out.line("");
    about(&mut out, receipt);
    out.into_lines()
}

/// The line that a talk ends with; none where nothing was asked.
pub(crate) async fn parting(talk: &Talk) -> Result<Option<String>> {
    Ok(talk.receipt().await.map_err(explain)?.as_ref().map(summary))
}

/// All of it in one line.
fn summary(receipt: &Receipt) -> String {
    let total = grouped(receipt.spent.total);
    let requests = counted(receipt.requests, "request");
    let everything = &receipt.everything;
    let all = match everything.tools {
        0 => return format!("tools: {total} tokens in {requests}; there are no tools to send"),
        1 => "the one tool".to_owned(),
        count => format!("all {count} tools"),
    };
    let verdict = verdict(receipt.saved_tokens, everything.tokens);
    format!(
        "tools: {total} tokens in {requests}; sending {all} each time: {} ({verdict})",
        grouped(everything.tokens)
    )
}

/// Never more than it is: a saving is rounded down, a loss up.
fn verdict(saved: i64, everything: usize) -> String {
    let everything = everything.max(1) as f64;
    let percent = 100.0 * saved as f64 / everything;
    match saved {
        0 => "the same".to_owned(),
        1.. if percent < 1.0 => "less than 1 % saved".to_owned(),
        1.. => format!("{} % saved", percent.floor()),
        _ => format!("{} % more", (-percent).ceil()),
    }
}

fn spent(out: &mut Out, receipt: &Receipt) {
    let spent = &receipt.spent;
    let loads = match spent.loading_requests {
        0 => String::new(),
        count => format!(
            "{} that brought nothing but loads: all that was said, once more",
            counted(count, "request")
        ),
    };
    let rows = [
        ("definitions", spent.definitions, "of the tools that the model read".to_owned()),
        ("listing", spent.listing, "of groups and skills".to_owned()),
        ("loading", spent.loading, "calls that find and load, and their results".to_owned()),
        ("call_tool", spent.wrapping, "what it adds to calls".to_owned()),
        ("sent again", spent.again, loads),
    ];
    let rows = rows.into_iter().filter(|(_, tokens, _)| *tokens > 0);
    table(out, rows.map(|(name, tokens, why)| [name.to_owned(), grouped(tokens), why]), &[1]);
}

fn cache(out: &mut Out, receipt: &Receipt) {
    match &receipt.provider {
        Some(provided) => {
            let usage = &provided.usage;
            out.line(&format!(
                "The provider counted {} in, {} out, in {}.",
                grouped_long(usage.input_tokens),
                grouped_long(usage.output_tokens),
                counted(provided.requests, "request")
            ));
            out.line(&format!(
                "Its cache: {} read, {} written.",
                grouped_long(usage.cache_read_tokens),
                grouped_long(usage.cache_write_tokens)
            ));
        }
        None => out.line("The provider reported no figures of its own."),
    }
    if receipt.rewrites.times > 0 {
        let (times, tokens) = (counted(receipt.rewrites.times, "load"), grouped(receipt.rewrites.tokens));
        out.line(&format!(
            "{times} changed the array of tools: {tokens} tokens behind it were no longer cached."
        ));
    }
}

fn groups(out: &mut Out, receipt: &Receipt) {
    let head = ["group", "tools", "calls", "definitions", "arguments", "results"].map(str::to_owned);
    let rows = receipt.groups.iter().map(|group| {
        [
            group.group.as_deref().map_or("(core)".to_owned(), visible),
            group.tools.to_string(),
            group.calls.to_string(),
            grouped(group.definition_tokens),
            grouped(group.call_tokens),
            grouped(group.result_tokens),
        ]
    });
    table(out, std::iter::once(head).chain(rows), &[1, 2, 3, 4, 5]);
}

fn tools(out: &mut Out, receipt: &Receipt) {
    let mut tools: Vec<&ToolCost> = receipt.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse((tool.calls > 0, total(tool))));
    let head =
        ["tool", "group", "calls", "requests", "definitions", "arguments", "results"].map(str::to_owned);
    let rows = tools.iter().take(SHOWN).map(|tool| {
        [
            visible(&tool.tool),
            tool.group.as_deref().map_or("(core)".to_owned(), visible),
            tool.calls.to_string(),
            tool.requests.to_string(),
            grouped(tool.definition_tokens),
            grouped(tool.call_tokens),
            grouped(tool.result_tokens),
        ]
    });
    table(out, std::iter::once(head).chain(rows), &[2, 3, 4, 5, 6]);
    if let Some(rest) = tools.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let tokens = rest.iter().map(|tool| total(tool)).sum();
        out.line(&format!("  and {}: {} tokens", counted(rest.len(), "more tool"), grouped(tokens)));
    }
}

fn about(out: &mut Out, receipt: &Receipt) {
    let exactness = if receipt.approximate { "; this provider counts a little differently" } else { "" };
    out.line(&format!(
        "Tokens are counted with {}{exactness}. Only the provider's figures are its own.",
        receipt.counted
    ));
    if receipt.each.iter().any(|request| request.reveal == pinza::agent::Reveal::Native) {
        out.line("A deferred tool is not in the prompt and costs nothing until it is loaded.");
    }
}

fn total(tool: &ToolCost) -> usize {
    tool.definition_tokens + tool.call_tokens + tool.result_tokens
}

/// Columns, with the numbers of these at the right.
fn table<const N: usize>(out: &mut Out, rows: impl Iterator<Item = [String; N]>, numbers: &[usize]) {
    let mut rows: Vec<[String; N]> = rows.collect();
    for column in numbers {
        let width = rows.iter().map(|row| row[*column].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[*column] = format!("{:>width$}", row[*column]));
    }
    out.columns(rows);
}

/// `12345` as `12,345`.
pub(crate) fn grouped(number: usize) -> String {
    grouped_long(number as u64)
}

fn grouped_long(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saving_is_never_said_greater_than_it_is() {
        for (saved, everything, said) in [
            (950, 1000, "95 % saved"),
            (959, 1000, "95 % saved"),
            (9, 1000, "less than 1 % saved"),
            (0, 1000, "the same"),
            (-1, 1000, "1 % more"),
            (-2504, 1000, "251 % more"),
            (-3, 0, "300 % more"),
        ] {
            assert_eq!(verdict(saved, everything), said);
        }
    }

    #[test]
    fn numbers() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
