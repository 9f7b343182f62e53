//! Golden canvases: `tests/golden/<folder>/<canvas>.png` shows all pictures of a canvas, large ones reduced, and `sums.txt` has
//! a checksum of the exact pixels of each picture.
//!
//! Pictures that differ are written to `target/golden/<folder>`. `UPDATE_GOLDEN=1` accepts the painted pictures; check every
//! sheet that changes.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::{collections::BTreeMap, fs, path::Path};

use render::{canvas::Canvas, png};

/// Greatest width and height of a picture on a sheet, and greatest width of a sheet, px.
const SHEET_PICTURE_MAX: (usize, usize) = (420, 320);
const SHEET_MAX: usize = 1700;

/// Gap between pictures of a sheet, px, and its grey.
const SHEET_GAP: usize = 8;
const SHEET_GREY: u8 = 0x90;

/// The grey of a pixel, 0 to 255.
pub fn grey(canvas: &Canvas, x: usize, y: usize) -> u8 {
    let bits = canvas.depth.bits() as usize;
    let byte = canvas.rows[y * canvas.stride() + x * bits / 8];
    let most = (1 << bits) - 1;
    let level = usize::from(byte) >> (8 - bits - x * bits % 8) & most;
    (level * 255 / most) as u8
}

pub fn size(canvas: &Canvas) -> (usize, usize) {
    (canvas.width as usize, canvas.height as usize)
}

/// A checksum as FNV-1a, of eight bytes at once.
fn sum(canvas: &Canvas) -> u64 {
    let (words, rest) = canvas.rows.as_chunks();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let all = words.chain(rest.iter().map(|byte| u64::from(*byte)));
    all.fold(0xcbf2_9ce4_8422_2325, |sum, word| {
        (sum ^ word).wrapping_mul(0x0100_0000_01b3)
    })
}

/// All pictures of a canvas on one sheet, each reduced by an integer factor.
fn sheet(canvases: &[&Canvas]) -> Vec<u8> {
    let (width, height) = size(canvases[0]);
    let (most_width, most_height) = SHEET_PICTURE_MAX;
    let factor = width.div_ceil(most_width).max(height.div_ceil(most_height));
    let (width, height) = (width / factor, height / factor);
    let columns = SHEET_MAX / (width + SHEET_GAP);
    let rows = canvases.len().div_ceil(columns);
    let all_width = columns * (width + SHEET_GAP) + SHEET_GAP;
    let all_height = rows * (height + SHEET_GAP) + SHEET_GAP;
    let mut data = vec![SHEET_GREY; all_width * all_height];
    for (index, canvas) in canvases.iter().enumerate() {
        let left = SHEET_GAP + index % columns * (width + SHEET_GAP);
        let top = SHEET_GAP + index / columns * (height + SHEET_GAP);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let square = (0..factor).flat_map(|dy| (0..factor).map(move |dx| (dx, dy)));
            let greys = square.map(|(dx, dy)| grey(canvas, x * factor + dx, y * factor + dy));
            let all: usize = greys.map(usize::from).sum();
            data[(top + y) * all_width + left + x] = (all / (factor * factor)) as u8;
        }
    }
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, all_width as u32, all_height as u32);
    encoder.set_color(::png::ColorType::Grayscale);
    encoder.set_depth(::png::BitDepth::Eight);
    encoder.set_compression(::png::Compression::High);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&data).unwrap();
    drop(writer);
    file
}

/// Compares the pictures of each canvas, by their names.
pub fn check(folder: &str, painted: impl Iterator<Item = (&'static str, Vec<(String, Canvas)>)>) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let failed = target.join("golden").join(folder);
    let updates = std::env::var_os("UPDATE_GOLDEN").is_some();
    let sums = fs::read_to_string(golden.join("sums.txt")).unwrap_or_default();
    let expected: BTreeMap<&str, &str> = sums
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut rows = BTreeMap::new();
    let mut wrong = Vec::new();
    for (canvas_name, pictures) in painted {
        let mut differs = false;
        for (screen, canvas) in &pictures {
            let name = format!("{canvas_name}/{screen}");
            let sum = format!("{:016x}", sum(canvas));
            if expected.get(name.as_str()) != Some(&sum.as_str()) {
                differs = true;
                if !updates {
                    let file = failed.join(format!("{name}.png"));
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, png::canvas(canvas)).unwrap();
                    wrong.push(name.clone());
                }
            }
            rows.insert(name, sum);
        }
        let file = golden.join(format!("{canvas_name}.png"));
        if updates && (differs || !file.exists()) {
            fs::create_dir_all(&golden).unwrap();
            let canvases: Vec<&Canvas> = pictures.iter().map(|(_, canvas)| canvas).collect();
            fs::write(file, sheet(&canvases)).unwrap();
        }
    }
    if updates {
        let rows = rows.iter().map(|(name, sum)| format!("{name} {sum}\n"));
        fs::write(golden.join("sums.txt"), rows.collect::<String>()).unwrap();
        return;
    }
    assert!(
        wrong.is_empty() && rows.len() == expected.len(),
        "see {}:\n{}",
        failed.display(),
        wrong.join("\n")
    );
}
