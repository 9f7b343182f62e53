//! Tiles as the core composes them.

use device::{
    cells::Style,
    settings::fonts::FontId,
    tile::{Figure, Graph, Tile},
};

/// A day of prices, with a gap.
fn day() -> Graph {
    let points = (0..144_u32).map(|index| {
        let wave = 300 + index * 4 + (index * 37 % 23) * 5;
        (index / 2 != 30).then_some(wave.min(1000) as u16)
    });
    Graph::Line(points.collect())
}

/// A tile of these labels, sign, digits, unit, and lines with their forms parted by a slash.
pub fn tile(labels: &str, (sign, text, unit): (&str, &str, &str), lines: &[&str]) -> Tile {
    let forms = |text: &str| text.split(" / ").map(str::to_owned).collect();
    Tile {
        labels: forms(labels),
        figures: vec![Figure {
            sign: sign.into(),
            text: text.into(),
            unit: unit.into(),
            ..Figure::default()
        }],
        lines: lines.iter().map(|line| forms(line)).collect(),
        ..Tile::default()
    }
}

/// The price, with a graph of the day.
pub fn price(text: &str) -> Tile {
    let change = "▲ 1.2% since yesterday / ▲ 1.2% in 24 h / ▲ 1.2%";
    let lines = [change, "920 sats for one dollar / 920 sats per $"];
    Tile {
        graph: Some(day()),
        ..tile("Bitcoin price / Price", ("$", text, ""), &lines)
    }
}

/// A board of six.
pub fn board(price_text: &str) -> Vec<Tile> {
    vec![
        price(price_text),
        tile(
            "Saturday / Sat",
            ("", "14:32", ""),
            &["28 November 2026 / 28 November / 28 Nov"],
        ),
        tile(
            "Block height / Block",
            ("", "977,412", ""),
            &["Found at 14:28 / at 14:28", "Proven by work / Proven"],
        ),
        tile(
            "Sats per dollar / Sats per $ / Sats/$",
            ("", "920", "sats"),
            &[],
        ),
        tile("Fees", ("", "4.21", "sat/vB"), &["$0.64 a payment / $0.64"]),
        tile(
            "Until the halving / Halving",
            ("", "72,588", "blocks"),
            &["April 2028"],
        ),
    ]
}

/// The default style.
pub fn style() -> Style {
    Style {
        font: FontId::DEFAULT,
        digit_px: 180,
        label_fit_pct: 100,
        vertical_labels: false,
        inverted: false,
        sats_variant: 0,
    }
}
