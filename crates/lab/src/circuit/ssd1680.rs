//! An SSD1680 with its glass: two banks, registers, and pixels that move only as its maker says.

use std::time::Duration;

use render::Bitmap;

use super::violations::Violations;
use board::parts::ssd1680::{
    LINES_MAX, Model, PanelRotation, ROW_BYTES, Setup,
    sequence::{command, update},
};

/// The simulated fault of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelCondition {
    /// Nothing.
    #[default]
    Healthy,
    /// Its busy line stays up, and it hears nothing.
    StuckBusy,
    /// It is outside of the temperatures it has waveforms for: it does as if it refreshed, and does not.
    Silent,
    /// It is not connected.
    Absent,
    /// Its refreshes take twice as long.
    Slow,
    /// It changes its banks over after each partial refresh.
    PingPong,
}

/// Time it is busy with a reset.
const RESETTING: Duration = Duration::from_millis(1);

/// Time after a reset before which it must not be told anything.
const UNREADY: Duration = Duration::from_millis(10);

/// Time it is busy with a sequence that moves no ink.
const SHORT: Duration = Duration::from_millis(5);

const ROW: usize = ROW_BYTES as usize;
const LINES: usize = LINES_MAX as usize;

/// Values of the update sequence that are known to be right for some panel.
const SEQUENCES: &[u8] = &[
    0x80, 0x01, 0xC0, 0x03, 0x91, 0x99, 0xB1, 0xB9, 0xC7, 0xCF, 0xF7, 0xFF, 0xFC, 0x83, 0xE0, 0xF8,
    0xD7, 0xCC, 0x0F, 0xF4,
];

/// Bits of an update sequence.
mod phase {
    pub(super) const ANALOG_ON: u8 = 0x40;
    pub(super) const TEMPERATURE: u8 = 0x20;
    pub(super) const PARTIAL: u8 = 0x08;
    pub(super) const DISPLAY: u8 = 0x04;
    pub(super) const ANALOG_OFF: u8 = 0x02;
}

/// Commands and how many parameters they take, least and most.
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

/// One of the two memories of the controller.
#[derive(Debug)]
struct Bank {
    bytes: Vec<u8>,
    /// Bytes that were written since power-on.
    written: Vec<bool>,
}

/// What 0x12 and the reset line set.
#[derive(Debug, Clone)]
struct Registers {
    lines: u16,
    entry: u8,
    is_shifted: bool,
    sequence: Option<u8>,
    has_temperature: bool,
    window_x: (u8, u8),
    window_y: (u16, u16),
    counter: (u8, u16),
}

impl Registers {
    const DEFAULT: Registers = Registers {
        lines: LINES_MAX,
        entry: 0x03,
        is_shifted: false,
        sequence: None,
        has_temperature: false,
        window_x: (0, ROW_BYTES - 1),
        window_y: (0, LINES_MAX - 1),
        counter: (0, 0),
    };

    fn window_bytes(&self) -> usize {
        let width = usize::from(self.window_x.1.saturating_sub(self.window_x.0)) + 1;
        let height = usize::from(self.window_y.1.saturating_sub(self.window_y.0)) + 1;
        width * height
    }
}

/// The last command; the bytes that follow are its parameters.
#[derive(Debug)]
struct ActiveCommand {
    command: u8,
    parameters: Vec<u8>,
    /// Bytes that went to a bank.
    stored: usize,
}

/// A refresh in progress.
#[derive(Debug)]
struct RunningRefresh {
    sequence: u8,
    ends: Duration,
}

/// A simulated panel controller.
#[derive(Debug)]
pub(super) struct Ssd1680Chip {
    name: String,
    model: &'static Model,
    rotation: PanelRotation,
    /// First byte of the controller's rows that is wired to the glass.
    x_offset: u8,
    condition: PanelCondition,
    registers: Registers,
    new: Bank,
    old: Bank,
    /// Pixels that are ink, row by row, as the controller counts.
    glass: Vec<bool>,
    ghosts: Vec<u32>,
    begun: Option<ActiveCommand>,
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
        let mut bank = || Bank {
            bytes: (0..ROW * LINES).map(|_| noise.byte()).collect(),
            written: vec![false; ROW * LINES],
        };
        let (new, old) = (bank(), bank());
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
            begun: None,
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

