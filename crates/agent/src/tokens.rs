//! Counts tokens with o200k, the vocabulary of OpenAI's models. Other providers count a little differently;
//! what is compared is counted alike, so differences hold for all.

use std::collections::HashMap;

/// Remembers what it counted: a tool is in hundreds of requests.
#[derive(Debug, Default)]
pub struct TokenCounter {
    known: HashMap<String, usize>,
}

impl TokenCounter {
    /// The first one is slow (a fraction of a second): the vocabulary is unpacked then, and not before.
    pub fn tokens(&mut self, text: &str) -> usize {
        if let Some(count) = self.known.get(text) {
            return *count;
        }
        let count = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
        self.known.insert(text.to_owned(), count);
        count
    }
}
