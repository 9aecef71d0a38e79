//! A table of word vectors from a file: wordllama's weights and, beside them, its tokenizer.
//!
//! Both files are as PyPI's `wordllama` carries them. Little of either format is needed (one
//! matrix of half floats, one list of merges), so they are read here instead of by two large
//! libraries. Nothing is read before the first search but the matrix's heading.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use pinza_core::search::WordTable;
use serde::Deserialize;

/// More than any heading has: a file that says more is no matrix.
const MAX_HEADING: u64 = 1 << 20;
/// A vocabulary of a quarter of a million pieces, 512 wide.
const MAX_MATRIX: u64 = 256 << 20;
const MAX_TOKENIZER: u64 = 64 << 20;
/// Longer words are no words; merging takes quadratic time.
const LONGEST_WORD: usize = 48;
/// How the tokenizer writes the beginning of a word.
const WORD_START: char = '▁';

/// Why a file cannot serve as table.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", path.display())]
pub struct WordFileError {
    path: PathBuf,
    kind: WordFileErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum WordFileErrorKind {
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    #[error("it is not a safetensors file: {0}")]
    NotSafetensors(String),
    #[error("it should hold one matrix of half floats (F16), not {0}")]
    NotAMatrix(String),
    #[error("there is no *tokenizer*.json beside it")]
    NoTokenizer,
    #[error("it is not a tokenizer with merges (BPE): {0}")]
    NotATokenizer(#[from] serde_json::Error),
    #[error("it is too large")]
    TooLarge,
}

/// A file of word vectors.
#[derive(Debug)]
pub struct WordFile {
    path: PathBuf,
    tokenizer: PathBuf,
    matrix: Matrix,
    loaded: OnceLock<Result<Loaded, WordFileError>>,
}

/// Where the numbers are.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    start: usize,
    rows: usize,
    width: usize,
}

struct Loaded {
    cells: Vec<u8>,
    pieces: HashMap<String, usize>,
    /// Pairs of pieces that become one, the lowest rank first.
    ranks: HashMap<(String, String), usize>,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("pieces", &self.pieces.len()).finish_non_exhaustive()
    }
}

impl WordFile {
    /// Looks at the file's heading and for its tokenizer; the rest is read when it is needed.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, WordFileError> {
        let path = path.into();
        let at = |kind| WordFileError { path: path.clone(), kind };
        let matrix = heading(&path).map_err(at)?;
        let tokenizer = tokenizer_beside(&path).map_err(at)?;
        Ok(Self { path, tokenizer, matrix, loaded: OnceLock::new() })
    }

    /// Reads all of it, to know now whether it is sound.
    pub fn load(&self) -> Result<(), &WordFileError> {
        self.loaded().map(|_| ())
    }

    fn loaded(&self) -> Result<&Loaded, &WordFileError> {
        let load = || {
            let cells = fs::read(&self.path)
                .map_err(|error| WordFileError { path: self.path.clone(), kind: error.into() })?;
            let at = |kind| WordFileError { path: self.tokenizer.clone(), kind };
            let (pieces, ranks) = read_tokenizer(&self.tokenizer).map_err(at)?;
            Ok(Loaded { cells, pieces, ranks })
        };
        self.loaded.get_or_init(load).as_ref()
    }

    /// Adds a row; tells whether the file has it.
    fn add(&self, cells: &[u8], row: usize, sum: &mut [f32]) -> bool {
        let start = self.matrix.start + row * self.matrix.width * 2;
        let Some(bytes) = cells.get(start..start + self.matrix.width * 2).filter(|_| row < self.matrix.rows)
        else {
            return false;
        };
        for (sum, pair) in sum.iter_mut().zip(bytes.chunks_exact(2)) {
            *sum += half(u16::from_le_bytes([pair[0], pair[1]]));
        }
        true
    }
}

impl WordTable for WordFile {
    fn vector(&self, word: &str) -> Option<Vec<f32>> {
        let loaded = self.loaded().ok()?;
        let mut sum = vec![0.0; self.matrix.width];
        let mut count = 0_u16;
        for piece in loaded.pieces_of(word) {
            count += u16::from(self.add(&loaded.cells, piece, &mut sum));
        }
        let all_finite = sum.iter().all(|cell| cell.is_finite());
        (count > 0 && all_finite).then(|| sum.iter().map(|cell| cell / f32::from(count)).collect())
    }
}

