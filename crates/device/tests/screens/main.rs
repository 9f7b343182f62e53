//! Tables of the screens: facts and settings on the left, the panels on the right.
//!
//! A line names a screen, its facts and the settings that differ from their defaults, then the panels of a board with 7
//! or 8 panels, from the left:
//!
//! ```text
//! ticker USD price=95432 suffixPrice   7: BTC/USD|$|9|5|.|4|K
//!                                      8: BTC/USD|$|9|5|.|4|3|K
//! ```
//!
//! `·` is a blank panel, `STS` the satoshi symbol, `(name)` an icon, `<name>` a logo. A setting without a value is
//! switched on.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod issuance;
mod layouts;
mod line;
mod overlays;
mod properties;
mod sentences;
mod tiles;

use std::fmt::Write;

use device::{
    cells::{Cell, Icon},
    screens::catalog,
};
use line::Line;

/// Compares every line of a table with the screens.
#[track_caller]
fn check(table: &str) {
    let mut wrong = String::new();
    let mut lines = 0;
    let mut left = "";
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (scene, panels, wanted) = split(row);
        left = if scene.is_empty() { left } else { scene };
        let shown = show(&Line::parse(left), panels);
        lines += 1;
        if shown != wanted {
            writeln!(wrong, "{left}  {panels}: {wanted}\n  but shows  {shown}").unwrap();
        }
    }
    assert!(lines > 0, "the table is empty");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Splits a row into its left side, its number of panels and their content.
fn split(row: &str) -> (&str, usize, &str) {
    for panels in [7, 8] {
        let mark = format!("{panels}: ");
        if let Some(panels_text) = row.strip_prefix(&mark) {
            return ("", panels, panels_text);
        }
        if let Some((scene, panels_text)) = row.split_once(&format!(" {mark}")) {
            return (scene.trim(), panels, panels_text);
        }
    }
    panic!("no panels in {row:?}");
}

/// The panels of a screen, in the notation of the tables.
fn show(line: &Line, panels: usize) -> String {
    let screen = catalog::find(line.screen).unwrap();
    let cells = (screen.cells)(&line.scene(panels));
    assert_eq!(
        cells.len(),
        panels,
        "{} has the wrong number of cells",
        screen.name
    );
    notation(&cells)
}

/// Cells in the notation of the tables.
fn notation(cells: &[Cell]) -> String {
    cells.iter().map(note).collect::<Vec<_>>().join("|")
}

fn note(cell: &Cell) -> String {
    match cell {
        Cell::Icon(icon)
        | Cell::NamedIcon {
            icon: Some(icon), ..
        } => format!("({})", name(*icon)),
        Cell::NamedIcon { icon: None, .. } => "()".into(),
        Cell::Logo(logo) => format!("<{}>", logo.name),
        Cell::Qr(text) => format!("QR {text}"),
        Cell::Block { lines, .. } => lines
            .iter()
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join(" ~ "),
        Cell::Blank => "·".into(),
        Cell::Digit(_)
        | Cell::Tail(_)
        | Cell::Code(_)
        | Cell::Label { .. }
        | Cell::Word(_)
        | Cell::Unit { .. }
        | Cell::Text { .. }
        | Cell::Split { .. }
        | Cell::Sats
        | Cell::Title(_)
        | Cell::Letter(_) => cell.mirror(),
    }
}

fn name(icon: Icon) -> &'static str {
    match Icon::NAMED.iter().find(|(_, named)| *named == icon) {
        Some((name, _)) => name,
        None if icon == Icon::CheckBold => "check-bold",
        None => "loading",
    }
}
