//! Letters with soft edges, and their widths.

use std::{collections::BTreeMap, sync::Arc};

use device::settings::fonts::FontId;

use crate::{
    faces,
    font::{SoftGlyph, Widths},
    text::Typesetter,
};

/// Largest size of cached glyphs, bytes: the digits of three sizes on the largest canvas.
const GLYPH_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Counted for each cached glyph besides its pixels, bytes.
const GLYPH_OVERHEAD: usize = 128;

/// Most cached widths: far more characters than a board has.
const WIDTHS_MAX: usize = 4096;

/// Parts of a pixel to which the place of a letter is rounded where there are greys.
const PLACES: f32 = 4.0;

/// Font, size in 64ths of a px, part of a pixel, character.
type GlyphKey = (FontId, u32, u8, char);

/// Glyphs and widths of all fonts, cached.
#[derive(Default)]
pub(super) struct Lettering {
    typesetter: Typesetter,
    widths: BTreeMap<(FontId, char), (FontId, Widths)>,
    capitals: BTreeMap<FontId, f32>,
    glyphs: BTreeMap<GlyphKey, (Arc<SoftGlyph>, u64)>,
    bytes: usize,
    uses: u64,
}

impl Lettering {
    /// The font, or the fallback for the whole text if it lacks a letter: some letters of a word in another font look
    /// broken.
    pub(super) fn font_of(&mut self, font: FontId, text: &str) -> FontId {
        let is_missing = |ch: char| !ch.is_ascii() && ch.is_alphabetic();
        let mut letters = text.chars().filter(|ch| is_missing(*ch));
        if letters.all(|ch| self.has(font, ch)) { font } else { faces::stand_in() }
    }

    pub(super) fn has(&mut self, font: FontId, ch: char) -> bool {
        self.widths(font, ch).0 == font
    }

    /// Height of the capitals in parts of the em.
    pub(super) fn cap_height(&mut self, font: FontId) -> f32 {
        let typesetter = &mut self.typesetter;
        *(self.capitals.entry(font)).or_insert_with(|| typesetter.font(font).cap_height())
    }

    /// The widths of a character, and the font that has it.
    pub(super) fn widths(&mut self, font: FontId, ch: char) -> (FontId, Widths) {
        if let Some(known) = self.widths.get(&(font, ch)) {
            return *known;
        }
        if self.widths.len() >= WIDTHS_MAX {
            self.widths.clear();
        }
        let none = Widths {
            advance: 0.0,
            left: 0.0,
            right: 0.0,
        };
        let fonts = [font, faces::stand_in()];
        let mut found = (fonts.into_iter())
            .filter_map(|font| Some((font, self.typesetter.font(font).widths(ch)?)));
        let found = found.next().unwrap_or((faces::stand_in(), none));
        self.widths.insert((font, ch), found);
        found
    }

    /// Widths of the cell of each digit: the widest one.
    pub(super) fn digit_cell(&mut self, font: FontId) -> f32 {
        let advances = ('0'..='9').map(|digit| self.widths(font, digit).1.advance);
        advances.fold(0.0, f32::max)
    }

    /// A glyph at a place, with the whole pixels of the place.
    pub(super) fn glyph(
        &mut self,
        font: FontId,
        ch: char,
        em: f32,
        x: f32,
        is_whole: bool,
    ) -> (i32, Arc<SoftGlyph>) {
        let (font, _) = self.widths(font, ch);
        let parts = if is_whole { 1.0 } else { PLACES };
        let place = (x * parts).round() as i32;
        let shift = place.rem_euclid(parts as i32);
        self.uses += 1;
        let key = (font, (em * 64.0).round() as u32, shift as u8, ch);
        let glyph = match self.glyphs.get_mut(&key) {
            Some((glyph, used)) => {
                *used = self.uses;
                glyph.clone()
            }
            None => {
                let drawn = (self.typesetter.font(font)).soft_glyph(ch, em, shift as f32 / parts);
                let glyph = Arc::new(drawn.unwrap_or_default());
                self.bytes += cost(&glyph);
                self.glyphs.insert(key, (glyph.clone(), self.uses));
                while self.bytes > GLYPH_BYTES_MAX && self.glyphs.len() > 1 {
                    self.forget_oldest();
                }
                glyph
            }
        };
        (place.div_euclid(parts as i32), glyph)
    }

    fn forget_oldest(&mut self) {
        let oldest = self.glyphs.iter().min_by_key(|(_, (_, used))| *used);
        let oldest = oldest.map(|(key, _)| *key);
        if let Some((glyph, _)) = oldest.and_then(|key| self.glyphs.remove(&key)) {
            self.bytes -= cost(&glyph);
        }
    }
}

/// Size of a cached glyph, bytes.
fn cost(glyph: &SoftGlyph) -> usize {
    GLYPH_OVERHEAD + glyph.coverage.len()
}
