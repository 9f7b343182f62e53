//! The other chips of a circuit, through their drivers.

use std::time::Duration;

use board::{
    assembly::{ExpanderBus, Hardware},
    parts::{
        bh1750::{self, Bh1750},
        mcp23017::{LineLevel, Mcp23017},
        pca9685::Pca9685,
        ws2812,
    },
    wiring::{Pull, Sense, Wiring, WiringLine},
};
use device::{board::PanelFault, lights::Rgb, refresh::Refresh};
use embedded_hal::{
    digital::{InputPin, OutputPin},
    i2c::I2c,
};
use lab::circuit::{Circuit, Flow, InUse};

use crate::rig::{Rig, wiring};

fn circuit(wiring: &Wiring) -> Circuit {
    Circuit::new(wiring, Flow::Stepped)
}

/// A circuit whose expanders are out of reset as long as the wire is there, and their bus.
fn with_expanders(wiring: &Wiring) -> (Circuit, ExpanderBus<Circuit>, impl I2c + use<>) {
    let circuit = circuit(wiring);
    let wire = ExpanderBus::open(&circuit, wiring).unwrap().unwrap();
    let i2c = circuit.i2c("").unwrap();
    (circuit, wire, i2c)
}

#[test]
fn the_frontlight_shines_once_it_is_enabled() {
    let wiring = wiring("rev-b");
    let circuit = circuit(&wiring);
    let frontlight = wiring.frontlight.unwrap();
    let mut i2c = circuit.i2c("").unwrap();
    let mut enable = circuit
        .output(&frontlight.enable.unwrap(), LineLevel::High)
        .unwrap();
    let chip = Pca9685 {
        address: frontlight.address,
        first: frontlight.first,
        hz: frontlight.hz,
    };
    chip.wake(&mut i2c).unwrap();
    chip.restart(&mut i2c).unwrap();
    chip.set(&mut i2c, &[1, 2, 4095, 0, 5, 6, 2048]).unwrap();
    assert_eq!(circuit.duties()[..7], [0; 7]);
    enable.set_low().unwrap();
    assert_eq!(circuit.duties()[..7], [1, 2, 4095, 0, 5, 6, 2048]);
    assert_eq!(circuit.violations(), Vec::<String>::new());
}

#[test]
fn the_light_is_measured_in_the_time_it_takes() {
    let circuit = circuit(&wiring("rev-b"));
    let mut i2c = circuit.i2c("").unwrap();
    let mut sensor = Bh1750::new(&bh1750::ADDRESSES);
    circuit.set_millilux(Some(10_000));
    sensor.begin(&mut i2c).unwrap();
    assert_eq!(sensor.read(&mut i2c), Ok(Some(0)), "too early");
    circuit.advance(circuit.now() + bh1750::MEASURING);
    assert_eq!(sensor.read(&mut i2c), Ok(Some(10_000)));
    circuit.set_millilux(None);
    assert!(sensor.begin(&mut i2c).is_err());
}

#[test]
fn the_strip_shows_the_colours_of_the_pulses() {
    let wiring = wiring("rev-b");
    let circuit = circuit(&wiring);
    let strip = wiring.strip.unwrap();
    let mut bus = circuit.spi(&strip.device, strip.hz).unwrap();
    let colours: Vec<Rgb> = [[255, 0, 1], [2, 128, 3], [4, 5, 254], [7, 8, 9]]
        .map(|[red, green, blue]| Rgb { red, green, blue })
        .to_vec();
    ws2812::show(&mut bus, strip.kind, colours.iter().copied()).unwrap();
    assert_eq!(circuit.leds(), colours);
    assert_eq!(circuit.violations(), Vec::<String>::new());
}

#[test]
fn an_expander_reads_fingers_and_pulls_its_interrupt_line() {
    let wiring = wiring("v8");
    let (circuit, _wire, mut i2c) = with_expanders(&wiring);
    let interrupt = wiring.expanders[0].interrupt.as_ref().unwrap();
    let mut interrupt = circuit.input(interrupt, Pull::Up).unwrap();
    let mut expander = Mcp23017::new(wiring.expanders[0].address);
    for pin in 0..4 {
        expander.input(pin);
        expander.watch(pin);
    }
    assert_eq!(expander.read(&mut i2c).unwrap() & 0x0F, 0x0F);
    assert_eq!(interrupt.is_high(), Ok(true));
    let button = &wiring.buttons.as_ref().unwrap().lines[2];
    circuit.touch(button, LineLevel::Low);
    assert_eq!(interrupt.is_low(), Ok(true));
    assert_eq!(expander.read(&mut i2c).unwrap() & 0x0F, 0x0B);
    assert_eq!(interrupt.is_high(), Ok(true), "reading lets go of it");
    circuit.touch(button, LineLevel::High);
    assert_eq!(interrupt.is_low(), Ok(true));
}