impl Loaded {
    /// The numbers of the pieces that a word falls into.
    fn pieces_of(&self, word: &str) -> Vec<usize> {
        if word.chars().count() > LONGEST_WORD {
            return Vec::new();
        }
        // Most words are a piece; what merging would find need not be looked for.
        if let Some(piece) = self.pieces.get(&format!("{WORD_START}{word}")) {
            return vec![*piece];
        }
        let mut parts: Vec<String> =
            std::iter::once(WORD_START).chain(word.chars()).map(String::from).collect();
        while let Some(at) = self.next_merge(&parts) {
            let second = parts.remove(at + 1);
            parts[at].push_str(&second);
        }
        parts.iter().flat_map(|part| self.numbers(part)).collect()
    }

    fn next_merge(&self, parts: &[String]) -> Option<usize> {
        let rank = |at: usize| Some((*self.ranks.get(&(parts[at].clone(), parts[at + 1].clone()))?, at));
        (0..parts.len().saturating_sub(1)).filter_map(rank).min().map(|(_, at)| at)
    }

    /// A letter that the vocabulary does not have stands there as its bytes.
    fn numbers(&self, part: &str) -> Vec<usize> {
        match self.pieces.get(part) {
            Some(piece) => vec![*piece],
            None => {
                part.bytes().filter_map(|byte| self.pieces.get(&format!("<0x{byte:02X}>")).copied()).collect()
            }
        }
    }
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

fn heading(path: &Path) -> Result<Matrix, WordFileErrorKind> {
    let not = |why: &str| WordFileErrorKind::NotSafetensors(why.into());
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_MATRIX {
        return Err(WordFileErrorKind::TooLarge);
    }
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| not("it is too short"))?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADING.min(size) {
        return Err(not("its heading is longer than the file"));
    }
    let mut text = Vec::new();
    file.take(length).read_to_end(&mut text)?;
    let mut tensors: HashMap<String, serde_json::Value> =
        serde_json::from_slice(&text).map_err(|error| not(&error.to_string()))?;
    tensors.remove("__metadata__");
    let found = tensors.len();
    let only = tensors.into_values().next().filter(|_| found == 1);
    let only = only.ok_or_else(|| WordFileErrorKind::NotAMatrix(format!("{found} tensors")))?;
    let tensor: Tensor = serde_json::from_value(only).map_err(|error| not(&error.to_string()))?;
    let wrong = || WordFileErrorKind::NotAMatrix(format!("{} {:?}", tensor.dtype, tensor.shape));
    let [rows, width] = tensor.shape[..] else { return Err(wrong()) };
    let bytes = rows.checked_mul(width).and_then(|cells| cells.checked_mul(2)).ok_or_else(wrong)?;
    let [from, to] = tensor.data_offsets;
    if tensor.dtype != "F16" || width == 0 || from.checked_add(bytes) != Some(to) {
        return Err(wrong());
    }
    let start = usize::try_from(length).ok().and_then(|length| (8 + length).checked_add(from));
    let start = start.ok_or_else(|| not("its heading is wrong"))?;
    let end = start.checked_add(bytes).and_then(|end| u64::try_from(end).ok());
    if end.is_none_or(|end| end > size) {
        return Err(not("it was cut off"));
    }
    Ok(Matrix { start, rows, width })
}

fn tokenizer_beside(path: &Path) -> Result<PathBuf, WordFileErrorKind> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_tokenizer = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.contains("tokenizer") && name.ends_with(".json")
    };
    let files = fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(is_tokenizer).min().ok_or(WordFileErrorKind::NoTokenizer)
}

#[derive(Deserialize)]
struct Tokenizer {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, usize>,
    merges: Vec<Merge>,
}

/// Older tokenizers write `"a b"`, newer ones `["a", "b"]`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Text(String),
    Pair(String, String),
}

type Ranks = HashMap<(String, String), usize>;

