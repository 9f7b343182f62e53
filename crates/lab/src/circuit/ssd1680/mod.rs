//! An emulated SSD1680: commands and registers. It reports commands that are forbidden.
//!
//! `memory` has the registers and the two banks, `refresh` moves the pixels.

mod memory;
mod refresh;

use std::time::Duration;

use board::parts::ssd1680::{LINES_MAX, Model, PanelRotation, ROW_BYTES, Setup, sequence::command};

use self::{
    memory::{Bank, PowerOnNoise, Registers},
    refresh::RunningRefresh,
};
use super::violations::Violations;

/// The simulated fault of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelCondition {
    /// No fault.
    #[default]
    Healthy,
    /// Its busy line stays high, and it ignores everything.
    StuckBusy,
    /// It has no waveform for the temperature, so a refresh does nothing.
    Silent,
    /// It is not connected.
    Absent,
    /// Its refreshes take twice as long.
    Slow,
    /// The controller swaps its banks after each partial refresh.
    PingPong,
}

/// Duration of the busy signal of a reset.
const RESET_BUSY: Duration = Duration::from_millis(1);

/// Time after a reset during which commands are forbidden.
const NOT_READY: Duration = Duration::from_millis(10);

/// Known values of the update sequence.
const SEQUENCES: &[u8] = &[
    0x80, 0x01, 0xC0, 0x03, 0x91, 0x99, 0xB1, 0xB9, 0xC7, 0xCF, 0xF7, 0xFF, 0xFC, 0x83, 0xE0, 0xF8,
    0xD7, 0xCC, 0x0F, 0xF4,
];

/// Commands, each with its smallest and largest number of parameters.
const COMMANDS: &[(u8, usize, usize)] = &[
    (0x01, 3, 3),
    (0x03, 1, 1),
    (0x04, 3, 3),
    (0x0C, 4, 4),
    (0x10, 1, 1),
    (0x11, 1, 1),
    (0x12, 0, 0),
    (0x18, 1, 1),
    (0x1A, 1, 2),
    (0x20, 0, 0),
    (0x21, 2, 2),
    (0x22, 1, 1),
    (0x2C, 1, 1),
    (0x32, 153, 153),
    (0x37, 10, 10),
    (0x3C, 1, 1),
    (0x3F, 1, 1),
    (0x44, 2, 2),
    (0x45, 4, 4),
    (0x46, 1, 1),
    (0x47, 1, 1),
    (0x4E, 1, 1),
    (0x4F, 2, 2),
    (0x7F, 0, 0),
];

/// The last command; the bytes that follow are its parameters.
#[derive(Debug)]
struct ActiveCommand {
    command: u8,
    parameters: Vec<u8>,
    /// Number of bytes written to a bank.
    stored: usize,
}

/// A simulated panel controller.
#[derive(Debug)]
pub(super) struct Ssd1680Chip {
    name: String,
    model: &'static Model,
    rotation: PanelRotation,
    /// First byte of a row of the controller that is on the panel.
    x_offset: u8,
    condition: PanelCondition,
    registers: Registers,
    new: Bank,
    old: Bank,
    /// Pixels that are ink, row by row, in the order of the controller.
    glass: Vec<bool>,
    /// Number of partial refreshes of each pixel since its last full one.
    ghosts: Vec<u32>,
    active: Option<ActiveCommand>,
    update: Option<RunningRefresh>,
    busy_until: Duration,
    ready_at: Duration,
    has_supply: bool,
    is_reset: bool,
    has_power: bool,
    is_asleep: bool,
    full: u64,
    partial: u64,
}