#[test]
fn the_other_layout_of_an_expander_has_its_registers_elsewhere() {
    let (_circuit, _wire, mut i2c) = with_expanders(&wiring("v8"));
    // Banks on; then directions of port B, the latch of port A.
    i2c.write(0x21, &[0x0A, 0x80]).unwrap();
    i2c.write(0x21, &[0x10, 0x0F]).unwrap();
    i2c.write(0x21, &[0x0A, 0xA5]).unwrap();
    i2c.write(0x21, &[0x05, 0x00]).unwrap();
    let mut registers = [0; 2];
    i2c.write_read(0x21, &[0x00], &mut registers).unwrap();
    assert_eq!(registers, [0xFF, 0x0F]);
    i2c.write_read(0x21, &[0x14], &mut registers).unwrap();
    assert_eq!(registers, [0xA5, 0x00]);
}

#[test]
fn an_expander_counts_through_its_registers_unless_it_is_told_not_to() {
    let (_circuit, _wire, mut i2c) = with_expanders(&wiring("v8"));
    // What is written to the ports is in the latches, which come after them.
    i2c.write(0x21, &[0x12, 0x5A, 0xC3]).unwrap();
    let mut read = [0; 4];
    i2c.write_read(0x21, &[0x12], &mut read).unwrap();
    assert_eq!(read[2..], [0x5A, 0xC3]);
    // Between the two of a pair; that of the settings is one register.
    i2c.write(0x21, &[0x0A, 0x20]).unwrap();
    i2c.write_read(0x21, &[0x0A], &mut read).unwrap();
    assert_eq!(read, [0x20; 4]);
    i2c.write_read(0x21, &[0x14], &mut read).unwrap();
    assert_eq!(read, [0x5A, 0xC3, 0x5A, 0xC3]);
    // In the other layout a pair is not side by side.
    i2c.write(0x21, &[0x0A, 0xA0]).unwrap();
    i2c.write_read(0x21, &[0x0A], &mut read).unwrap();
    assert_eq!(read, [0x5A; 4]);
}

#[test]
fn what_a_bus_carries_takes_its_time() {
    let (circuit, _wire, mut i2c) = with_expanders(&wiring("v8"));
    let micros = Duration::from_micros;
    // One port written, both ports read, at 400 kHz.
    let begun = circuit.now();
    i2c.write(0x21, &[0x14, 0]).unwrap();
    let write = circuit.now() - begun;
    let begun = circuit.now();
    i2c.write_read(0x21, &[0x12], &mut [0; 2]).unwrap();
    let read = circuit.now() - begun;
    assert!((micros(65)..micros(80)).contains(&write), "{write:?}");
    assert!((micros(110)..micros(130)).contains(&read), "{read:?}");
}

#[test]
fn an_inverted_line_means_its_opposite_on_both_sides() {
    // One has them on the host but for the reset line, the other all on expanders.
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
        rig.assert_nothing_forbidden();
        // At rest the line itself is low.
        let itself = WiringLine {
            sense: Sense::Straight,
            ..line.clone()
        };
        assert_eq!(rig.circuit.level(&itself), LineLevel::Low, "{board}");
        assert_eq!(rig.circuit.level(&line), LineLevel::High, "{board}");
    }
}

#[test]
fn a_line_of_the_host_is_open_once_and_floats_when_it_is_let_go() {
    let circuit = circuit(&wiring("v8"));
    let line = WiringLine::named("GPIO21");
    let output = circuit.output(&line, LineLevel::High).unwrap();
    assert_eq!(circuit.output(&line, LineLevel::High).unwrap_err(), InUse);
    assert_eq!(circuit.input(&line, Pull::Up).unwrap_err(), InUse);
    assert_eq!(circuit.level(&line), LineLevel::High);
    drop(output);
    assert_eq!(circuit.level(&line), LineLevel::Low);
    let input = circuit.input(&line, Pull::Up).unwrap();
    assert_eq!(circuit.level(&line), LineLevel::High);
    drop(input);
    assert_eq!(circuit.level(&line), LineLevel::Low);
}

#[test]
fn panels_without_their_supply_do_nothing() {
    let mut wiring = wiring("rev-b");
    let power = WiringLine::named("POWER");
    wiring.spi.power = Some(power.clone());
    let mut rig = Rig::new(&wiring);
    rig.show_all(0, Refresh::Full);
    // Something else pulls the supply down.
    let shorted = rig.circuit.clone();
    shorted.touch(&power, LineLevel::Low);
    let before = shorted.glass(0);
    let failed = rig.show_all(10, Refresh::Partial);
    let all = |outcome| (0..7).map(|panel| (panel, outcome)).collect::<Vec<_>>();
    assert_eq!(failed, all(Err(PanelFault::NotRefreshed)));
    assert!(shorted.glass(0) == before, "ink stays as it is");
    shorted.touch(&power, LineLevel::High);
    assert_eq!(rig.show_all(20, Refresh::Partial), all(Ok(Refresh::Full)));
    rig.assert_shows(6, 26);
}
