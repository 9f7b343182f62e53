//! Canvases as BMP files.

use crate::canvas::{Canvas, Depth};

/// Bytes before the palette.
const HEADERS: u32 = 14 + 40;

/// Encodes a canvas with a grey palette, the last row first. Two bits are stored as four, because BMP has no two.
pub fn encode(canvas: &Canvas) -> Vec<u8> {
    let bits: u32 = match canvas.depth {
        Depth::One => 1,
        Depth::Two | Depth::Four => 4,
        Depth::Eight => 8,
    };
    let colours = 1_u32 << bits;
    let stride = (canvas.width * bits).div_ceil(32) * 4;
    let start = HEADERS + 4 * colours;
    let pixels = stride * canvas.height;
    let mut file = Vec::with_capacity((start + pixels) as usize);
    let mut put = |bytes: &[u8]| file.extend_from_slice(bytes);
    put(b"BM");
    for number in [start + pixels, 0, start, 40, canvas.width, canvas.height] {
        put(&number.to_le_bytes());
    }
    // One plane.
    put(&1_u16.to_le_bytes());
    put(&(bits as u16).to_le_bytes());
    // No compression, size of the rows, no resolution, colours of the palette, all of them important.
    for number in [0, pixels, 0, 0, colours, 0] {
        put(&number.to_le_bytes());
    }
    for colour in 0..colours {
        let grey = (colour * 255 / (colours - 1)) as u8;
        put(&[grey, grey, grey, 0]);
    }
    for row in canvas.rows.chunks_exact(canvas.stride().max(1)).rev() {
        let end = file.len() + stride as usize;
        if canvas.depth == Depth::Two {
            let widened = row.iter().flat_map(|byte| {
                let grey = |shift: u8| (byte >> shift & 3) * 5;
                [grey(6) << 4 | grey(4), grey(2) << 4 | grey(0)]
            });
            file.extend(widened);
        } else {
            file.extend_from_slice(row);
        }
        file.resize(end, 0);
    }
    file
}