fn read_tokenizer(path: &Path) -> Result<(HashMap<String, usize>, Ranks), WordFileErrorKind> {
    if fs::metadata(path)?.len() > MAX_TOKENIZER {
        return Err(WordFileErrorKind::TooLarge);
    }
    let Model { vocab, merges } = serde_json::from_slice::<Tokenizer>(&fs::read(path)?)?.model;
    let pair = |merge: Merge| match merge {
        Merge::Pair(first, second) => Some((first, second)),
        Merge::Text(text) => {
            text.split_once(' ').map(|(first, second)| (first.to_owned(), second.to_owned()))
        }
    };
    let ranks = merges.into_iter().filter_map(pair).enumerate().map(|(rank, pair)| (pair, rank)).collect();
    Ok((vocab, ranks))
}

/// IEEE 754's sixteen bits in its thirty-two: sign, exponent with another bias, fraction.
fn half(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let (sign, exponent, fraction) = (bits >> 15 << 31, bits >> 10 & 0x1f, (bits & 0x3ff) << 13);
    match exponent {
        // Smaller than 2^-14: nothing to the direction of a vector.
        0 => 0.0,
        31 => f32::NAN,
        exponent => f32::from_bits(sign | (exponent + 112) << 23 | fraction),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of three rows, two wide: (1, 0), (0, 2), (-0.5, 0.25).
    const CELLS: [u16; 6] = [0x3c00, 0, 0, 0x4000, 0xb800, 0x3400];
    const TOKENIZER: &str = r#"{"model": {
        "vocab": {"▁": 9, "▁send": 0, "ing": 1, "▁re": 2, "<0x61>": 0},
        "merges": ["▁ s", "▁s e", "▁se n", ["▁sen", "d"], "i n", "in g", "▁ r", "▁r e"]
    }}"#;

    fn file(heading: &str, cells: &[u16], tokenizer: Option<&str>) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("words.safetensors");
        let mut bytes = (heading.len() as u64).to_le_bytes().to_vec();
        bytes.extend(heading.as_bytes());
        bytes.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        fs::write(&path, bytes).unwrap();
        if let Some(tokenizer) = tokenizer {
            fs::write(directory.path().join("a_tokenizer_config.json"), tokenizer).unwrap();
        }
        (directory, path)
    }

    fn matrix(dtype: &str, shape: &str, to: usize) -> String {
        format!(
            r#"{{"__metadata__": {{}}, "e": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": [0, {to}]}}}}"#
        )
    }

    #[test]
    fn words_are_the_mean_of_their_pieces() {
        let (_directory, path) = file(&matrix("F16", "[3, 2]", 12), &CELLS, Some(TOKENIZER));
        let file = WordFile::open(&path).unwrap();
        file.load().unwrap();
        for (word, expected) in [
            ("send", Some(vec![1.0, 0.0])),
            ("sending", Some(vec![0.5, 1.0])),
            ("rea", Some(vec![0.25, 0.125])),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(file.vector(word), expected, "{word}");
        }
        assert_eq!(file.vector(&"send".repeat(100)), None);
    }

    #[test]
    fn a_file_that_is_none_says_why() {
        let good = matrix("F16", "[3, 2]", 12);
        let longer = matrix("F16", "[4, 2]", 16);
        let huge = matrix("F16", "[18446744073709551615, 2]", 16);
        let two = r#"{"a": {}, "b": {}}"#;
        for (heading, cells, tokenizer, expected) in [
            (good.as_str(), &CELLS[..], None, "there is no *tokenizer*.json beside it"),
            (&longer, &CELLS, Some(TOKENIZER), "it was cut off"),
            (&huge, &CELLS, Some(TOKENIZER), "one matrix of half floats"),
            (&matrix("F32", "[3, 2]", 12), &CELLS, Some(TOKENIZER), "not F32 [3, 2]"),
            (&matrix("F16", "[6]", 12), &CELLS, Some(TOKENIZER), "not F16 [6]"),
            (two, &CELLS, Some(TOKENIZER), "not 2 tensors"),
            ("hello", &CELLS, Some(TOKENIZER), "it is not a safetensors file"),
        ] {
            let (_directory, path) = file(heading, cells, tokenizer);
            let error = WordFile::open(&path).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("words.safetensors"), "{error}");
        }
        assert!(WordFile::open("/nowhere/words").unwrap_err().to_string().contains("cannot read it"));
        let (_directory, path) = file(&good, &CELLS, Some("{}"));
        let file = WordFile::open(&path).unwrap();
        assert!(
            file.load().unwrap_err().to_string().contains("tokenizer_config.json: it is not a tokenizer")
        );
        assert_eq!(file.vector("send"), None);
    }
}
