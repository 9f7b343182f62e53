//! Time to draw tiles: from nothing, and after a picture with another price.
//!
//! `cargo bench --workspace --locked --bench tiles`

#[path = "../tests/painting/mod.rs"]
mod painting;
#[path = "../tests/samples/mod.rs"]
mod samples;

use device::{
    canvas::{CanvasSpec, Depth, Layout, Turn},
    tile::Tile,
};
use divan::{Bencher, black_box};
use render::tiles::TilePainter;

fn main() {
    divan::main();
}

const SPEC: CanvasSpec = CanvasSpec {
    width: 1872,
    height: 1404,
    turn: Turn::None,
    depth: Depth::Four,
    layout: Layout::Auto,
    dark: None,
};

/// A figure and a board of six.
const TILES: [usize; 2] = [1, 6];

/// A board of six.
fn board(price_text: &str) -> Vec<Tile> {
    vec![
        samples::price(price_text),
        samples::tile(
            "Saturday / Sat",
            ("", "14:32", ""),
            &["28 November 2026 / 28 November / 28 Nov"],
        ),
        samples::tile(
            "Block height / Block",
            ("", "977,412", ""),
            &["Found at 14:28 / at 14:28", "Proven by work / Proven"],
        ),
        samples::tile(
            "Sats per dollar / Sats per $ / Sats/$",
            ("", "920", "sats"),
            &[],
        ),
        samples::tile("Fees", ("", "4.21", "sat/vB"), &["$0.64 a payment / $0.64"]),
        samples::tile(
            "Until the halving / Halving",
            ("", "72,588", "blocks"),
            &["April 2028"],
        ),
    ]
}

fn tiles(count: usize, price: &str) -> Vec<Tile> {
    let mut tiles = board(price);
    tiles.truncate(count);
    tiles
}

/// With a new painter: fonts are decoded and all glyphs drawn.
#[divan::bench(args = TILES)]
fn cold(bencher: Bencher<'_, '_>, count: usize) {
    let (tiles, style) = (tiles(count, "108,681"), painting::STYLE);
    bencher.bench_local(|| TilePainter::default().paint(black_box(&tiles), &style, &SPEC));
}

/// Ten prices in turn; all digits were drawn before.
#[divan::bench(args = TILES)]
fn warm_changed_price(bencher: Bencher<'_, '_>, count: usize) {
    let (mut painter, style) = (TilePainter::default(), painting::STYLE);
    let boards: Vec<Vec<Tile>> = (0..10)
        .map(|digit| tiles(count, &format!("108,68{digit}")))
        .collect();
    for board in &boards {
        painter.paint(board, &style, &SPEC);
    }
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        painter.paint(black_box(&boards[turn % boards.len()]), &style, &SPEC)
    });
}
