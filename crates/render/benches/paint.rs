//! Time to paint, compared with copying the bytes of the same panels.
//!
//! `cargo bench -p render`; the baseline `copy_seven_panels` is measured in the same run.

#![allow(clippy::unwrap_used)]

#[path = "../tests/painting/mod.rs"]
mod painting;

use device::{
    cells::{Cell, Picture},
    settings::fonts::FontId,
};
use divan::{Bencher, black_box};
use painting::{HEIGHT, WIDTH, picture};
use render::{Bitmap, Painter, png};

fn main() {
    divan::main();
}

/// Panels that all differ from one height to the next.
fn height(first: u32) -> Picture {
    let mut cells = vec![Cell::label("BLOCK", "HEIGHT")];
    cells.extend((0..6).map(|place| Cell::digit(((first + place) % 10).to_string())));
    picture(cells)
}

/// The digits of a font on seven panels, with a label.
fn in_font(font: FontId) -> Picture {
    let mut picture = height(1);
    picture.style.font = font;
    picture
}

fn painted() -> Vec<Bitmap> {
    Painter::new(WIDTH, HEIGHT).paint_all(&height(1))
}

/// Baseline: copies the bytes of seven panels to new memory.
#[divan::bench]
fn copy_seven_panels(bencher: Bencher<'_, '_>) {
    let panels = painted();
    bencher.bench(|| {
        black_box(&panels)
            .iter()
            .map(|panel| panel.rows().to_vec())
            .collect::<Vec<_>>()
    });
}

/// A rotation through ten cached pictures; every panel with a digit changes each time.
#[divan::bench]
fn warm_seven_changed_panels(bencher: Bencher<'_, '_>) {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let pictures: Vec<_> = (0..10).map(height).collect();
    pictures
        .iter()
        .for_each(|picture| drop(painter.paint_all(picture)));
    let mut turn = 0;
    bencher.bench_local(|| {
        turn = (turn + 1) % pictures.len();
        painter.paint_all(black_box(&pictures[turn]))
    });
}

/// Seven panels that are not cached, with cached glyphs.
#[divan::bench]
fn warm_glyphs_on_new_panels(bencher: Bencher<'_, '_>) {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut number = 0;
    bencher.bench_local(|| {
        let cells = (0..7)
            .map(|place| Cell::digit(format!("{}.", number * 7 + place)))
            .collect();
        number = (number + 1) % 140;
        painter.paint_all(black_box(&picture(cells)))
    });
}

/// The text of the debug view, which changes every second.
#[divan::bench]
fn warm_text_block(bencher: Bencher<'_, '_>) {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut seconds = 0;
    bencher.bench_local(|| {
        seconds += 1;
        let line = |text: String, bold| device::cells::BlockLine { text, bold };
        let lines = vec![
            line("Uptime".into(), true),
            line(format!("{}m {}s", seconds / 60 % 60, seconds % 60), false),
        ];
        painter.paint(&picture(vec![Cell::Block { lines, px: 22 }]), 0)
    });
}

/// A font that is not cached: unpacking it, a label and six digits.
#[divan::bench(args = FontId::all().map(FontId::id))]
fn cold_font_change(bencher: Bencher<'_, '_>, font: &str) {
    let before = height(1);
    let after = in_font(FontId::named(font).unwrap());
    bencher
        .with_inputs(|| {
            let mut painter = Painter::new(WIDTH, HEIGHT);
            if before != after {
                painter.paint_all(&before);
            }
            painter
        })
        .bench_local_values(|mut painter| painter.paint_all(black_box(&after)));
}

/// A QR code to join a network, which is not cached.
#[divan::bench]
fn cold_qr(bencher: Bencher<'_, '_>) {
    let picture = picture(vec![Cell::Qr(
        "WIFI:T:WPA;S:papertick-1a2b3c;P:kite-lamp-42;;".into(),
    )]);
    bencher
        .with_inputs(|| Painter::new(WIDTH, HEIGHT))
        .bench_local_values(|mut painter| painter.paint(&picture, 0));
}

/// The picture of all panels, as browsers fetch it.
#[divan::bench(args = [1, 2, 4])]
fn png_of_all_panels(bencher: Bencher<'_, '_>, scale: u32) {
    let panels = painted();
    bencher.bench_local(|| png::side_by_side(black_box(&panels), scale));
}

/// The picture of one panel.
#[divan::bench]
fn png_of_one_panel(bencher: Bencher<'_, '_>) {
    let panels = painted();
    bencher.bench_local(|| png::panel(black_box(&panels[1])));
}
