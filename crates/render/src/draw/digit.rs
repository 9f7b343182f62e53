//! Digits, currency signs and the miner's words: one height and one baseline on all panels.

use super::{PanelCanvas, centred};
use crate::{bitcoin, mask::Mask, text::TextRun};

/// Height of the miner's words, px.
pub(super) const TAIL: u32 = 160;

/// The digit whose height is centred on the panel; some fonts let others reach below the baseline.
const MIDDLE: &str = "0";

/// The least part of its width that a wide sign keeps, so that it stands as high as the digits.
const NARROWEST: f32 = 0.82;

impl PanelCanvas<'_> {
    /// A text in the digit font, on the baseline that digits have at that height.
    ///
    /// A sign that the font lacks leaves the panel empty, as another font's would not belong to the digits; the
    /// bitcoin sign is drawn in every font.
    pub(super) fn digit(&mut self, text: &str, px: u32) -> Mask {
        let font = self.style.font;
        let is_drawn = |ch| ch == bitcoin::SIGN || self.type_.has(font, ch);
        if !text.chars().all(is_drawn) {
            return self.blank();
        }
        let half_px = self.digit_height(2 * px.clamp(80, 220));
        let zero = self.type_.run(font, half_px, MIDDLE);
        let baseline = centred(self.height, &zero);
        let run = self.fitting_sign(text, half_px);
        let mut mask = self.blank();
        let baseline = match text {
            // The font's colon stands between lowercase letters; between digits it belongs in their middle.
            ":" => centred(self.height, &run),
            _ => baseline,
        };
        super::place(&mut mask, &run, baseline);
        mask
    }

    /// The text as ink that fits; a single sign gives up some of its width before its height.
    fn fitting_sign(&mut self, text: &str, half_px: u32) -> TextRun {
        let (font, room) = (self.style.font, self.room());
        let run = self.type_.run(font, half_px, text);
        let mut signs = text.chars();
        let (Some(sign), None) = (signs.next(), signs.next()) else {
            return self.type_.fit_or_cut(font, half_px, room, text).0;
        };
        if room.holds(&run) {
            return run;
        }
        let ratio = (room.width as f32 / run.width().max(1) as f32).clamp(NARROWEST, 1.0);
        (1..=half_px)
            .rev()
            .map(|half_px| self.type_.condensed(font, half_px, ratio, sign))
            .find(|run| room.holds(run))
            .unwrap_or_default()
    }

    /// The largest height up to the one asked for at which every digit fits, so that all keep one height.
    fn digit_height(&mut self, half_px: u32) -> u32 {
        let room = self.room();
        "0123456789".chars().fold(half_px, |height, digit| {
            let mut text = [0; 4];
            self.type_
                .fit(
                    self.style.font,
                    height,
                    2 * 8,
                    room,
                    digit.encode_utf8(&mut text),
                )
                .1
        })
    }
}
