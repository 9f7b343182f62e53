//! A device on a board with all parts, for the tests.

use std::time::Duration;

use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    request::{Reply, Request},
    settings::Settings,
};
use market::now::Now;

/// Seven panels, four LEDs, a frontlight and a light sensor.
pub(crate) const BOARD: BoardSpec = BoardSpec {
    coredump: false,
    ..BoardSpec::EXAMPLE
};

/// The same with panels only.
pub(crate) const BARE: BoardSpec = BoardSpec {
    leds: 0,
    frontlight: false,
    light_sensor: false,
    ..BOARD
};

pub(crate) fn now(seconds: u64) -> Now {
    Now {
        uptime: Duration::from_secs(seconds),
        utc: None,
    }
}

pub(crate) fn clock(board: BoardSpec) -> Device {
    Device::new(board, Settings::default(), Memory::default(), now(0))
}

pub(crate) fn reply(clock: &mut Device, request: Request) -> Reply {
    let output = clock.handle(Input::Request(request), now(1));
    output.reply.expect("every request has a reply")
}
