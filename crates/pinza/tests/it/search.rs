//! `pinza tools search`, `pinza bench search`, and what the search costs a model.

use serde_json::{Value, json};

use crate::support::{check, fine, keys, pinza, refused};

const CATALOG: &str = r#"{"id":"a","name":"sendMail","group":"mail","description":"Send a message","parameters":[{"name":"to","type":"string","description":"Who gets it","required":true}]}
{"id":"b","name":"forecast","group":"","description":"Weather of the coming days","parameters":[]}

{"id":"c","name":"crop","description":"Cut a picture","parameters":[{"name":"shape","enum":["circle","square"]}],"keywords":["photo"]}
"#;
const QUERIES: &str = r#"{"id":1,"query":"Could you mail this to Bob?","gold":["a"]}
{"id":"2","query":"will it rain","gold":["b"],"subset":"x"}
{"id":"3","query":"zzzz","gold":["c"]}
{"id":"4","query":"cut a photo into a circle and send it","gold":["c","a"]}
"#;

/// A table of two rows: `rain` and `zzzz` point one way, every other word the other.
const TOKENIZER: &str =
    r#"{"model":{"vocab":{"▁crop":0,"▁zzzz":0,"▁weather":1,"▁rain":1,"▁mail":1},"merges":[]}}"#;

fn table() -> Vec<u8> {
    let heading = r#"{"e":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}"#;
    let mut bytes = (heading.len() as u64).to_le_bytes().to_vec();
    bytes.extend(heading.as_bytes());
    bytes.extend([0x3c00_u16, 0, 0, 0x3c00].iter().flat_map(|cell| cell.to_le_bytes()));
    bytes
}

