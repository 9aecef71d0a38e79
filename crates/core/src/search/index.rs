//! The inverted index: which terms stand in which tools, and how much each says there (BM25
//! over weighted fields). Built once, then only read.

use std::collections::HashMap;

use super::{
    document::Document,
    near::NearWords,
    thesaurus::concepts,
    words::{all_words, stem, words},
};

pub(super) type Term = u32;

/// Mild on purpose: moving them changes little on the catalogs measured, and might harm on others.
mod weight {
    pub(super) const NAME: f32 = 2.0;
    pub(super) const DESCRIPTION: f32 = 1.5;
    pub(super) const KEYWORD: f32 = 1.5;
    pub(super) const GROUP: f32 = 1.0;
    pub(super) const EXAMPLE: f32 = 1.0;
    pub(super) const PARAMETER: f32 = 0.7;
    pub(super) const PARAMETER_TEXT: f32 = 0.5;
    pub(super) const VALUE: f32 = 0.3;
    pub(super) const GROUP_TEXT: f32 = 0.3;

    /// In requests: a number is an argument more often than a name,
    pub(super) const DIGITS: f32 = 0.5;
    /// a word that is only near may be another,
    pub(super) const NEAR: f32 = 0.5;
    /// and a concept is wider than its word.
    pub(super) const CONCEPT: f32 = 0.2;
}

/// BM25's own: how soon repetition stops to matter, and how much long texts lose.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) document: u32,
    pub(super) impact: f32,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    vocabulary: HashMap<Box<str>, Term>,
    concepts: HashMap<u16, Term>,
    lists: Vec<Vec<Posting>>,
    /// For each term, the tools with it in their names and its share of them.
    names: Vec<Vec<Posting>>,
    /// For each document its terms with their impacts, by term.
    forward: Vec<Vec<(Term, f32)>>,
    /// For each document the terms of its own texts, without those of its group: what tells
    /// near-duplicates.
    content: Vec<Vec<Term>>,
    near: NearWords,
}

/// Terms that are looked for, each once, with what they weigh.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted(Vec<(Term, f32)>);

impl Wanted {
    pub(super) fn terms(&self) -> &[(Term, f32)] {
        &self.0
    }

    /// Of two weights the larger: saying a thing twice does not make it two things.
    fn want(&mut self, term: Term, weight: f32) {
        match self.0.iter_mut().find(|(known, _)| *known == term) {
            Some((_, known)) => *known = known.max(weight),
            None => self.0.push((term, weight)),
        }
    }

    pub(super) fn join(parts: &[Self]) -> Self {
        let mut whole = Self::default();
        parts.iter().flat_map(Self::terms).for_each(|(term, weight)| whole.want(*term, *weight));
        whole
    }
}

/// A document on its way into the index.
#[derive(Default)]
struct Counts {
    terms: HashMap<Term, f32>,
    concepts: HashMap<Term, f32>,
    name: Vec<Term>,
    content: Vec<Term>,
}

impl Postings {
    pub(super) fn new(documents: &[Document]) -> Self {
        let mut postings = Self::default();
        let counts: Vec<Counts> = documents.iter().map(|document| postings.count(document)).collect();
        postings.near = NearWords::new(postings.vocabulary.iter().map(|(word, term)| (&**word, *term)));
        postings.fill(counts);
        postings
    }

    pub(super) fn of(&self, term: Term) -> &[Posting] {
        &self.lists[term as usize]
    }

    pub(super) fn in_names(&self, term: Term) -> &[Posting] {
        &self.names[term as usize]
    }

    pub(super) fn impact(&self, document: usize, term: Term) -> f32 {
        let terms = &self.forward[document];
        terms.binary_search_by_key(&term, |(term, _)| *term).map_or(0.0, |at| terms[at].1)
    }

    pub(super) fn content(&self, document: usize) -> &[Term] {
        &self.content[document]
    }

    /// What a clause asks for: terms of the catalog, each once, with what they weigh.
    pub(super) fn wanted(&self, clause: &[String]) -> Wanted {
        let mut wanted = Wanted::default();
        for word in clause {
            let stem = stem(word);
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            match self.vocabulary.get(&*stem) {
                Some(term) => wanted.want(*term, if is_number { weight::DIGITS } else { 1.0 }),
                None => self.near.to(&stem).for_each(|term| wanted.want(term, weight::NEAR)),
            }
            let known = concepts(&stem).iter().filter_map(|concept| self.concepts.get(concept));
            known.for_each(|term| wanted.want(*term, weight::CONCEPT));
        }
        wanted
    }

