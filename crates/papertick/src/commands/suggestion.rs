//! What to say about a word that does not exist.

use crate::failure::Failure;

/// Similarity from which on a word is worth suggesting, of 1.
const SIMILAR: f64 = 0.9;

/// A word that does not exist, with the one that was probably meant.
///
/// `otherwise` is the hint for a word that resembles none.
pub(crate) fn unknown<'a>(
    what: &str,
    said: &str,
    words: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> Failure {
    let help = match nearest(said, words) {
        Some(word) => format!("did you mean `{word}`?"),
        None => otherwise.to_owned(),
    };
    Failure::usage(format!("no {what} is called `{said}`: {help}"))
}

/// Fewest letters of a part that stands for the whole word.
const PART_MIN: usize = 3;

/// Changes of a letter, or swaps of two, by which a short word may be missed.
const SLIPS: usize = 2;

/// The word that was probably meant: one that contains what was said, else the most similar one.
pub(crate) fn nearest<'a>(said: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let said = said.to_ascii_lowercase();
    let likeness = |word: &str| {
        let word = word.to_ascii_lowercase();
        let contained = said.len() >= PART_MIN && word.contains(&said);
        let slips = strsim::osa_distance(&said, &word);
        let is_slip = slips <= SLIPS.min(said.len() / 2) && said.len() > 1;
        let similarity = match is_slip {
            true => strsim::jaro_winkler(&said, &word).max(SIMILAR),
            false => strsim::jaro_winkler(&said, &word),
        };
        if contained {
            1.0 + similarity
        } else {
            similarity
        }
    };
    words
        .into_iter()
        .map(|word| (likeness(word), word))
        .filter(|(likeness, _)| *likeness >= SIMILAR)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, word)| word)
}
