//! Digits, currency signs and the texts of the miner: one height and one baseline on all panels.

use super::{MARGIN, PanelCanvas, centred};
use crate::{bitcoin, mask::Mask, text::TextRun};

/// Height of the texts of the miner, px.
pub(super) const TAIL: u32 = 160;

/// The digit that is centred vertically. In some fonts others reach below the baseline.
const MIDDLE: &str = "0";

/// The smallest part of its width to which a wide sign is narrowed, so that it is as high as the digits.
const NARROWEST: f32 = 0.82;

impl PanelCanvas<'_> {
    /// A text in the digit font, on the baseline of digits at that height.
    ///
    /// If the font lacks a sign, the panel is empty, because a sign of another font would not match the digits. The bitcoin
    /// sign is drawn in every font.
    pub(super) fn digit(&mut self, text: &str, px: u32) -> Mask {
        let font = self.style.font;
        let is_drawn = |ch| ch == bitcoin::SIGN || self.type_.has(font, ch);
        if !text.chars().all(is_drawn) {
            return self.blank();
        }
        let half_px = self.digit_height(self.scale.digits(2 * px.clamp(80, 220)));
        let zero = self.type_.run(font, half_px, MIDDLE);
        let baseline = centred(self.height, &zero);
        let run = self.fitting_sign(text, half_px);
        let mut mask = self.blank();
        let baseline = match text {
            // The colon of the font is centred on lowercase letters; between digits it is centred on the digits.
            ":" => centred(self.height, &run),
            _ => baseline,
        };
        super::place(&mut mask, &run, baseline, self.scale.margin(MARGIN));
        mask
    }

    /// The text as ink that fits. A single sign is narrowed first, then made smaller.
    fn fitting_sign(&mut self, text: &str, half_px: u32) -> TextRun {
        let (font, room) = (self.style.font, self.room());
        let run = self.type_.run(font, half_px, text);
        let mut signs = text.chars();
        let (Some(sign), None) = (signs.next(), signs.next()) else {
            let least = self.scale.least();
            return self.type_.fit_or_cut(font, half_px, least, room, text).0;
        };
        if room.holds(&run) {
            return run;
        }
        let ratio = (room.width as f32 / run.width().max(1) as f32).clamp(NARROWEST, 1.0);
        (1..=half_px)
            .rev()
            .step_by(self.scale.step() as usize)
            .map(|half_px| self.type_.condensed(font, half_px, ratio, sign))
            .find(|run| room.holds(run))
            .unwrap_or_default()
    }

    /// The largest height, up to the requested one, at which every digit fits, so that all have one height.
    fn digit_height(&mut self, half_px: u32) -> u32 {
        let (room, least) = (self.room(), self.scale.least());
        "0123456789".chars().fold(half_px, |height, digit| {
            let mut text = [0; 4];
            self.type_
                .fit(
                    self.style.font,
                    height,
                    least,
                    room,
                    digit.encode_utf8(&mut text),
                )
                .1
        })
    }
}