    pub(super) fn is_updating(&self) -> bool {
        self.update.is_some()
    }

    pub(super) fn refreshes(&self) -> (u64, u64) {
        (self.full, self.partial)
    }

    pub(super) fn ghosts(&self) -> u32 {
        self.ghosts.iter().copied().max().unwrap_or_default()
    }

    /// What a viewer sees.
    pub(super) fn glass(&self) -> Bitmap {
        let (width, height) = (self.model.width, self.model.height);
        Bitmap::from_ink(width, height, |x, y| match self.rotation {
            PanelRotation::Upright => self.glass[self.pixel(x, y)],
            PanelRotation::UpsideDown => self.glass[self.pixel(width - 1 - x, height - 1 - y)],
        })
    }

    /// Level that it gives its busy line; none if it gives none.
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

    /// When its busy line falls, if it is up.
    pub(super) fn falls_at(&self, now: Duration) -> Option<Duration> {
        let falls =
            self.has_supply && self.condition != PanelCondition::StuckBusy && now < self.busy_until;
        falls.then_some(self.busy_until)
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, now: Duration) {
        if let Some(update) = self.update.take_if(|update| update.ends <= now) {
            self.end(update.sequence);
        }
    }

    /// Follows its reset line.
    pub(super) fn follow_reset(
        &mut self,
        is_low: bool,
        now: Duration,
        violations: &mut Violations,
    ) {
        if is_low == self.is_reset {
            return;
        }
        self.is_reset = is_low;
        if self.is_deaf() {
            return;
        }
        if is_low && self.update.take().is_some() {
            violations.note(format!("{}: reset in the middle of a refresh", self.name));
        }
        self.restart(now);
    }

