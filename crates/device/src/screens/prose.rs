//! Lines of plain text on one panel, for explanations.

use alloc::{string::String, vec::Vec};

use crate::cells::{BlockLine, Cell};

/// Characters of a line that keep the text large enough.
const LINE_CHARS: usize = 12;

/// Longest word that is not broken although it makes the text smaller: an address, a network name.
const WORD_CHARS: usize = 16;

/// A heading in bold.
pub fn bold(text: &str) -> BlockLine {
    BlockLine {
        text: text.into(),
        bold: true,
    }
}

/// A text on as many lines as it needs, broken at spaces.
pub fn wrapped(text: &str) -> Vec<BlockLine> {
    wrap(text, LINE_CHARS)
        .into_iter()
        .map(|text| BlockLine { text, bold: false })
        .collect()
}

/// A heading and a text below it; a dash if the text is empty.
pub fn entry(heading: &str, text: &str) -> Vec<BlockLine> {
    let mut lines = Vec::from([bold(heading)]);
    lines.extend(wrapped(if text.is_empty() { "-" } else { text }));
    lines
}

/// Groups of lines separated by an empty line.
pub fn block(groups: impl IntoIterator<Item = Vec<BlockLine>>, px: u32) -> Cell {
    let mut lines = Vec::new();
    for group in groups {
        if !lines.is_empty() {
            lines.push(BlockLine {
                text: String::new(),
                bold: false,
            });
        }
        lines.extend(group);
    }
    Cell::Block { lines, px }
}

/// Breaks a text into lines of at most `width` characters, or of one word.
///
/// Very long words are broken too: before dashes, otherwise anywhere.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (gap, piece) in text.split_whitespace().flat_map(|word| pieces(word, width)) {
        let free = width.saturating_sub(line.chars().count() + gap.len());
        if !line.is_empty() && piece.chars().count() > free {
            lines.push(core::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push_str(gap);
        }
        line.push_str(&piece);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A word in pieces that fit on a line, each with its separator from the piece before.
fn pieces(word: &str, width: usize) -> Vec<(&'static str, String)> {
    let mut pieces: Vec<(&'static str, String)> = Vec::from([(" ", String::new())]);
    let fits = word.chars().count() <= width.max(WORD_CHARS);
    for character in word.chars() {
        let last = pieces.last().map_or(0, |(_, piece)| piece.chars().count());
        let breaks = !fits && (last >= width || (character == '-' && last > 0));
        match pieces.last_mut() {
            Some((_, piece)) if !breaks => piece.push(character),
            _ => pieces.push(("", character.into())),
        }
    }
    pieces
}
