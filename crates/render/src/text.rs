//! Lines of text as ink, with caches of fonts and glyphs.

use std::{collections::BTreeMap, sync::Arc};

use device::settings::fonts::FontId;

use crate::{faces, font::Font, glyph::Glyph, mask::Mask};

/// Largest number of cached fonts: a picture uses its own, a fixed face and the fallback.
const FONTS_MAX: usize = 3;

/// Number of panels drawn without a font after which it is dropped. Decoding it again takes a millisecond.
const FONT_IDLE_PANELS: u64 = 32;

/// Largest number of characters of a line; far more than fit.
const CHARS_MAX: usize = 256;

/// Largest size of cached glyphs for panels, bytes.
const GLYPH_BYTES_MAX: usize = 192 * 1024;

/// Returns whether a character of the owner's text is drawn with every font.
pub fn is_drawn(ch: char) -> bool {
    let has = |font: FontId| Font::open(font).has(ch);
    ch == '₿' || (!ch.is_control() && (has(faces::stand_in()) || FontId::all().all(has)))
}

/// Fonts and the glyphs drawn from them.
pub(crate) struct Typesetter {
    fonts: Vec<Open>,
    panels: u64,
    glyphs: BTreeMap<GlyphKey, CachedGlyph>,
    glyph_bytes: usize,
    glyph_bytes_max: usize,
    uses: u64,
}

impl Default for Typesetter {
    fn default() -> Typesetter {
        Typesetter::with_glyph_bytes(GLYPH_BYTES_MAX)
    }
}

/// A decoded font.
struct Open {
    id: FontId,
    font: Font,
    /// Panel count at its last use.
    used: u64,
}

/// Font, height in half pixels, character.
type GlyphKey = (FontId, u32, char);

/// A cached glyph and its last use.
struct CachedGlyph {
    glyph: Option<Arc<Glyph>>,
    used: u64,
}

/// A rendered line of text.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextRun {
    /// The ink, cropped; empty without ink.
    pub(crate) mask: Mask,
    /// Distance from the baseline up to the top row, px.
    pub(crate) above: i32,
}

impl TextRun {
    pub(crate) fn width(&self) -> i32 {
        self.mask.width()
    }

    pub(crate) fn height(&self) -> i32 {
        self.mask.height()
    }
}

/// Space for a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Width, px.
    pub(crate) width: i32,
    /// Height, px.
    pub(crate) height: i32,
}

impl Room {
    pub(crate) fn holds(self, run: &TextRun) -> bool {
        run.width() <= self.width && run.height() <= self.height
    }
}

impl Typesetter {
    /// A typesetter that caches glyphs of this many bytes at most.
    pub(crate) fn with_glyph_bytes(glyph_bytes_max: usize) -> Typesetter {
        Typesetter {
            fonts: Vec::new(),
            panels: 0,
            glyphs: BTreeMap::new(),
            glyph_bytes: 0,
            glyph_bytes_max,
            uses: 0,
        }
    }

    /// Starts a panel and drops cached fonts and glyphs that were not used for a while.
    pub(crate) fn next_panel(&mut self) {
        self.panels += 1;
        self.fonts
            .retain(|open| self.panels - open.used <= FONT_IDLE_PANELS);
    }

    /// Sets a line at a height.
    pub(crate) fn run(&mut self, font: FontId, half_px: u32, text: &str) -> TextRun {
        let font = self.whole_font(font, text);
        let mut pen = 0.0_f32;
        let mut placed: Vec<(i32, Arc<Glyph>)> = Vec::new();
        for ch in text.chars().take(CHARS_MAX) {
            if let Some(glyph) = self.glyph(font, half_px, ch) {
                let before = placed.last().filter(|_| ch == '.');
                let near = before.map(|(x, before)| x + before.mask.width() + dot_gap(half_px));
                let x = pen.round() as i32 + glyph.left;
                let nearer = near.map_or(0, |near| (x - near).max(0));
                placed.push((x - nearer, glyph.clone()));
                pen += glyph.advance - nearer as f32;
            }
        }
        assemble(&placed)
    }

    /// Sets a single sign, narrowed.
    pub(crate) fn condensed(
        &mut self,
        font: FontId,
        half_px: u32,
        ratio: f32,
        sign: char,
    ) -> TextRun {
        let glyph = self.font(font).condensed(sign, half_px, ratio);
        glyph
            .map(|glyph| assemble(&[(0, Arc::new(glyph))]))
            .unwrap_or_default()
    }

    /// Sets a line at the largest height from `start` down to `least` that fits, both in halves of a px.
    ///
    /// Also returns the height. A line that does not fit at the smallest height is returned at that height.
    pub(crate) fn fit(
        &mut self,
        font: FontId,
        start: u32,
        least: u32,
        room: Room,
        text: &str,
    ) -> (TextRun, u32) {
        let run = self.run(font, start, text);
        if room.holds(&run) || start <= least {
            return (run, start);
        }
        let scale =
            |have: i32, want: i32| u64::from(start) * have.max(0) as u64 / want.max(1) as u64;
        let guess = scale(room.width, run.width()).min(scale(room.height, run.height()));
        let mut half_px = (guess.min(start.into()) as u32 + 2).clamp(least, start - 1);
        loop {
            let run = self.run(font, half_px, text);
            if room.holds(&run) || half_px <= least {
                return (run, half_px);
            }
            half_px -= 1;
        }
    }

