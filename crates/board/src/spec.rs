//! The table of boards.

use device::board::BoardSpec;

use crate::wiring::{PANELS_MAX, Wiring};

const REV_A: BoardSpec = BoardSpec {
    id: "rev-a",
    name: "Rev A",
    hardware: "Rev A, 7 x 2.13 in, simulated",
    panels: 7,
    panel_width: 122,
    panel_height: 250,
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

/// Smallest number of panels of a clock, which its screens need.
pub const PANELS_MIN: usize = 7;

/// The specification of a board with a wiring.
///
/// Its texts are leaked, which is harmless because a process has one board.
///
/// # Errors
/// It has too few panels for a clock.
pub fn wired(wiring: &Wiring) -> Result<BoardSpec, String> {
    let count = wiring.panels.len();
    let Some(panel) = wiring.panels.first().filter(|_| count >= PANELS_MIN) else {
        return Err(format!(
            "a clock needs {PANELS_MIN} or {PANELS_MAX} panels and the wiring has {count}: \
             `papertick wiring test` tries fewer"
        ));
    };
    let model = panel.model;
    let inches = if model.height == 296 { "2.9" } else { "2.13" };
    let hardware = format!("{}, {count} x {inches} in", wiring.name);
    let leak = |text: String| -> &'static str { text.leak() };
    Ok(BoardSpec {
        id: leak(wiring.id.clone()),
        name: leak(wiring.name.clone()),
        hardware: leak(hardware),
        panels: count,
        panel_width: model.width,
        panel_height: model.height,
        leds: wiring.strip.as_ref().map_or(0, |strip| strip.count),
        frontlight: wiring.frontlight.is_some(),
        light_sensor: wiring.sensor.is_some(),
        coredump: true,
        ..REV_A
    })
}

/// Looks up a board by its identifier, ignoring case.
pub fn find(id: &str) -> Option<&'static BoardSpec> {
    BOARDS
        .iter()
        .find(|board| board.id.eq_ignore_ascii_case(id))
}
