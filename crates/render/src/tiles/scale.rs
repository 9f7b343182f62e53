//! Sizes, shares and tones: the tables of the design. Lengths follow from the canvas, its short side `S` and the text `t`.

use device::canvas::Depth;

/// Sizes of texts, px of em, each 2^(1/4) of the one before: few sizes of one bit exist, and each was looked at.
const LADDER: [u16; 16] = [
    14, 17, 20, 24, 28, 34, 40, 48, 57, 67, 80, 95, 113, 134, 160, 190,
];

/// Size up to which letters of one bit get [`SPACE`], px of em: they would touch.
pub(super) const SPACED_MAX: f32 = 20.0;

/// Extra space between small letters of one bit, px.
pub(super) const SPACE: f32 = 0.5;

/// Heights beside the digits of a figure, in parts of their height.
pub(super) const SIGN: f32 = 0.58;
pub(super) const SEPARATOR: f32 = 0.66;
pub(super) const WORD: f32 = 0.5;
pub(super) const ICON: f32 = 0.86;

/// Gaps in a figure, in parts of its height.
pub(super) const SIGN_GAP: f32 = 0.07;
pub(super) const ICON_GAP: f32 = 0.16;

/// What a comma reaches below the baseline, in parts of the height of the figure.
pub(super) const COMMA_DEPTH: f32 = 0.125;

/// Part of that depth that counts when a figure is centred: the comma is light.
pub(super) const COMMA_WEIGHT: f32 = 0.8;

/// Size of a unit, in parts of the height of its figure, if there is room.
pub(super) const UNIT: f32 = 0.24;

/// Gap between columns. On a wide canvas the figures are tall for its margin, and two of them would read as one.
pub(super) fn column_gap(margin: f32, height: f32, ratio: f32) -> f32 {
    let least = if ratio >= 2.2 { height * 0.15 } else { 10.0 };
    (margin * 0.8).max(least).round()
}

/// Distance of a unit of a size from a figure of a height, px.
pub(super) fn unit_gap(size: f32, height: f32) -> f32 {
    0.4 * size + SIGN_GAP * height
}

/// Side of a mark in parts of the height of capitals.
const MARK: f32 = 1.6;

/// Least side of a mark, px.
const MARK_MIN: f32 = 15.0;

/// Distance of a mark from its label, in parts of the text.
pub(super) const MARK_GAP: f32 = 0.5;

/// Lines of context are this far apart, in parts of the text.
pub(super) const PITCH: f32 = 1.4;

/// Least height of the capitals of a figure on a board, px.
pub(super) const FIGURE_MIN: f32 = 16.0;
pub(super) const FIGURE_MIN_ONE_BIT: f32 = 18.0;

/// Rows that are lower become a table: label on the left, figure on the right, px.
pub(super) const TABLE_ROW: f32 = 38.0;

/// Rank of a tile: alone on its canvas, the first of a board, or another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rank {
    Whole,
    Hero,
    Other,
}

impl Rank {
    /// Part of the height of a figure without any context that must be left of it with context.
    pub(super) fn share(self) -> f32 {
        match self {
            Rank::Whole => 0.78,
            Rank::Hero => 0.62,
            Rank::Other => 0.70,
        }
    }
}

/// The largest size of the ladder up to a wished one.
pub(super) fn text_size(wished: f32) -> f32 {
    let sizes = LADDER.iter().rev().map(|size| f32::from(*size));
    let mut fitting = sizes.filter(|size| *size <= wished + 0.5);
    fitting.next().unwrap_or_else(|| f32::from(LADDER[0]))
}

/// Side of a mark beside text with capitals of a height, px.
pub(super) fn mark_side(capitals: f32) -> f32 {
    (capitals * MARK).round().max(MARK_MIN)
}

/// Margin of a canvas with a short side, px.
pub(super) fn margin(short: i32) -> i32 {
    (short as f32 / 15.0).round().max(7.0) as i32
}

/// Thickness of rules, px.
pub(super) fn hairline(short: i32, depth: Depth) -> i32 {
    let usual = (short as f32 / 480.0).round().max(1.0) as i32;
    match depth {
        _ if short < 400 => 1,
        Depth::One => usual.max(2),
        Depth::Two | Depth::Four | Depth::Eight => usual,
    }
}

/// How much a part of the picture stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Paper,
    Ink,
    Second,
    Rule,
}

impl Tone {
    /// Its grey. One bit has no greys; at night full white would glow.
    pub(super) fn grey(self, depth: Depth, is_dark: bool) -> u8 {
        let [paper, ink, second, rule] = match (depth, is_dark) {
            (Depth::One, false) => [255, 0, 0, 0],
            (Depth::One, true) => [0, 255, 255, 255],
            (Depth::Two, false) => [255, 0, 85, 170],
            (Depth::Two, true) => [0, 255, 170, 85],
            (Depth::Four | Depth::Eight, false) => [255, 0, 88, 178],
            (Depth::Four | Depth::Eight, true) => [0, 237, 155, 72],
        };
        match self {
            Tone::Paper => paper,
            Tone::Ink => ink,
            Tone::Second => second,
            Tone::Rule => rule,
        }
    }
}

/// Columns of a board, and how many columns and rows each tile spans, by the number of tiles and the ratio of width to
/// height. The first tile is the hero; tiles fill the grid row by row.
pub(super) fn grid(tiles: usize, ratio: f32) -> (i32, Vec<(i32, i32)>) {
    let (columns, first): (i32, &[(i32, i32)]) = match (tiles, ratio) {
        (2, 1.9..) => (5, &[(3, 1), (2, 1)]),
        (3, 1.9..) => (3, &[(2, 2)]),
        (4, 3.0..) => (5, &[(2, 1)]),
        (4, 1.9..) => (9, &[(5, 3), (4, 1), (4, 1), (4, 1)]),
        (5, 1.9..) => (4, &[(2, 2)]),
        (6, 1.9..) => (5, &[(2, 2), (2, 1)]),
        (7, 1.9..) => (5, &[(2, 2)]),
        (8, 1.9..) => (6, &[(2, 2), (2, 1)]),
        (2, 1.1..) => (1, &[]),
        (3, 1.1..) => (2, &[(2, 1)]),
        (4 | 7, 1.1..) => (3, &[(3, 1)]),
        (5 | 8, 1.1..) => (3, &[(2, 1)]),
        (6, 1.1..) => (3, &[(2, 2)]),
        (..=3, ..0.6) => (1, &[]),
        (2 | 4 | 6 | 8, _) => (2, &[(2, 1), (2, 1)]),
        _ => (2, &[(2, 1)]),
    };
    let mut spans = first.to_vec();
    spans.resize(tiles, (1, 1));
    (columns, spans)
}
