//! MCP23017, the expander of lines: sixteen pins behind one address of the I2C bus, port A first.
//!
//! What the pins are is kept here and written whole after every failure, latches before directions, so that an
//! expander that lost its power comes back without a glitch on the lines it drives.

use std::ops::RangeInclusive;

use embedded_hal::i2c::I2c;

/// Addresses it can have.
pub const ADDRESSES: RangeInclusive<u8> = 0x20..=0x27;

/// Number of its pins.
pub const PINS: u8 = 16;

/// Pins that can only be outputs: as inputs they can disturb the bus.
pub const OUTPUT_ONLY: [u8; 2] = [7, 15];

const DIRECTION: u8 = 0x00;
const INTERRUPT: u8 = 0x04;
const COMPARE: u8 = 0x08;
const CONFIGURATION: u8 = 0x0A;
const PULL_UP: u8 = 0x0C;
const PORT: u8 = 0x12;
const LATCH: u8 = 0x14;

/// Both interrupt lines tell of both ports.
const MIRROR: u8 = 0x40;

/// One expander.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mcp23017 {
    address: u8,
    /// Pins that are outputs, a bit each.
    outputs: u16,
    /// Levels of the outputs, a bit each.
    latches: u16,
    /// Inputs whose pull-up is on, a bit each.
    pull_ups: u16,
    /// Inputs whose changes pull the interrupt line, a bit each.
    watched: u16,
    is_configured: bool,
}

impl Mcp23017 {
    /// An expander of which nothing is used: inputs all but those that cannot be.
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

    /// Its address.
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

    /// Lets changes of an input pull the interrupt line, from the next access on.
    pub fn watch(&mut self, pin: u8) {
        self.watched |= bit(pin);
        self.is_configured = false;
    }

    /// Takes it for new: the next access configures it whole.
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

    /// Levels of all pins, a bit each; lets go of the interrupt line.
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

/// Level of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLevel {
    /// Ground.
    Low,
    /// Supply.
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
