//! What pictures for other screens show, in each layout.

use device::{
    board::BoardSpec,
    canvas::Layout,
    frames::FrameContent::{self, Follow, Screen},
    input::Input,
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    tile::Tile,
};

use crate::world::{BOARD as BOARD_WITH_ALL, World, settings};

/// Script after noon, what is asked for, and label, figure and mark of each tile with its first line.
#[rustfmt::skip]
const ROWS: &[(&str, FrameContent, Layout, &str)] = &[
    ("", Follow, Layout::Auto, "Block height 840,000 Reported at 12:00"),
    ("screen 20", Follow, Layout::Figure, "Bitcoin price 64,000 1,563 sats for one dollar"),
    ("", Screen(3), Layout::Auto, "Tuesday 12:01 3 February 2026"),
    ("", Screen(6), Layout::Auto, "Fees 12 $1.08 for a usual payment"),
    ("", Follow, Layout::Cells, ""),
    ("test-zap 21", Follow, Layout::Row, ""),
    // Marks, each in its tile.
    ("wait 1000000", Screen(20), Layout::Auto, "Bitcoin price 64,000 Stale: from 12:00 (stale)"),
    ("wait 1000000", Screen(6), Layout::Auto, "Fees 12"),
    ("wait 600000; price USD 65000; wait 1000000", Screen(30), Layout::Auto, "Market value 1.28T Stale: from 12:11 (stale)"),
    ("wait 1000000; set boardScreens=[20,6]", Follow, Layout::Board, "Bitcoin price 64,000 Stale: from 12:00 (stale) | Fees 12"),
    // The board, and what covers it.
    ("", Follow, Layout::Board, BOARD),
    ("screen 40", Follow, Layout::Board, BOARD),
    ("", Screen(40), Layout::Board, BOARD),
    ("test-zap 21", Follow, Layout::Auto, "Zap received 21 Worth $0.01"),
    // Money is in the first currency, whichever the rotation shows.
    ("screen 20; next; test-zap 21", Follow, Layout::Auto, "Zap received 21 Worth $0.01"),
    ("set actCurrencies=[\"EUR\",\"USD\"]", Screen(6), Layout::Auto, "Fees 12 €0.99 for a usual payment"),
    ("test-zap 21", Screen(0), Layout::Auto, "Block height 840,000 Reported at 12:00"),
    ("set boardScreens=[20,\"10:EUR\",0]; test-zap 21", Follow, Layout::Board,
        "Zap received 21 Worth $0.01 | Sats per euro 1,695 €59,000 | Block height 840,000 Reported at 12:00"),
    ("set boardScreens=[20,0]; text Hello", Follow, Layout::Board, " Hello | Block height 840,000 Reported at 12:00"),
    ("text 21-million-coins", Follow, Layout::Auto, " 21-million-coins"),
    ("upload; progress 64; wait 2000", Follow, Layout::Board, "Update 64 The clock restarts by itself"),
    ("safe-mode", Follow, Layout::Board, "Safe mode SOURCES OFF it failed"),
    // A feature that is switched off takes its tile along.
    ("set minerEnabled=true boardScreens=[80,81,0]; set minerEnabled=false", Follow, Layout::Board, "Block height 840,000 Reported at 12:00"),
    ("set minerEnabled=true boardScreens=[80,81]; set minerEnabled=false", Follow, Layout::Board, "Block height 840,000 Reported at 12:00"),
    ("set minerEnabled=true boardScreens=[80,0]", Follow, Layout::Board, "Miner OFFLINE The miner does not answer | Block height 840,000 Reported at 12:00"),
    ("set actCurrencies=[\"EUR\",\"USD\"] boardScreens=[20,\"20:USD\",0]; set actCurrencies=[\"USD\"]", Follow, Layout::Board,
        "Bitcoin price 64,000 1,563 sats for one dollar | Block height 840,000 Reported at 12:00"),
    ("set boardScreens=[\"20:EUR\",0]; set actCurrencies=[\"JPY\"]", Follow, Layout::Board, "Block height 840,000 Reported at 12:00"),
];

const BOARD: &str = "Bitcoin price 64,000 1,563 sats for one dollar | Tuesday 12:01 3 February 2026 \
    | Block height 840,000 Reported at 12:00 | Sats per dollar 1,563 $64,000 | Fees 12 $1.08 for a usual payment \
    | Blocks until the halving 210,000 About 31 January 2030";

