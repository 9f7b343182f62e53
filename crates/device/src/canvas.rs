//! Size and form of a picture for another screen; `render` paints it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::ops::RangeInclusive;

/// Widths of a picture, px.
pub const WIDTHS: RangeInclusive<u32> = 200..=3840;

/// Heights of a picture, px.
pub const HEIGHTS: RangeInclusive<u32> = 100..=2160;

/// How a picture is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// The same as [`Layout::Figure`].
    #[default]
    Auto,
    /// One screen as words and a large figure.
    Figure,
    /// Several screens at once, those of the setting `boardScreens`.
    Board,
    /// The cells of the panels, as fits the canvas.
    Cells,
    /// The cells side by side.
    Row,
    /// The cells in two rows. If their number is odd, a heading is as tall as both.
    TwoRows,
    /// The cells one below the other.
    Column,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Layout; 7] = [
        Layout::Auto,
        Layout::Figure,
        Layout::Board,
        Layout::Cells,
        Layout::Row,
        Layout::TwoRows,
        Layout::Column,
    ];

    /// Name in JSON and addresses.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Auto => "auto",
            Layout::Figure => "figure",
            Layout::Board => "board",
            Layout::Cells => "cells",
            Layout::Row => "row",
            Layout::TwoRows => "two-rows",
            Layout::Column => "column",
        }
    }

    /// What it divides.
    pub fn form(self) -> LayoutForm {
        match self {
            Layout::Auto | Layout::Figure => LayoutForm::Figure,
            Layout::Board => LayoutForm::Board,
            Layout::Cells | Layout::Row | Layout::TwoRows | Layout::Column => LayoutForm::Cells,
        }
    }

    /// All layouts by their names.
    pub fn choices() -> [(String, Layout); 7] {
        Layout::ALL.map(|layout| (layout.name().into(), layout))
    }
}

/// What a layout divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutForm {
    /// The cells of the panels.
    Cells,
    /// One tile.
    Figure,
    /// Several tiles.
    Board,
}

/// Bits of grey per pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is a number of bits")]
pub enum Depth {
    One,
    Two,
    Four,
    Eight,
}

impl Depth {
    /// All depths.
    pub const ALL: [Depth; 4] = [Depth::One, Depth::Two, Depth::Four, Depth::Eight];

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Depth::One => 1,
            Depth::Two => 2,
            Depth::Four => 4,
            Depth::Eight => 8,
        }
    }

    /// All depths by their numbers of bits.
    pub fn choices() -> [(String, Depth); 4] {
        Depth::ALL.map(|depth| (depth.bits().to_string(), depth))
    }
}

/// Rotation, clockwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "each variant is a part of a full turn")]
pub enum Turn {
    #[default]
    None,
    Quarter,
    Half,
    ThreeQuarters,
}

impl Turn {
    /// All rotations.
    pub const ALL: [Turn; 4] = [Turn::None, Turn::Quarter, Turn::Half, Turn::ThreeQuarters];

    /// Degrees.
    pub fn degrees(self) -> u32 {
        match self {
            Turn::None => 0,
            Turn::Quarter => 90,
            Turn::Half => 180,
            Turn::ThreeQuarters => 270,
        }
    }

    /// All rotations by their degrees.
    pub fn choices() -> [(String, Turn); 4] {
        Turn::ALL.map(|turn| (turn.degrees().to_string(), turn))
    }
}

/// How a canvas is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CanvasSpec {
    /// Width of the delivered image, px. One outside [`WIDTHS`] is taken as the nearest bound.
    pub width: u32,
    /// Height of the delivered image, px. One outside [`HEIGHTS`] is taken as the nearest bound.
    pub height: u32,
    /// Rotation of the picture within it.
    pub turn: Turn,
    /// Bits per pixel.
    pub depth: Depth,
    /// How it is divided.
    pub layout: Layout,
    /// White on black; `None` follows the style of the picture.
    pub dark: Option<bool>,
}

/// The number that a client has sent, if it is within its bounds.
///
/// # Errors
/// A sentence that names the value and its bounds.
pub fn bounded(name: &str, sent: Option<u32>, bounds: &RangeInclusive<u32>) -> Result<u32, String> {
    let (least, most) = (bounds.start(), bounds.end());
    sent.filter(|number| bounds.contains(number))
        .ok_or_else(|| format!("{name} must be a whole number from {least} to {most}"))
}

/// The choice that a client has sent.
///
/// # Errors
/// A sentence that names the value and its choices.
pub fn chosen<T: Copy>(
    name: &str,
    sent: Option<&str>,
    choices: &[(String, T)],
) -> Result<T, String> {
    let found = choices.iter().find(|(word, _)| Some(word.as_str()) == sent);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| word.as_str()).collect();
        format!("{name} must be one of {}", words.join(", "))
    })
}