#[test]
fn tools_are_found_by_what_they_do() {
    let pinza = pinza();
    let stdout = "edit(path, oldText, newText) [fs]: Replace one piece of a text file.\n";
    check(&pinza, &["tools", "search", "replace", "a", "piece", "of", "text", "--limit", "1"], 0, stdout, "");
    let found = fine(
        &pinza,
        &["--json", "tools", "search", "what time is it", "run a shell command", "--limit", "1"],
    )
    .json();
    assert_eq!(keys(&found["tools"][0]), ["name", "group", "signature", "description", "also"]);
    let names: Vec<&Value> = found["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["get_current_time", "exec"]);
    let found = fine(&pinza, &["--json", "tools", "search", "read a file", "--group", "fs"]).json();
    let groups: Vec<&Value> = found["tools"].as_array().unwrap().iter().map(|tool| &tool["group"]).collect();
    assert!(!groups.is_empty() && groups.iter().all(|group| **group == "fs"), "{found}");
}

#[test]
fn what_policy_denies_is_not_found() {
    let pinza = pinza();
    let names = |arguments: &[&str]| {
        let found = fine(&pinza, arguments).json();
        found["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()).collect::<Vec<_>>()
    };
    let search = ["--json", "tools", "search", "exec", "shell command"];
    assert!(names(&search).contains(&"\"exec\"".to_owned()));
    assert!(!names(&[&search[..], &["--deny", "exec"]].concat()).contains(&"\"exec\"".to_owned()));
    fine(&pinza, &["tools", "disable", "exec"]);
    assert!(!names(&search).contains(&"\"exec\"".to_owned()));
}

#[test]
fn a_search_for_nothing_or_nowhere_is_answered() {
    let pinza = pinza();
    let stderr = "error: not_found: Tool group 'nope' not found. Available groups: fs[..]\n";
    check(&pinza, &["tools", "search", "x", "--group", "nope"], 1, "", stderr);
    let stderr = "error: validation_error: Parameter 'limit' must be from 1 to 50\n";
    check(&pinza, &["tools", "search", "x", "--limit", "0"], 1, "", stderr);
    check(&pinza, &["tools", "search", "qqqqqq"], 0, "No tools found. Tool groups: fs[..]\n", "");
    assert_eq!(fine(&pinza, &["--json", "tools", "search", "qqqqqq"]).json(), json!({ "tools": [] }));
}

#[test]
fn a_bench_has_its_figures() {
    let pinza = pinza();
    let (catalog, queries) = (pinza.put("t.jsonl", CATALOG), pinza.put("q.jsonl", QUERIES));
    let (catalog, queries) = (catalog.to_str().unwrap(), queries.to_str().unwrap());
    let bench = ["--json", "bench", "search", "--catalog", catalog, "--queries", queries];
    let figures = fine(&pinza, &bench).json();
    assert_eq!(keys(&figures), ["recall@1", "recall@5", "recall@10", "ndcg@10", "p50_us", "p99_us"]);
    assert_eq!((&figures["recall@1"], &figures["recall@5"]), (&json!(0.625), &json!(0.75)), "{figures}");
    assert_eq!(figures["ndcg@10"], json!(0.75));
    assert!(figures["p50_us"].as_u64() <= figures["p99_us"].as_u64(), "{figures}");

    // With a table, the word that no tool has is found too.
    pinza.put("tokenizer.json", TOKENIZER);
    let table = pinza.put("words.safetensors", table());
    let with_table = [&bench[..], &["--table", table.to_str().unwrap()]].concat();
    assert_eq!(fine(&pinza, &with_table).json()["recall@1"], json!(0.875));

    let stdout =
        "3 tools and 4 queries, the index built in [..] ms\n\n  recall@1   62.5 %\n  recall@5   75.0 %
  recall@10  75.0 %\n  nDCG@10    75.0 %\n  p50        [..] µs\n  p99        [..] µs\n";
    check(&pinza, &bench[1..], 0, stdout, "");
}

#[test]
fn bad_data_is_refused_with_its_place() {
    let pinza = pinza();
    let file = |name: &str, text: &str| pinza.put(name, text).to_str().unwrap().to_owned();
    let (catalog, queries) = (file("t.jsonl", CATALOG), file("q.jsonl", QUERIES));
    let twice = file("twice.jsonl", &format!("{CATALOG}{CATALOG}"));
    let broken = file("broken.jsonl", &format!("{CATALOG}{{\"id\": 1}}\n"));
    let unknown = file("unknown.jsonl", r#"{"id":"q","query":"x","gold":["nope"]}"#);
    let no_gold = file("no-gold.jsonl", r#"{"id":"q","query":"x","gold":[]}"#);
    let empty = file("empty.jsonl", "\n");
    for (catalog, queries, reason) in [
        ("/nowhere.jsonl", queries.as_str(), "error: cannot read /nowhere.jsonl: No such file[..]\n"),
        (
            &broken,
            &queries,
            "error: [..]broken.jsonl, line 5: invalid type: integer `1`, expected a string[..]\n",
        ),
        (&twice, &queries, "error: [..]twice.jsonl: the id 'a' is there twice\n"),
        (&empty, &queries, "error: [..]empty.jsonl: there is no tool in it\n"),
        (&catalog, &empty, "error: [..]empty.jsonl: there is no query in it\n"),
        (&catalog, &unknown, "error: [..]query \"q\" wants 'nope', which is not in the catalog\n"),
        (&catalog, &no_gold, "error: [..]query \"q\" has no tool under \"gold\"\n"),
    ] {
        refused(&pinza, &["bench", "search", "--catalog", catalog, "--queries", queries], reason);
    }
    let table = ["bench", "search", "--catalog", &catalog, "--queries", &queries, "--table", &catalog];
    refused(&pinza, &table, "error: [..]t.jsonl: it is not a safetensors file: [..]\n");
}

#[test]
fn a_table_in_the_configuration_is_used_or_reported() {
    let pinza = pinza();
    let config = pinza.config_file();
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "[search]\ntable = \"words/words.safetensors\"\n").unwrap();
    let warning = "warning: [..]config.toml: search.table does not count: [..]words.safetensors: cannot read it: [..]\n";
    check(&pinza, &["tools", "search", "qqqqqq"], 0, "No tools found. [..]\n", warning);
    let words = pinza.home().join("words");
    std::fs::create_dir_all(&words).unwrap();
    std::fs::write(words.join("words.safetensors"), table()).unwrap();
    // Only a search reads the tokenizer.
    std::fs::write(words.join("tokenizer.json"), "{}").unwrap();
    fine(&pinza, &["tools", "list"]);
    let warning = "warning: search.table does not count: [..]tokenizer.json: it is not a tokenizer with merges (BPE): [..]\n";
    check(&pinza, &["tools", "search", "qqqqqq"], 0, "No tools found. [..]\n", warning);
    let tokenizer =
        r#"{"model":{"vocab":{"▁qqqqqq":0,"▁time":0,"▁file":1,"▁http":1,"▁command":1},"merges":[]}}"#;
    std::fs::write(words.join("tokenizer.json"), tokenizer).unwrap();
    let run = fine(&pinza, &["tools", "search", "qqqqqq", "--limit", "1"]);
    assert!(run.stdout.starts_with("get_current_time("), "{run:?}");
}

#[test]
fn searching_costs_few_tokens() {
    let shown =
        fine(&pinza(), &["schema", "--provider", "openai", "--include", "search_tools,call_tool"]).json();
    assert_eq!(shown.as_array().map(Vec::len), Some(2), "{shown}");
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&shown.to_string()).len();
    assert!(tokens <= 150, "{tokens} tokens: {shown}");
}