#[test]
fn pictures_for_other_screens_are_tiles() {
    let mut wrong = Vec::new();
    for (script, content, layout, wanted) in ROWS {
        let mut world = World::at_noon(settings("timerSeconds=0 proofMode=0"));
        world.run_all(script);
        let frame = world.device.view().frame(*content, *layout, world.now);
        let tiles: Vec<String> = frame.unwrap().picture.tiles.iter().map(show).collect();
        let shown = tiles.join(" | ");
        if shown != *wanted {
            wrong.push(format!("{script}: {wanted}\n  but is {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Script after noon and the tiles on the one panel of a board.
const ON_ONE_PANEL: &[(&str, &str)] = &[
    ("", "Block height 840,000 Reported at 12:00"),
    ("screen 3; wait 60000", "Tuesday 12:02 3 February 2026"),
    (
        "screen 20; wait 60000; price USD 65000",
        "Bitcoin price 65,000 1,538 sats for one dollar",
    ),
    ("set panelLayout=2", ""),
    // The price has gone stale meanwhile.
    (
        "set overlaySeconds=3600; test-zap 21; wait 1000000",
        "Zap received 21",
    ),
    ("set panelLayout=1", BOARD),
    // A board follows its screens, not the rotation.
    (
        "set panelLayout=1 boardScreens=[0,3]; screen 20; wait 120000",
        "Block height 840,000 Reported at 12:00 | Tuesday 12:03 3 February 2026",
    ),
    (
        "set panelLayout=1 boardScreens=[0,20]; wait 1000000",
        "Block height 840,000 Reported at 12:00 | Bitcoin price 64,000 Stale: from 12:00 (stale)",
    ),
    (
        "set panelLayout=1 boardScreens=[0,20]; test-zap 21",
        "Zap received 21 Worth $0.01 | Bitcoin price 64,000 1,563 sats for one dollar",
    ),
    // A price waits although the cells of the rotation have changed.
    (
        "set panelLayout=1 boardScreens=[20,0] minSecPriceUpd=600; price USD 65000; wait 1000; price USD 66000; screen 3; wait 60000",
        "Bitcoin price 64,000 1,563 sats for one dollar | Block height 840,000 Reported at 12:00",
    ),
    ("text Hello", " Hello"),
    (
        "upload; progress 64; wait 2000",
        "Update 64 The clock restarts by itself",
    ),
];

#[test]
fn one_panel_shows_a_layout() {
    let board = BoardSpec {
        canvas: Some((800, 480)),
        ..BOARD_WITH_ALL
    };
    check_one_panel(board, ON_ONE_PANEL);
}

fn check_one_panel(board: BoardSpec, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (script, wanted) in rows {
        let mut world = World::at_noon_on(board, settings("timerSeconds=0 proofMode=0"));
        world.run_all(script);
        let tiles = world.device.desired().picture.tiles;
        let shown = tiles.iter().map(show).collect::<Vec<_>>().join(" | ");
        if shown != *wanted {
            wrong.push(format!("{script}: {wanted}\n  but is {shown}"));
        }
        assert_eq!(world.device.view().data.len(), board.panels);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Script after noon and the tiles on one panel that changes slowly.
#[rustfmt::skip]
const ON_A_SLOW_PANEL: &[(&str, &str)] = &[
    ("screen 20", "Block height 840,000 Reported at 12:00"),
    ("set panelLayout=1 boardScreens=[20,0,3,6,40]",
        "Block height 840,000 Reported at 12:00 | Fees 12 $1.08 for a usual payment | Mined so far 19,687,500 93.75% of 21 million"),
    ("set panelLayout=1 boardScreens=[0,6]; fee 20; price USD 65000; wait 120000",
        "Block height 840,000 Reported at 12:00 | Fees 12 $1.08 for a usual payment"),
    ("set panelLayout=1 boardScreens=[0,6]; fee 20; block 840001",
        "Block height 840,001 Reported at 12:01 | Fees 20 $1.79 for a usual payment"),
    ("test-zap 21", "Block height 840,000 Reported at 12:00"),
    ("text Hello", " Hello"),
];

#[test]
fn a_slow_panel_changes_with_each_block() {
    let board = BoardSpec {
        canvas: Some((800, 480)),
        is_slow: true,
        ..BOARD_WITH_ALL
    };
    check_one_panel(board, ON_A_SLOW_PANEL);
}

fn show(tile: &Tile) -> String {
    let first = |forms: &[String]| forms.first().cloned().unwrap_or_default();
    let line = tile
        .lines
        .first()
        .map_or(String::new(), |forms| first(forms));
    let mark = tile
        .mark
        .map_or(String::new(), |mark| format!("({})", mark.name()));
    let (label, text) = (first(&tile.labels), &tile.figures[0].text);
    format!("{label} {text} {line} {mark}").trim_end().into()
}

#[test]
fn a_password_is_on_no_other_screen() {
    let mut world = World::at_noon(settings("httpAuthEnabled=true"));
    world.handle(Input::PasswordGenerated(GeneratedPassword {
        password: Secret::new("kmW4tQ7xdZ"),
        hash: PasswordHash::default(),
        reason: GenerationReason::NoneStored,
    }));
    assert!(world.device.desired().picture.shows_password);
    for layout in Layout::ALL {
        let frame = world
            .device
            .view()
            .frame(Follow, layout, world.now)
            .unwrap();
        assert!(!format!("{frame:?}").contains("kmW4"), "{layout:?}");
        let labels = frame
            .picture
            .tiles
            .iter()
            .map(|tile| tile.labels[0].as_str());
        assert!(
            !labels.into_iter().any(|label| label == "Sign-in"),
            "{layout:?}"
        );
    }
}
