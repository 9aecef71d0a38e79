//! What finding a tool costs among ten thousand: one request in a few words, and one that asks
//! for several things in fifty.

use divan::{Bencher, black_box};
use pinza_core::search::{Document, Index, ParameterText, Search};

const TOOLS: usize = 10_000;

const VERBS: [&str; 16] = [
    "create",
    "delete",
    "list",
    "update",
    "send",
    "search",
    "convert",
    "download",
    "analyze",
    "translate",
    "book",
    "cancel",
    "compare",
    "schedule",
    "upload",
    "validate",
];
const THINGS: [&str; 25] = [
    "invoice",
    "calendar event",
    "email",
    "repository",
    "flight",
    "hotel room",
    "image",
    "video",
    "document",
    "customer",
    "order",
    "payment",
    "ticket",
    "weather report",
    "song",
    "recipe",
    "database table",
    "message",
    "contact",
    "task",
    "dataset",
    "certificate",
    "shipment",
    "course",
    "sensor",
];
const PLACES: [&str; 25] = [
    "workspace",
    "cloud",
    "warehouse",
    "hospital",
    "school",
    "bank",
    "library",
    "garden",
    "factory",
    "museum",
    "airport",
    "kitchen",
    "office",
    "laboratory",
    "stadium",
    "theatre",
    "archive",
    "harbour",
    "market",
    "court",
    "studio",
    "farm",
    "clinic",
    "station",
    "gallery",
];

const SHORT: &str = "Could you please send an email to the customer?";
const LONG: &str = "I need your help with a few things at work. First, find the repository of the hospital and list the \
                    open tickets in it, together with the contact who reported them. Then schedule a calendar event for \
                    Monday at the office, send the invoice to the customer by email, and translate the document into \
                    French. Finally, compare the weather report of the airport with the sensor data from the harbour.";

fn main() {
    divan::main();
}

/// Every verb with every thing in every place, each with its words a little different.
fn catalog() -> Vec<Document> {
    let document = |number: usize| {
        let verb = VERBS[number % VERBS.len()];
        let thing = THINGS[number / VERBS.len() % THINGS.len()];
        let place = PLACES[number / VERBS.len() / THINGS.len() % PLACES.len()];
        let parameter = |name: &str, description: String| ParameterText {
            name: name.to_owned(),
            description,
            ..ParameterText::default()
        };
        Document {
            name: format!("{verb}_{}_{place}", thing.replace(' ', "_")),
            group: format!("{place}_{}", number % 40),
            description: format!(
                "{verb} a {thing} for the {place}, with number {number} and all that belongs to it"
            ),
            parameters: vec![
                parameter("id", format!("The identifier of the {thing}")),
                parameter("options", format!("How to {verb} it")),
            ],
            ..Document::default()
        }
    };
    (0..TOOLS).map(document).collect()
}

#[divan::bench(args = [SHORT, LONG])]
fn search(bencher: Bencher<'_, '_>, query: &str) {
    let index = Index::new(&catalog(), None);
    bencher.bench_local(|| {
        index.search(&Search { queries: &[black_box(query)], group: None, limit: 5 }, &|_| true)
    });
}

#[divan::bench(sample_count = 5)]
fn build(bencher: Bencher<'_, '_>) {
    let documents = catalog();
    bencher.bench_local(|| Index::new(black_box(&documents), None));
}
