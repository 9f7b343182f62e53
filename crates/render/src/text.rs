//! Lines of text as ink, with the caches that make painting them again cheap.

use std::{collections::BTreeMap, sync::Arc};

use device::settings::fonts::FontId;

use crate::{
    font::{Font, Glyph},
    mask::Mask,
};

/// Decoded fonts kept; a picture uses its own and one of the fixed faces.
const FONTS_MAX: usize = 2;

/// Ink of glyphs kept, bytes.
const GLYPH_BYTES_MAX: usize = 192 * 1024;

/// Fonts and the glyphs drawn from them.
#[derive(Default)]
pub(crate) struct Typesetter {
    fonts: Vec<(FontId, Font)>,
    glyphs: BTreeMap<Key, Kept>,
    glyph_bytes: usize,
    uses: u64,
}

/// Font, height in halves of a px, character.
type Key = (FontId, u32, char);

struct Kept {
    glyph: Option<Arc<Glyph>>,
    used: u64,
}

/// A line of text as ink.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    /// The ink, no larger than it must be; empty without ink.
    pub(crate) mask: Mask,
    /// From the baseline up to the top row, px.
    pub(crate) above: i32,
}

impl Run {
    pub(crate) fn width(&self) -> i32 {
        self.mask.width()
    }

    pub(crate) fn height(&self) -> i32 {
        self.mask.height()
    }
}

/// Room that a line may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Width, px.
    pub(crate) width: i32,
    /// Height, px.
    pub(crate) height: i32,
}

impl Room {
    fn holds(self, run: &Run) -> bool {
        run.width() <= self.width && run.height() <= self.height
    }
}

impl Typesetter {
    /// Sets a line at a height.
    pub(crate) fn run(&mut self, font: FontId, half_px: u32, text: &str) -> Run {
        let mut pen = 0.0_f32;
        let mut placed = Vec::new();
        for ch in text.chars() {
            if let Some(glyph) = self.glyph(font, half_px, ch) {
                placed.push((pen.round() as i32 + glyph.left, glyph.clone()));
                pen += glyph.advance;
            }
        }
        assemble(&placed)
    }

    /// Sets a line at the largest height from `start` down to `least` that fits, both in halves of a px.
    ///
    /// The second value is the height; a line that does not fit at the least height is returned all the same.
    pub(crate) fn fit(
        &mut self,
        font: FontId,
        start: u32,
        least: u32,
        room: Room,
        text: &str,
    ) -> (Run, u32) {
        let run = self.run(font, start, text);
        if room.holds(&run) || start <= least {
            return (run, start);
        }
        let scale = |have: i32, want: i32| start * have.max(0) as u32 / want.max(1) as u32;
        let guess = scale(room.width, run.width()).min(scale(room.height, run.height()));
        let mut half_px = (guess + 2).clamp(least, start - 1);
        loop {
            let run = self.run(font, half_px, text);
            if room.holds(&run) || half_px <= least {
                return (run, half_px);
            }
            half_px -= 1;
        }
    }

    fn glyph(&mut self, font: FontId, half_px: u32, ch: char) -> Option<Arc<Glyph>> {
        self.uses += 1;
        let key = (font, half_px, ch);
        if let Some(kept) = self.glyphs.get_mut(&key) {
            kept.used = self.uses;
            return kept.glyph.clone();
        }
        let glyph = self.font(font).glyph(ch, half_px).map(Arc::new);
        self.glyph_bytes += cost(glyph.as_deref());
        let used = self.uses;
        self.glyphs.insert(
            key,
            Kept {
                glyph: glyph.clone(),
                used,
            },
        );
        while self.glyph_bytes > GLYPH_BYTES_MAX && self.glyphs.len() > 1 {
            self.forget_oldest();
        }
        glyph
    }

    fn forget_oldest(&mut self) {
        let oldest = self
            .glyphs
            .iter()
            .min_by_key(|(_, kept)| kept.used)
            .map(|(key, _)| *key);
        if let Some(kept) = oldest.and_then(|key| self.glyphs.remove(&key)) {
            self.glyph_bytes -= cost(kept.glyph.as_deref());
        }
    }

    /// The font, decoded if need be; the last used ones stay, last used last.
    fn font(&mut self, id: FontId) -> &mut Font {
        let entry = match self.fonts.iter().position(|(open, _)| *open == id) {
            Some(index) => self.fonts.remove(index),
            None => {
                if self.fonts.len() == FONTS_MAX {
                    self.fonts.remove(0);
                }
                (id, Font::open(id))
            }
        };
        self.fonts.push(entry);
        let last = self.fonts.len() - 1;
        &mut self.fonts[last].1
    }
}

/// What a kept glyph costs with its bookkeeping, bytes.
fn cost(glyph: Option<&Glyph>) -> usize {
    128 + glyph.map_or(0, |glyph| glyph.mask.bytes())
}

/// One piece of ink from glyphs and the columns at which they start.
fn assemble(placed: &[(i32, Arc<Glyph>)]) -> Run {
    let inked = || placed.iter().filter(|(_, glyph)| glyph.mask.width() > 0);
    let Some(left) = inked().map(|(x, _)| *x).min() else {
        return Run::default();
    };
    let right = inked()
        .map(|(x, glyph)| x + glyph.mask.width())
        .max()
        .unwrap_or(left);
    let above = inked().map(|(_, glyph)| glyph.above).max().unwrap_or(0);
    let below = inked()
        .map(|(_, glyph)| glyph.mask.height() - glyph.above)
        .max()
        .unwrap_or(0);
    let mut mask = Mask::new(right - left, above + below);
    for (x, glyph) in inked() {
        mask.blit(&glyph.mask, x - left, above - glyph.above);
    }
    Run { mask, above }
}
