//! What panels are drawn with.

use clap::ValueEnum;
use render::Bitmap;

use super::{blocks, kitty, size::Size};

/// What panels are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum With {
    /// Half blocks, two shades each: any terminal with 256 colours
    Blocks,
    /// The graphics protocol of kitty
    Kitty,
}

impl With {
    /// What is written to the terminal for the panels.
    pub(super) fn drawn(self, panels: &[Bitmap], size: Size) -> String {
        match self {
            With::Blocks => blocks::encode(panels, size),
            With::Kitty => kitty::encode(panels, size),
        }
    }
}
