//! Golden canvases of tiles: every screen and layer as a figure, and boards of two to eight, on canvases of many sizes,
//! depths and fonts. `sheets` describes how to accept pictures.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "golden images are files")]

#[path = "../../device/tests/screens/line.rs"]
mod line;
mod painting;
mod samples;
mod sheets;

use device::{
    canvas::{CanvasSpec, Depth, Layout, Turn},
    cells::Style,
    screens::{
        catalog, custom, debug, erasing,
        no_data::{self, Silence},
        payment, provisioning, safe_mode, sign_in, splash, update, zap,
    },
    settings::fonts::FontId,
    tile::Tile,
};
use line::Line;
use market::{
    Direction, HeightState, Payment, Zap,
    mark::Mark,
    units::{Msats, Sats},
};
use painting::{SAFE_MODE_REASON, STYLE, debug_facts, generated_password, portal_facts};
use render::tiles::TilePainter;

/// Values for every screen.
const SAMPLE: &str = "USD price=108681 yesterday=107390 height=977412 fee=4.21 time=14:32-28/11 \
    state=proven agreeing=4 hash=a3f9 age=4 \
    miningPoolName=ocean hashrate=1234560000000000000 daily=12345 \
    minerEnabled minerHostname=axe miner=1234000000000 best=123.4M sats=2345678";

/// Further values: long ones, short ones and none.
#[rustfmt::skip]
const VARIANTS: &[(&str, &str)] = &[
    ("price-won", "ticker KRW price=135000000"),
    ("price-long", "ticker USD price=1234567.89"),
    ("price-cents", "ticker USD price=0.01"),
    ("price-franc", "ticker CHF price=95000"),
    ("price-unknown", "ticker USD"),
    ("fee-high", "fee fee=1250 USD price=108681"),
    ("wallet-large", "balance sats=2100000000 price=108681"),
    ("miner-offline", "miner-hash"),
    ("market-won", "mcap KRW height=977412 price=135000000"),
];

/// Screens of boards, the first is the hero.
const BOARD: [&str; 8] = [
    "ticker", "clock", "block", "sats", "fee", "halving", "balance", "supply",
];

fn screen(line: &str) -> Tile {
    let line = Line::parse(line);
    (catalog::find(line.screen).unwrap().tile)(&line.scene(7))
}

fn sample(word: &str) -> Tile {
    Tile {
        graph: None,
        ..screen(&format!("{word} {SAMPLE}"))
    }
}

/// A screen with a doubtful value.
fn doubtful(word: &str, mark: Mark) -> Tile {
    let tile = screen(&format!("{word} {SAMPLE} mark={}", mark.name()));
    tile.doubted(mark, HeightState::Claimed, Some("14:02".into()))
}

/// Every screen, each mark, and every layer.
fn figures() -> Vec<(String, Tile)> {
    let all = catalog::SCREENS.iter().map(|row| {
        let word = row.word();
        (word.clone(), screen(&format!("{word} {SAMPLE}")))
    });
    let variants = VARIANTS
        .iter()
        .map(|(name, line)| ((*name).to_owned(), screen(line)));
    let marks = Mark::ALL
        .into_iter()
        .map(|mark| (format!("price-{}", mark.name()), doubtful("ticker", mark)));
    let graph = ("price-day".to_owned(), samples::price("108,681"));
    let layers = layers().map(|(name, tile)| (name.to_owned(), tile));
    all.chain(variants)
        .chain(marks)
        .chain([graph])
        .chain(layers)
        .collect()
}

