//! Suggestions for unknown words.

use crate::failure::Failure;

/// Least similarity of a suggestion, from 0 to 1.
const SIMILAR: f64 = 0.9;

/// The failure for an unknown word, with the most similar one.
///
/// `otherwise` is the hint if no word is similar.
pub(crate) fn unknown<'a>(
    what: &str,
    typed: &str,
    words: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> Failure {
    let help = match nearest(typed, words) {
        Some(word) => format!("did you mean `{word}`?"),
        None => otherwise.to_owned(),
    };
    Failure::usage(format!("unknown {what} `{typed}`: {help}"))
}

/// Least length of a part of a word that is recognised.
const PART_MIN: usize = 3;

/// Most typing errors in a short word: changed letters, or swaps of two.
const ERRORS_MAX: usize = 2;

/// The word that was probably meant: the shortest that contains the typed word, or else the most similar one.
pub(crate) fn nearest<'a>(
    typed: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let score = |word: &str| {
        let word = word.to_ascii_lowercase();
        let contained = typed.len() >= PART_MIN && word.contains(&typed);
        let errors = strsim::osa_distance(&typed, &word);
        let is_typo = errors <= ERRORS_MAX.min(typed.len() / 2) && typed.len() > 1;
        let similarity = if is_typo {
            strsim::jaro_winkler(&typed, &word).max(SIMILAR)
        } else {
            strsim::jaro_winkler(&typed, &word)
        };
        // Of the words that contain the typed one, the shortest has the least that was not typed.
        if contained { 1.0 + 1.0 / word.len() as f64 } else { similarity }
    };
    words
        .into_iter()
        .map(|word| (score(word), word))
        .filter(|(score, _)| *score >= SIMILAR)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, word)| word)
}
