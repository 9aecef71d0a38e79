//! `pinza tools search`: the search that models have, for people.

use pinza::core::meta::{Found, find, nothing};
use serde_json::{Value, json};

use super::{Done, Result, args::SearchTools, session::Session};
use crate::terminal::Printer;

pub(crate) fn run(printer: &Printer, session: &Session, wanted: &SearchTools) -> Result {
    let view = session.pinza.view();
    let queries = queries(&wanted.words);
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let found = find(&view, &queries, wanted.group.as_deref(), wanted.limit)?;
    printer.problems(&session.problems);
    // It was read by the search, if at all.
    if let Some(Err(error)) = session.words.as_ref().map(|words| words.load()) {
        printer.warning(&format!("search.table does not count: {error}"));
    }
    printer.json_or(
        || json!({ "tools": found.iter().map(summary).collect::<Vec<_>>() }),
        |out| match found.as_slice() {
            [] => out.line(&nothing(&view)),
            found => found.iter().for_each(|found| out.line(&found.line())),
        },
    );
    Ok(Done::Well)
}

/// `send an email` is one query, `'send an email' 'read a file'` are two.
fn queries(words: &[String]) -> Vec<String> {
    let are_plain = words.iter().all(|word| !word.trim().contains(char::is_whitespace));
    if are_plain { vec![words.join(" ")] } else { words.to_vec() }
}

fn summary(found: &Found<'_>) -> Value {
    let (definition, meta) = (found.entry.definition(), found.entry.meta());
    let also: Vec<_> = found.also.iter().map(|entry| &entry.definition().name).collect();
    json!({
        "name": definition.name,
        "group": meta.group,
        "signature": pinza::core::search::signature(found.entry),
        "description": definition.description,
        "also": also,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_query_and_quotes_make_several() {
        let words =
            |words: &[&str]| queries(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["send", "an", "email"]), ["send an email"]);
        assert_eq!(words(&["send an email", "calendar"]), ["send an email", "calendar"]);
    }
}
