//! What reading an answer needs to know of the request.

use std::{collections::HashSet, sync::Arc};

use super::Request;
use crate::{message::Message, names::NameMap, reveal::Lineup};

/// Cheap to clone: every attempt of a request has a decoder of its own.
#[derive(Clone, Debug)]
pub struct Asked(Arc<Known>);

#[derive(Debug)]
struct Known {
    names: NameMap,
    taken: HashSet<String>,
    loader: Option<String>,
    seed: String,
}

impl Asked {
    /// Calls that the provider gives no usable id get one that begins with `seed`, which no other
    /// request has.
    pub fn of(request: &Request<'_>, seed: &str) -> Self {
        let lineup = Lineup::new(&request.tools, request.reveal);
        let calls = request.messages.iter().flat_map(Message::calls);
        Self(Arc::new(Known {
            taken: calls.map(|call| call.id.as_str().to_owned()).collect(),
            loader: lineup.loader.map(str::to_owned),
            names: lineup.names,
            seed: seed.to_owned(),
        }))
    }

    /// The tool that a model means.
    pub(super) fn tool<'a>(&'a self, wire_name: &'a str) -> &'a str {
        self.0.names.from_wire(wire_name).unwrap_or(wire_name)
    }

    /// Whether a call of the conversation has this id: some servers count from zero in every answer.
    pub(super) fn is_taken(&self, id: &str) -> bool {
        self.0.taken.contains(id)
    }

    /// The tool that the provider's own way to load stands for.
    pub(super) fn loader(&self) -> Option<&str> {
        self.0.loader.as_deref()
    }

    pub(super) fn seed(&self) -> &str {
        &self.0.seed
    }
}
