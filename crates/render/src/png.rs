//! Bitmaps as PNG files.

use crate::{
    Bitmap,
    canvas::{Canvas, Depth},
    deflate,
};

/// Width of the grey frame between and around panels, px before scaling.
const GAP: usize = 8;

pub const SCALE_MAX: u32 = 8;

const INK: u8 = 0;
const PAPER: u8 = 1;
const FRAME: u8 = 2;

/// Red, green and blue of each colour.
const PALETTE: [u8; 9] = [0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xB4, 0xB4, 0xB0];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    /// Twice the size of `Smallest`, in a fortieth of its time.
    Quick,
    /// As few bytes as possible.
    Smallest,
}

/// One panel as a 1-bit grey picture, pixel by pixel.
pub fn panel(bitmap: &Bitmap) -> Vec<u8> {
    let format = (png::ColorType::Grayscale, png::BitDepth::One);
    encode(
        usize::from(bitmap.width()),
        usize::from(bitmap.height()),
        format,
        bitmap.rows(),
        Compression::Quick,
    )
}

/// A canvas as a grey picture of its depth, for any decoder.
pub fn canvas(canvas: &Canvas) -> Vec<u8> {
    let depth = match canvas.depth {
        Depth::One => png::BitDepth::One,
        Depth::Two => png::BitDepth::Two,
        Depth::Four => png::BitDepth::Four,
        Depth::Eight => png::BitDepth::Eight,
    };
    let mut data = deflate::zlib(&filtered(canvas, 2, u8::wrapping_sub));
    if canvas.depth == Depth::One {
        // Sharp edges can be smaller as they are; smooth ones never are.
        let plain = deflate::zlib(&filtered(canvas, 0, |byte, _| byte));
        if plain.len() < data.len() {
            data = plain;
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, canvas.width, canvas.height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_chunk(png::chunk::IDAT, &data));
    debug_assert!(written.is_ok(), "{written:?}");
    file
}

/// Rows behind the number of their filter, which gets each byte and the one above.
fn filtered(canvas: &Canvas, number: u8, filter: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    let stride = canvas.stride().max(1);
    let mut data = Vec::with_capacity(canvas.rows.len() + canvas.height as usize);
    let mut above = &vec![0; stride][..];
    for row in canvas.rows.chunks_exact(stride) {
        data.push(number);
        let pairs = row.iter().zip(above);
        data.extend(pairs.map(|(byte, above)| filter(*byte, *above)));
        above = row;
    }
    data
}

/// All panels side by side with gaps between, each pixel a square of `scale` px, 1..=8.
pub fn side_by_side(panels: &[Bitmap], scale: u32) -> Vec<u8> {
    all(panels, scale, Compression::Quick)
}

/// The same picture in less than half the bytes, for files that are stored. Takes some ms.
pub fn side_by_side_small(panels: &[Bitmap], scale: u32) -> Vec<u8> {
    all(panels, scale, Compression::Smallest)
}

fn all(panels: &[Bitmap], scale: u32, compression: Compression) -> Vec<u8> {
    let scale = scale.clamp(1, SCALE_MAX) as usize;
    let tallest = panels
        .iter()
        .map(|panel| usize::from(panel.height()))
        .max()
        .unwrap_or(0);
    let width = GAP
        + panels
            .iter()
            .map(|panel| usize::from(panel.width()) + GAP)
            .sum::<usize>();
    let height = GAP + tallest + GAP;
    let mut data = Vec::with_capacity((width * scale).div_ceil(4) * height * scale);
    let mut row = vec![FRAME; width * scale];
    for y in 0..height {
        let mut left = GAP;
        for panel in panels {
            let right = left + usize::from(panel.width());
            paint_row(
                &mut row[left * scale..right * scale],
                panel,
                y.checked_sub(GAP),
                scale,
            );
            left = right + GAP;
        }
        let start = data.len();
        data.extend(row.chunks(4).map(pack));
        let end = data.len();
        (1..scale).for_each(|_| data.extend_from_within(start..end));
    }
    let format = (png::ColorType::Indexed, png::BitDepth::Two);
    encode(width * scale, height * scale, format, &data, compression)
}

/// One row of a panel as colours, each pixel `scale` times; the frame if the panel has no such row.
fn paint_row(target: &mut [u8], panel: &Bitmap, y: Option<usize>, scale: usize) {
    let Some(bytes) = y.and_then(|y| panel.rows().chunks_exact(panel.stride().max(1)).nth(y))
    else {
        target.fill(FRAME);
        return;
    };
    for (pixels, byte) in target.chunks_mut(8 * scale).zip(bytes) {
        for (square, bit) in pixels.chunks_exact_mut(scale).zip((0..8).rev()) {
            square.fill(if byte >> bit & 1 == 0 { INK } else { PAPER });
        }
    }
}

/// Packs four colours into a byte, the first one most significant.
fn pack(colours: &[u8]) -> u8 {
    let at = |index: usize| colours.get(index).copied().unwrap_or(0);
    at(0) << 6 | at(1) << 4 | at(2) << 2 | at(3)
}

fn encode(
    width: usize,
    height: usize,
    (color, depth): (png::ColorType, png::BitDepth),
    data: &[u8],
    compression: Compression,
) -> Vec<u8> {
    // A PNG file has at least one pixel.
    let blank = [0xFF];
    let (width, height, data) = if width == 0 || height == 0 {
        (1, 1, &blank[..])
    } else {
        (width, height, data)
    };
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(depth);
    match compression {
        Compression::Quick => {
            // Most rows are like the one above.
            encoder.set_compression(png::Compression::Fast);
            encoder.set_filter(png::Filter::Up);
        }
        Compression::Smallest => {
            // Whole rows that return are found better as they are.
            encoder.set_compression(png::Compression::High);
            encoder.set_filter(png::Filter::NoFilter);
        }
    }
    if color == png::ColorType::Indexed {
        encoder.set_palette(&PALETTE[..]);
    }
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(data));
    debug_assert!(written.is_ok(), "{written:?}");
    file
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::mask::Mask;

    /// A file as width, height and one colour index or grey bit per pixel.
    fn decode(file: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::IDENTITY);
        let mut reader = decoder.read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        let bits = info.bit_depth as usize;
        let (width, height) = (info.width as usize, info.height as usize);
        let pixel = |x: usize, y: usize| {
            let byte = data[y * info.line_size + x * bits / 8];
            byte >> (8 - bits - x * bits % 8) & (0xFF >> (8 - bits))
        };
        let pixels = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| pixel(x, y))
            .collect();
        (width, height, pixels)
    }

    fn dotted(width: i32, height: i32) -> Bitmap {
        let mut mask = Mask::new(width, height);
        (0..width * height)
            .filter(|dot| dot * dot % 7 < 3)
            .for_each(|dot| mask.set(dot % width, dot / width));
        Bitmap::of(&mask)
    }

    #[test]
    fn a_panel_keeps_every_pixel() {
        for (width, height) in [(1, 1), (8, 3), (122, 250), (13, 40)] {
            let bitmap = dotted(width, height);
            let (file_width, file_height, pixels) = decode(&panel(&bitmap));
            assert_eq!((file_width as i32, file_height as i32), (width, height));
            for (index, grey) in pixels.iter().enumerate() {
                let (x, y) = (index % file_width, index / file_width);
                assert_eq!(*grey == 0, bitmap.is_ink(x as u16, y as u16), "{x},{y}");
            }
        }
    }

    #[test]
    fn panels_stand_side_by_side_at_any_scale() {
        let panels = [dotted(13, 9), dotted(122, 20)];
        for scale in [1, 2, 3, 8] {
            let (width, height, pixels) = decode(&side_by_side(&panels, scale));
            let small = decode(&side_by_side_small(&panels, scale));
            assert_eq!(small, (width, height, pixels.clone()));
            let scale = scale as usize;
            assert_eq!(
                (width, height),
                ((8 + 13 + 8 + 122 + 8) * scale, (8 + 20 + 8) * scale)
            );
            for (index, colour) in pixels.iter().enumerate() {
                let (x, y) = (index % width / scale, index / width / scale);
                let wanted = match (x, y) {
                    (8..21, 8..17) if panels[0].is_ink(x as u16 - 8, y as u16 - 8) => INK,
                    (29..151, 8..28) if panels[1].is_ink(x as u16 - 29, y as u16 - 8) => INK,
                    (8..21, 8..17) | (29..151, 8..28) => PAPER,
                    _ => FRAME,
                };
                assert_eq!(*colour, wanted, "{x},{y} at {scale}");
            }
        }
    }

    #[test]
    fn canvases_are_grey_and_not_interlaced() {
        for depth in Depth::ALL {
            let (width, height) = (203, 101);
            let stride = (width * depth.bits()).div_ceil(8);
            let painted = Canvas {
                width,
                height,
                depth,
                rows: (0..stride * height).map(|index| index as u8).collect(),
            };
            let file = canvas(&painted);
            // Of the header: bits, grey without alpha, not interlaced.
            assert_eq!(file[24..26], [depth.bits() as u8, 0]);
            assert_eq!(file[28], 0);
            let bits = depth.bits() as usize;
            let pixel = |place: usize| {
                let (x, y) = (place % width as usize, place / width as usize);
                let byte = painted.rows[y * painted.stride() + x * bits / 8];
                byte >> (8 - bits - x * bits % 8) & (0xFF >> (8 - bits))
            };
            let pixels: Vec<u8> = (0..(width * height) as usize).map(pixel).collect();
            assert!(decode(&file).2 == pixels, "{depth:?}");
        }
    }

    #[test]
    fn nothing_is_a_picture_too() {
        assert_eq!(decode(&panel(&Bitmap::paper(0, 0))).2, [1]);
        let (width, height, _) = decode(&side_by_side(&[], 1));
        assert_eq!((width, height), (GAP, 2 * GAP));
    }
}
