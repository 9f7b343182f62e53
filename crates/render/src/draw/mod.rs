//! Draws the cell of one panel.

mod block;
mod digit;
mod label;
pub(crate) mod mark;
mod owner;
mod qr;
mod sats;
mod scale;
mod symbol;

pub(crate) use owner::Letters;
pub(crate) use scale::PixelScale;

use device::{
    cells::{Cell, Style},
    settings::fonts::FontId,
};

use crate::{
    mask::{Area, Mask},
    text::{Room, TextRun, Typesetter},
};

/// Margin above and below everything, and beside labels, px.
const MARGIN: i32 = 4;

/// Margin beside everything else, px.
const SIDE: i32 = 6;

/// Thickness of the bar between two lines, px.
const BAR: i32 = 6;

/// Height of labels, in halves of a px.
const LABEL: u32 = 2 * 54;

/// Smallest height of labels, in halves of a px. Longer ones are made even smaller to fit.
const LABEL_MIN: u32 = 2 * 16;

/// The cell that is drawn, with the style and the typesetter.
pub(crate) struct PanelCanvas<'a> {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) scale: PixelScale,
    pub(crate) style: &'a Style,
    pub(crate) type_: &'a mut Typesetter,
}

impl PanelCanvas<'_> {
    /// The ink of a cell. Large letters need their common size.
    pub(crate) fn cell(&mut self, cell: &Cell, letters: Option<Letters>) -> Mask {
        match cell {
            Cell::Digit(text) => self.digit(text, self.style.digit_px),
            Cell::Tail(text) => self.digit(text, digit::TAIL),
            Cell::Code(text) => self.fitted(self.style.font, self.scale.text(LABEL), text),
            Cell::Label { top, bottom } => self.label(top, bottom),
            Cell::Unit { top, bottom } => self.unit(top, bottom),
            Cell::Word(text) => self.word(text),
            Cell::Text { text, px } => self.text(text, *px),
            Cell::Split { top, bottom } => self.split_text(top, bottom),
            Cell::Icon(icon)
            | Cell::NamedIcon {
                icon: Some(icon), ..
            } => self.icon(*icon),
            Cell::Sats => self.sats(),
            Cell::Logo(logo) => self.logo(logo),
            Cell::Block { lines, px } => self.block(lines, *px),
            Cell::Title(text) => self.title(text),
            Cell::Letter(text) => match letters {
                Some(letters) => self.letter(text, letters),
                None => self.blank(),
            },
            Cell::Qr(text) => self.qr(text),
            Cell::Blank | Cell::NamedIcon { icon: None, .. } => self.blank(),
        }
    }

    fn blank(&self) -> Mask {
        Mask::new(self.width, self.height)
    }

    /// The panel without its margin.
    fn room(&self) -> Room {
        Room {
            width: self.width - 2 * self.scale.margin(SIDE),
            height: self.height - 2 * self.scale.margin(MARGIN),
        }
    }

    /// The baseline at which capitals are in the middle of a height.
    fn capital_baseline(&mut self, font: FontId, half_px: u32, height: i32) -> i32 {
        let capitals = self.type_.run(font, half_px, "H0");
        centred(height, &capitals)
    }
}

/// The baseline at which the ink of a run is in the middle of a height.
fn centred(height: i32, run: &TextRun) -> i32 {
    (height - run.height()) / 2 + run.above
}

/// Adds a run on a baseline, centred horizontally. It is moved up or down if it would leave the shape.
fn place(mask: &mut Mask, run: &TextRun, baseline: i32, margin: i32) {
    let lowest = (mask.height() - run.height() - margin).max(0);
    let top = (baseline - run.above).clamp(margin.min(lowest), lowest);
    mask.blit(&run.mask, (mask.width() - run.width()) / 2, top);
}

/// The bar between two lines, with round corners.
fn bar(mask: &mut Mask, width: i32, thick: i32) {
    let (left, top) = ((mask.width() - width) / 2, (mask.height() - thick) / 2);
    let radius = thick as f32 / 3.0;
    for row in 0..thick {
        let off = radius - row.min(thick - 1 - row) as f32 - 0.5;
        let reach = (radius * radius - off.max(0.0).powi(2)).max(0.0).sqrt();
        let inset = (radius - reach).round() as i32;
        mask.fill(Area {
            x: left + inset,
            y: top + row,
            width: width - 2 * inset,
            height: 1,
        });
    }
}
