//! The table of boards.

use std::sync::LazyLock;

use device::{
    board::BoardSpec,
    canvas::{HEIGHTS, WIDTHS},
};

use crate::wiring::{self, PANELS_MAX, Wiring};

const REV_A: BoardSpec = BoardSpec {
    id: "rev-a",
    name: "Rev A",
    hardware: "Rev A, 7 x 2.13 in, simulated",
    panels: 7,
    panel_width: 122,
    panel_height: 250,
    canvas: None,
    is_slow: false,
    leds: 4,
    frontlight: false,
    light_sensor: false,
    coredump: false,
    firmware_slot_bytes: 64 * 1024 * 1024,
    web_slot_bytes: 8 * 1024 * 1024,
};

/// All boards; the first is the default.
pub static BOARDS: &[BoardSpec] = &[
    BoardSpec {
        id: "rev-b",
        name: "Rev B",
        hardware: "Rev B, 7 x 2.13 in, simulated",
        frontlight: true,
        light_sensor: true,
        coredump: true,
        ..REV_A
    },
    REV_A,
    BoardSpec {
        id: "v8",
        name: "V8",
        hardware: "V8, 8 x 2.13 in, simulated",
        panels: 8,
        coredump: true,
        ..REV_A
    },
];

/// Smallest number of panels of a clock in which each cell has a panel.
pub const PANELS_MIN: usize = 7;

/// Simulated boards with one panel: the known wirings of one panel.
pub static DISPLAYS: LazyLock<Vec<BoardSpec>> = LazyLock::new(|| {
    let wirings = wiring::displays().filter_map(wiring::base);
    let boards = wirings.filter_map(|wiring| wired(&wiring).ok());
    let simulated = |board: BoardSpec| BoardSpec {
        hardware: format!("{}, simulated", board.hardware).leak(),
        ..board
    };
    boards.map(simulated).collect()
});

/// The specification of a board with a wiring.
///
/// Its texts are leaked, which is harmless because a process has one board.
///
/// # Errors
/// It has too few panels for a clock, or one that is too small.
pub fn wired(wiring: &Wiring) -> Result<BoardSpec, String> {
    let count = wiring.panels.len();
    let panel = wiring.panels.first();
    let Some(panel) = panel.filter(|_| count == 1 || count >= PANELS_MIN) else {
        return Err(format!(
            "a clock needs one panel, or {PANELS_MIN} or {PANELS_MAX}, and the wiring has {count}: \
             `papertick wiring test` tries others"
        ));
    };
    let (model, (width, height)) = (panel.model, panel.size());
    let is_small = !WIDTHS.contains(&u32::from(width)) || !HEIGHTS.contains(&u32::from(height));
    if count == 1 && is_small {
        return Err(format!(
            "the panel is {width} px wide and {height} px high, and a clock with one panel needs at least {} and {} px: turn it with `rotation`",
            WIDTHS.start(),
            HEIGHTS.start()
        ));
    }
    let leak = |text: String| -> &'static str { text.leak() };
    let board = BoardSpec {
        id: leak(wiring.id.clone()),
        name: leak(wiring.name.clone()),
        leds: wiring.strip.as_ref().map_or(0, |strip| strip.count),
        frontlight: wiring.frontlight.is_some(),
        light_sensor: wiring.sensor.is_some(),
        coredump: true,
        ..REV_A
    };
    Ok(if count == 1 {
        BoardSpec {
            hardware: leak(format!("{}, {width} x {height}", model.name)),
            canvas: Some((width, height)),
            is_slow: !model.care.interval.is_zero(),
            ..board
        }
    } else {
        let inches = if model.height == 296 { "2.9" } else { "2.13" };
        BoardSpec {
            hardware: leak(format!("{}, {count} x {inches} in", wiring.name)),
            panels: count,
            panel_width: width,
            panel_height: height,
            ..board
        }
    })
}

/// Looks up a board of the table or with one panel by its identifier, ignoring case.
pub fn find(id: &str) -> Option<&'static BoardSpec> {
    let mut boards = BOARDS.iter().chain(DISPLAYS.iter());
    boards.find(|board| board.id.eq_ignore_ascii_case(id))
}
