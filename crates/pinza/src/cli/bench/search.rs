//! `pinza bench search`: how well and how fast the search finds tools, on a catalog and on
//! requests with the tools that answer them.

use std::{
    collections::HashSet,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use pinza::{
    WordFile,
    core::search::{Document, Index, ParameterText, Search, WordTable},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::super::{Done, Result, args::BenchSearch, author::counted};
use crate::terminal::Printer;

/// How deep rankings are looked at.
const DEPTH: usize = 10;

/// A line of the catalog.
#[derive(Deserialize)]
struct Tool {
    id: String,
    name: String,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    group_description: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Vec<Parameter>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    examples: Vec<String>,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "enum")]
    values: Option<Vec<Value>>,
}

/// A line of the requests.
#[derive(Deserialize)]
struct Request {
    id: Value,
    query: String,
    gold: Vec<String>,
}

/// What came out, as sums over the requests.
#[derive(Default)]
struct Figures {
    /// At 1, 5 and 10.
    recall: [f64; 3],
    ndcg: f64,
    times: Vec<Duration>,
}

const CUTS: [usize; 3] = [1, 5, DEPTH];

pub(crate) fn run(printer: &Printer, arguments: &BenchSearch) -> Result {
    let tools: Vec<Tool> = lines(&arguments.catalog)?;
    let requests: Vec<Request> = lines(&arguments.queries)?;
    ensure!(!tools.is_empty(), "{}: there is no tool in it", arguments.catalog.display());
    ensure!(!requests.is_empty(), "{}: there is no query in it", arguments.queries.display());
    check(&tools, &requests, arguments)?;
    let documents: Vec<Document> = tools.iter().map(document).collect();
    let table = arguments.table.as_deref().map(table).transpose()?;
    let start = Instant::now();
    let index = Index::new(&documents, table);
    let built = start.elapsed();
    let figures = measure(&index, &tools, &requests);
    print(
        printer,
        figures,
        &format!(
            "{} and {}, the index built in {} ms",
            counted(tools.len(), "tool"),
            if requests.len() == 1 { "1 query".into() } else { format!("{} queries", requests.len()) },
            built.as_millis()
        ),
    );
    Ok(Done::Well)
}

/// Every answer has to be there to be found.
fn check(tools: &[Tool], requests: &[Request], arguments: &BenchSearch) -> Result<()> {
    let mut known = HashSet::new();
    for tool in tools {
        ensure!(
            known.insert(&tool.id),
            "{}: the id '{}' is there twice",
            arguments.catalog.display(),
            tool.id
        );
    }
    for request in requests {
        let file = arguments.queries.display();
        ensure!(!request.gold.is_empty(), "{file}: query {} has no tool under \"gold\"", request.id);
        for id in &request.gold {
            ensure!(
                known.contains(id),
                "{file}: query {} wants '{id}', which is not in the catalog",
                request.id
            );
        }
    }
    Ok(())
}

fn measure(index: &Index, tools: &[Tool], requests: &[Request]) -> Figures {
    let mut figures = Figures::default();
    for request in requests {
        let search = Search { queries: &[&request.query], group: None, limit: DEPTH };
        let start = Instant::now();
        let hits = index.search(&search, &|_| true);
        figures.times.push(start.elapsed());
        // A line may stand for several tools: each takes its place in the ranking.
        let places = hits.iter().flat_map(|hit| std::iter::once(&hit.document).chain(&hit.also));
        let found: Vec<&str> = places.take(DEPTH).map(|place| tools[*place].id.as_str()).collect();
        let gold: HashSet<&str> = request.gold.iter().map(String::as_str).collect();
        for (sum, cut) in figures.recall.iter_mut().zip(CUTS) {
            *sum += recall(&found, &gold, cut);
        }
        figures.ndcg += ndcg(&found, &gold);
    }
    figures.times.sort_unstable();
    figures
}

fn print(printer: &Printer, figures: Figures, summary: &str) {
    let count = figures.times.len();
    let mean = |sum: f64| (sum / count as f64 * 10_000.0).round() / 10_000.0;
    let micros = |percent: usize| figures.times[(count * percent / 100).min(count - 1)].as_micros();
    let [at_1, at_5, at_10] = figures.recall.map(mean);
    let ndcg = mean(figures.ndcg);
    printer.json_or(
        || {
            json!({
                "recall@1": at_1, "recall@5": at_5, "recall@10": at_10, "ndcg@10": ndcg,
                "p50_us": micros(50), "p99_us": micros(99),
            })
        },
        |out| {
            out.line(summary);
            out.line("");
            let percent = |share: f64| format!("{:.1} %", share * 100.0);
            out.columns([
                ["recall@1".to_owned(), percent(at_1)],
                ["recall@5".to_owned(), percent(at_5)],
                ["recall@10".to_owned(), percent(at_10)],
                ["nDCG@10".to_owned(), percent(ndcg)],
                ["p50".to_owned(), format!("{} µs", micros(50))],
                ["p99".to_owned(), format!("{} µs", micros(99))],
            ]);
        },
    );
}

/// The share of the answers among the first.
fn recall(found: &[&str], gold: &HashSet<&str>, cut: usize) -> f64 {
    let hits = found.iter().take(cut).filter(|id| gold.contains(*id)).count();
    ratio(hits, gold.len())
}

/// How early the answers come, compared with all of them first.
fn ndcg(found: &[&str], gold: &HashSet<&str>) -> f64 {
    let gain = |place: usize| 1.0 / ratio(place + 2, 1).log2();
    let got: f64 =
        found.iter().enumerate().filter(|(_, id)| gold.contains(*id)).map(|(place, _)| gain(place)).sum();
    let best: f64 = (0..gold.len().min(DEPTH)).map(gain).sum();
    got / best
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn document(tool: &Tool) -> Document {
    let parameter = |parameter: &Parameter| ParameterText {
        name: parameter.name.clone(),
        description: parameter.description.clone().unwrap_or_default(),
        values: parameter
            .values
            .iter()
            .flatten()
            .filter_map(|value| Some(value.as_str()?.to_owned()))
            .collect(),
    };
    Document {
        name: tool.name.clone(),
        group: tool.group.clone().unwrap_or_default(),
        group_text: tool.group_description.clone().unwrap_or_default(),
        description: tool.description.clone(),
        parameters: tool.parameters.iter().map(parameter).collect(),
        keywords: tool.keywords.clone(),
        examples: tool.examples.clone(),
    }
}

fn table(path: &Path) -> Result<Arc<dyn WordTable>> {
    let file = WordFile::open(path)?;
    file.load().map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(Arc::new(file))
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {number}", path.display()))
    };
    numbered.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_what_their_names_say() {
        let gold = HashSet::from(["a", "b"]);
        assert_eq!([1, 5].map(|cut| recall(&["a", "x", "b"], &gold, cut)), [0.5, 1.0]);
        let expected = (1.0 + 0.5) / (1.0 + 1.0 / 3.0_f64.log2());
        assert!((ndcg(&["a", "x", "b"], &gold) - expected).abs() < 1e-9);
        assert!((ndcg(&["b", "a"], &gold) - 1.0).abs() < 1e-9);
        assert!(ndcg(&["x"], &gold) == 0.0);
    }
}
