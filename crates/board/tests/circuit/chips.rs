//! Inverters and the switched supply of the panels, and what the emulated panels object to.

use std::time::Duration;

use board::{
    assembly::Hardware,
    parts::mcp23017::LineLevel,
    wiring::{Sense, WiringLine},
};
use device::{board::PanelFault, refresh::Refresh};
use embedded_hal::{digital::OutputPin, spi::SpiBus};
use lab::circuit::{Circuit, Flow};

use crate::rig::{Rig, wiring};

#[test]
fn inverted_lines_are_inverted_by_host_and_circuit() {
    // The lines of rev-b except reset are on the host, those of v8 on expanders.
    for board in ["rev-b", "v8"] {
        let mut wiring = wiring(board);
        let panel = &mut wiring.panels[0];
        for line in [&mut panel.select, &mut panel.busy, &mut panel.reset] {
            line.sense = Sense::Inverted;
        }
        let line = panel.select.clone();
        let mut rig = Rig::new(&wiring);
        rig.show_all(0, Refresh::Full);
        rig.show_all(10, Refresh::Partial);
        rig.assert_shows(0, 10);
        rig.assert_no_violations();
        // An idle select line is low before its inverter.
        let itself = WiringLine {
            sense: Sense::Straight,
            ..line.clone()
        };
        assert_eq!(rig.circuit.level(&itself), LineLevel::Low, "{board}");
        assert_eq!(rig.circuit.level(&line), LineLevel::High, "{board}");
    }
}

#[test]
fn panels_without_their_supply_do_nothing() {
    let mut wiring = wiring("rev-b");
    let power = WiringLine::named("POWER");
    wiring.spi.power = Some(power.clone());
    let mut rig = Rig::new(&wiring);
    rig.show_all(0, Refresh::Full);
    // A short circuit pulls the supply low.
    let shorted = rig.circuit.clone();
    shorted.touch(&power, LineLevel::Low);
    let before = shorted.glass(0);
    let failed = rig.show_all(10, Refresh::Partial);
    let all = |outcome| (0..7).map(|panel| (panel, outcome)).collect::<Vec<_>>();
    assert_eq!(failed, all(Err(PanelFault::NotRefreshed)));
    assert!(
        shorted.glass(0) == before,
        "the picture stays without power"
    );
    shorted.touch(&power, LineLevel::High);
    assert_eq!(rig.show_all(20, Refresh::Partial), all(Ok(Refresh::Full)));
    rig.assert_shows(6, 26);
}

/// Model, commands with their parameters, and the violation. A second passes before each command but the last.
#[rustfmt::skip]
const FORBIDDEN: &[(&str, &[&[u8]], &str)] = &[
    ("waveshare-7.5-v2", &[&[0x12], &[0x71]], "refreshed without its supply"),
    ("waveshare-7.5-v2", &[&[0x04], &[0x12], &[0x71]], "refreshed from a plane that was not written"),
    ("waveshare-7.5-v2", &[&[0x04], &[0x12], &[0x71]], "refreshed in mode 0F"),
    ("waveshare-7.5-v2", &[&[0x04], &[0x04]], "command 04 while it is busy"),
    ("waveshare-7.5-v2", &[&[0x04], &[0x71], &[0x71], &[0x71]], "its supply stayed on"),
    ("waveshare-7.5-v2", &[&[0x13, 0xFF], &[0x71]], "1 bytes for a window of 48000"),
    ("waveshare-7.5-v2", &[&[0x90, 0, 4, 0, 15, 0, 0, 0, 9, 1], &[0x71]], "window (4, 15), (0, 9)"),
    ("waveshare-7.5-v2", &[&[0x90, 0, 0, 0, 14, 0, 0, 0, 9, 1], &[0x71]], "window (0, 14), (0, 9)"),
    ("waveshare-7.5-v2", &[&[0xE0, 2], &[0xE5, 0x5F], &[0x12], &[0x71]], "waveform of the temperature 5F"),
    ("waveshare-7.5-v2", &[&[0x04], &[0x07, 0xA5]], "command 07 while it is busy"),
    ("waveshare-7.5-v2", &[&[0x07, 0x05], &[0x71]], "deep sleep without its check byte"),
    ("waveshare-7.5-v2", &[&[0x07, 0xA5], &[0x71]], "data in deep sleep"),
    ("waveshare-7.5-v2", &[&[0x61, 0x03, 0x20], &[0x71]], "2 parameters for command 61"),
    ("waveshare-7.3-e", &[&[0x12, 0], &[0x71]], "refreshed without its supply"),
    ("waveshare-7.3-e", &[&[0x12, 0], &[0x71]], "refreshed without a size"),
    ("waveshare-4.2-v2", &[&[0x20], &[0x7F]], "started without a sequence"),
    ("waveshare-4.2-v2", &[&[0x44, 0, 50], &[0x7F]], "window up to 50, 299"),
    ("waveshare-4.26", &[&[0x44, 4, 0, 0x1F, 3], &[0x7F]], "window at pixel 4"),
    ("waveshare-4.26", &[&[0x44, 0, 0x31], &[0x7F]], "2 parameters for command 44"),
    ("waveshare-4.26", &[&[0x22, 0xC7], &[0x20], &[0x7F]], "refreshed 680 lines"),
    ("waveshare-4.26", &[&[0x21, 0x40, 0], &[0x22, 0xFF], &[0x20], &[0x7F]], "partial refresh that ignores the old plane"),
    ("waveshare-5.79", &[&[0x22, 0xF7], &[0x20], &[0x7F]], "refreshed without the bit for two controllers"),
];

#[test]
fn emulated_panels_object_to_what_is_forbidden() {
    for (model, commands, expected) in FORBIDDEN {
        let wiring = wiring(model);
        let circuit = Circuit::new(&wiring, Flow::Stepped);
        let open = |line, level| circuit.output(line, level).unwrap();
        let panel = &wiring.panels[0];
        let power = wiring.spi.power.iter();
        let _power: Vec<_> = power.map(|line| open(line, LineLevel::High)).collect();
        let _lines = [
            (&panel.reset, LineLevel::High),
            (&panel.select, LineLevel::Low),
        ]
        .map(|(line, level)| open(line, level));
        let mut is_data = open(&wiring.spi.command, LineLevel::High);
        let mut spi = circuit.spi(&wiring.spi.device, wiring.spi.hz).unwrap();
        circuit.advance(circuit.now() + Duration::from_secs(1));
        for (index, command) in commands.iter().enumerate() {
            is_data.set_low().unwrap();
            spi.write(&command[..1]).unwrap();
            is_data.set_high().unwrap();
            spi.write(&command[1..]).unwrap();
            if index + 2 < commands.len() {
                circuit.advance(circuit.now() + Duration::from_secs(1));
            }
        }
        let found = circuit.violations();
        assert!(
            found.iter().any(|text| text.ends_with(expected)),
            "{model}: {expected}: {found:?}"
        );
    }
}
