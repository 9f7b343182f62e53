//! Pictures to 1-bit bitmaps; pure, and the home of the fonts.
//!
//! A [`Painter`] turns the cells of a picture into one [`Bitmap`] per panel.
//! Read on in `paint` (what is kept between pictures), `draw` (one file per kind of cell), `text` (lines of
//! text), `font` and `bitcoin` (single glyphs) and `mask` (the pixels).

mod bitcoin;
mod bitmap;
mod draw;
mod faces;
mod font;
mod glyph;
mod icons;
mod mask;
mod paint;
pub mod panel_frame;
pub mod png;
mod text;

pub use bitmap::Bitmap;
pub use faces::has_btc_symbol;
pub use paint::Painter;
pub use text::is_drawn;
