//! Pictures to 1-bit bitmaps; pure, and the home of the fonts.

mod bitmap;

pub use bitmap::Bitmap;
