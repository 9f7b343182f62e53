//! Time to paint each screen: from the cache, after many other screens, and with a font that is not decoded.
//!
//! `cargo bench -p render --bench screens` prints a table.
//! With `-- --export FOLDER` the pictures, their frames and the times are written to a folder, for `bench/pillow.py`,
//! which draws the same pictures with another library.

#![allow(clippy::unwrap_used, missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock and writes files"
)]

#[path = "../../device/tests/screens/line.rs"]
mod line;
#[path = "../tests/painting/mod.rs"]
mod painting;
#[allow(dead_code, reason = "the fonts have a benchmark of their own")]
#[path = "../tests/pictures/mod.rs"]
mod pictures;

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use device::cells::{BlockLine, Cell, Picture};
use painting::{HEIGHT, WIDTH};
use render::{Bitmap, Painter};
use serde_json::{Value, json};

/// Rounds of each measurement; the result is the median.
const ROUNDS: usize = 41;

/// Paints that are timed together where one is too short to time exactly.
const BATCH: u32 = 200;

/// Time to paint a picture.
struct Times {
    /// The picture is cached.
    again: Duration,
    /// After all other pictures, which are more than the cache holds.
    later: Duration,
    /// By a new painter, which first unpacks the font.
    cold: Duration,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let export = arguments
        .iter()
        .position(|argument| argument == "--export")
        .and_then(|place| arguments.get(place + 1));
    let pictures = pictures::screens(7);
    let times = measure(&pictures);
    let copy = copying(&pictures);
    match export {
        Some(folder) => write(Path::new(folder), &pictures, &times, copy),
        None => print(&pictures, &times, copy),
    }
}

fn measure(pictures: &[(String, Picture)]) -> Vec<Times> {
    let later = rounds(pictures);
    let measured = pictures.iter().zip(later);
    measured
        .map(|((_, picture), later)| Times {
            again: again(picture),
            later,
            cold: cold(picture),
        })
        .collect()
}

fn again(picture: &Picture) -> Duration {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    painter.paint_all(picture);
    let batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(painter.paint_all(black_box(picture)));
        }
        start.elapsed() / BATCH
    };
    median(std::iter::repeat_with(batch).take(ROUNDS).collect())
}

/// One painter paints all pictures in turn. They have more panels than the cache holds.
fn rounds(pictures: &[(String, Picture)]) -> Vec<Duration> {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut times = vec![Vec::new(); pictures.len()];
    for _ in 0..=ROUNDS {
        for ((_, picture), times) in pictures.iter().zip(&mut times) {
            let start = Instant::now();
            black_box(painter.paint_all(black_box(picture)));
            times.push(start.elapsed());
        }
    }
    // In the first round the glyphs are not cached.
    times
        .into_iter()
        .map(|times| median(times[1..].to_vec()))
        .collect()
}

fn cold(picture: &Picture) -> Duration {
    let once = || {
        let mut painter = Painter::new(WIDTH, HEIGHT);
        let start = Instant::now();
        black_box(painter.paint_all(black_box(picture)));
        start.elapsed()
    };
    median(std::iter::repeat_with(once).take(ROUNDS / 4).collect())
}

/// Baseline: copies the bytes of seven panels to new memory.
fn copying(pictures: &[(String, Picture)]) -> Duration {
    let panels = Painter::new(WIDTH, HEIGHT).paint_all(&pictures[0].1);
    let batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            let copies = black_box(&panels).iter().map(|panel| panel.rows().to_vec());
            black_box(copies.collect::<Vec<_>>());
        }
        start.elapsed() / BATCH
    };
    median(std::iter::repeat_with(batch).take(ROUNDS).collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn print(pictures: &[(String, Picture)], times: &[Times], copy: Duration) {
    println!(
        "{:34}{:>12}{:>14}{:>12}",
        "µs per picture", "again", "later", "cold"
    );
    for ((name, _), times) in pictures.iter().zip(times) {
        println!(
            "{name:34}{:12.2}{:14.1}{:12.0}",
            micros(times.again),
            micros(times.later),
            micros(times.cold)
        );
    }
    println!(
        "{:34}{:12.2}",
        "copying the bytes of seven panels",
        micros(copy)
    );
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn write(folder: &Path, pictures: &[(String, Picture)], times: &[Times], copy: Duration) {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut rows = Vec::new();
    for ((name, picture), times) in pictures.iter().zip(times) {
        let panels = painter.paint_all(picture);
        let frames: Vec<u8> = panels.iter().flat_map(Bitmap::rows).copied().collect();
        fs::write(folder.join(format!("{name}.frames")), frames).unwrap();
        let style = &picture.style;
        rows.push(json!({
            "name": name,
            "font": style.font.id(),
            "digit_px": style.digit_px,
            "label_fit_pct": style.label_fit_pct,
            "vertical_labels": style.vertical_labels,
            "inverted": style.inverted,
            "cells": picture.cells.iter().map(cell).collect::<Vec<_>>(),
            "again_us": micros(times.again),
            "later_us": micros(times.later),
            "cold_us": micros(times.cold),
        }));
    }
    let file = json!({
        "width": WIDTH,
        "height": HEIGHT,
        "copy_us": micros(copy),
        "pictures": rows,
    });
    fs::write(folder.join("pictures.json"), file.to_string()).unwrap();
}

/// A cell as JSON; a cell without text is `pixels`, which are in the frame.
fn cell(cell: &Cell) -> Value {
    let one = |kind: &str, text: &str| json!({ "kind": kind, "lines": [text] });
    let two = |kind: &str, top: &str, bottom: &str| json!({ "kind": kind, "lines": [top, bottom] });
    match cell {
        Cell::Digit(text) => one("digit", text),
        Cell::Tail(text) => one("tail", text),
        Cell::Code(text) => one("code", text),
        Cell::Word(text) => one("word", text),
        Cell::Text { text, px: _ } => one("text", text),
        Cell::Title(text) => one("title", text),
        Cell::Letter(text) => one("letter", text),
        Cell::Label { top, bottom } => two("label", top, bottom),
        Cell::Unit { top, bottom } => two("unit", top, bottom),
        Cell::Split { top, bottom } => two("split", top, bottom),
        Cell::Block { lines, px } => {
            let line = |line: &BlockLine| json!([line.text, line.bold]);
            json!({ "kind": "block", "px": px, "lines": lines.iter().map(line).collect::<Vec<_>>() })
        }
        Cell::Blank => json!({ "kind": "blank" }),
        Cell::Icon(_) | Cell::NamedIcon { .. } | Cell::Sats | Cell::Logo(_) | Cell::Qr(_) => {
            json!({ "kind": "pixels" })
        }
    }
}
