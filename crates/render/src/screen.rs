//! Draws a picture on one canvas: its tiles, or else its cells; and on the panels of a board.

use device::{
    board::BoardSpec,
    canvas::{CanvasSpec, Depth, Layout, Turn},
    cells::Picture,
};

use crate::{
    Bitmap, Painter,
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

/// Draws pictures for the panels of a board.
pub enum BoardPainter {
    /// Each cell has a panel.
    Cells(Painter),
    /// One panel shows everything.
    Canvas(Box<ScreenPainter>, CanvasSpec),
}

impl BoardPainter {
    /// A painter with empty caches.
    pub fn new(board: &BoardSpec) -> BoardPainter {
        let (width, height) = board.panel_size();
        if board.canvas.is_none() {
            return BoardPainter::Cells(Painter::new(width, height));
        }
        let spec = CanvasSpec {
            width: width.into(),
            height: height.into(),
            turn: Turn::None,
            depth: Depth::One,
            layout: Layout::Cells,
            dark: None,
        };
        BoardPainter::Canvas(Box::default(), spec)
    }

    /// Draws the picture of one panel.
    pub fn paint(&mut self, picture: &Picture, panel: usize) -> Bitmap {
        match self {
            BoardPainter::Cells(painter) => painter.paint(picture, panel),
            BoardPainter::Canvas(painter, spec) => {
                Bitmap::from_canvas(painter.paint(picture, "", spec).canvas)
            }
        }
    }

    /// Draws the pictures of all panels.
    pub fn paint_all(&mut self, picture: &Picture) -> Vec<Bitmap> {
        match self {
            BoardPainter::Cells(painter) => painter.paint_all(picture),
            BoardPainter::Canvas(..) => vec![self.paint(picture, 0)],
        }
    }
}
