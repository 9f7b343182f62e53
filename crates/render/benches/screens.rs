//! Time to paint each screen: from the cache, after many other screens, and with a font that is not decoded.

#![allow(clippy::unwrap_used)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../../device/tests/screens/line.rs"]
mod line;
#[path = "../tests/painting/mod.rs"]
mod painting;
#[allow(dead_code, reason = "the fonts have a benchmark of their own")]
#[path = "../tests/pictures/mod.rs"]
mod pictures;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use device::cells::Picture;
use painting::{HEIGHT, WIDTH};
use render::Painter;

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
    let pictures = pictures::screens(7);
    print(&pictures, &measure(&pictures), copying(&pictures));
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
