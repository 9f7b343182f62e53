//! An emulated MCP23017: registers in both layouts, pins and an interrupt line.

use super::{
    nets::{ChipNet, NetDriver, NetId, Nets},
    violations::Violations,
};
use board::{
    parts::mcp23017::{LineLevel, OUTPUT_ONLY, PINS},
    wiring::Pull,
};

/// Registers, by their addresses in the layout of pairs.
mod register {
    pub(super) const DIRECTION: usize = 0x00;
    pub(super) const POLARITY: usize = 0x02;
    pub(super) const INTERRUPT: usize = 0x04;
    pub(super) const DEFAULT: usize = 0x06;
    pub(super) const COMPARE: usize = 0x08;
    pub(super) const CONFIGURATION: usize = 0x0A;
    pub(super) const PULL_UP: usize = 0x0C;
    pub(super) const FLAGS: usize = 0x0E;
    pub(super) const CAPTURED: usize = 0x10;
    pub(super) const PORT: usize = 0x12;
    pub(super) const LATCH: usize = 0x14;
    pub(super) const COUNT: usize = 0x16;
}

mod configuration {
    pub(super) const BANKS: u8 = 0x80;
    pub(super) const NO_COUNTING: u8 = 0x20;
    pub(super) const ACTIVE_HIGH: u8 = 0x02;
}

/// A simulated port expander.
#[derive(Debug)]
pub(super) struct Mcp23017Chip {
    pub(super) name: String,
    pub(super) address: u8,
    pub(super) is_plugged: bool,
    /// Its reset line is low.
    pub(super) is_reset: bool,
    pins: Vec<NetId>,
    interrupt: Option<ChipNet>,
    registers: [u8; register::COUNT],
    pointer: u8,
    /// Levels at the pins at the last update.
    levels: u16,
}

impl Mcp23017Chip {
    pub(super) fn new(
        name: &str,
        address: u8,
        pins: Vec<NetId>,
        interrupt: Option<ChipNet>,
    ) -> Mcp23017Chip {
        Mcp23017Chip {
            name: name.to_owned(),
            address,
            is_plugged: true,
            is_reset: false,
            pins,
            interrupt,
            registers: power_on_registers(),
            pointer: 0,
            levels: 0,
        }
    }

    pub(super) fn answers(&self) -> bool {
        self.is_plugged && !self.is_reset
    }

    /// Resets its registers, as power-on and a low reset line do.
    pub(super) fn reset(&mut self) {
        self.registers = power_on_registers();
        self.pointer = 0;
    }

    /// Drives and pulls its pins.
    pub(super) fn drive(&self, nets: &mut Nets, violations: &mut Violations) {
        let (outputs, latches) = (!self.pair(register::DIRECTION), self.pair(register::LATCH));
        let pull_ups = self.pair(register::PULL_UP);
        for (pin, net) in self.pins.iter().enumerate() {
            let bit = 1 << pin;
            let is_output = self.is_plugged && outputs & bit != 0;
            let level = match latches & bit {
                0 => LineLevel::Low,
                _ => LineLevel::High,
            };
            let wire = ChipNet::straight(*net);
            nets.drive(
                wire,
                NetDriver::Expander,
                is_output.then_some(level),
                violations,
            );
            let is_pulled = self.is_plugged && !is_output && pull_ups & bit != 0;
            let pull = if is_pulled { Pull::Up } else { Pull::None };
            nets.pull_by_expander(*net, pull);
        }
    }