impl Ssd1680Chip {
    pub(super) fn new(index: usize, setup: &Setup) -> Ssd1680Chip {
        let mut noise = PowerOnNoise(0x9E37_79B9 ^ (index as u32 + 1));
        let pixels = usize::from(setup.model.width) * usize::from(setup.model.height);
        let (new, old) = (Bank::new(&mut noise), Bank::new(&mut noise));
        Ssd1680Chip {
            name: format!("panel {}", index + 1),
            model: setup.model,
            rotation: setup.rotation,
            x_offset: setup.x_offset,
            condition: PanelCondition::Healthy,
            registers: Registers::DEFAULT,
            new,
            old,
            glass: (0..pixels).map(|_| noise.byte() & 1 == 0).collect(),
            ghosts: vec![0; pixels],
            active: None,
            update: None,
            busy_until: Duration::ZERO,
            ready_at: Duration::ZERO,
            has_supply: true,
            is_reset: false,
            has_power: false,
            is_asleep: false,
            full: 0,
            partial: 0,
        }
    }

    pub(super) fn condition(&self) -> PanelCondition {
        self.condition
    }

    pub(super) fn set_condition(&mut self, condition: PanelCondition) {
        self.condition = condition;
    }

    /// Level of its busy line; `None` if it does not drive it.
    pub(super) fn busy(&self, now: Duration) -> Option<bool> {
        match self.condition {
            _ if !self.has_supply => None,
            PanelCondition::Absent => None,
            PanelCondition::StuckBusy => Some(true),
            PanelCondition::Healthy
            | PanelCondition::Silent
            | PanelCondition::Slow
            | PanelCondition::PingPong => Some(self.is_asleep || now < self.busy_until),
        }
    }

    /// When its busy line falls, if it is high.
    pub(super) fn falls_at(&self, now: Duration) -> Option<Duration> {
        let falls =
            self.has_supply && self.condition != PanelCondition::StuckBusy && now < self.busy_until;
        falls.then_some(self.busy_until)
    }

    pub(super) fn advance(&mut self, now: Duration) {
        if let Some(update) = self.update.take_if(|update| update.ends <= now) {
            self.end(update.sequence);
        }
    }

    /// Handles the level of its reset line.
    pub(super) fn set_reset(&mut self, is_low: bool, now: Duration, violations: &mut Violations) {
        if is_low == self.is_reset {
            return;
        }
        self.is_reset = is_low;
        if self.is_unresponsive() {
            return;
        }
        if is_low && self.update.take().is_some() {
            violations.record(format!("{}: reset in the middle of a refresh", self.name));
        }
        self.restart(now);
    }

    /// Switches its supply. Without supply it does nothing and loses everything but its picture.
    pub(super) fn set_supply(
        &mut self,
        has_supply: bool,
        now: Duration,
        violations: &mut Violations,
    ) {
        if has_supply == self.has_supply {
            return;
        }
        self.has_supply = has_supply;
        if self.update.take().is_some() {
            let name = &self.name;
            violations.record(format!(
                "{name}: lost its supply in the middle of a refresh"
            ));
        }
        self.new.written.fill(false);
        self.old.written.fill(false);
        self.restart(now);
    }

    fn restart(&mut self, now: Duration) {
        self.registers = Registers::DEFAULT;
        self.active = None;
        self.is_asleep = false;
        self.has_power = false;
        self.busy_until = now + RESET_BUSY;
        self.ready_at = now + NOT_READY;
    }

    /// Receives a byte while it is selected.
    pub(super) fn receive(
        &mut self,
        byte: u8,
        is_data: bool,
        now: Duration,
        violations: &mut Violations,
    ) {
        if self.is_unresponsive() {
            return;
        }
        if self.is_reset {
            return violations.record(format!("{}: data during a reset", self.name));
        }
        if self.is_asleep {
            return violations.record(format!("{}: data in deep sleep", self.name));
        }
        if is_data {
            self.parameter(byte, violations)
        } else {
            self.command(byte, now, violations)
        }
    }

