//! A decoded font and the drawing of single glyphs.
//!
//! Heights are in *px of the line*: the distance from the font's ascender to its descender.
//! They are counted in halves, so that they can be compared and fitted exactly.

use device::settings::fonts::FontId;
use skrifa::{
    FontRef, GlyphId, MetadataProvider,
    instance::{LocationRef, Size},
    outline::{
        DrawSettings, Engine, GlyphStyles, HintingInstance, HintingOptions, OutlinePen, SmoothMode,
        Target,
    },
    raw::TableProvider,
};
use zeno::{Command, PathBuilder, Transform};

use crate::{
    bitcoin,
    faces::FACES,
    glyph::Glyph,
    mask::{self, Mask},
};

/// Height up to which glyphs are hinted, in halves of a px.
///
/// Only heights are hinted, because hinted widths would make stems of some sizes too thin. Larger glyphs look better without.
const HINTED_MAX: u32 = 2 * 72;

/// Height up to which letters get extra spacing, in halves of a px. On whole pixels they would touch.
const SPACED_MAX: u32 = 2 * 26;

/// Extra spacing, px before rounding.
const SPACING: f32 = 0.4;

/// Coverage from which a pixel of such letters is ink, out of 255. At half coverage thin strokes would have gaps.
const SPACED_COVER: u8 = 116;

/// Size up to which soft glyphs are hinted in height, px of em.
const SOFT_HINTED_MAX: f32 = 48.0;

/// Height of the capitals of a font that does not state it, in parts of the em.
const CAP_HEIGHT: f32 = 0.7;

pub(crate) struct Font {
    files: Vec<FontFile>,
    em_per_line: f32,
}

struct FontFile {
    data: Vec<u8>,
    styles: Option<GlyphStyles>,
    /// The size that is prepared, px of em.
    hinting: Option<(f32, HintingInstance)>,
}

/// Widths of a character, in parts of the em.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Widths {
    pub(crate) advance: f32,
    /// Left edge of the ink.
    pub(crate) left: f32,
    /// Right edge of the ink.
    pub(crate) right: f32,
}

/// The ink of a glyph with soft edges.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct SoftGlyph {
    /// Rows from top to bottom, 255 is all ink.
    pub(crate) coverage: Vec<u8>,
    /// Width, px.
    pub(crate) width: usize,
    /// From the pen to the left edge, px.
    pub(crate) left: i32,
    /// From the baseline up to the top edge, px.
    pub(crate) above: i32,
}

impl Font {
    /// Decodes a font of the catalogue.
    pub(crate) fn open(font: FontId) -> Font {
        let face = &FACES[font.index()];
        let files: Vec<FontFile> = [Some(face.latin), face.latin_ext]
            .into_iter()
            .flatten()
            .filter_map(|packed| wuff::decompress_woff2(packed).ok())
            .map(|data| FontFile {
                data,
                styles: None,
                hinting: None,
            })
            .collect();
        let em_per_line = files.first().and_then(FontFile::em_per_line).unwrap_or(1.0);
        Font { files, em_per_line }
    }

    /// Returns whether the font itself has a character.
    pub(crate) fn has(&self, ch: char) -> bool {
        self.find(ch).is_some()
    }

    /// Draws a character; `None` if the font has no glyph for it.
    pub(crate) fn glyph(&mut self, ch: char, half_px: u32) -> Option<Glyph> {
        self.condensed(ch, half_px, 1.0)
    }

    /// Draws a character, narrowed.
    pub(crate) fn condensed(&mut self, ch: char, half_px: u32, ratio: f32) -> Option<Glyph> {
        let Some((file, id)) = self.find(ch) else {
            return match ch {
                bitcoin::SIGN => Some(bitcoin::sign(&self.condensed('B', half_px, ratio)?)),
                _ => None,
            };
        };
        let em_px = half_px as f32 / 2.0 * self.em_per_line;
        self.files[file].glyph(id, half_px, em_px, ratio)
    }

    /// Height of the capitals in parts of the em.
    pub(crate) fn cap_height(&self) -> f32 {
        let font = self.files.first().and_then(FontFile::font);
        let metrics = font.map(|font| font.metrics(Size::new(1.0), LocationRef::default()));
        metrics
            .and_then(|metrics| metrics.cap_height)
            .unwrap_or(CAP_HEIGHT)
    }

    /// The widths of a character; `None` if the font has no glyph for it.
    pub(crate) fn widths(&self, ch: char) -> Option<Widths> {
        let (file, id) = self.find(ch)?;
        let font = self.files[file].font()?;
        let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
        let ink = metrics.bounds(id).unwrap_or_default();
        Some(Widths {
            advance: metrics.advance_width(id)?,
            left: ink.x_min,
            right: ink.x_max,
        })
    }

