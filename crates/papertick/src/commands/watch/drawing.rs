//! The methods to draw panels in a terminal.

use clap::ValueEnum;
use render::Bitmap;

use super::{blocks, kitty, size::Size};

/// A method to draw panels in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawingMethod {
    /// Half block characters, for any terminal with 256 colours
    Blocks,
    /// The graphics protocol of kitty
    Kitty,
}

impl DrawingMethod {
    /// The text that draws the panels.
    pub(super) fn encode(self, panels: &[Bitmap], size: Size) -> String {
        match self {
            DrawingMethod::Blocks => blocks::encode(panels, size),
            DrawingMethod::Kitty => kitty::encode(panels, size),
        }
    }
}