    /// Checks the number of parameters of the last command, once it is complete.
    pub(super) fn finish(&mut self, violations: &mut Violations) {
        let Some(active) = self.active.take() else {
            return;
        };
        let (name, code) = (&self.name, active.command);
        if matches!(code, command::WRITE_NEW | command::WRITE_OLD) {
            let expected = self.registers.window_bytes();
            if active.stored != expected {
                violations.record(format!(
                    "{name}: {} bytes for a window of {expected}",
                    active.stored
                ));
            }
            return;
        }
        let Some((_, least, most)) = COMMANDS.iter().find(|(known, _, _)| *known == code) else {
            return violations.record(format!("{name}: unknown command {code:02X}"));
        };
        let count = active.parameters.len();
        if !(*least..=*most).contains(&count) {
            violations.record(format!("{name}: {count} parameters for command {code:02X}"));
        }
    }

    fn command(&mut self, code: u8, now: Duration, violations: &mut Violations) {
        self.finish(violations);
        let name = &self.name;
        if now < self.busy_until {
            violations.record(format!("{name}: command {code:02X} while it is busy"));
            return;
        }
        if now < self.ready_at {
            violations.record(format!("{name}: command {code:02X} too soon after a reset"));
        }
        match code {
            command::SOFTWARE_RESET => {
                self.registers = Registers::DEFAULT;
                self.busy_until = now + RESET_BUSY;
                self.ready_at = now + NOT_READY;
            }
            command::ACTIVATE => self.activate(now, violations),
            _ => {}
        }
        self.active = Some(ActiveCommand {
            command: code,
            parameters: Vec::new(),
            stored: 0,
        });
    }

    fn parameter(&mut self, byte: u8, violations: &mut Violations) {
        let Some(mut active) = self.active.take() else {
            return violations.record(format!("{}: data without a command", self.name));
        };
        match active.command {
            command::WRITE_NEW | command::WRITE_OLD => {
                let bank = match active.command {
                    command::WRITE_NEW => &mut self.new,
                    _ => &mut self.old,
                };
                bank.store(self.registers.counter, byte);
                self.registers.advance_counter();
                active.stored += 1;
            }
            code => {
                active.parameters.push(byte);
                self.set(code, &active.parameters, violations);
            }
        }
        self.active = Some(active);
    }

    /// Sets a register once its parameters are complete.
    fn set(&mut self, code: u8, parameters: &[u8], violations: &mut Violations) {
        let registers = &mut self.registers;
        match (code, parameters) {
            (command::DRIVER_OUTPUT, [low, high, _]) => {
                registers.lines = u16::from_le_bytes([*low, *high]) + 1;
            }
            (command::ENTRY_MODE, [mode]) => {
                registers.entry = *mode;
                if *mode & !0b11 != 0 {
                    violations.record(format!("{}: entry mode {mode:02X}", self.name));
                }
            }
            (command::TEMPERATURE, [_]) => registers.has_temperature = true,
            (command::UPDATE_CONTROL, [_, sources]) => registers.is_shifted = sources & 0x80 != 0,
            (command::UPDATE_SEQUENCE, [sequence]) => {
                registers.sequence = Some(*sequence);
                if !SEQUENCES.contains(sequence) {
                    violations.record(format!("{}: update sequence {sequence:02X}", self.name));
                }
            }
            (command::WINDOW_X, [first, last]) => registers.window_x = (*first, *last),
            (command::WINDOW_Y, [first, first_high, last, last_high]) => {
                registers.window_y = (
                    u16::from_le_bytes([*first, *first_high]),
                    u16::from_le_bytes([*last, *last_high]),
                );
            }
            (command::COUNTER_X, [x]) => registers.counter.0 = *x,
            (command::COUNTER_Y, [low, high]) => {
                registers.counter.1 = u16::from_le_bytes([*low, *high]);
            }
            (0x10, [_]) => self.is_asleep = true,
            _ => {}
        }
        let (x, y) = (self.registers.window_x.1, self.registers.window_y.1);
        if x >= ROW_BYTES || y >= LINES_MAX {
            violations.record(format!("{}: window up to {x}, {y}", self.name));
        }
    }

    /// Returns whether it ignores everything.
    fn is_unresponsive(&self) -> bool {
        !self.has_supply
            || matches!(
                self.condition,
                PanelCondition::StuckBusy | PanelCondition::Absent
            )
    }
}
