//! Renders pictures to bitmaps, without I/O. Includes the fonts.
//!
//! A [`Painter`] turns the cells of a picture into one [`Bitmap`] per panel, a [`canvas::CanvasPainter`] lays them out on one
//! canvas, and a [`tiles::TilePainter`] draws screens as words and figures for one canvas; [`ScreenPainter`] is both, and a
//! [`BoardPainter`] draws for the panels of a board.
//! `paint` has the caches, `draw` one file per kind of cell, `text` lines of text, `font` and `bitcoin` single glyphs, `mask`
//! the pixels.

mod bitcoin;
mod bitmap;
pub mod bmp;
pub mod canvas;
mod deflate;
mod draw;
mod faces;
mod font;
mod glyph;
mod icons;
mod mask;
mod paint;
pub mod panel_frame;
pub mod png;
pub mod qr;
mod screen;
mod text;
pub mod tiles;

pub use bitmap::Bitmap;
pub use faces::has_btc_symbol;
pub use paint::Painter;
pub use screen::{BoardPainter, ScreenPainter};
pub use text::is_drawn;
