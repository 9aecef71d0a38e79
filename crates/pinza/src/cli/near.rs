//! Names that somebody may have meant.

/// How many are told.
const MOST: usize = 3;
/// Longer than any name, it is like none; and comparing it would take its time.
const LONGEST: usize = 256;

/// Those of the known names that are more like `name` than this, from 0 to 1; the closest first.
pub(super) fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, likeness: f64) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let compared = known.into_iter().map(|known| (strsim::jaro_winkler(known, name), known));
    let mut near: Vec<(f64, &str)> = compared.filter(|(like, _)| *like > likeness).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup_by_key(|(_, known)| *known);
    near.into_iter().take(MOST).map(|(_, known)| known).collect()
}
