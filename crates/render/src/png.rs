//! Bitmaps as PNG files.

use crate::Bitmap;

/// Grey between and around panels that stand side by side, px before scaling.
const GAP: usize = 8;

/// Largest scale.
pub const SCALE_MAX: u32 = 8;

const INK: u8 = 0;
const PAPER: u8 = 1;
const FRAME: u8 = 2;

/// One red, green and blue per colour above.
const PALETTE: [u8; 9] = [0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xB4, 0xB4, 0xB0];

/// One panel as a 1-bit grey picture, pixel by pixel.
pub fn panel(bitmap: &Bitmap) -> Vec<u8> {
    let format = (png::ColorType::Grayscale, png::BitDepth::One);
    encode(
        usize::from(bitmap.width()),
        usize::from(bitmap.height()),
        format,
        bitmap.rows(),
    )
}

/// All panels side by side with gaps between, each pixel a square of `scale` px, 1..=8.
pub fn side_by_side(panels: &[Bitmap], scale: u32) -> Vec<u8> {
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
        row.fill(FRAME);
        let mut left = GAP;
        for panel in panels {
            paint_row(&mut row[left * scale..], panel, y.wrapping_sub(GAP), scale);
            left += usize::from(panel.width()) + GAP;
        }
        let packed = row
            .chunks(4)
            .map(|four| (0..4).fold(0, |byte, index| byte << 2 | four.get(index).unwrap_or(&0)));
        let packed: Vec<u8> = packed.collect();
        (0..scale).for_each(|_| data.extend_from_slice(&packed));
    }
    let format = (png::ColorType::Indexed, png::BitDepth::Two);
    encode(width * scale, height * scale, format, &data)
}

fn paint_row(target: &mut [u8], panel: &Bitmap, y: usize, scale: usize) {
    if y >= usize::from(panel.height()) {
        return;
    }
    for (x, square) in (0..panel.width()).zip(target.chunks_exact_mut(scale)) {
        square.fill(if panel.is_ink(x, y as u16) {
            INK
        } else {
            PAPER
        });
    }
}

fn encode(
    width: usize,
    height: usize,
    (color, depth): (png::ColorType, png::BitDepth),
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width.max(1) as u32, height.max(1) as u32);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(&PALETTE[..]);
    }
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(data));
    debug_assert!(written.is_ok() || width == 0 || height == 0, "{written:?}");
    file
}
