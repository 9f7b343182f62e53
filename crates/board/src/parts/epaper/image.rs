//! A picture in the order of the controller.

use std::{borrow::Cow, ops::Range};

use render::Bitmap;
use serde::Deserialize;

use super::Model;

/// How far a picture is turned on its panel, clockwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "i64")]
pub enum PanelRotation {
    /// The first row of the controller is on top.
    Upright,
    /// A quarter turn: the top of the picture is on the right of the controller.
    Right,
    #[default]
    UpsideDown,
    /// Three quarter turns: the top of the picture is on the left of the controller.
    Left,
}

impl TryFrom<i64> for PanelRotation {
    type Error = String;

    fn try_from(degrees: i64) -> Result<PanelRotation, String> {
        match degrees {
            0 => Ok(PanelRotation::Upright),
            90 => Ok(PanelRotation::Right),
            180 => Ok(PanelRotation::UpsideDown),
            270 => Ok(PanelRotation::Left),
            other => Err(format!("{other} is not 0, 90, 180 or 270")),
        }
    }
}

impl PanelRotation {
    pub const ALL: [PanelRotation; 4] = [
        PanelRotation::Upright,
        PanelRotation::Right,
        PanelRotation::UpsideDown,
        PanelRotation::Left,
    ];

    /// The angle.
    pub fn degrees(self) -> u16 {
        match self {
            PanelRotation::Upright => 0,
            PanelRotation::Right => 90,
            PanelRotation::UpsideDown => 180,
            PanelRotation::Left => 270,
        }
    }

    /// Width and height of the picture on a panel of a model.
    pub fn size(self, model: &Model) -> (u16, u16) {
        match self {
            PanelRotation::Upright | PanelRotation::UpsideDown => (model.width, model.height),
            PanelRotation::Right | PanelRotation::Left => (model.height, model.width),
        }
    }
}

/// How a picture is sent to a plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaneForm {
    Whole,
    /// With each pixel of the other colour.
    Inverse,
    /// Only these bytes of each row.
    Columns(Range<usize>),
    /// Only these rows.
    Rows(Range<u16>),
    /// Four bits per pixel, with these values of black and white.
    Colours {
        black: u8,
        white: u8,
    },
}

/// A picture, row by row; bit 1 is white. The padding bits at the end of a row are white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelImage {
    bytes: Vec<u8>,
    stride: usize,
}

impl PanelImage {
    /// Converts a picture. A smaller one is filled with white, a larger one is cut.
    pub fn new(bitmap: &Bitmap, model: &Model, rotation: PanelRotation) -> PanelImage {
        let (width, height) = (model.width, model.height);
        let stride = usize::from(width).div_ceil(8);
        let mut bytes = vec![0xFF; stride * usize::from(height)];
        match rotation {
            PanelRotation::Upright => copy_rows(bitmap, &mut bytes, width),
            PanelRotation::UpsideDown => {
                copy_rows(bitmap, &mut bytes, width);
                turn_over(&mut bytes, width);
            }
            PanelRotation::Right => {
                set_ink(&mut bytes, width, |x, y| bitmap.is_ink(y, width - 1 - x))
            }
            PanelRotation::Left => {
                set_ink(&mut bytes, width, |x, y| bitmap.is_ink(height - 1 - y, x))
            }
        }
        PanelImage { bytes, stride }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rows from the first to the last in which two pictures differ; the first row if they are equal.
    pub fn changed_rows(&self, other: &PanelImage) -> Range<u16> {
        let [rows, others] = [self, other].map(|image| image.bytes.chunks_exact(image.stride));
        let differ = |(row, other): (&[u8], &[u8])| row != other;
        let mut pairs = rows.zip(others);
        let first = pairs.position(differ).unwrap_or(0);
        let more = pairs.rposition(differ).map_or(0, |last| last + 1);
        first as u16..(first + 1 + more) as u16
    }

    /// The bytes that are sent to a plane.
    pub fn plane(&self, form: &PlaneForm) -> Cow<'_, [u8]> {
        match form {
            PlaneForm::Whole => Cow::Borrowed(&self.bytes),
            PlaneForm::Inverse => self.bytes.iter().map(|byte| !byte).collect(),
            PlaneForm::Rows(rows) => {
                let [first, end] = [rows.start, rows.end].map(|row| usize::from(row) * self.stride);
                Cow::Borrowed(&self.bytes[first..end])
            }
            PlaneForm::Columns(columns) => self
                .bytes
                .chunks_exact(self.stride)
                .flat_map(|row| &row[columns.clone()])
                .copied()
                .collect(),
            PlaneForm::Colours { black, white } => {
                let colour = |bit: u8| if bit & 1 == 0 { *black } else { *white };
                let pair =
                    |byte: u8, shift: u8| colour(byte >> (shift + 1)) << 4 | colour(byte >> shift);
                let pairs = |byte: &u8| [6, 4, 2, 0].map(|shift| pair(*byte, shift));
                self.bytes.iter().flat_map(pairs).collect()
            }
        }
    }
}

/// Copies the rows of a picture, with white padding.
fn copy_rows(bitmap: &Bitmap, bytes: &mut [u8], width: u16) {
    let stride = usize::from(width).div_ceil(8);
    let padding = !(0xFF << beyond(width));
    let rows = bitmap.rows().chunks_exact(bitmap.stride().max(1));
    for (target, row) in bytes.chunks_exact_mut(stride).zip(rows) {
        let length = stride.min(row.len());
        target[..length].copy_from_slice(&row[..length]);
        target[stride - 1] |= padding;
    }
}

/// Turns a picture by a half turn.
fn turn_over(bytes: &mut [u8], width: u16) {
    bytes.reverse();
    // The padding has come to the start of the rows.
    let beyond = beyond(width);
    for row in bytes.chunks_exact_mut(usize::from(width).div_ceil(8)) {
        let mut next = 0xFF;
        for byte in row.iter_mut().rev() {
            let reversed = byte.reverse_bits();
            *byte = (u16::from_be_bytes([reversed, next]) >> (8 - beyond)) as u8;
            next = reversed;
        }
    }
}

fn set_ink(bytes: &mut [u8], width: u16, is_ink: impl Fn(u16, u16) -> bool) {
    let stride = usize::from(width).div_ceil(8);
    for (y, row) in (0..).zip(bytes.chunks_exact_mut(stride)) {
        for x in (0..width).filter(|x| is_ink(*x, y)) {
            row[usize::from(x / 8)] &= !(0x80 >> (x % 8));
        }
    }
}

/// Number of padding bits at the end of a row.
fn beyond(width: u16) -> u16 {
    width.next_multiple_of(8) - width
}
