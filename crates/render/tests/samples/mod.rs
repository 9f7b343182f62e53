//! Tiles as the core composes them.

use device::tile::{Figure, Graph, Tile};

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
