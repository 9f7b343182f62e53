//! The owner's text, titles and large letters: one line, fitted.

use device::settings::fonts::FontId;

use super::{MARGIN, PanelCanvas, SIDE, place};
use crate::{faces, mask::Mask, text::Room};

/// Height by the number of characters, px.
const BY_LENGTH: [u32; 3] = [120, 90, 64];

/// Height of the lines of a split text, in halves of a px.
const SPLIT: u32 = 2 * 54;

/// Height of a title, in halves of a px.
const TITLE: u32 = 2 * 48;

/// Height of large letters, in halves of a px.
const LETTER: u32 = 2 * 220;

/// Margin beside large letters, px.
const LETTER_SIDE: i32 = 16;

/// The common size of the large letters of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letters {
    half_px: u32,
    baseline: i32,
}

impl PanelCanvas<'_> {
    /// The owner's text in the digit font. Shorter texts are larger.
    pub(super) fn text(&mut self, text: &str, px: Option<u32>) -> Mask {
        let count = text.chars().count();
        let start = BY_LENGTH[count.clamp(1, BY_LENGTH.len()) - 1];
        let start = px.unwrap_or(start).clamp(8, 220);
        self.fitted(self.style.font, self.scale.digits(2 * start), text)
    }

    /// The owner's text on two lines.
    pub(super) fn split_text(&mut self, top: &str, bottom: &str) -> Mask {
        let canvas = self.blank();
        let target = self.width - 2 * self.scale.margin(SIDE);
        self.split(
            canvas,
            faces::poster(),
            [self.scale.text(SPLIT), self.scale.least()],
            target,
            [top, bottom],
        )
    }

    /// A title in the bold plain face.
    pub(super) fn title(&mut self, text: &str) -> Mask {
        self.fitted(faces::plain_bold(), self.scale.text(TITLE), text)
    }

    /// A large letter at the common size of its picture.
    pub(super) fn letter(&mut self, text: &str, letters: Letters) -> Mask {
        let (font, room) = (self.style.font, self.room());
        let run = self.type_.cut(font, letters.half_px, room, text);
        let mut mask = self.blank();
        place(&mut mask, &run, letters.baseline, self.scale.margin(MARGIN));
        mask
    }

    /// The largest size at which every letter fits, and the baseline at which they are centred.
    pub(crate) fn letters<'t>(&mut self, texts: impl Iterator<Item = &'t str> + Clone) -> Letters {
        let font = self.style.font;
        let room = Room {
            width: self.width - 2 * self.scale.margin(LETTER_SIDE),
            ..self.room()
        };
        let half_px = texts.clone().fold(self.scale.digits(LETTER), |px, text| {
            self.type_.fit(font, px, self.scale.least(), room, text).1
        });
        let (above, below) = texts.fold((0, 0), |(above, below): (i32, i32), text| {
            let run = self.type_.run(font, half_px, text);
            (above.max(run.above), below.max(run.height() - run.above))
        });
        Letters {
            half_px,
            baseline: (self.height - above - below) / 2 + above,
        }
    }

    /// One line at the largest height that fits. At the smallest height it is cut.
    pub(super) fn fitted(&mut self, font: FontId, start: u32, text: &str) -> Mask {
        let (run, half_px) =
            self.type_
                .fit_or_cut(font, start, self.scale.least(), self.room(), text);
        let baseline = self.capital_baseline(font, half_px, self.height);
        let mut mask = self.blank();
        place(&mut mask, &run, baseline, self.scale.margin(MARGIN));
        mask
    }
}
