//! What words alone cannot see: a table of word vectors, if there is one, tells how near a
//! tool's texts are to a request that shares none of their words.

use std::collections::HashMap;

use super::{document::Document, words::words};

/// Vectors of words, all of one length. Reading them from a file is another crate's affair.
pub trait WordTable: std::fmt::Debug + Send + Sync {
    /// The vector of a word in lower case.
    fn vector(&self, word: &str) -> Option<Vec<f32>>;
}

/// One unit vector a document, in bytes: a search goes through all of them, and memory is what it waits for.
#[derive(Debug)]
pub(super) struct Vectors {
    dimensions: usize,
    cells: Vec<i8>,
}

/// Cells of unit vectors are small; the few beyond a third are cut there.
const SCALE: f32 = 381.0;

impl Vectors {
    /// `None` if the table knows no word of the catalog.
    pub(super) fn new(documents: &[Document], table: &dyn WordTable) -> Option<Self> {
        let mut known = HashMap::new();
        let means: Vec<Option<Vec<f32>>> = documents
            .iter()
            .map(|document| {
                let texts = [&document.name, &document.group, &document.description];
                let texts = texts.into_iter().chain(&document.keywords).chain(&document.examples);
                mean(texts.flat_map(|text| words(text)), table, &mut known)
            })
            .collect();
        let dimensions = means.iter().flatten().next()?.len();
        let mut cells = vec![0; dimensions * documents.len()];
        for (cells, mean) in cells.chunks_exact_mut(dimensions).zip(&means) {
            if let Some(mean) = mean.as_ref().filter(|mean| mean.len() == dimensions) {
                cells.copy_from_slice(&quantised(mean));
            }
        }
        Some(Self { dimensions, cells })
    }

    /// How near each document is to these words, as standard scores; `None` if nothing is known.
    pub(super) fn nearness(
        &self,
        words: impl Iterator<Item = String>,
        table: &dyn WordTable,
    ) -> Option<Vec<f32>> {
        let mean = mean(words, table, &mut HashMap::new())?;
        if mean.len() != self.dimensions {
            return None;
        }
        let wanted = quantised(&mean);
        let mut near: Vec<f32> =
            self.cells.chunks_exact(self.dimensions).map(|cells| product(cells, &wanted)).collect();
        standardise(&mut near);
        Some(near)
    }
}

/// Brings scores of any scale to mean 0 and deviation 1, so that they can be added.
pub(super) fn standardise(scores: &mut [f32]) {
    let count = scores.len() as f32;
    let mean = scores.iter().sum::<f32>() / count;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / count;
    let deviation = variance.sqrt().max(f32::EPSILON);
    scores.iter_mut().for_each(|score| *score = (*score - mean) / deviation);
}

fn product(a: &[i8], b: &[i8]) -> f32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum::<i32>() as f32
}

fn quantised(unit: &[f32]) -> Vec<i8> {
    unit.iter().map(|cell| (cell * SCALE) as i8).collect()
}

/// The direction in which words point together.
fn mean(
    words: impl Iterator<Item = String>,
    table: &dyn WordTable,
    known: &mut HashMap<String, Option<Vec<f32>>>,
) -> Option<Vec<f32>> {
    let mut sum: Vec<f32> = Vec::new();
    for word in words {
        let vector = known.entry(word).or_insert_with_key(|word| table.vector(word));
        let Some(vector) = vector else { continue };
        sum.resize(vector.len(), 0.0);
        sum.iter_mut().zip(vector).for_each(|(sum, cell)| *sum += *cell);
    }
    let length = sum.iter().map(|cell| cell * cell).sum::<f32>().sqrt();
    (length.is_normal()).then(|| sum.iter().map(|cell| cell / length).collect())
}
