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
pub struct BoardPainter {
    panels: usize,
    kind: PainterKind,
}

enum PainterKind {
    /// Each cell has a panel.
    Cells(Painter),
    /// One panel shows everything.
    Canvas(Box<ScreenPainter>, CanvasSpec),
}

impl BoardPainter {
    /// A painter with empty caches.
    pub fn new(board: &BoardSpec) -> BoardPainter {
        let (width, height) = board.panel_size();
        let kind = match board.canvas {
            None => PainterKind::Cells(Painter::new(width, height)),
            Some(_) => {
                let spec = CanvasSpec {
                    width: width.into(),
                    height: height.into(),
                    turn: Turn::None,
                    depth: Depth::One,
                    layout: Layout::Cells,
                    dark: None,
                };
                PainterKind::Canvas(Box::default(), spec)
            }
        };
        BoardPainter {
            panels: board.panel_count(),
            kind,
        }
    }

    /// Draws the picture of one panel.
    pub fn paint(&mut self, picture: &Picture, panel: usize) -> Bitmap {
        match &mut self.kind {
            PainterKind::Cells(painter) => painter.paint(picture, panel),
            PainterKind::Canvas(painter, spec) => {
                Bitmap::from_canvas(painter.paint(picture, "", spec).canvas)
            }
        }
    }

    /// Draws the pictures of all panels.
    pub fn paint_all(&mut self, picture: &Picture) -> Vec<Bitmap> {
        let panels = 0..self.panels;
        panels.map(|panel| self.paint(picture, panel)).collect()
    }
}
