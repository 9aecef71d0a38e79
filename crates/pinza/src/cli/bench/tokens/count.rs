//! Counts tokens with o200k, the vocabulary of OpenAI's models. Other providers count a little differently;
//! both arms are counted alike, so the savings hold for all.

use std::collections::HashMap;

/// Remembers what it counted: a tool is in hundreds of requests.
#[derive(Default)]
pub(super) struct Counter {
    known: HashMap<String, usize>,
}

impl Counter {
    pub(super) fn tokens(&mut self, text: &str) -> usize {
        if let Some(count) = self.known.get(text) {
            return *count;
        }
        // The vocabulary is unpacked when something is first counted, and by no other command.
        let count = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
        self.known.insert(text.to_owned(), count);
        count
    }
}
