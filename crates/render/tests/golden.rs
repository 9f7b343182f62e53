//! Golden images: every screen in every form, and every font, pixel by pixel.
//!
//! A case is painted on boards with seven and with eight panels and compared with
//! `tests/golden/<board>/<screen>--<case>.png`. Pictures that differ are written to `target/golden` (`actual`), with a
//! picture of the difference (`diff`: missing ink is red, new ink is blue).
//! `UPDATE_GOLDEN=1` accepts the painted pictures; check every picture that changes.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "golden images are files")]

#[path = "../../device/tests/screens/line.rs"]
mod line;
mod painting;
mod pictures;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use device::cells::Picture;
use painting::{HEIGHT, WIDTH};
use render::{Painter, png};

/// Boards with their number of panels.
const BOARDS: [(&str, usize); 2] = [("rev-b", 7), ("v8", 8)];

fn golden_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn failure_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("golden")
}

/// Compares one picture; returns a message if it differs.
fn compare(painter: &mut Painter, picture: &Picture, name: &str) -> Option<String> {
    let file = golden_dir().join(name).with_extension("png");
    let actual = png::side_by_side(&painter.paint_all(picture), 1);
    let golden = fs::read(&file).ok();
    let decoded = golden.as_deref().map(decode);
    if decoded.as_ref() == Some(&decode(&actual)) {
        return None;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, actual).unwrap();
        return None;
    }
    let failed = failure_dir().join(name);
    fs::create_dir_all(failed.parent().unwrap()).unwrap();
    fs::write(failed.with_extension("actual.png"), &actual).unwrap();
    let Some(expected) = decoded else {
        return Some(format!("{name}: there is no golden image"));
    };
    fs::write(
        failed.with_extension("diff.png"),
        diff(&expected, &decode(&actual)),
    )
    .unwrap();
    Some(format!("{name}: differs"))
}

fn check(cases: Vec<(String, Picture)>, painter: &mut Painter) {
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|(name, picture)| compare(painter, picture, name))
        .collect();
    assert!(
        wrong.is_empty(),
        "see {}:\n{}",
        failure_dir().display(),
        wrong.join("\n")
    );
}

fn named(board: &str, cases: Vec<(String, Picture)>) -> Vec<(String, Picture)> {
    cases
        .into_iter()
        .map(|(name, picture)| (format!("{board}/{name}"), picture))
        .collect()
}

fn all() -> Vec<(String, Picture)> {
    let on_boards = BOARDS
        .iter()
        .flat_map(|(board, panels)| named(board, pictures::screens(*panels)));
    on_boards.chain(named("rev-b", pictures::fonts())).collect()
}

#[test]
fn screens_on_seven_panels() {
    check(
        named("rev-b", pictures::screens(7)),
        &mut Painter::new(WIDTH, HEIGHT),
    );
}

#[test]
fn screens_on_eight_panels() {
    check(
        named("v8", pictures::screens(8)),
        &mut Painter::new(WIDTH, HEIGHT),
    );
}

#[test]
fn fonts() {
    check(
        named("rev-b", pictures::fonts()),
        &mut Painter::new(WIDTH, HEIGHT),
    );
}

#[test]
fn every_golden_image_has_a_case() {
    let names: BTreeSet<_> = all()
        .into_iter()
        .map(|(name, _)| format!("{name}.png"))
        .collect();
    for (board, _) in BOARDS {
        for entry in fs::read_dir(golden_dir().join(board)).unwrap() {
            let name = format!("{board}/{}", entry.unwrap().file_name().display());
            assert!(names.contains(&name), "no case has the image {name}");
        }
    }
}

/// A decoded file: four colours in a byte.
#[derive(PartialEq)]
struct Packed {
    width: usize,
    stride: usize,
    data: Vec<u8>,
}

impl Packed {
    fn colour(&self, x: usize, y: usize) -> Option<u8> {
        let byte = self
            .data
            .get(y * self.stride + x / 4)
            .filter(|_| x < self.width)?;
        Some(byte >> (6 - 2 * (x % 4)) & 3)
    }
}

fn decode(file: &[u8]) -> Packed {
    let mut decoder = ::png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(::png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    Packed {
        width: info.width as usize,
        stride: info.line_size,
        data,
    }
}

fn diff(expected: &Packed, actual: &Packed) -> Vec<u8> {
    let height = expected.data.len() / expected.stride;
    let colour = |x: usize, y: usize| match (expected.colour(x, y), actual.colour(x, y)) {
        (Some(0), Some(0)) => [60, 60, 60],
        (Some(1), Some(1)) => [255, 255, 255],
        (old, new) if old == new => [200, 200, 200],
        (Some(0), _) => [220, 0, 0],
        (_, _) => [0, 60, 255],
    };
    let pixels = (0..height).flat_map(|y| (0..expected.width).map(move |x| (x, y)));
    let data: Vec<u8> = pixels.flat_map(|(x, y)| colour(x, y)).collect();
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, expected.width as u32, height as u32);
    encoder.set_color(::png::ColorType::Rgb);
    encoder
        .write_header()
        .unwrap()
        .write_image_data(&data)
        .unwrap();
    file
}
