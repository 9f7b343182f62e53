//! An emulated PCA9685.

use super::{
    nets::{ChipNet, Nets},
    violations::Violations,
};
use board::parts::{
    mcp23017::LineLevel,
    pca9685::{CHANNELS, DUTY_MAX},
};

const MODE1: u8 = 0x00;
const FIRST_OUTPUT: u8 = 0x06;
const ALL_OUTPUTS: u8 = 0xFA;
const PRESCALE: u8 = 0xFE;

const SLEEP: u8 = 0x10;
const COUNTING: u8 = 0x20;

/// A simulated 16-channel PWM driver.
#[derive(Debug)]
pub(super) struct Pca9685Chip {
    pub(super) address: u8,
    pub(super) is_plugged: bool,
    /// Output-enable line, low to enable.
    enable: Option<ChipNet>,
    registers: [u8; 256],
    pointer: u8,
    has_duties: bool,
}

impl Pca9685Chip {
    pub(super) fn new(address: u8, enable: Option<ChipNet>) -> Pca9685Chip {
        Pca9685Chip {
            address,
            is_plugged: true,
            enable,
            registers: power_on_registers(),
            pointer: 0,
            has_duties: false,
        }
    }

    /// Resets its registers, as power-on does. Enabled outputs are no violation then.
    pub(super) fn reset(&mut self) {
        self.registers = power_on_registers();
        self.pointer = 0;
    }

    /// Receives the bytes of a write; the first is the address of the register.
    pub(super) fn write(&mut self, bytes: &[u8], violations: &mut Violations) {
        let Some((pointer, values)) = bytes.split_first() else {
            return;
        };
        self.pointer = *pointer;
        for value in values {
            self.set(*value, violations);
            self.advance_pointer();
        }
    }

    /// Sends bytes, from the register of the last write on.
    pub(super) fn read(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.registers[usize::from(self.pointer)];
            self.advance_pointer();
        }
    }

    /// Checks the output-enable line.
    pub(super) fn check_enable(&self, nets: &Nets, violations: &mut Violations) {
        if self.enable.is_some() && self.is_enabled(nets) && !self.has_duties {
            violations.record("frontlight: enabled before its duties were written".into());
        }
    }

    /// Duties of the LEDs, 0..=4095.
    pub(super) fn duties(&self, nets: &Nets) -> Vec<u16> {
        let is_awake = self.registers[usize::from(MODE1)] & SLEEP == 0;
        let is_lit = self.is_plugged && is_awake && self.is_enabled(nets);
        (0..CHANNELS)
            .map(|output| if is_lit { self.duty(output) } else { 0 })
            .collect()
    }

    fn duty(&self, output: usize) -> u16 {
        let at = usize::from(FIRST_OUTPUT) + 4 * output;
        let pair = |at: usize| u16::from_le_bytes([self.registers[at], self.registers[at + 1]]);
        let (on, off) = (pair(at), pair(at + 2));
        match (on & 0x1000 != 0, off & 0x1000 != 0) {
            (_, true) => 0,
            (true, false) => DUTY_MAX,
            (false, false) => off.wrapping_sub(on) & DUTY_MAX,
        }
    }

    fn is_enabled(&self, nets: &Nets) -> bool {
        self.enable
            .is_none_or(|wire| nets.read(wire) == LineLevel::Low)
    }

    fn set(&mut self, value: u8, violations: &mut Violations) {
        let is_asleep = self.registers[usize::from(MODE1)] & SLEEP != 0;
        match self.pointer {
            PRESCALE if !is_asleep => {
                violations.record("frontlight: frequency changed while awake".into());
                return;
            }
            PRESCALE if value < 3 => {
                violations.record(format!("frontlight: prescaler {value}"));
                return;
            }
            ALL_OUTPUTS..PRESCALE => {
                for output in 0..CHANNELS {
                    let register = usize::from(self.pointer - ALL_OUTPUTS);
                    self.registers[usize::from(FIRST_OUTPUT) + 4 * output + register] = value;
                }
                self.has_duties = true;
            }
            FIRST_OUTPUT..0x46 => self.has_duties = true,
            _ => {}
        }
        self.registers[usize::from(self.pointer)] = value;
    }

    fn advance_pointer(&mut self) {
        if self.registers[usize::from(MODE1)] & COUNTING != 0 {
            self.pointer = match self.pointer {
                0x45 | 0xFF => 0,
                pointer => pointer + 1,
            };
        }
    }
}

fn power_on_registers() -> [u8; 256] {
    let mut registers = [0; 256];
    registers[usize::from(MODE1)] = 0x11;
    registers[usize::from(PRESCALE)] = 0x1E;
    for output in 0..CHANNELS {
        registers[usize::from(FIRST_OUTPUT) + 4 * output + 3] = 0x10;
    }
    registers
}
