//! Time to paint canvases: a picture with another digit, the same picture again, and encoding it as a file.
//!
//! `cargo bench --workspace --locked --bench canvas`

#![allow(clippy::unwrap_used)]

#[path = "../tests/painting/mod.rs"]
mod painting;

use device::canvas::chosen;
use device::cells::{Cell, Picture};
use divan::{Bencher, black_box};
use painting::picture;
use render::{
    bmp,
    canvas::{CanvasPainter, CanvasSpec, Depth, Layout, Turn},
    png,
};

fn main() {
    divan::main();
}

/// Canvases by name.
const CANVASES: [&str; 5] = [
    "800x480 1 bit",
    "600x800 8 bits",
    "1872x1404 4 bits",
    "1872x1404 4 bits turned",
    "3840x2160 8 bits",
];

fn spec(name: &str) -> CanvasSpec {
    let mut words = name.split(' ');
    let (width, height) = words.next().unwrap().split_once('x').unwrap();
    CanvasSpec {
        width: width.parse().unwrap(),
        height: height.parse().unwrap(),
        turn: if name.ends_with("turned") { Turn::Quarter } else { Turn::None },
        depth: chosen("depth", words.next(), &Depth::choices()).unwrap(),
        layout: Layout::Auto,
        dark: None,
    }
}

const CAPTION: &str = "Block height · 4 min ago";

fn height(number: u32) -> Picture {
    let mut cells = vec![Cell::label("BLOCK", "HEIGHT")];
    cells.extend(format!("{number:06}").chars().map(Cell::digit));
    picture(cells)
}

/// Ten pictures that differ in the last digit; all are cached.
#[divan::bench(args = CANVASES)]
fn warm_changed_digit(bencher: Bencher<'_, '_>, name: &str) {
    let (mut painter, spec) = (CanvasPainter::new(), spec(name));
    let pictures: Vec<Picture> = (0..10).map(|digit| height(840_000 + digit)).collect();
    for picture in &pictures {
        painter.paint(picture, CAPTION, &spec);
    }
    let mut turn = 0;
    bencher.bench_local(|| {
        turn = (turn + 1) % pictures.len();
        painter.paint(black_box(&pictures[turn]), CAPTION, &spec)
    });
}

/// A cell that is not cached; its font and glyphs are.
#[divan::bench(args = CANVASES)]
fn warm_new_cell(bencher: Bencher<'_, '_>, name: &str) {
    let (mut painter, spec) = (CanvasPainter::new(), spec(name));
    painter.paint(&height(123_456), CAPTION, &spec);
    let mut number = 0;
    bencher.bench_local(|| {
        number = (number + 1) % 1000;
        let mut picture = height(123_456);
        picture.cells[6] = Cell::digit(format!("{number}."));
        painter.paint(black_box(&picture), CAPTION, &spec)
    });
}

#[divan::bench(args = CANVASES)]
fn warm_same_picture(bencher: Bencher<'_, '_>, name: &str) {
    let (mut painter, spec, picture) = (CanvasPainter::new(), spec(name), height(840_000));
    painter.paint(&picture, CAPTION, &spec);
    bencher.bench_local(|| painter.paint(black_box(&picture), CAPTION, &spec));
}

/// A new painter: not even the font is cached.
#[divan::bench(args = CANVASES)]
fn cold(bencher: Bencher<'_, '_>, name: &str) {
    let (spec, picture) = (spec(name), height(840_000));
    bencher
        .with_inputs(CanvasPainter::new)
        .bench_local_values(|mut painter| painter.paint(black_box(&picture), CAPTION, &spec));
}

#[divan::bench(args = CANVASES)]
fn encode_png(bencher: Bencher<'_, '_>, name: &str) {
    let canvas = CanvasPainter::new().paint(&height(840_000), CAPTION, &spec(name));
    bencher.bench_local(|| png::canvas(black_box(&canvas)));
}

#[divan::bench(args = CANVASES)]
fn encode_bmp(bencher: Bencher<'_, '_>, name: &str) {
    let canvas = CanvasPainter::new().paint(&height(840_000), CAPTION, &spec(name));
    bencher.bench_local(|| bmp::encode(black_box(&canvas)));
}