    /// Sets a line like `fit`. A line that is still too long ends with an ellipsis.
    pub(crate) fn fit_or_cut(
        &mut self,
        font: FontId,
        start: u32,
        least: u32,
        room: Room,
        text: &str,
    ) -> (TextRun, u32) {
        let (run, half_px) = self.fit(font, start, least, room, text);
        if room.holds(&run) {
            return (run, half_px);
        }
        (self.cut(font, half_px, room, text), half_px)
    }

    /// Sets as much of a line as fits at a height, with an ellipsis if that is not all.
    pub(crate) fn cut(&mut self, font: FontId, half_px: u32, room: Room, text: &str) -> TextRun {
        let mut run = self.run(font, half_px, text);
        let mut kept: String = text.chars().take(CHARS_MAX).collect();
        while !room.holds(&run) && kept.pop().is_some() {
            run = self.run(font, half_px, &format!("{}…", kept.trim_end()));
        }
        if room.holds(&run) { run } else { TextRun::default() }
    }

    /// The font or, if letters would be missing, the fallback for the whole line.
    ///
    /// A single sign can come from another font, but not some letters of a word.
    fn whole_font(&mut self, font: FontId, text: &str) -> FontId {
        let missing = |ch: char| !ch.is_ascii() && ch.is_alphabetic() && !self.has(font, ch);
        if text.chars().take(CHARS_MAX).any(missing) { faces::stand_in() } else { font }
    }

    pub(crate) fn has(&mut self, font: FontId, ch: char) -> bool {
        self.font(font).has(ch)
    }

    fn glyph(&mut self, font: FontId, half_px: u32, ch: char) -> Option<Arc<Glyph>> {
        self.uses += 1;
        let key = (font, half_px, ch);
        if let Some(kept) = self.glyphs.get_mut(&key) {
            kept.used = self.uses;
            return kept.glyph.clone();
        }
        let mut glyph = self.font(font).glyph(ch, half_px);
        if glyph.is_none() && !ch.is_control() {
            glyph = self.font(faces::stand_in()).glyph(ch, half_px);
        }
        let glyph = glyph.map(Arc::new);
        self.glyph_bytes += cost(glyph.as_deref());
        let used = self.uses;
        self.glyphs.insert(
            key,
            CachedGlyph {
                glyph: glyph.clone(),
                used,
            },
        );
        while self.glyph_bytes > self.glyph_bytes_max && self.glyphs.len() > 1 {
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

    /// The font, decoded if it is not cached. The cache is ordered by last use.
    pub(crate) fn font(&mut self, id: FontId) -> &mut Font {
        let entry = match self.fonts.iter().position(|open| open.id == id) {
            Some(index) => self.fonts.remove(index),
            None => {
                if self.fonts.len() == FONTS_MAX {
                    self.fonts.remove(0);
                }
                Open {
                    id,
                    font: Font::open(id),
                    used: 0,
                }
            }
        };
        self.fonts.push(Open {
            used: self.panels,
            ..entry
        });
        let last = self.fonts.len() - 1;
        &mut self.fonts[last].font
    }
}

/// Largest space before a dot, px. In monospaced fonts there would be a gap.
fn dot_gap(half_px: u32) -> i32 {
    half_px as i32 / 2 / 9 + 1
}

/// Size of a cached glyph, bytes.
fn cost(glyph: Option<&Glyph>) -> usize {
    128 + glyph.map_or(0, |glyph| glyph.mask.bytes())
}

/// Combines the ink of glyphs, given their first columns.
fn assemble(placed: &[(i32, Arc<Glyph>)]) -> TextRun {
    let inked = || placed.iter().filter(|(_, glyph)| glyph.mask.width() > 0);
    let Some(left) = inked().map(|(x, _)| *x).min() else {
        return TextRun::default();
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
    TextRun { mask, above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_glyphs_are_bounded_by_the_memory_of_their_ink() {
        let mut typesetter = Typesetter::default();
        let font = FontId::all().next().expect("there are fonts");
        for half_px in (20..440).step_by(3) {
            typesetter.run(font, half_px, "0123456789");
            let ink = |kept: &CachedGlyph| {
                kept.glyph
                    .as_ref()
                    .map_or(0, |glyph| words(&glyph.mask) * 8)
            };
            let held: usize = typesetter.glyphs.values().map(ink).sum();
            let all = held + 128 * typesetter.glyphs.len();
            assert_eq!(typesetter.glyph_bytes, all, "{half_px} half px");
            assert!(held <= 192 * 1024, "{held} bytes");
        }
        let heights: Vec<u32> = typesetter
            .glyphs
            .keys()
            .map(|(_, half_px, _)| *half_px)
            .collect();
        assert!(!heights.contains(&20), "the oldest masks were dropped");
        assert!(heights.len() > 10, "the newest masks are kept");
    }

    fn words(mask: &Mask) -> usize {
        mask.rows().map(<[u64]>::len).sum()
    }

    #[test]
    fn unused_fonts_and_the_oldest_fonts_are_dropped() {
        let mut typesetter = Typesetter::default();
        let fonts: Vec<FontId> = FontId::all().take(FONTS_MAX + 1).collect();
        let open = |typesetter: &Typesetter| -> Vec<FontId> {
            typesetter.fonts.iter().map(|open| open.id).collect()
        };
        for font in &fonts {
            typesetter.next_panel();
            typesetter.run(*font, 40, "8");
        }
        assert_eq!(open(&typesetter), fonts[1..]);
        for _ in 0..FONT_IDLE_PANELS {
            typesetter.next_panel();
            typesetter.has(fonts[2], '8');
        }
        assert_eq!(open(&typesetter), [fonts[3], fonts[2]]);
        typesetter.next_panel();
        assert_eq!(open(&typesetter), [fonts[2]]);
    }
}
