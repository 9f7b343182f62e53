//! Draws a picture on one canvas: its tiles, or else its cells.

use device::{canvas::CanvasSpec, cells::Picture};

use crate::{
    canvas::CanvasPainter,
    tiles::{TileCanvas, TilePainter},
};

/// Draws pictures on one canvas. It caches what it draws again; the caches are bounded.
#[derive(Default)]
pub struct ScreenPainter {
    cells: CanvasPainter,
    tiles: TilePainter,
}

impl ScreenPainter {
    /// Draws a picture; the caption stands below cells.
    pub fn paint(&mut self, picture: &Picture, caption: &str, spec: &CanvasSpec) -> TileCanvas {
        if picture.tiles.is_empty() {
            let canvas = self.cells.paint(picture, caption, spec);
            return TileCanvas { canvas, shown: 0 };
        }
        self.tiles.paint(&picture.tiles, &picture.style, spec)
    }
}
