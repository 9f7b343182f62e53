//! What the makers of the chips forbid is noticed.

use std::time::Duration;

use board::{
    assembly::Hardware,
    parts::{mcp23017::LineLevel, ssd1680::PanelBus, ws2812},
    wiring::Wiring,
};
use device::refresh::Refresh;
use embedded_hal::{digital::OutputPin, i2c::I2c, spi::SpiBus};
use lab::circuit::{Circuit, CircuitOutput, CircuitSpi, Flow};

use crate::rig::{Rig, wiring};

/// The first panel of a board, and whatever one sends to it.
struct Probe {
    circuit: Circuit,
    bus: PanelBus<CircuitSpi, CircuitOutput>,
    select: CircuitOutput,
}

impl Probe {
    /// A panel that is ready for commands.
    fn new() -> Probe {
        let wiring = wiring("rev-b");
        let circuit = Circuit::new(&wiring, Flow::Stepped);
        let spi = circuit.spi(&wiring.spi.device, wiring.spi.hz).unwrap();
        let command = circuit
            .output(&wiring.spi.command, LineLevel::High)
            .unwrap();
        let select = circuit
            .output(&wiring.panels[0].select, LineLevel::High)
            .unwrap();
        circuit.advance(Duration::from_secs(1));
        Probe {
            circuit,
            bus: PanelBus::new(spi, command),
            select,
        }
    }

    fn send(&mut self, commands: &[&[u8]]) {
        for command in commands {
            self.bus
                .send(&mut self.select, command[0], &command[1..])
                .unwrap();
        }
    }

    fn write_all(&mut self, bank: u8) {
        self.send(&[
            &[0x01, 0xF9, 0, 0],
            &[0x21, 0x00, 0x80],
            &[0x44, 0x00, 0x0F],
            &[0x45, 0, 0, 0xF9, 0],
            &[0x4E, 0],
            &[0x4F, 0, 0],
        ]);
        let mut picture = vec![bank];
        picture.resize(4001, 0x5A);
        self.send(&[&picture]);
    }

    fn noticed(&self, what: &str) {
        let violations = self.circuit.violations();
        assert!(
            violations.iter().any(|violation| violation.contains(what)),
            "{what:?} is not among {violations:?}"
        );
    }
}

#[test]
fn what_is_sent_to_a_panel_at_the_wrong_time_or_in_the_wrong_form() {
    for (commands, what) in [
        (&[&[0x3C][..], &[0x7F]][..], "0 parameters for command 3C"),
        (&[&[0x3C, 5, 5], &[0x7F]], "2 parameters for command 3C"),
        (&[&[0x99], &[0x7F]], "unknown command 99"),
        (&[&[0x44, 0, 22]], "window up to 22"),
        (&[&[0x45, 0, 0, 0x28, 1]], "window up to 21, 296"),
        (&[&[0x11, 0x07]], "entry mode 07"),
        (&[&[0x20]], "started without a sequence"),
        (&[&[0x22, 0x12]], "update sequence 12"),
        (&[&[0x22, 0x0F], &[0x20]], "without its supply"),
        (
            &[&[0x22, 0xD7], &[0x20]],
            "waveform of an unknown temperature",
        ),
        (&[&[0x22, 0xF7], &[0x20]], "refreshed 296 lines"),
        (&[&[0x22, 0xF7], &[0x20]], "bank that was not written"),
        (
            &[&[0x22, 0xF7], &[0x20], &[0x3C, 5]],
            "command 3C while it is busy",
        ),
        (&[&[0x12], &[0x3C, 5]], "while it is busy"),
        (&[&[0x10, 1], &[0x3C, 5]], "in deep sleep"),
        (
            &[
                &[0x44, 0, 1],
                &[0x45, 0, 0, 1, 0],
                &[0x24, 1, 2, 3],
                &[0x7F],
            ],
            "3 bytes for a window of 4",
        ),
    ] {
        let mut probe = Probe::new();
        probe.send(commands);
        probe.noticed(what);
    }
}

#[test]
fn a_partial_refresh_from_a_bank_that_is_not_on_the_glass() {
    let mut probe = Probe::new();
    probe.write_all(0x24);
    probe.write_all(0x26);
    probe.send(&[&[0x22, 0xFF], &[0x20]]);
    probe.noticed("the old bank is not what is on the glass");
}

