//! MCP23017, a port expander on the I2C bus: sixteen pins, port A first.
//!
//! The driver keeps the configuration of the pins and writes all of it after every failure, latches before directions. So an
//! expander that has lost power causes no glitch on its outputs.

use std::ops::RangeInclusive;

use embedded_hal::i2c::I2c;

pub const ADDRESSES: RangeInclusive<u8> = 0x20..=0x27;

pub const PINS: u8 = 16;

/// Pins that can only be outputs. As inputs they can disturb the bus.
pub const OUTPUT_ONLY: [u8; 2] = [7, 15];

const DIRECTION: u8 = 0x00;
const INTERRUPT: u8 = 0x04;
const COMPARE: u8 = 0x08;
const CONFIGURATION: u8 = 0x0A;
const PULL_UP: u8 = 0x0C;
const PORT: u8 = 0x12;
const LATCH: u8 = 0x14;

/// Each interrupt line reports both ports.
const MIRROR: u8 = 0x40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mcp23017 {
    address: u8,
    /// Pins that are outputs, one bit each.
    outputs: u16,
    /// Levels of the outputs, one bit each.
    latches: u16,
    /// Inputs with pull-up, one bit each.
    pull_ups: u16,
    /// Inputs with interrupt, one bit each.
    watched: u16,
    is_configured: bool,
}

impl Mcp23017 {
    /// An expander without used pins: all are inputs, except those that can only be outputs.
    pub fn new(address: u8) -> Mcp23017 {
        Mcp23017 {
            address,
            outputs: OUTPUT_ONLY.iter().fold(0, |pins, pin| pins | bit(*pin)),
            latches: 0xFFFF,
            pull_ups: 0,
            watched: 0,
            is_configured: false,
        }
    }

    pub fn address(&self) -> u8 {
        self.address
    }

    /// Makes a pin an output at a level, from the next access on.
    pub fn output(&mut self, pin: u8, level: LineLevel) {
        self.outputs |= bit(pin);
        self.latches = level.of(self.latches, pin);
        self.is_configured = false;
    }

    /// Makes a pin an input with its pull-up on, from the next access on.
    pub fn input(&mut self, pin: u8) {
        self.outputs &= !bit(pin);
        self.pull_ups |= bit(pin);
        self.is_configured = false;
    }

    /// Enables the interrupt of an input, from the next access on.
    pub fn watch(&mut self, pin: u8) {
        self.watched |= bit(pin);
        self.is_configured = false;
    }

    /// Configures it again at the next access.
    pub fn forget(&mut self) {
        self.is_configured = false;
    }

    /// Sets the level of an output.
    ///
    /// # Errors
    /// It does not answer.
    pub fn set<I: I2c>(&mut self, i2c: &mut I, pin: u8, level: LineLevel) -> Result<(), I::Error> {
        self.latches = level.of(self.latches, pin);
        if !self.is_configured {
            return self.configure(i2c);
        }
        let port = pin / 8 % 2;
        let latch = self.latches.to_le_bytes()[usize::from(port)];
        let written = i2c.write(self.address, &[LATCH + port, latch]);
        self.is_configured = written.is_ok();
        written
    }

    /// Reads the levels of all pins, one bit each, which clears the interrupt.
    ///
    /// # Errors
    /// It does not answer.
    pub fn read<I: I2c>(&mut self, i2c: &mut I) -> Result<u16, I::Error> {
        if !self.is_configured {
            self.configure(i2c)?;
        }
        let mut levels = [0; 2];
        let read = i2c.write_read(self.address, &[PORT], &mut levels);
        self.is_configured = read.is_ok();
        read.map(|()| u16::from_le_bytes(levels))
    }

    fn configure<I: I2c>(&mut self, i2c: &mut I) -> Result<(), I::Error> {
        let mirror = if self.watched == 0 { 0 } else { MIRROR };
        i2c.write(self.address, &[CONFIGURATION, mirror])?;
        let mut pair = |register: u8, value: u16| {
            let [low, high] = value.to_le_bytes();
            i2c.write(self.address, &[register, low, high])
        };
        pair(LATCH, self.latches)?;
        pair(PULL_UP, self.pull_ups)?;
        pair(DIRECTION, !self.outputs)?;
        pair(COMPARE, 0)?;
        pair(INTERRUPT, self.watched)?;
        self.is_configured = true;
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLevel {
    /// Ground.
    Low,
    High,
}

impl LineLevel {
    fn of(self, pins: u16, pin: u8) -> u16 {
        match self {
            LineLevel::Low => pins & !bit(pin),
            LineLevel::High => pins | bit(pin),
        }
    }
}

fn bit(pin: u8) -> u16 {
    1 << (pin % PINS)
}
