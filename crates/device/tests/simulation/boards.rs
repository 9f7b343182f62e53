//! The boards of the simulations: all boards of the table, and others that an owner may wire.
//!
//! The table is in a crate that depends on this one; a test there checks that these rows contain it.

use device::board::BoardSpec;

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

/// The boards; the boards of the table come first.
#[rustfmt::skip]
pub static SIMULATED_BOARDS: &[BoardSpec] = &[
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
    BoardSpec { id: "v8", name: "V8", hardware: "V8, 8 x 2.13 in, simulated", panels: 8, coredump: true,..REV_A },
    BoardSpec {
        id: "large",
        name: "Large",
        hardware: "Large, 8 x 2.9 in",
        panels: 8,
        panel_height: 296,
        leds: 5,
        frontlight: true,
        light_sensor: true,
        ..REV_A
    },
    BoardSpec { id: "one", name: "One", hardware: "One, 800 x 480", canvas: Some((800, 480)), leds: 0, ..REV_A },
    BoardSpec { id: "slow", name: "Slow", hardware: "Slow, 800 x 480", canvas: Some((800, 480)), is_slow: true, leds: 0, ..REV_A },
    BoardSpec { id: "dark", name: "Dark", hardware: "Dark, 7 x 2.13 in", leds: 0, frontlight: true,..REV_A },
];
