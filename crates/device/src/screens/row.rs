//! Cells side by side, one character per panel, right-aligned.

use alloc::{format, string::String, vec::Vec};

use crate::{
    cells::{self, Cell},
    settings::Settings,
};

/// One digit cell per character.
pub fn digits(text: &str) -> Vec<Cell> {
    text.chars().map(Cell::digit).collect()
}

/// One large letter per character.
pub fn letters(text: &str) -> Vec<Cell> {
    text.chars()
        .map(|letter| Cell::Letter(letter.into()))
        .collect()
}

/// One digit cell per character, a dot in the cell of the character before it.
pub fn folded(text: &str) -> Vec<Cell> {
    fold(text).into_iter().map(Cell::Digit).collect()
}

/// One digit cell for the part up to the dot and one for each decimal.
pub fn merged(text: &str) -> Vec<Cell> {
    let Some((whole, decimals)) = text.split_once('.') else {
        return digits(text);
    };
    let mut cells = digits(decimals);
    cells.insert(0, Cell::Digit(format!("{whole}.")));
    cells
}

/// The characters of a text, a dot together with the character before it.
pub fn fold(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for character in text.chars() {
        match parts.last_mut() {
            Some(last) if character == '.' => last.push(character),
            _ => parts.push(character.into()),
        }
    }
    parts
}

/// [`folded`] if the settings let the dot share a panel, otherwise [`digits`].
pub fn number(text: &str, settings: &Settings) -> Vec<Cell> {
    if settings.decimal_share_dot { folded(text) } else { digits(text) }
}

/// Right-aligns cells; surplus leading ones are cut off.
pub fn right(mut cells: Vec<Cell>, width: usize) -> Vec<Cell> {
    if cells.len() > width {
        return cells.split_off(cells.len() - width);
    }
    let mut row = cells::blank(width - cells.len());
    row.append(&mut cells);
    row
}

/// Left-aligns cells with blank panels on the right; surplus last ones are cut off.
pub fn left(mut cells: Vec<Cell>, panels: usize) -> Vec<Cell> {
    cells.resize(panels, Cell::Blank);
    cells
}

/// A label on the first panel and right-aligned cells on the others.
pub fn labelled(label: Cell, tail: Vec<Cell>, panels: usize) -> Vec<Cell> {
    let mut row = right(tail, panels.saturating_sub(1));
    row.insert(0, label);
    row.truncate(panels);
    row
}

/// A label, and OFFLINE, one letter per panel; `OFF/LINE` on the last panel if there are too few.
pub fn offline(label: Cell, panels: usize) -> Vec<Cell> {
    let letters = "OFFLINE".chars().map(|letter| Cell::Tail(letter.into()));
    let letters: Vec<Cell> = letters.collect();
    if letters.len() < panels {
        labelled(label, letters, panels)
    } else {
        with_unit(label, Vec::new(), Cell::unit("OFF", "LINE"), panels)
    }
}

/// [`labelled`] with a unit on the last panel.
pub fn with_unit(label: Cell, tail: Vec<Cell>, unit: Cell, panels: usize) -> Vec<Cell> {
    let mut tail = right(tail, panels.saturating_sub(2));
    tail.push(unit);
    labelled(label, tail, panels)
}