    /// Follows its supply; without one it does nothing, and forgets everything but what is on its glass.
    pub(super) fn follow_supply(
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
            violations.note(format!(
                "{name}: lost its supply in the middle of a refresh"
            ));
        }
        self.new.written.fill(false);
        self.old.written.fill(false);
        self.restart(now);
    }

    fn restart(&mut self, now: Duration) {
        self.registers = Registers::DEFAULT;
        self.begun = None;
        self.is_asleep = false;
        self.has_power = false;
        self.busy_until = now + RESETTING;
        self.ready_at = now + UNREADY;
    }

    /// Takes a byte while it is selected.
    pub(super) fn take(
        &mut self,
        byte: u8,
        is_data: bool,
        now: Duration,
        violations: &mut Violations,
    ) {
        if self.is_deaf() {
            return;
        }
        if self.is_reset {
            return violations.note(format!("{}: told something while it is reset", self.name));
        }
        if self.is_asleep {
            return violations.note(format!("{}: told something in deep sleep", self.name));
        }
        match is_data {
            true => self.parameter(byte, violations),
            false => self.command(byte, now, violations),
        }
    }

    /// Tells what is missing of the last command, when nothing more can come.
    pub(super) fn finish(&mut self, violations: &mut Violations) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        let (name, code) = (&self.name, begun.command);
        if matches!(code, command::WRITE_NEW | command::WRITE_OLD) {
            let expected = self.registers.window_bytes();
            if begun.stored != expected {
                violations.note(format!(
                    "{name}: {} bytes for a window of {expected}",
                    begun.stored
                ));
            }
            return;
        }
        let Some((_, least, most)) = COMMANDS.iter().find(|(known, _, _)| *known == code) else {
            return violations.note(format!("{name}: unknown command {code:02X}"));
        };
        let count = begun.parameters.len();
        if !(*least..=*most).contains(&count) {
            violations.note(format!("{name}: {count} parameters for command {code:02X}"));
        }
    }

    fn command(&mut self, code: u8, now: Duration, violations: &mut Violations) {
        self.finish(violations);
        let name = &self.name;
        if now < self.busy_until {
            violations.note(format!("{name}: command {code:02X} while it is busy"));
            return;
        }
        if now < self.ready_at {
            violations.note(format!("{name}: command {code:02X} too soon after a reset"));
        }
        match code {
            command::SOFTWARE_RESET => {
                self.registers = Registers::DEFAULT;
                self.busy_until = now + RESETTING;
                self.ready_at = now + UNREADY;
            }
            command::ACTIVATE => self.activate(now, violations),
            _ => {}
        }
        self.begun = Some(ActiveCommand {
            command: code,
            parameters: Vec::new(),
            stored: 0,
        });
    }

    fn parameter(&mut self, byte: u8, violations: &mut Violations) {
        let Some(mut begun) = self.begun.take() else {
            return violations.note(format!("{}: data without a command", self.name));
        };
        match begun.command {
            command::WRITE_NEW | command::WRITE_OLD => {
                self.store(begun.command, byte);
                begun.stored += 1;
            }
            code => {
                begun.parameters.push(byte);
                self.set(code, &begun.parameters, violations);
            }
        }
        self.begun = Some(begun);
    }

    /// Sets a register whose parameters have all come.
    fn set(&mut self, code: u8, parameters: &[u8], violations: &mut Violations) {
        let registers = &mut self.registers;
        match (code, parameters) {
            (command::DRIVER_OUTPUT, [low, high, _]) => {
                registers.lines = u16::from_le_bytes([*low, *high]) + 1;
            }
            (command::ENTRY_MODE, [mode]) => {
                registers.entry = *mode;
                if *mode & !0b11 != 0 {
                    violations.note(format!("{}: entry mode {mode:02X}", self.name));
                }
            }
            (command::TEMPERATURE, [_]) => registers.has_temperature = true,
            (command::UPDATE_CONTROL, [_, sources]) => registers.is_shifted = sources & 0x80 != 0,
            (command::UPDATE_SEQUENCE, [sequence]) => {
                registers.sequence = Some(*sequence);
                if !SEQUENCES.contains(sequence) {
                    violations.note(format!("{}: update sequence {sequence:02X}", self.name));
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
            violations.note(format!("{}: window up to {x}, {y}", self.name));
        }
    }

    fn store(&mut self, code: u8, byte: u8) {
        let (x, y) = self.registers.counter;
        let at = usize::from(y) * ROW + usize::from(x);
        let bank = if code == command::WRITE_NEW {
            &mut self.new
        } else {
            &mut self.old
        };
        if let (Some(stored), Some(written)) = (bank.bytes.get_mut(at), bank.written.get_mut(at)) {
            *stored = byte;
            *written = true;
        }
        self.count_on();
    }

    /// Moves the address counters on, in bytes first and then in lines, within the window.
    fn count_on(&mut self) {
        let registers = &mut self.registers;
        let (x_up, y_up) = (registers.entry & 1 != 0, registers.entry & 2 != 0);
        let (x_first, x_last) = registers.window_x;
        let (y_first, y_last) = registers.window_y;
        let (x, y) = registers.counter;
        let row_end = if x_up { x_last } else { x_first };
        if x != row_end {
            registers.counter.0 = if x_up {
                x.wrapping_add(1)
            } else {
                x.wrapping_sub(1)
            };
            return;
        }
        let end = if y_up { y_last } else { y_first };
        let next = match (y == end, y_up) {
            (true, true) => y_first,
            (true, false) => y_last,
            (false, true) => y.wrapping_add(1),
            (false, false) => y.wrapping_sub(1),
        };
        registers.counter = (if x_up { x_first } else { x_last }, next);
    }

    fn activate(&mut self, now: Duration, violations: &mut Violations) {
        let name = &self.name;
        let Some(sequence) = self.registers.sequence else {
            return violations.note(format!("{name}: started without a sequence"));
        };
        if self.condition == PanelCondition::Silent {
            return;
        }
        let shows = sequence & phase::DISPLAY != 0;
        if shows && !self.has_power && sequence & phase::ANALOG_ON == 0 {
            violations.note(format!("{name}: refreshed without its supply"));
        }
        if sequence == update::FAST_FULL && !self.registers.has_temperature {
            violations.note(format!("{name}: waveform of an unknown temperature"));
        }
        if shows && self.registers.lines != self.model.height {
            violations.note(format!("{name}: refreshed {} lines", self.registers.lines));
        }
        if shows {
            self.judge(sequence & phase::PARTIAL != 0, violations);
        }
        let mut takes = self.duration(sequence);
        if self.condition == PanelCondition::Slow {
            takes *= 2;
        }
        self.busy_until = now + takes;
        self.update = Some(RunningRefresh {
            sequence,
            ends: now + takes,
        });
    }

    /// What must hold of the banks when a refresh is started.
    fn judge(&self, is_partial: bool, violations: &mut Violations) {
        let name = &self.name;
        let visible = || {
            (0..self.model.height)
                .flat_map(|y| (0..self.model.width).map(move |x| (x, y)))
                .map(|(x, y)| (self.pixel(x, y), self.address(x, y)))
        };
        let unwritten = |bank: &Bank| visible().any(|(_, (at, _))| !bank.written[at]);
        if unwritten(&self.new) || is_partial && unwritten(&self.old) {
            violations.note(format!(
                "{name}: refreshed from a bank that was not written"
            ));
        }
        let is_stale = visible().any(|(pixel, at)| self.old.is_ink(at) != self.glass[pixel]);
        if is_partial && is_stale {
            violations.note(format!(
                "{name}: partial refresh while the old bank is not what is on the glass"
            ));
        }
    }

    fn duration(&self, sequence: u8) -> Duration {
        let times = &self.model.times;
        let (on, off) = (times.power_on, times.power_off);
        let mut takes = SHORT;
        if sequence & phase::DISPLAY != 0 {
            takes = match (
                sequence & phase::PARTIAL != 0,
                sequence & phase::TEMPERATURE != 0,
                times.fast_full,
            ) {
                (true, _, _) => times.partial - on,
                (false, false, Some(fast)) => fast - on - off,
                (false, _, _) => times.full - on - off,
            };
        }
        if sequence & phase::ANALOG_ON != 0 && !self.has_power {
            takes += on;
        }
        if sequence & phase::ANALOG_OFF != 0 {
            takes += off;
        }
        takes
    }

    /// A sequence has run.
    fn end(&mut self, sequence: u8) {
        if sequence & phase::ANALOG_ON != 0 {
            self.has_power = true;
        }
        if sequence & phase::ANALOG_OFF != 0 {
            self.has_power = false;
        }
        if sequence & phase::DISPLAY == 0 {
            return;
        }
        let is_partial = sequence & phase::PARTIAL != 0;
        for y in 0..self.model.height {
            for x in 0..self.model.width {
                let (pixel, at) = (self.pixel(x, y), self.address(x, y));
                let ink = self.new.is_ink(at);
                if !is_partial {
                    self.glass[pixel] = ink;
                    self.ghosts[pixel] = 0;
                } else if self.old.is_ink(at) != ink {
                    self.glass[pixel] = ink;
                    self.ghosts[pixel] += 1;
                }
            }
        }
        if is_partial {
            self.partial += 1;
            if self.condition == PanelCondition::PingPong {
                std::mem::swap(&mut self.new, &mut self.old);
            }
        } else {
            self.full += 1;
        }
    }

    /// It hears nothing.
    fn is_deaf(&self) -> bool {
        !self.has_supply
            || matches!(
                self.condition,
                PanelCondition::StuckBusy | PanelCondition::Absent
            )
    }

    fn pixel(&self, x: u16, y: u16) -> usize {
        usize::from(y) * usize::from(self.model.width) + usize::from(x)
    }

    /// Byte of a bank and bit in it that a pixel of the glass is wired to.
    fn address(&self, x: u16, y: u16) -> (usize, u8) {
        let unshifted = if self.registers.is_shifted { 0 } else { 8 };
        let column = usize::from(x) + unshifted + 8 * usize::from(self.x_offset);
        (usize::from(y) * ROW + column / 8, 7 - (column % 8) as u8)
    }
}

impl Bank {
    fn is_ink(&self, (at, bit): (usize, u8)) -> bool {
        self.bytes[at] >> bit & 1 == 0
    }
}

/// Pseudorandom content of a memory bank after power-on.
struct PowerOnNoise(u32);

impl PowerOnNoise {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 11) as u8
    }
}