    /// Reads its pins, and drives its interrupt line if an input with interrupt has changed.
    pub(super) fn update(&mut self, nets: &mut Nets, violations: &mut Violations) {
        let mut levels = 0;
        for (pin, net) in self.pins.iter().enumerate() {
            levels |= u16::from(nets.level(*net) == LineLevel::High) << pin;
        }
        let against_default = self.pair(register::COMPARE);
        let changed = (levels ^ self.levels) & !against_default
            | (levels ^ self.pair(register::DEFAULT)) & against_default;
        let fired = changed & self.pair(register::INTERRUPT) & self.pair(register::DIRECTION);
        self.levels = levels;
        if fired != 0 && self.pair(register::FLAGS) == 0 {
            self.set_pair(register::FLAGS, fired);
            self.set_pair(register::CAPTURED, levels);
        }
        let Some(interrupt) = self.interrupt else {
            return;
        };
        let is_pulled = self.pair(register::FLAGS) != 0;
        let is_active_high =
            self.registers[register::CONFIGURATION] & configuration::ACTIVE_HIGH != 0;
        let level = if is_pulled == is_active_high { LineLevel::High } else { LineLevel::Low };
        let level = self.is_plugged.then_some(level);
        nets.drive(interrupt, NetDriver::Expander, level, violations);
    }

    /// Receives the bytes of a write; the first is the address of the register.
    pub(super) fn write(&mut self, bytes: &[u8], violations: &mut Violations) {
        let Some((pointer, values)) = bytes.split_first() else {
            return;
        };
        self.pointer = *pointer;
        for value in values {
            self.set(*value);
            self.advance_pointer();
        }
        let inputs = self.pair(register::DIRECTION);
        let touched = values.len() == 2 && self.index(*pointer) == Some(register::DIRECTION);
        for pin in OUTPUT_ONLY {
            if touched && inputs & (1 << pin) != 0 {
                violations.record(format!("{}: pin {pin} is an input", self.name));
            }
        }
    }

    /// Sends bytes, from the register of the last write on.
    pub(super) fn read(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.get();
            self.advance_pointer();
        }
    }

    fn get(&mut self) -> u8 {
        let Some(index) = self.index(self.pointer) else {
            return 0;
        };
        let port = index % 2;
        match index - port {
            register::PORT => {
                self.registers[register::FLAGS + port] = 0;
                let levels = self.levels.to_le_bytes()[port];
                levels
                    ^ self.registers[register::POLARITY + port]
                        & self.registers[register::DIRECTION + port]
            }
            register::CAPTURED => {
                self.registers[register::FLAGS + port] = 0;
                self.registers[index]
            }
            _ => self.registers[index],
        }
    }

    fn set(&mut self, value: u8) {
        let Some(index) = self.index(self.pointer) else {
            return;
        };
        match index - index % 2 {
            register::FLAGS | register::CAPTURED => {}
            // Writing the port writes the latch.
            register::PORT => self.registers[index - register::PORT + register::LATCH] = value,
            register::CONFIGURATION => {
                self.registers[register::CONFIGURATION] = value;
                self.registers[register::CONFIGURATION + 1] = value;
            }
            _ => self.registers[index] = value,
        }
    }

    /// Register at an address in the current layout.
    fn index(&self, address: u8) -> Option<usize> {
        let address = usize::from(address);
        let has_banks = self.registers[register::CONFIGURATION] & configuration::BANKS != 0;
        let index = if has_banks { 2 * (address & 0x0F) + address / 0x10 } else { address };
        (index < register::COUNT && (!has_banks || address < 0x20)).then_some(index)
    }

    fn advance_pointer(&mut self) {
        let settings = self.registers[register::CONFIGURATION];
        if settings & configuration::NO_COUNTING != 0 {
            // Within a pair.
            self.pointer ^= u8::from(settings & configuration::BANKS == 0);
            return;
        }
        self.pointer = (self.pointer + 1) % register::COUNT as u8;
    }

    fn pair(&self, register: usize) -> u16 {
        u16::from_le_bytes([self.registers[register], self.registers[register + 1]])
    }

    fn set_pair(&mut self, register: usize, value: u16) {
        [self.registers[register], self.registers[register + 1]] = value.to_le_bytes();
    }
}

fn power_on_registers() -> [u8; register::COUNT] {
    let mut registers = [0; register::COUNT];
    registers[register::DIRECTION] = 0xFF;
    registers[register::DIRECTION + 1] = 0xFF;
    registers
}

pub(super) fn pins() -> std::ops::Range<u8> {
    0..PINS
}