    fn count(&mut self, document: &Document) -> Counts {
        let mut counts = Counts::default();
        self.add_name(&document.name, &mut counts);
        let keywords = document.keywords.iter().map(|keyword| (keyword, weight::KEYWORD));
        let own = [(&document.description, weight::DESCRIPTION)].into_iter().chain(keywords);
        own.for_each(|(text, weight)| self.add(text, weight, Field::Topic, &mut counts));
        counts.content = counts.terms.keys().copied().collect();
        self.add(&document.group, weight::GROUP, Field::Topic, &mut counts);
        self.add(&document.group_text, weight::GROUP_TEXT, Field::Other, &mut counts);
        for example in &document.examples {
            self.add(example, weight::EXAMPLE, Field::Other, &mut counts);
        }
        for parameter in &document.parameters {
            self.add(&parameter.name, weight::PARAMETER, Field::Other, &mut counts);
            self.add(&parameter.description, weight::PARAMETER_TEXT, Field::Other, &mut counts);
            for value in &parameter.values {
                self.add(value, weight::VALUE, Field::Other, &mut counts);
            }
        }
        counts.content.sort_unstable();
        counts
    }

    fn add_name(&mut self, name: &str, counts: &mut Counts) {
        self.add(name, weight::NAME, Field::Topic, counts);
        counts.name = counts.terms.keys().copied().collect();
        if counts.name.is_empty() {
            // A name that consists of stop words is still a name.
            for word in all_words(name) {
                let term = self.term(&stem(&word));
                counts.terms.insert(term, weight::NAME);
                counts.name.push(term);
            }
        }
    }

    fn add(&mut self, text: &str, weight: f32, field: Field, counts: &mut Counts) {
        for word in words(text) {
            let stem = stem(&word);
            *counts.terms.entry(self.term(&stem)).or_default() += weight;
            if matches!(field, Field::Topic) {
                for concept in concepts(&stem) {
                    let term = self.concept(*concept);
                    let known = counts.concepts.entry(term).or_default();
                    *known = known.max(weight);
                }
            }
        }
    }

    fn term(&mut self, stem: &str) -> Term {
        if let Some(term) = self.vocabulary.get(stem) {
            return *term;
        }
        let term = self.next();
        self.vocabulary.insert(stem.into(), term);
        term
    }

    fn concept(&mut self, concept: u16) -> Term {
        if let Some(term) = self.concepts.get(&concept) {
            return *term;
        }
        let term = self.next();
        self.concepts.insert(concept, term);
        term
    }

    fn next(&mut self) -> Term {
        let term = Term::try_from(self.lists.len()).unwrap_or(Term::MAX);
        self.lists.push(Vec::new());
        self.names.push(Vec::new());
        term
    }

    /// Second pass, when it is known how rare each term is.
    fn fill(&mut self, counts: Vec<Counts>) {
        let total = counts.len() as f32;
        let mut seen = vec![0.0_f32; self.lists.len()];
        counts.iter().flat_map(|it| it.terms.keys().chain(it.concepts.keys())).for_each(|term| {
            seen[*term as usize] += 1.0;
        });
        let rarity =
            |term: Term| (1.0 + (total - seen[term as usize] + 0.5) / (seen[term as usize] + 0.5)).ln();
        let lengths: Vec<f32> = counts.iter().map(|it| it.terms.values().sum()).collect();
        let average = (lengths.iter().sum::<f32>() / total).max(1.0);
        for ((document, counts), length) in (0..).zip(counts).zip(lengths) {
            let penalty = SATURATION * (1.0 - LENGTH + LENGTH * length / average);
            let impact = |(term, count): (Term, f32)| {
                (term, rarity(term) * count * (SATURATION + 1.0) / (count + penalty))
            };
            let mut forward: Vec<(Term, f32)> =
                counts.terms.into_iter().chain(counts.concepts).map(impact).collect();
            forward.sort_unstable_by_key(|(term, _)| *term);
            for (term, impact) in &forward {
                self.lists[*term as usize].push(Posting { document, impact: *impact });
            }
            let whole: f32 = counts.name.iter().map(|term| rarity(*term)).sum();
            for term in counts.name {
                self.names[term as usize].push(Posting { document, impact: rarity(term) / whole });
            }
            self.forward.push(forward);
            self.content.push(counts.content);
        }
    }
}

/// Whether a field says what a tool is about. Only then do its words stand for their concepts.
#[derive(Clone, Copy)]
enum Field {
    Topic,
    Other,
}
