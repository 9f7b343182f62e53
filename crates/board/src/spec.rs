//! The table of boards.

use device::board::BoardSpec;

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

/// Looks up a board by its word on the command line, in capitals or not.
pub fn find(id: &str) -> Option<&'static BoardSpec> {
    BOARDS
        .iter()
        .find(|board| board.id.eq_ignore_ascii_case(id))
}
