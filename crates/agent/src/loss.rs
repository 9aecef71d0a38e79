//! What a provider's dialect could not express, and where.
//!
//! A schema is cleaned so that a provider accepts it; whoever wrote the schema should be
//! able to see what the model no longer sees.

use std::{borrow::Cow, fmt};

use serde::Serialize;

/// One thing that a model is not told about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Loss {
    pub tool: String,
    /// Where in the original schema: `parameters.properties.when.format`.
    pub path: String,
    pub keyword: String,
    /// In plain words, as the end of a sentence about the keyword.
    pub reason: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.tool, self.path, self.reason)
    }
}

/// Collects the losses of one tool, each once.
#[derive(Debug)]
pub(crate) struct Losses {
    tool: String,
    seen: indexmap::IndexSet<Loss>,
}

impl Losses {
    pub(crate) fn of(tool: &str) -> Self {
        Self { tool: tool.into(), seen: indexmap::IndexSet::new() }
    }

    /// An empty collection for the same tool: what an attempt lost counts only if it succeeds.
    pub(crate) fn fresh(&self) -> Self {
        Self::of(&self.tool)
    }

    /// Reports the keyword that `place` ends with.
    pub(crate) fn add(&mut self, place: &Place<'_>, reason: impl Into<String>) {
        let loss = self.loss(place, reason);
        self.seen.insert(loss);
    }

    pub(crate) fn loss(&self, place: &Place<'_>, reason: impl Into<String>) -> Loss {
        Loss {
            tool: self.tool.clone(),
            path: place.to_string(),
            keyword: place.segment().to_owned(),
            reason: reason.into(),
        }
    }

    pub(crate) fn extend(&mut self, losses: impl IntoIterator<Item = Loss>) {
        self.seen.extend(losses);
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Loss> {
        self.seen.into_iter()
    }
}

/// Where a conversion stands: the path from the root, and which references led there. It
/// lives on the call stack, one link a level, so that nothing has to be undone on the way up.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
    depth: usize,
}

#[derive(Debug)]
enum Step<'a> {
    Into(Cow<'a, str>),
    Through(&'a [String]),
}

impl<'a> Place<'a> {
    pub(crate) fn root() -> Self {
        Self { parent: None, step: Step::Into("parameters".into()), depth: 0 }
    }

    pub(crate) fn at(&'a self, segment: impl Into<Cow<'a, str>>) -> Self {
        Self { parent: Some(self), step: Step::Into(segment.into()), depth: self.depth + 1 }
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        self.at(index.to_string())
    }

    /// The same place, reached through these references.
    pub(crate) fn through(&'a self, references: &'a [String]) -> Self {
        Self { parent: Some(self), step: Step::Through(references), depth: self.depth }
    }

    pub(crate) fn is_inside(&self, reference: &str) -> bool {
        let here = match self.step {
            Step::Through(references) => references.iter().any(|entered| entered == reference),
            Step::Into(_) => false,
        };
        // The root is the one schema that is entered without being referred to.
        here || self.parent.map_or(reference == "#", |parent| parent.is_inside(reference))
    }

    fn segment(&self) -> &str {
        match (&self.step, self.parent) {
            (Step::Into(segment), _) => segment,
            (Step::Through(_), Some(parent)) => parent.segment(),
            (Step::Through(_), None) => "",
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        self.depth == 0
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match &self.step {
            Step::Through(_) => Ok(()),
            Step::Into(segment) if self.parent.is_none() => f.write_str(segment),
            Step::Into(segment) if is_plain(segment) => write!(f, ".{segment}"),
            Step::Into(segment) => write!(f, "[\"{}\"]", pinza_core::visible(segment)),
        }
    }
}

/// Whether a segment can stand between dots without being misread.
fn is_plain(segment: &str) -> bool {
    !segment.is_empty() && segment.chars().all(|c| c.is_alphanumeric() || "_-$/".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_reads_as_a_sentence_and_is_told_once() {
        let mut losses = Losses::of("plan");
        let root = Place::root();
        let (properties, entered) = (root.at("properties"), ["#/$defs/When".to_owned()]);
        let when = properties.at("when");
        for _ in 0..2 {
            losses.add(&when.through(&entered).at("format"), "Gemini does not know the format 'time'");
        }
        let told: Vec<String> = losses.into_iter().map(|loss| loss.to_string()).collect();
        assert_eq!(told, ["plan: parameters.properties.when.format: Gemini does not know the format 'time'"]);
    }

    #[test]
    fn odd_names_are_quoted() {
        let root = Place::root();
        assert_eq!(root.at("a.b\n").to_string(), r#"parameters["a.b\n"]"#);
    }

    #[test]
    fn a_place_knows_the_references_that_led_to_it() {
        let (root, entered) = (Place::root(), ["#/$defs/Node".to_owned()]);
        let through = root.through(&entered);
        let below = through.at("properties");
        assert!(below.is_inside("#/$defs/Node") && below.is_inside("#"));
        assert!(!below.is_inside("#/$defs/Leaf") && !root.is_inside("#/$defs/Node"));
    }
}
