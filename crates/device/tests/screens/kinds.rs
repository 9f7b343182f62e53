//! Kinds of cells: they determine size, font and rotation.

use device::{
    cells::Cell,
    screens::{Scene, catalog},
};

use crate::line::Line;

/// Kinds of the cells of a line, without blanks.
fn kinds(text: &str, panels: usize) -> String {
    let line = Line::parse(text);
    let screen = catalog::find(line.screen).unwrap();
    let scene = Scene {
        market: &line.market,
        truth: line.truth,
        settings: &line.settings,
        local: line.local,
        currency: line.currency,
        panels,
    };
    let kinds = (screen.cells)(&scene)
        .into_iter()
        .filter(|cell| *cell != Cell::Blank)
        .map(kind);
    kinds.collect::<Vec<_>>().join(" ")
}

fn kind(cell: Cell) -> &'static str {
    match cell {
        Cell::Blank => "blank",
        Cell::Digit(_) => "digit",
        Cell::Tail(_) => "tail",
        Cell::Code(_) => "code",
        Cell::Label { .. } => "label",
        Cell::Word(_) => "word",
        Cell::Unit { .. } => "unit",
        Cell::Text { .. } => "text",
        Cell::Split { .. } => "split",
        Cell::Icon(_) => "icon",
        Cell::NamedIcon { .. } => "named-icon",
        Cell::Sats => "sats",
        Cell::Logo(_) => "logo",
        Cell::Block { .. } => "block",
        Cell::Title(_) => "title",
        Cell::Letter(_) => "letter",
        Cell::Qr(_) => "qr",
    }
}

#[test]
fn each_screen_has_its_kinds() {
    let rows = [
        ("block height=1", "label digit"),
        (
            "clock time=10:10-1/1",
            "label digit digit digit digit digit",
        ),
        ("halving height=209999", "label digit"),
        (
            "proof state=proven agreeing=4 hash=a3f0 age=7",
            "label unit digit digit digit digit unit",
        ),
        (
            "halving height=1 useBlkCountdown=false",
            "unit unit unit unit unit unit unit",
        ),
        ("fee whole-fee=4", "label digit unit"),
        ("ticker CHF price=5 suffixPrice", "label code digit"),
        (
            "sats USD price=100000000 priceSymMode=1",
            "label sats digit",
        ),
        (
            "sats USD price=100000000 priceSymMode=2",
            "label digit digit",
        ),
        ("pool-hash hashrate=1", "word digit unit"),
        (
            "pool-hash miningPoolName=public_pool logo=public_pool hashrate=1",
            "logo digit unit",
        ),
        ("pool-hash miningPoolName=public_pool", "label unit"),
        ("pool-earn daily=1", "word digit word"),
        ("miner-hash miner=1", "icon digit unit"),
        ("miner-best best=7", "icon tail"),
        ("miner-best", "icon unit"),
        ("balance sats=1", "word icon digit"),
    ];
    for (line, wanted) in rows {
        assert_eq!(kinds(line, 7), wanted, "{line}");
    }
}
