//! The figure of a tile: sign, digits, small sign, icon. Every width is in proportion to its height.

use device::{
    cells::Icon,
    settings::fonts::FontId,
    tile::{Figure, FigureKind},
};

use super::{
    scale::{self, Tone},
    sheet::{Face, Part, Sheet, TextStyle},
};
use crate::mask::Area;

/// The won, which most faces lack: a `W` with two bars.
const WON: char = '₩';

/// Heights of the bars of such a letter in parts of its height, and their thickness.
const BARS: [f32; 2] = [0.60, 0.42];
const BAR: f32 = 0.055;

/// A measured figure.
#[derive(Debug, Clone)]
pub(super) struct Numeral<'a> {
    pub(super) figure: &'a Figure,
    /// One, or two of the owner's text.
    rows: Vec<&'a str>,
    font: FontId,
    /// Size of the font for capitals of one px.
    em: f32,
    /// Width for capitals of one px.
    width: f32,
}

impl<'a> Numeral<'a> {
    pub(super) fn new(sheet: &mut Sheet<'_>, figure: &'a Figure) -> Numeral<'a> {
        Numeral::of_rows(sheet, figure, vec![&figure.text])
    }

    /// The owner's text on two lines, broken where the longer one is shortest.
    pub(super) fn broken(sheet: &mut Sheet<'_>, figure: &'a Figure) -> Option<Numeral<'a>> {
        let spaces = figure.text.match_indices(' ').map(|(at, _)| at);
        let breaks = spaces.map(|at| vec![&figure.text[..at], &figure.text[at + 1..]]);
        let mut broken: Vec<Numeral<'a>> = breaks
            .map(|rows| Numeral::of_rows(sheet, figure, rows))
            .collect();
        broken.sort_by(|one, other| one.width.total_cmp(&other.width));
        broken.into_iter().next()
    }

    fn of_rows(sheet: &mut Sheet<'_>, figure: &'a Figure, rows: Vec<&'a str>) -> Numeral<'a> {
        let font = sheet.font(Face::Figure, &figure.text);
        let em = 1.0 / sheet.lettering.cap_height(font);
        let mut numeral = Numeral {
            figure,
            rows,
            font,
            em,
            width: 0.0,
        };
        numeral.width = numeral.measure(sheet);
        numeral
    }

    fn measure(&self, sheet: &mut Sheet<'_>) -> f32 {
        let mut widest = 0.0_f32;
        for row in &self.rows {
            let cells: f32 = row.chars().map(|ch| self.cell(sheet, ch)).sum();
            let ends = [row.chars().next(), row.chars().next_back()];
            let [first, last] = ends.map(|ch| self.bearings(sheet, ch.unwrap_or(' ')));
            widest = widest.max(cells - first.0 - last.1);
        }
        let figure = self.figure;
        let before = if figure.sign.is_empty() {
            0.0
        } else {
            self.small(sheet, &figure.sign) + scale::SIGN_GAP
        };
        let after = if figure.tail.is_empty() {
            0.0
        } else {
            self.small(sheet, &figure.tail) + scale::SIGN_GAP
        };
        let icon = figure.icon.map_or(0.0, |icon| {
            sheet.icon_ratio(icon) * scale::ICON + scale::ICON_GAP
        });
        widest + before + after + icon
    }

    /// Part of the height that the capitals have: a fault is never louder than a value.
    pub(super) fn relative_height(&self) -> f32 {
        match self.figure.kind {
            FigureKind::Word => scale::WORD,
            FigureKind::Number | FigureKind::Text => 1.0,
        }
    }

    pub(super) fn is_word(&self) -> bool {
        self.figure.kind == FigureKind::Word
    }

    /// Width at a height of the capitals, px.
    pub(super) fn width(&self, height: f32) -> f32 {
        self.width * height
    }

    /// What reaches below the baseline, px.
    pub(super) fn depth(&self, height: f32) -> f32 {
        let reaches = match self.figure.kind {
            FigureKind::Text => true,
            FigureKind::Number | FigureKind::Word => self.figure.text.contains(','),
        };
        if reaches { height * scale::COMMA_DEPTH } else { 0.0 }
    }

    /// Height from the top of the first row to the last baseline, px.
    pub(super) fn tall(&self, height: f32) -> f32 {
        height * (1.0 + ROW_PITCH * (self.rows.len() - 1) as f32)
    }

    /// The largest height of the capitals within a width and a height, whole px.
    pub(super) fn fit(&self, width: f32, most: f32) -> f32 {
        if width < 8.0 || most < 4.0 {
            return 2.0;
        }
        let most = if self.is_word() {
            (most * scale::WORD).max(scale::FIGURE_MIN_ONE_BIT.min(most))
        } else {
            most / self.tall(1.0)
        };
        most.min(width / self.width).floor()
    }

    /// Draws it on the baseline of its last row; returns where its ink ends.
    pub(super) fn draw(&self, sheet: &mut Sheet<'_>, x: f32, baseline: i32, height: f32) -> f32 {
        let (figure, tone) = (self.figure, Tone::Ink);
        let bottom = baseline as f32;
        let top = bottom - self.tall(height);
        let right = x + self.width(height);
        let depth = self.depth(height);
        sheet.note(Part::Figure, x, top, right, bottom + depth);
        let mut pen = x;
        if let Some(icon) = figure.icon {
            let above = height * (1.0 + scale::ICON) / 2.0;
            pen += sheet.icon(icon, pen, bottom - above, height * scale::ICON, tone);
            pen += height * scale::ICON_GAP;
        }
        let small = TextStyle {
            face: Face::Figure,
            em: self.em * height * scale::SIGN,
            tone,
        };
        let raised = baseline - (height * (1.0 - scale::SIGN)).round() as i32;
        if let Some(first) = figure.sign.chars().next() {
            let letter = self.letter_of(sheet, first);
            let bearing = sheet.lettering.widths(self.font, letter).1.left * small.em;
            if letter == first {
                sheet.text(pen - bearing, raised, &figure.sign, small);
            } else {
                sheet.text(pen - bearing, raised, &letter.to_string(), small);
                self.bars(sheet, pen, raised, height * scale::SIGN, letter);
            }
            pen += (self.small(sheet, &figure.sign) + scale::SIGN_GAP) * height;
        }
        let start = pen;
        for (index, row) in self.rows.iter().enumerate() {
            let above = (self.rows.len() - 1 - index) as f32 * ROW_PITCH * height;
            let first = row.chars().next().unwrap_or(' ');
            pen = start - self.bearings(sheet, first).0 * height;
            for ch in row.chars() {
                let em = self.em * height * self.size_of(ch);
                let cell = self.cell(sheet, ch) * height;
                let slack = cell - sheet.lettering.widths(self.font, ch).1.advance * em;
                let how = TextStyle {
                    face: Face::Figure,
                    em,
                    tone,
                };
                let base = baseline - above.round() as i32;
                sheet.glyph(self.font, ch, pen + slack / 2.0, base, how);
                pen += cell;
            }
        }
        if !figure.tail.is_empty() {
            let last = figure.text.chars().next_back().unwrap_or(' ');
            pen += (scale::SIGN_GAP - self.bearings(sheet, last).1) * height;
            sheet.text(pen, raised, &figure.tail, small);
        }
        right
    }

    /// The bars through the letter of a currency without a sign of its own.
    fn bars(&self, sheet: &mut Sheet<'_>, x: f32, baseline: i32, height: f32, letter: char) {
        let advance = sheet.lettering.widths(self.font, letter).1.advance;
        let width = advance * self.em * height;
        let over = height * 0.03;
        for part in BARS {
            sheet.fill(
                Area {
                    x: (x - over).round() as i32,
                    y: (baseline as f32 - height * part).round() as i32,
                    width: (width + over).round() as i32,
                    height: (height * BAR).round().max(1.0) as i32,
                },
                Tone::Ink,
            );
        }
    }

    /// The letter that stands for a currency sign that the face lacks.
    fn letter_of(&self, sheet: &mut Sheet<'_>, sign: char) -> char {
        let is_lacking = sign == WON && !sheet.lettering.has(self.font, sign);
        if is_lacking { 'W' } else { sign }
    }

    /// Width of a small sign for capitals of one px.
    fn small(&self, sheet: &mut Sheet<'_>, text: &str) -> f32 {
        let mut advance = 0.0;
        for ch in text.chars() {
            let letter = self.letter_of(sheet, ch);
            advance += sheet.lettering.widths(self.font, letter).1.advance;
        }
        advance * self.em * scale::SIGN
    }

    /// Size of a character in parts of the height.
    fn size_of(&self, ch: char) -> f32 {
        let is_separator = matches!(ch, ',' | '.') && self.figure.kind == FigureKind::Number;
        if is_separator { scale::SEPARATOR } else { 1.0 }
    }

    /// Width of the cell of a character for capitals of one px; all digits have the same.
    fn cell(&self, sheet: &mut Sheet<'_>, ch: char) -> f32 {
        let advance = if ch.is_ascii_digit() {
            sheet.lettering.digit_cell(self.font)
        } else {
            sheet.lettering.widths(self.font, ch).1.advance
        };
        advance * self.em * self.size_of(ch)
    }

    /// Space left and right of the ink in the cell of a character: of the zero for digits, so that a changing digit moves
    /// nothing.
    fn bearings(&self, sheet: &mut Sheet<'_>, ch: char) -> (f32, f32) {
        let ch = if ch.is_ascii_digit() { '0' } else { ch };
        let widths = sheet.lettering.widths(self.font, ch).1;
        let em = self.em * self.size_of(ch);
        (widths.left * em, (widths.advance - widths.right) * em)
    }
}

/// Distance of the baselines of two rows in parts of the height of the capitals.
const ROW_PITCH: f32 = 1.45;

impl Sheet<'_> {
    /// Width of the ink of an icon in parts of its height.
    fn icon_ratio(&self, icon: Icon) -> f32 {
        let [left, upper, right, lower] = super::sheet::icon_ink(icon);
        (right - left) / (lower - upper)
    }
}