    /// Draws a character at a size in px of em, shifted right by a part of a pixel.
    pub(crate) fn soft_glyph(&mut self, ch: char, em_px: f32, shift: f32) -> Option<SoftGlyph> {
        let (file, id) = self.find(ch)?;
        let is_hinted = em_px <= SOFT_HINTED_MAX;
        let (path, _) = self.files[file].outline(id, em_px, is_hinted)?;
        let (coverage, place) = zeno::Mask::new(&path)
            .transform(Some(Transform::translation(shift, 0.0)))
            .render();
        Some(SoftGlyph {
            coverage,
            width: place.width as usize,
            left: place.left,
            above: -place.top,
        })
    }

    fn find(&self, ch: char) -> Option<(usize, GlyphId)> {
        self.files.iter().enumerate().find_map(|(index, file)| {
            let id = file.font()?.charmap().map(ch)?;
            (id != GlyphId::NOTDEF).then_some((index, id))
        })
    }
}

impl FontFile {
    fn font(&self) -> Option<FontRef<'_>> {
        FontRef::new(&self.data).ok()
    }

    fn em_per_line(&self) -> Option<f32> {
        let font = self.font()?;
        let hhea = font.hhea().ok()?;
        let line = i32::from(hhea.ascender().to_i16()) - i32::from(hhea.descender().to_i16());
        Some(f32::from(font.head().ok()?.units_per_em()) / line.max(1) as f32)
    }

    fn glyph(&mut self, id: GlyphId, half_px: u32, em_px: f32, ratio: f32) -> Option<Glyph> {
        let (path, linear) = self.outline(id, em_px, half_px <= HINTED_MAX)?;
        let advance = if half_px <= SPACED_MAX {
            (linear + SPACING).round()
        } else if half_px <= HINTED_MAX {
            linear.round()
        } else {
            linear
        };
        let least_cover = if half_px <= SPACED_MAX { SPACED_COVER } else { mask::HALF };
        Some(ink(&path, ratio, advance * ratio, least_cover))
    }

    /// The outline at a size, and the advance that the font gives for it, px.
    fn outline(&mut self, id: GlyphId, em_px: f32, is_hinted: bool) -> Option<(Vec<Command>, f32)> {
        if is_hinted {
            self.prepare_hinting(em_px);
        }
        let font = self.font()?;
        let outline = font.outline_glyphs().get(id)?;
        let size = Size::new(em_px);
        let linear = font
            .glyph_metrics(size, LocationRef::default())
            .advance_width(id)?;
        let hinted = self.hinting.as_ref().filter(|_| is_hinted);
        let settings = match hinted {
            Some((_, instance)) => DrawSettings::hinted(instance, false),
            None => DrawSettings::unhinted(size, LocationRef::default()),
        };
        let mut pen = Pen::default();
        outline.draw(settings, &mut pen).ok()?;
        Some((pen.path, linear))
    }

    fn prepare_hinting(&mut self, em_px: f32) {
        if self
            .hinting
            .as_ref()
            .is_some_and(|(ready, _)| *ready == em_px)
        {
            return;
        }
        let Ok(font) = FontRef::new(&self.data) else {
            return;
        };
        let outlines = font.outline_glyphs();
        let engine = if outlines.prefer_interpreter() {
            Engine::Interpreter
        } else {
            let styles = self
                .styles
                .get_or_insert_with(|| GlyphStyles::new(&outlines));
            Engine::Auto(Some(styles.clone()))
        };
        let target = Target::from(SmoothMode::Light);
        let options = HintingOptions { engine, target };
        let instance =
            HintingInstance::new(&outlines, Size::new(em_px), LocationRef::default(), options);
        self.hinting = instance.ok().map(|instance| (em_px, instance));
    }
}

fn ink(path: &[Command], ratio: f32, advance: f32, least_cover: u8) -> Glyph {
    let (coverage, place) = zeno::Mask::new(path)
        .transform(Some(Transform::scale(ratio, 1.0)))
        .render();
    let (width, height) = (place.width as i32, place.height as i32);
    let full = Mask::covered(&coverage, width, height, least_cover);
    match full.ink() {
        Some(area) => Glyph {
            mask: full.cropped(area),
            left: place.left + area.x,
            above: -(place.top + area.y),
            advance,
        },
        None => Glyph {
            mask: Mask::default(),
            left: 0,
            above: 0,
            advance,
        },
    }
}

/// Collects an outline with the y axis pointing down.
#[derive(Default)]
struct Pen {
    path: Vec<Command>,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to([x, -y]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to([x, -y]);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to([cx, -cy], [x, -y]);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        self.path.curve_to([cx0, -cy0], [cx1, -cy1], [x, -y]);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
