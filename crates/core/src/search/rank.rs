//! From a request to a short list: how well each tool fits the whole and its best clause, how
//! much of its name was said, whether it *is* the name; then a little of everything that was asked for,
//! and tools that are almost the same on one line.

use std::sync::Arc;

use super::{
    document::Document,
    index::{Postings, Term, Wanted},
    query::Query,
    vectors::{Vectors, WordTable, standardise},
    words::all_words,
};

const WHOLE: f32 = 0.7;
const BEST_CLAUSE: f32 = 0.3;
const NAME: f32 = 0.2;
/// The part of a table of word vectors, where there is one.
const TABLE: f32 = 0.3;
/// How much a word counts less when a better tool has answered it, if many things are asked for.
const ANSWERED: f32 = 0.3;
/// Tools that are looked at closely, at least and for each hit.
const CANDIDATES: usize = 60;
const CANDIDATES_EACH: usize = 4;
/// More than any score: names go first.
const NAMED: f32 = 1_000.0;
const PREFIX: f32 = 500.0;
const SHORTEST_PREFIX: usize = 3;
/// In bytes; what is longer is no name.
const LONGEST_NAME: usize = 4 * crate::names::LIMIT;
/// From which overlap of their own words on two tools are one to a reader; for equal names less.
const SAME: f32 = 0.9;
const SAME_NAMED: f32 = 0.6;

/// A search: one or more requests, perhaps within one group.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub queries: &'a [&'a str],
    pub group: Option<&'a str>,
    /// Hits for each query.
    pub limit: usize,
}

/// A tool that was found, by its place among the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub document: usize,
    pub score: f32,
    /// Tools that are almost the same.
    pub also: Vec<usize>,
}

/// An index over the tools of one moment.
#[derive(Debug)]
pub struct Index {
    postings: Postings,
    labels: Vec<Label>,
    /// Names as bare letters, sorted: (letters, document).
    names: Vec<(String, usize)>,
    vectors: Option<(Vectors, Arc<dyn WordTable>)>,
}

#[derive(Debug)]
struct Label {
    group: String,
    /// The name without its server, as bare letters.
    local: String,
}

impl Index {
    pub fn new(documents: &[Document], table: Option<Arc<dyn WordTable>>) -> Self {
        let label = |document: &Document| Label {
            group: document.group.clone(),
            local: letters(local_name(&document.name)),
        };
        let labels: Vec<Label> = documents.iter().map(label).collect();
        let full = documents.iter().map(|document| letters(&document.name)).enumerate();
        let local = labels.iter().map(|label| label.local.clone()).enumerate();
        let mut names: Vec<(String, usize)> = full.chain(local).map(|(at, name)| (name, at)).collect();
        names.sort_unstable();
        names.dedup();
        let vectors = table.and_then(|table| Some((Vectors::new(documents, &*table)?, table)));
        Self { postings: Postings::new(documents), labels, names, vectors }
    }

    /// The best tools for each query, the best of each first. Only tools that `permits` are there.
    pub fn search(&self, search: &Search<'_>, permits: &dyn Fn(usize) -> bool) -> Vec<Hit> {
        let is_there = |document: usize| {
            search.group.is_none_or(|group| self.labels[document].group == group) && permits(document)
        };
        let mut lists: Vec<_> = search
            .queries
            .iter()
            .map(|query| self.best(query, search.limit, &is_there).into_iter())
            .collect();
        let mut hits: Vec<Hit> = Vec::new();
        loop {
            let row: Vec<Hit> = lists.iter_mut().filter_map(Iterator::next).collect();
            if row.is_empty() {
                return hits;
            }
            for hit in row {
                let shown =
                    |shown: &Hit| shown.document == hit.document || shown.also.contains(&hit.document);
                if !hits.iter().any(shown) {
                    hits.push(hit);
                }
            }
        }
    }

    fn best(&self, text: &str, limit: usize, is_there: &dyn Fn(usize) -> bool) -> Vec<Hit> {
        let query = Query::parse(text);
        let clauses: Vec<Wanted> = query.clauses.iter().map(|clause| self.postings.wanted(clause)).collect();
        let whole = Wanted::join(&clauses);
        let mut scores = self.scores(&whole, &clauses);
        self.add_nearness(&query, &mut scores);
        self.add_names(text, &mut scores);
        let candidates = candidates(&scores, CANDIDATES.max(limit * CANDIDATES_EACH), is_there);
        self.fold(self.spread(candidates, limit, query.requests, whole.terms()), limit)
    }

    /// How well each document fits by its words; zero is not at all.
    fn scores(&self, whole: &Wanted, clauses: &[Wanted]) -> Vec<f32> {
        let count = self.labels.len();
        let mut scores = vec![0.0; count];
        self.add(whole, &mut scores);
        let mut best = vec![0.0_f32; count];
        let mut of_clause = vec![0.0; count];
        for clause in clauses {
            of_clause.fill(0.0);
            self.add(clause, &mut of_clause);
            best.iter_mut().zip(&of_clause).for_each(|(best, score)| *best = best.max(*score));
        }
        let (share, clause_share) = (WHOLE / highest(&scores), BEST_CLAUSE / highest(&best));
        scores.iter_mut().zip(&best).for_each(|(score, best)| *score = *score * share + best * clause_share);
        for (term, weight) in whole.terms() {
            for posting in self.postings.in_names(*term) {
                scores[posting.document as usize] += NAME * weight * posting.impact;
            }
        }
        scores
    }

