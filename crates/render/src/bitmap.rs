//! One-bit pictures in the byte order of the panels' controllers.

use crate::{canvas::Canvas, mask::Mask};

/// A one-bit picture: rows of whole bytes, most significant bit leftmost, 1 is paper and 0 is ink.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bitmap {
    width: u16,
    height: u16,
    rows: Vec<u8>,
}

impl Bitmap {
    pub fn paper(width: u16, height: u16) -> Bitmap {
        let stride = usize::from(width).div_ceil(8);
        Bitmap {
            width,
            height,
            rows: vec![0xFF; stride * usize::from(height)],
        }
    }

    /// A picture with ink where the function returns true.
    pub fn from_ink(width: u16, height: u16, is_ink: impl Fn(u16, u16) -> bool) -> Bitmap {
        let mut bitmap = Bitmap::paper(width, height);
        let stride = bitmap.stride().max(1);
        for (y, row) in (0..height).zip(bitmap.rows.chunks_exact_mut(stride)) {
            for x in (0..width).filter(|x| is_ink(*x, y)) {
                row[usize::from(x / 8)] &= !(0x80 >> (x % 8));
            }
        }
        bitmap
    }

    /// A canvas of one bit per pixel.
    pub fn from_canvas(canvas: Canvas) -> Bitmap {
        let stride = canvas.stride().max(1);
        let mut bitmap = Bitmap {
            width: canvas.width as u16,
            height: canvas.height as u16,
            rows: canvas.rows,
        };
        let beyond = (8 * stride) as u32 - canvas.width;
        for last in bitmap.rows.iter_mut().skip(stride - 1).step_by(stride) {
            *last |= ((1u16 << beyond) - 1) as u8;
        }
        bitmap
    }

    /// The ink of a mask on paper of the mask's size.
    pub(crate) fn of(mask: &Mask) -> Bitmap {
        let mut bitmap = Bitmap::paper(mask.width() as u16, mask.height() as u16);
        let stride = bitmap.stride().max(1);
        for (bytes, words) in bitmap.rows.chunks_exact_mut(stride).zip(mask.rows()) {
            for (target, word) in bytes.chunks_mut(8).zip(words) {
                target.copy_from_slice(&(!word).to_be_bytes()[..target.len()]);
            }
        }
        bitmap
    }

    /// Width, px.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Height, px.
    pub fn height(&self) -> u16 {
        self.height
    }

    /// Bytes per row.
    pub fn stride(&self) -> usize {
        usize::from(self.width).div_ceil(8)
    }

    /// All rows, top to bottom; the bits beyond the width are paper.
    pub fn rows(&self) -> &[u8] {
        &self.rows
    }

    /// Returns whether a pixel is ink. There is no ink outside.
    pub fn is_ink(&self, x: u16, y: u16) -> bool {
        x < self.width
            && y < self.height
            && self.rows[usize::from(y) * self.stride() + usize::from(x / 8)] >> (7 - x % 8) & 1
                == 0
    }
}
