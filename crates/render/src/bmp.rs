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

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(width: u32, height: u32, depth: Depth) -> Canvas {
        let stride = (width * depth.bits()).div_ceil(8);
        Canvas {
            width,
            height,
            depth,
            rows: (0..stride * height)
                .map(|index| (index * 7) as u8)
                .collect(),
        }
    }

    /// What the firmware of a TRMNL accepts, byte for byte.
    #[test]
    fn an_800x480_picture_of_one_bit_is_what_a_trmnl_accepts() {
        let canvas = counting(800, 480, Depth::One);
        let file = encode(&canvas);
        #[rustfmt::skip]
        let header = [
            b'B', b'M',
            0xBE, 0xBB, 0, 0, // 48,062 bytes
            0, 0, 0, 0,
            62, 0, 0, 0, // start of the rows
            40, 0, 0, 0, // size of the second header
            0x20, 0x03, 0, 0, // width
            0xE0, 0x01, 0, 0, // height, the last row first
            1, 0, // planes
            1, 0, // bits
            0, 0, 0, 0, // no compression
            0x80, 0xBB, 0, 0, // 48,000 bytes of rows
            0, 0, 0, 0,
            0, 0, 0, 0,
            2, 0, 0, 0, // colours
            0, 0, 0, 0,
            0, 0, 0, 0, // black
            0xFF, 0xFF, 0xFF, 0, // white
        ];
        assert_eq!(file[..62], header);
        assert_eq!(file.len(), 48_062);
        for (y, row) in file[62..].chunks_exact(100).rev().enumerate() {
            assert_eq!(row, &canvas.rows[y * 100..(y + 1) * 100], "row {y}");
        }
    }

    #[test]
    fn greys_have_a_palette_and_rows_of_whole_words() {
        for (depth, bits, colours) in [
            (Depth::One, 1, 2),
            (Depth::Two, 4, 16),
            (Depth::Four, 4, 16),
            (Depth::Eight, 8, 256),
        ] {
            let canvas = counting(203, 101, depth);
            let file = encode(&canvas);
            let start = 54 + 4 * colours;
            let stride = (203 * bits as usize).div_ceil(32) * 4;
            assert_eq!(file.len(), start + stride * 101);
            assert_eq!(file[28], bits);
            assert_eq!(file[start - 4..start], [0xFF, 0xFF, 0xFF, 0]);
            for (y, x) in (0..101).flat_map(|y| (0..203).map(move |x| (y, x))) {
                let level = |rows: &[u8], stride: usize, y: usize, bits: usize| {
                    let byte = rows[y * stride + x * bits / 8];
                    usize::from(byte) >> (8 - bits - x * bits % 8) & ((1 << bits) - 1)
                };
                let index = level(&file[start..], stride, 100 - y, bits.into());
                let wanted = level(&canvas.rows, canvas.stride(), y, depth.bits() as usize);
                let grey = wanted * 255 / ((1 << depth.bits()) - 1);
                assert_eq!(usize::from(file[54 + 4 * index]), grey, "{x},{y} {depth:?}");
            }
        }
    }
}