    fn add(&self, wanted: &Wanted, scores: &mut [f32]) {
        for (term, weight) in wanted.terms() {
            for posting in self.postings.of(*term) {
                scores[posting.document as usize] += weight * posting.impact;
            }
        }
    }

    fn add_nearness(&self, query: &Query, scores: &mut [f32]) {
        let Some((vectors, table)) = &self.vectors else { return };
        let Some(near) = vectors.nearness(query.words().map(str::to_owned), &**table) else { return };
        standardise(scores);
        scores.iter_mut().zip(near).for_each(|(score, near)| *score = *score * (1.0 - TABLE) + near * TABLE);
    }

    /// Somebody who writes a name means that tool; who begins one, those that begin so.
    fn add_names(&self, text: &str, scores: &mut [f32]) {
        if text.len() > LONGEST_NAME {
            return;
        }
        let wanted = letters(text);
        let is_one_word = !text.trim().contains(char::is_whitespace);
        let from = self.names.partition_point(|(name, _)| *name < wanted);
        let begin_so = self.names[from..].iter().take_while(|(name, _)| name.starts_with(&wanted));
        for (name, document) in begin_so.filter(|_| !wanted.is_empty()) {
            if *name == wanted {
                scores[*document] += NAMED;
            } else if is_one_word && wanted.len() >= SHORTEST_PREFIX {
                scores[*document] += PREFIX;
            }
        }
    }

    /// Where several things are asked for, what one tool has answered counts less for the next.
    fn spread(
        &self,
        mut left: Vec<(usize, f32)>,
        limit: usize,
        requests: usize,
        wanted: &[(Term, f32)],
    ) -> Vec<(usize, f32)> {
        if requests < 2 {
            return left;
        }
        let answered = ANSWERED * (1.0 - 1.0 / requests as f32);
        let gain = |(document, _): &(usize, f32)| -> Vec<f32> {
            wanted.iter().map(|(term, weight)| weight * self.postings.impact(*document, *term)).collect()
        };
        let mut gains: Vec<Vec<f32>> = left.iter().map(gain).collect();
        let mut most = vec![f32::EPSILON; wanted.len()];
        for gain in &gains {
            most.iter_mut().zip(gain).for_each(|(most, gain)| *most = most.max(*gain));
        }
        let mut open = vec![1.0_f32; wanted.len()];
        let mut ordered = Vec::with_capacity(left.len());
        // Some of them will be folded into others.
        while ordered.len() < limit * 2 && !left.is_empty() {
            let score = |at: usize| {
                let (all, still) = gains[at]
                    .iter()
                    .zip(&open)
                    .fold((0.0, 0.0), |(all, still), (gain, open)| (all + gain, still + gain * open));
                left[at].1 * if all > 0.0 { still / all } else { 1.0 }
            };
            let scored = (0..left.len()).map(|at| (at, score(at)));
            let best = scored
                .reduce(|best, next| if next.1 > best.1 { next } else { best })
                .map_or(0, |best| best.0);
            let gain = gains.remove(best);
            for (open, (gain, most)) in open.iter_mut().zip(gain.iter().zip(&most)) {
                *open *= 1.0 - answered * gain / most;
            }
            ordered.push(left.remove(best));
        }
        ordered.extend(left);
        ordered
    }

    fn fold(&self, ordered: Vec<(usize, f32)>, limit: usize) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for (document, score) in ordered {
            if let Some(hit) = hits.iter_mut().find(|hit| self.is_same(hit.document, document)) {
                hit.also.push(document);
            } else if hits.len() < limit {
                hits.push(Hit { document, score, also: Vec::new() });
            }
        }
        hits
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        let (mine, theirs) = (self.postings.content(a), self.postings.content(b));
        let common = mine.iter().filter(|term| theirs.binary_search(term).is_ok()).count();
        let either = mine.len() + theirs.len() - common;
        let are_named_alike = self.labels[a].local == self.labels[b].local;
        let needed = if are_named_alike { SAME_NAMED } else { SAME };
        let overlap = common as f32 / either.max(1) as f32;
        overlap >= needed
    }
}

/// The best documents that are there, best first. Rights are looked up only for those that
/// would be shown, because each may mean going through all rules.
fn candidates(scores: &[f32], count: usize, is_there: &dyn Fn(usize) -> bool) -> Vec<(usize, f32)> {
    let mut found: Vec<(usize, f32)> =
        scores.iter().copied().enumerate().filter(|(_, score)| *score > 0.0).collect();
    let better = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut best = Vec::with_capacity(count);
    // Mostly the first few are enough; who may see little has more of them sorted.
    let mut sorted = 0;
    while best.len() < count && sorted < found.len() {
        let next = &mut found[sorted..];
        let few = (count * 2).max(sorted * 4).min(next.len());
        if few < next.len() {
            next.select_nth_unstable_by(few, better);
        }
        next[..few].sort_unstable_by(better);
        let there = next[..few].iter().filter(|(document, _)| is_there(*document));
        best.extend(there.take(count - best.len()).copied());
        sorted += few;
    }
    best
}

fn highest(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(f32::EPSILON, f32::max)
}

/// `github__create_issue` and `github.create_issue` are both called `create_issue`.
fn local_name(name: &str) -> &str {
    let after = |separator: &str| name.rsplit_once(separator).map(|(_, local)| local);
    let local = after("__").or_else(|| after("::")).or_else(|| after(".")).or_else(|| after("/"));
    local.filter(|local| !local.is_empty()).unwrap_or(name)
}

fn letters(name: &str) -> String {
    all_words(name).collect()
}
