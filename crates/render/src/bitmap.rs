//! One-bit pictures in the byte order of the panels' controllers.

/// A one-bit picture: rows of whole bytes, most significant bit leftmost, 1 is paper and 0 is ink.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bitmap {
    width: u16,
    height: u16,
    rows: Vec<u8>,
}

impl Bitmap {
    /// Empty paper.
    pub fn paper(width: u16, height: u16) -> Bitmap {
        let stride = usize::from(width).div_ceil(8);
        Bitmap {
            width,
            height,
            rows: vec![0xFF; stride * usize::from(height)],
        }
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
}
