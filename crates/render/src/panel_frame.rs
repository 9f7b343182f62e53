//! A panel on the wire: 34 bytes of header, then its rows. The clock writes it, `papertick watch` reads it.

use std::time::Duration;

use crate::Bitmap;

/// Start of a frame: magic bytes, version, kind, no compression, one bit per pixel.
const MAGIC: &[u8] = b"BTFB\x01\x01\x00\x01";

/// Bytes before the rows.
const HEADER: usize = 34;

/// Largest side of a panel that is decoded, px.
const SIDE_MAX: u16 = 4096;

/// Encodes a panel; 0 is ink.
pub fn write(index: u8, bitmap: &Bitmap, generation: u64, uptime: Duration) -> Vec<u8> {
    let low = |number: u128| u32::try_from(number & u128::from(u32::MAX)).unwrap_or_default();
    let length = u32::try_from(bitmap.rows().len()).unwrap_or(u32::MAX);
    let stride = u16::try_from(bitmap.stride()).unwrap_or(u16::MAX);
    let rotation = 0;
    let mut frame = Vec::with_capacity(HEADER + bitmap.rows().len());
    frame.extend_from_slice(MAGIC);
    frame.extend_from_slice(&[index, 0]);
    for number in [bitmap.width(), bitmap.height(), stride, rotation] {
        frame.extend_from_slice(&number.to_le_bytes());
    }
    for number in [
        low(generation.into()),
        low(uptime.as_millis()),
        length,
        length,
    ] {
        frame.extend_from_slice(&number.to_le_bytes());
    }
    frame.extend_from_slice(bitmap.rows());
    frame
}

/// Decodes a panel and its index from the left; `None` if the bytes are no valid frame.
pub fn read(frame: &[u8]) -> Option<(usize, Bitmap)> {
    let header = frame.strip_prefix(MAGIC)?;
    let number = |at: usize| {
        let bytes = header.get(at..at + 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    let index = usize::from(*header.first()?);
    let (width, height, stride) = (number(2)?, number(4)?, usize::from(number(6)?));
    let rows = frame.get(HEADER..)?;
    let fits = rows.len() == stride * usize::from(height)
        && stride == usize::from(width).div_ceil(8)
        && (1..=SIDE_MAX).contains(&width)
        && (1..=SIDE_MAX).contains(&height);
    let is_ink = |x: u16, y: u16| {
        let byte = rows[usize::from(y) * stride + usize::from(x / 8)];
        byte >> (7 - x % 8) & 1 == 0
    };
    fits.then(|| (index, Bitmap::from_ink(width, height, is_ink)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn written_pixels_are_read_back() {
        let bitmap = Bitmap::from_ink(122, 250, |x, y| (x * 7 + y * 3) % 5 == 0);
        let frame = write(6, &bitmap, 9, Duration::from_secs(1));
        assert_eq!(read(&frame), Some((6, bitmap)));
        for length in 0..HEADER + 8 {
            assert_eq!(read(&frame[..length]), None, "{length}");
        }
        for at in 10..16 {
            let mut other = frame.clone();
            other[at] ^= 0xFF;
            assert_eq!(read(&other), None, "{at}");
        }
    }
}
