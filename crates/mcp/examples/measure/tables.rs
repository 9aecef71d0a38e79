//! The tables: a line for each contender, and what the targets say of Pinza's.

use crate::{
    Contender, Revision,
    figures::{header, median, millis, print_table, ratio},
    rounds::{CONNECTIONS, LISTS_A_ROUND, SPANS, alternate, measure_calls, measure_rates, measure_starts},
    servers::{Ask, Server},
};

/// What Pinza is compared with: its SDK without anything on top.
const BASE: &str = "bare rmcp";

pub(crate) fn compare_stdio(contenders: &[Contender]) {
    let colds = measure_starts(contenders);
    let mut servers = start_all(contenders, Revision::Sessions);
    let tools: Vec<usize> =
        servers.iter_mut().map(|server| server.ask(Ask::List).matches("\"inputSchema\"").count()).collect();
    let lists = alternate(&mut servers, LISTS_A_ROUND, Ask::List);
    let calls = measure_calls(&mut servers);

    let mut rows = vec![header(&[
        "stdio",
        "tools",
        "cold median ms",
        "cold best ms",
        "call p50 µs",
        "best round µs",
        "CPU µs",
        "list p50 µs",
        "RSS with children MB",
    ])];
    for (index, server) in servers.iter().enumerate() {
        rows.push(vec![
            contenders[index].name.clone(),
            tools[index].to_string(),
            format!("{:.1}", millis(median(&colds[index]))),
            format!("{:.1}", millis(colds[index][0])),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", calls[index].cpu),
            format!("{:.1}", lists[index].median),
            format!("{:.1}", server.memory()),
        ]);
    }
    print_table(&rows);
    for (ours, base) in compared(contenders) {
        let pair = format!("{} / {BASE}", contenders[ours].name);
        println!(
            "{pair}: cold {:.2}x by median, {:.2}x by best (target 1.3x at most)",
            ratio(median(&colds[ours]), median(&colds[base])),
            ratio(colds[ours][0], colds[base][0]),
        );
        println!(
            "{pair}: call {:+.1} µs by p50, {:+.1} µs by best round (target +10 µs at most); list {:.2}x (target 1x at most, \
             0.33x from cached bytes)",
            calls[ours].median - calls[base].median,
            calls[ours].best - calls[base].best,
            lists[ours].median / lists[base].median,
        );
    }
}

pub(crate) fn compare_http(contenders: &[Contender], revision: Revision) {
    let mut servers = start_all(contenders, revision);
    let calls = measure_calls(&mut servers);
    let rates = measure_rates(contenders, &servers, revision);

    let way = match revision {
        Revision::Stateless => "HTTP",
        Revision::Sessions => "HTTP sessions",
    };
    let many = format!("{CONNECTIONS} connections calls/s");
    let columns = [
        way,
        "1 connection p50 µs",
        "best round µs",
        "CPU µs",
        &many,
        "best calls/s",
        "RSS with children MB",
    ];
    let mut rows = vec![header(&columns)];
    for (index, server) in servers.iter().enumerate() {
        rows.push(vec![
            contenders[index].name.clone(),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", calls[index].cpu),
            format!("{:.0}", rates[index][SPANS / 2]),
            format!("{:.0}", rates[index][SPANS - 1]),
            format!("{:.1}", server.memory()),
        ]);
    }
    print_table(&rows);
    for (ours, base) in compared(contenders) {
        println!(
            "{} / {BASE}: {:.2}x the calls/s by median, {:.2}x by best (target 0.9x at least)",
            contenders[ours].name,
            rates[ours][SPANS / 2] / rates[base][SPANS / 2],
            rates[ours][SPANS - 1] / rates[base][SPANS - 1],
        );
    }
}

pub(crate) fn compare_gateways(contenders: &[Contender], revision: Revision) {
    let mut servers = start_all(contenders, revision);
    let calls = measure_calls(&mut servers);
    // Before the many connections, for which some gateways start as many servers.
    let memory: Vec<f64> = servers.iter().map(Server::memory).collect();
    let rates = measure_rates(contenders, &servers, revision);

    let many = format!("{CONNECTIONS} connections calls/s");
    let mut rows = vec![header(&[
        "gateway",
        "over",
        "call p50 µs",
        "adds µs",
        "best round µs",
        "adds µs",
        "CPU µs",
        &many,
        "RSS with children MB",
    ])];
    for (index, contender) in contenders.iter().enumerate() {
        let added = calls[index].beyond(&calls[0]);
        rows.push(vec![
            contender.name.clone(),
            contender.way().to_owned(),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", added.median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", added.best),
            format!("{:.1}", calls[index].cpu),
            rates[index].get(SPANS / 2).map_or("-".to_owned(), |rate| format!("{rate:.0}")),
            format!("{:.1}", memory[index]),
        ]);
    }
    print_table(&rows);
    for (contender, measured) in contenders.iter().zip(&calls) {
        if !contender.name.starts_with("pinza") {
            continue;
        }
        // The server itself, reached in the same way.
        let direct = contenders
            .iter()
            .position(|other| other.name == contenders[0].name && other.way() == contender.way());
        let Some(direct) = direct else { continue };
        let added = measured.beyond(&calls[direct]);
        println!(
            "{} adds {:.1} µs by p50, {:.1} µs by best round to {} over {} (target 60 µs at most)",
            contender.name,
            added.median,
            added.best,
            contenders[direct].name,
            contender.way(),
        );
    }
}

fn start_all(contenders: &[Contender], revision: Revision) -> Vec<Server> {
    contenders.iter().map(|contender| Server::start(contender, revision)).collect()
}

/// Pinza's lines beside the base's, where a table has both.
fn compared(contenders: &[Contender]) -> impl Iterator<Item = (usize, usize)> {
    let base = contenders.iter().position(|contender| contender.name == BASE);
    let ours = (0..contenders.len()).filter(|&index| contenders[index].name.starts_with("pinza"));
    ours.filter_map(move |ours| Some((ours, base?)))
}
