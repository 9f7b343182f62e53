//! The owner's text: one character per panel, or one text per panel.

use alloc::{string::String, vec::Vec};

use super::row;
use crate::{
    cells::{Cell, Icon},
    spoken::{self, Sentence},
    tile::{Figure, Tile},
};

/// Heights that the owner can choose, px.
const PX: core::ops::RangeInclusive<u32> = 20..=220;

/// Most cells of a text: other screens show more of it than the panels.
const LENGTH_MAX: usize = 64;

/// Prefix of a text that names an icon, in any case.
const ICON_PREFIX: &str = "mdi:";

/// Number of cells that are kept of a text with this many.
pub fn length(cells: usize, panels: usize) -> usize {
    cells.min(LENGTH_MAX).max(panels)
}

/// A text with one character per panel, from the left; the rest is cut off.
pub fn letters(text: &str, panels: usize) -> Vec<Cell> {
    let letter = |character: char| Cell::Text {
        text: character.into(),
        px: None,
    };
    row::left(text.chars().map(letter).collect(), panels)
}

/// One text per panel, from the left; the rest is cut off.
///
/// `digit_px` is the height of single lines, px; without a usable one each line is as large as fits.
pub fn cells(texts: &[String], digit_px: Option<u32>, panels: usize) -> Vec<Cell> {
    let px = digit_px.filter(|px| PX.contains(px));
    row::left(texts.iter().map(|text| cell(text, px)).collect(), panels)
}

/// The text, after the first icon in it.
pub fn tile(cells: &[Cell]) -> Tile {
    let icons = cells.iter().filter_map(|cell| match cell {
        Cell::NamedIcon { icon, .. } => *icon,
        _ => None,
    });
    let texts = cells.iter().map(|cell| match cell {
        Cell::NamedIcon { icon: Some(_), .. } => String::new(),
        _ => cell.mirror(),
    });
    let figure = Figure {
        icon: icons.into_iter().next(),
        ..Figure::text(joined(texts.collect()))
    };
    Tile::new([""; 0], Vec::from([figure]))
}

/// The text as a sentence.
pub fn sentence(cells: &[Cell]) -> Sentence {
    let text = joined(cells.iter().map(Cell::mirror).collect());
    if text.is_empty() {
        spoken::EMPTY_PANELS.into()
    } else {
        spoken::VERBATIM.with("text", text)
    }
}

/// Panels with one letter each form a word, other panels are separated.
fn joined(texts: Vec<String>) -> String {
    let letters = texts.iter().all(|text| text.chars().count() <= 1);
    let between = if letters { "" } else { " " };
    let blank = |text: &String| {
        if text.is_empty() { " ".into() } else { text.clone() }
    };
    let words: Vec<String> = texts.iter().map(blank).collect();
    let joined = words.join(between);
    let text: Vec<&str> = joined.split_whitespace().collect();
    text.join(" ")
}

/// An icon for `mdi:` and a name, two lines for a text with one slash, otherwise one line.
fn cell(text: &str, px: Option<u32>) -> Cell {
    if text.is_empty() {
        return Cell::Blank;
    }
    if let Some(name) = icon_name(text) {
        return Cell::NamedIcon {
            icon: icon(name),
            text: text.into(),
        };
    }
    match text.split_once('/') {
        Some((top, bottom)) if !top.is_empty() && !bottom.is_empty() && !bottom.contains('/') => {
            Cell::Split {
                top: top.into(),
                bottom: bottom.into(),
            }
        }
        Some(_) | None => Cell::Text {
            text: text.into(),
            px,
        },
    }
}

/// The name of the icon if the text is nothing else.
fn icon_name(text: &str) -> Option<&str> {
    let (prefix, name) = text.trim().split_at_checked(ICON_PREFIX.len())?;
    let name = name.trim();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (prefix.eq_ignore_ascii_case(ICON_PREFIX) && name.bytes().all(in_name)).then_some(name)
}

fn icon(name: &str) -> Option<Icon> {
    let named = |(known, _): &&(&str, Icon)| known.eq_ignore_ascii_case(name);
    Icon::NAMED.iter().find(named).map(|(_, icon)| *icon)
}