#[test]
fn a_reset_in_the_middle_of_a_refresh_and_words_too_soon_after_one() {
    let mut rig = Rig::new(&wiring("rev-b"));
    rig.show_all(0, Refresh::Full);
    rig.show(0, 1, Refresh::Full).unwrap();
    let middle = rig.circuit.now() + Duration::from_millis(500);
    rig.run_until(middle);
    let reset = wiring("rev-b").panels[0].reset.clone();
    rig.circuit.touch(&reset, LineLevel::Low);
    let violations = rig.circuit.violations();
    assert!(
        violations
            .iter()
            .any(|what| what.contains("in the middle of a refresh")),
        "{violations:?}"
    );
    // A finger on a line that the expander drives high is a short circuit.
    assert!(
        violations
            .iter()
            .any(|what| what.contains("high and low at once"))
    );

    let mut probe = Probe::new();
    probe.send(&[&[0x12]]);
    probe
        .circuit
        .advance(probe.circuit.now() + Duration::from_millis(5));
    probe.send(&[&[0x3C, 0x05]]);
    probe.noticed("too soon after a reset");
}

#[test]
fn bytes_for_nobody_or_for_two() {
    let wiring = wiring("rev-b");
    let circuit = Circuit::new(&wiring, Flow::Stepped);
    let mut spi = circuit.spi(&wiring.spi.device, wiring.spi.hz).unwrap();
    spi.write(&[0x7F]).unwrap();
    let mut selects: Vec<CircuitOutput> = wiring.panels[..2]
        .iter()
        .map(|panel| circuit.output(&panel.select, LineLevel::High).unwrap())
        .collect();
    for select in &mut selects {
        select.set_low().unwrap();
    }
    spi.write(&[0x7F]).unwrap();
    assert_eq!(
        circuit.violations(),
        ["a byte for 0 panels at once", "a byte for 2 panels at once"]
    );
}

fn violations_of(change: impl FnOnce(&mut Wiring), act: impl FnOnce(&Circuit)) -> Vec<String> {
    let mut wiring = wiring("rev-b");
    change(&mut wiring);
    let circuit = Circuit::new(&wiring, Flow::Stepped);
    act(&circuit);
    circuit.violations()
}

#[test]
fn what_the_other_chips_must_not_be_told() {
    let i2c = |address: u8, bytes: &'static [&'static [u8]]| {
        violations_of(
            |_| {},
            |circuit| {
                let mut bus = circuit.i2c("").unwrap();
                for bytes in bytes {
                    bus.write(address, bytes).unwrap();
                }
            },
        )
    };
    assert_eq!(
        i2c(0x20, &[&[0x00, 0xFF, 0x7F]]),
        ["exp1: pin 7 is an input"]
    );
    assert_eq!(
        i2c(0x42, &[&[0x00, 0x21], &[0xFE, 0x05]]),
        ["frontlight: frequency changed while awake"]
    );
    assert_eq!(i2c(0x42, &[&[0xFE, 0x01]]), ["frontlight: prescaler 1"]);
    assert_eq!(
        i2c(0x5C, &[&[0x07]]),
        ["light sensor: cleared while it is off"]
    );
    assert_eq!(i2c(0x5C, &[&[0x99]]), ["light sensor: instruction 99"]);
    let enabled = violations_of(
        |_| {},
        |circuit| {
            let enable = wiring("rev-b").frontlight.unwrap().enable.unwrap();
            let _line = circuit.output(&enable, LineLevel::Low).unwrap();
        },
    );
    assert_eq!(
        enabled,
        ["frontlight: enabled before its duties were written"]
    );
    let fast = violations_of(
        |wiring| wiring.spi.hz = 40_000_000,
        |circuit| {
            let mut rig = Rig::on(circuit.clone(), &wiring("rev-b"));
            rig.show(0, 0, Refresh::Full).unwrap();
            rig.run();
        },
    );
    assert_eq!(fast, ["a clock of 40000000 Hz for the panels"]);
}

#[test]
fn pulses_that_no_led_understands() {
    let strip = |hz: u32, bytes: Vec<u8>| {
        violations_of(
            |wiring| wiring.strip.as_mut().unwrap().hz = hz,
            |circuit| {
                let device = wiring("rev-b").strip.unwrap().device;
                let mut bus = circuit.spi(&device, hz).unwrap();
                bus.write(&bytes).unwrap();
            },
        )
    };
    let colours = || ws2812::encode(ws2812::StripKind::default(), []);
    assert!(strip(3_200_000, colours()).is_empty());
    let four = ws2812::encode(
        ws2812::StripKind::default(),
        [device::lights::Rgb::BLACK; 4],
    );
    let has = |violations: Vec<String>, what: &str| {
        assert!(
            violations.iter().any(|violation| violation.contains(what)),
            "{what:?} is not among {violations:?}"
        );
    };
    assert!(strip(3_200_000, four.clone()).is_empty());
    has(strip(1_900_000, four.clone()), "a pulse of");
    has(strip(8_000_000, four.clone()), "a bit of");
    has(strip(3_200_000, four[..200].to_vec()), "a rest of");
    has(
        strip(3_200_000, [&four[..150], &[0; 140]].concat()),
        "are no colours",
    );
}
