//! Properties of all tile canvases: nothing overlaps, nothing leaves the margins, and a changed digit moves nothing.

use device::{
    canvas::{CanvasSpec, Depth, Layout, Turn},
    cells::{Icon, Style},
    settings::fonts::FontId,
    tile::{Figure, FigureKind, Graph, Tile},
};
use market::mark::Mark;
use proptest::prelude::*;

use super::{
    TilePainter, board,
    lettering::Lettering,
    scale,
    sheet::{Part, Sheet},
};

/// Figures as sign, text, unit: of all lengths.
const FIGURES: &[(&str, &str, &str)] = &[
    ("$", "0.01", ""),
    ("$", "1,234,567.89", ""),
    ("€", "95.000", ""),
    ("₩", "135,000,000", ""),
    ("¥", "1,000,000,000,000", ""),
    ("", "95,000", "CHF"),
    ("", "4.21", "sat/vB"),
    ("", "210,000", "blocks"),
    ("", "2,100,000,000", "sats"),
    ("", "14:32", ""),
    ("", "2:07", "pm"),
    ("", "0", ""),
    ("", "1,111.11", "EH/s"),
];

const LABELS: &[&[&str]] = &[
    &["Bitcoin price, CAD", "Price, CAD", "Price"],
    &["Until the halving", "Halving"],
    &["Wednesday", "Wed"],
    &["Sats per dollar", "Sats per $", "Sats/$"],
];

const LINES: &[&[&str]] = &[
    &["▲ 1.2% since yesterday", "▲ 1.2% in 24 h", "▲ 1.2%"],
    &["No source has answered since 14:02", "since 14:02"],
    &["19,974,000 of 21 million", "19.97 of 21 M"],
];

fn forms(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn figure() -> impl Strategy<Value = Figure> {
    let icons = [Icon::LightningBolt, Icon::ArrowUpBold, Icon::Bell];
    let icon = prop::option::weighted(0.2, prop::sample::select(icons.to_vec()));
    let tail = prop::sample::select(&["", "", "%"][..]);
    let number =
        (prop::sample::select(FIGURES), icon, tail).prop_map(|((sign, text, unit), icon, tail)| {
            Figure {
                icon,
                sign: sign.into(),
                text: text.into(),
                tail: tail.into(),
                unit: unit.into(),
                ..Figure::default()
            }
        });
    let word = |kind: FigureKind, text: &str| Figure {
        text: text.into(),
        kind,
        ..Figure::default()
    };
    prop_oneof![
        6 => number,
        1 => Just(word(FigureKind::Word, "NO DATA")),
        1 => Just(word(FigureKind::Text, "Good morning, Satoshi")),
    ]
}

fn graph() -> impl Strategy<Value = Option<Graph>> {
    let points = prop::collection::vec(prop::option::weighted(0.9, 0..=1000_u16), 2..145);
    prop_oneof![
        Just(None),
        points.prop_map(|points| Some(Graph::Line(points.into()))),
        (0..=1000_u16).prop_map(|part| Some(Graph::Bar(part))),
        Just(Some(Graph::Qr("http://192.168.1.20/".into()))),
    ]
}

fn tile() -> impl Strategy<Value = Tile> {
    (
        prop::sample::select(LABELS),
        prop::collection::vec(figure(), 1..3),
        prop::collection::vec(prop::sample::select(LINES), 0..3),
        graph(),
        prop::option::of(prop::sample::select(&Mark::ALL[..])),
    )
        .prop_map(|(labels, mut figures, lines, graph, mark)| {
            // All forms of a value are of a kind, and a code to scan has no value that could be doubtful.
            let kind = figures[0].kind;
            figures.retain(|figure| figure.kind == kind);
            Tile {
                labels: forms(labels),
                figures,
                lines: lines.into_iter().map(forms).collect(),
                mark: mark.filter(|_| !matches!(graph, Some(Graph::Qr(_)))),
                graph,
            }
        })
}

fn depths() -> impl Strategy<Value = Depth> {
    prop::sample::select(&Depth::ALL[..])
}

/// The parts of a drawn sheet.
fn parts(
    lettering: &mut Lettering,
    tiles: &[Tile],
    font: FontId,
    size: (i32, i32),
    depth: Depth,
) -> Vec<(Part, [f32; 4])> {
    let mut sheet = Sheet::new(lettering, font, size, depth, false);
    board::draw(&mut sheet, tiles);
    sheet.parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_neither_overlap_nor_leave_the_margins(
        tiles in prop::collection::vec(tile(), 1..9),
        font in prop::sample::select(FontId::all().collect::<Vec<_>>()),
        (width, height) in (200..2000_i32, 100..1500_i32),
        depth in depths(),
    ) {
        let parts = parts(&mut Lettering::default(), &tiles, font, (width, height), depth);
        let margin = scale::margin(width.min(height)) as f32;
        for (index, &(part, [left, top, right, bottom])) in parts.iter().enumerate() {
            // A mark may stand out by 0.3 of the height of capitals, a comma by half its depth.
            let over = if part == Part::Mark { margin / 2.0 } else { 1.0 };
            let below = if part == Part::Figure { over + (bottom - top) * 0.06 } else { over };
            let is_inside = left >= margin - over
                && top >= margin - over
                && right <= width as f32 - margin + over
                && bottom <= height as f32 - margin + below;
            prop_assert!(is_inside, "{part:?} {:?} leaves {width}x{height}", parts[index]);
            for other in &parts[..index] {
                let [other_left, other_top, other_right, other_bottom] = other.1;
                let is_apart = left >= other_right - 1.5
                    || right <= other_left + 1.5
                    || top >= other_bottom - 1.5
                    || bottom <= other_top + 1.5;
                prop_assert!(is_apart, "{:?} and {other:?} on {width}x{height}", parts[index]);
            }
        }
    }

    #[test]
    fn a_changed_digit_moves_nothing(
        mut tiles in prop::collection::vec(tile(), 1..9),
        digit in 0..10_u32,
        (width, height) in (200..1000_i32, 100..1000_i32),
    ) {
        let mut lettering = Lettering::default();
        let size = (width, height);
        let before = parts(&mut lettering, &tiles, FontId::DEFAULT, size, Depth::One);
        for figure in tiles.iter_mut().flat_map(|tile| &mut tile.figures) {
            let digits = |ch: char| if ch.is_ascii_digit() { char::from_digit(digit, 10) } else { Some(ch) };
            figure.text = figure.text.chars().filter_map(digits).collect();
        }
        let after = parts(&mut lettering, &tiles, FontId::DEFAULT, size, Depth::One);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn a_picture_after_another_equals_a_fresh_one(
        mut tiles in prop::collection::vec(tile(), 1..9),
        changes in prop::collection::vec((any::<prop::sample::Index>(), tile()), 1..4),
        (width, height) in (200..1000_u32, 100..1000_u32),
        depth in depths(),
        turn in prop::sample::select(&Turn::ALL[..]),
        is_dark: bool,
    ) {
        let spec = CanvasSpec { width, height, turn, depth, layout: Layout::Board, dark: Some(is_dark) };
        let style = Style {
            font: FontId::DEFAULT,
            digit_px: 180,
            label_fit_pct: 100,
            vertical_labels: true,
            inverted: false,
            sats_variant: 7,
        };
        let mut painter = TilePainter::default();
        painter.paint(&tiles, &style, &spec);
        for (index, tile) in changes {
            let place = index.index(tiles.len());
            tiles[place] = tile;
            let next = painter.paint(&tiles, &style, &spec);
            prop_assert!(next == TilePainter::default().paint(&tiles, &style, &spec));
        }
    }
}
