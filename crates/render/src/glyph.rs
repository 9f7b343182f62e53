//! A glyph of a font: its ink and its position.

use crate::mask::Mask;

/// The ink of a glyph, relative to the pen on the baseline.
#[derive(Debug)]
pub(crate) struct Glyph {
    /// The ink; empty for a space.
    pub(crate) mask: Mask,
    /// Distance from the pen to the leftmost column, px.
    pub(crate) left: i32,
    /// Distance from the baseline up to the top row, px.
    pub(crate) above: i32,
    /// Advance width, px.
    pub(crate) advance: f32,
}
