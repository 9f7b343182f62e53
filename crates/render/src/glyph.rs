//! What a font gives for a letter: ink and where it stands.

use crate::mask::Mask;

/// The ink of a glyph, relative to the pen on the baseline.
#[derive(Debug)]
pub(crate) struct Glyph {
    /// The ink; empty for a space.
    pub(crate) mask: Mask,
    /// From the pen to the leftmost column, px.
    pub(crate) left: i32,
    /// From the baseline up to the top row, px.
    pub(crate) above: i32,
    /// From this pen to the next, px.
    pub(crate) advance: f32,
}
