//! Screens as words and figures on one canvas: one as large as it gets, or a board of them.
//!
//! Reading order: `scale` (the tables of sizes, shares and tones), `sheet` (the ink), `raster` (its pixels), `lettering`, `numeral` (a figure),
//! `figure` (one tile), `graph`, `board`.

mod board;
mod figure;
mod graph;
mod lettering;
mod numeral;
mod raster;
mod scale;
mod sheet;
#[cfg(test)]
mod tests;

use device::{
    canvas::{CanvasSpec, HEIGHTS, Turn, WIDTHS},
    cells::Style,
    tile::Tile,
};

use self::{
    lettering::Lettering,
    raster::{Raster, RasterFormat},
    scale::Tone,
    sheet::Sheet,
};
use crate::canvas::Canvas;

/// Largest number of pixels that are kept.
const KEPT_PIXELS_MAX: usize = 4 * 1024 * 1024;

/// Draws tiles. It caches glyphs, and keeps the last picture: of the next one of the same format it draws only what
/// differs. Both are bounded.
#[derive(Default)]
pub struct TilePainter {
    lettering: Lettering,
    last: Option<Raster>,
}

/// A canvas with tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileCanvas {
    pub canvas: Canvas,
    /// How many tiles had room, from the first on.
    pub shown: usize,
}

impl TilePainter {
    /// Draws one tile, or a board of several, in the font of the style.
    pub fn paint(&mut self, tiles: &[Tile], style: &Style, spec: &CanvasSpec) -> TileCanvas {
        let width = spec.width.clamp(*WIDTHS.start(), *WIDTHS.end());
        let height = spec.height.clamp(*HEIGHTS.start(), *HEIGHTS.end());
        let upright = match spec.turn {
            Turn::None | Turn::Half => (width as i32, height as i32),
            Turn::Quarter | Turn::ThreeQuarters => (height as i32, width as i32),
        };
        let is_dark = spec.dark.unwrap_or(style.inverted);
        let mut sheet = Sheet::new(
            &mut self.lettering,
            style.font,
            upright,
            spec.depth,
            is_dark,
        );
        let shown = board::draw(&mut sheet, tiles);
        let format = RasterFormat {
            upright,
            turn: spec.turn,
            depth: spec.depth,
            paper: Tone::Paper.grey(spec.depth, is_dark),
        };
        let inks = sheet.inks;
        let last = self.last.take().filter(|last| last.format == format);
        let mut raster = last.unwrap_or_else(|| Raster::new(format));
        raster.draw(inks);
        let rows = raster.rows.clone();
        self.last = Some(raster).filter(|raster| raster.pixels() <= KEPT_PIXELS_MAX);
        TileCanvas {
            canvas: Canvas {
                width,
                height,
                depth: spec.depth,
                rows,
            },
            shown,
        }
    }
}