fn layers() -> impl Iterator<Item = (&'static str, Tile)> {
    let line = Line::parse(&format!("balance {SAMPLE}"));
    let paid = Payment {
        direction: Some(Direction::Sent),
        amount: Msats(250_000_000),
    };
    let zapped = Zap {
        amount: Sats(21_000),
        message: String::new(),
    };
    let text = |text: &str| custom::tile(&custom::cells(&[text.into()], None, 7));
    let silence = Silence::NoAnswer;
    let labels = vec!["Bitcoin price".into(), "Price".into()];
    [
        ("zap", zap::tile(&zapped, &line.scene(7))),
        ("payment", payment::tile(&paid, &line.scene(7))),
        (
            "no-data",
            no_data::tile(labels, &silence, Some("14:02"), "192.168.1.20"),
        ),
        ("update", update::tile(64)),
        ("splash", splash::tile()),
        ("erasing", erasing::tile()),
        ("debug", debug::tile(&debug_facts())),
        ("portal", provisioning::tile(&portal_facts())),
        (
            "safe-mode",
            safe_mode::tile(SAFE_MODE_REASON, "192.168.1.20"),
        ),
        ("sign-in", sign_in::tile("papertick", &generated_password())),
        ("custom-short", text("HELLO")),
        ("custom-long", text("Happy birthday, dear Satoshi Nakamoto")),
        ("custom-icon", text("mdi:bell")),
    ]
    .into_iter()
}

/// Boards of several sizes, and one on which everything is doubtful.
fn boards() -> Vec<(String, Vec<Tile>)> {
    let mut tiles: Vec<Tile> = BOARD.iter().map(|word| sample(word)).collect();
    tiles[0] = samples::price("108,681");
    let words = BOARD[..6].iter().zip(Mark::ALL.into_iter().cycle());
    let doubts: Vec<Tile> = words.map(|(word, mark)| doubtful(word, mark)).collect();
    let counts =
        [2, 3, 4, 5, 6, 7, 8].map(|count| (format!("board-{count}"), tiles[..count].to_vec()));
    counts
        .into_iter()
        .chain([("board-6-doubts".into(), doubts)])
        .collect()
}

/// Name, size, depth and font of a canvas. `dark` and `turned` in a name set that option.
#[rustfmt::skip]
const CANVASES: &[(&str, (u32, u32), Depth, &str)] = &[
    ("trmnl-800x480", (800, 480), Depth::One, "antonio"),
    ("trmnl-800x480-merriweather", (800, 480), Depth::One, "merriweatherBold"),
    ("least-200x100", (200, 100), Depth::One, "antonio"),
    ("badge-296x128", (296, 128), Depth::One, "antonio"),
    ("panel-250x122", (250, 122), Depth::One, "antonio"),
    ("panel-400x300", (400, 300), Depth::One, "antonio"),
    ("panel-648x480", (648, 480), Depth::One, "antonio"),
    ("panel-792x272", (792, 272), Depth::One, "antonio"),
    ("turned-100x200", (200, 100), Depth::One, "antonio"),
    ("kindle-600x800", (600, 800), Depth::Eight, "antonio"),
    ("paperwhite-1072x1448", (1072, 1448), Depth::Eight, "antonio"),
    ("x-1872x1404", (1872, 1404), Depth::Four, "antonio"),
    ("tv-1920x1080-dark", (1920, 1080), Depth::Eight, "antonio"),
    ("strip-1920x480", (1920, 480), Depth::Eight, "antonio"),
    ("phone-390x844", (390, 844), Depth::Eight, "antonio"),
    ("square-758x758", (758, 758), Depth::Two, "antonio"),
];

#[test]
fn screens_as_figures_and_on_boards() {
    let painted = CANVASES
        .iter()
        .map(|&(name, (width, height), depth, font)| {
            let spec = CanvasSpec {
                width,
                height,
                turn: if name.contains("turned") { Turn::Quarter } else { Turn::None },
                depth,
                layout: Layout::Auto,
                dark: Some(name.contains("dark")),
            };
            let style = Style {
                font: FontId::named(font).unwrap(),
                ..STYLE
            };
            let mut painter = TilePainter::default();
            let figures = figures().into_iter().map(|(name, tile)| (name, vec![tile]));
            let pictures = figures.chain(boards()).map(|(name, tiles)| {
                let drawn = painter.paint(&tiles, &style, &spec);
                (name, drawn.canvas)
            });
            (name, pictures.collect())
        });
    sheets::check("tiles", painted);
}
