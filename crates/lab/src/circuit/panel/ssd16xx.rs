//! An emulated SSD1680, or one of its larger siblings.

use std::time::Duration;

use board::parts::epaper::{
    Setup, Ssd16xx,
    sequence::ssd16xx::{command, update},
};

use super::{
    Controller, PanelCondition, PanelState, Report,
    plane::{Plane, PowerOnNoise},
};

/// Time it is busy with a sequence without a refresh.
const SHORT: Duration = Duration::from_millis(5);

/// Known values of the update sequence.
const SEQUENCES: &[u8] = &[
    0x80, 0x01, 0xC0, 0x03, 0x91, 0x99, 0xB1, 0xB9, 0xC7, 0xCF, 0xF7, 0xFF, 0xFC, 0x83, 0xE0, 0xF8,
    0xD7, 0xCC, 0x0F, 0xF4,
];

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

/// Bits of an update sequence.
mod phase {
    pub(super) const ANALOG_ON: u8 = 0x40;
    pub(super) const TEMPERATURE: u8 = 0x20;
    pub(super) const PARTIAL: u8 = 0x08;
    pub(super) const DISPLAY: u8 = 0x04;
    pub(super) const ANALOG_OFF: u8 = 0x02;
}

/// The registers, which a reset sets to their defaults.
#[derive(Debug, Clone)]
struct State {
    lines: u16,
    entry: u8,
    is_shifted: bool,
    sequence: Option<u8>,
    has_temperature: bool,
    window_x: (u8, u8),
    window_y: (u16, u16),
    counter: (u8, u16),
}

#[derive(Debug)]
pub(super) struct Ssd16xxChip {
    family: &'static Ssd16xx,
    /// First byte of a row of the controller that is on the panel.
    x_offset: u8,
    registers: State,
    new: Plane,
    old: Plane,
    has_power: bool,
    /// The sequence that runs.
    running: u8,
}

impl State {
    fn of(family: &Ssd16xx) -> State {
        State {
            lines: family.lines,
            entry: 0x03,
            is_shifted: false,
            sequence: None,
            has_temperature: false,
            window_x: (0, family.row_bytes - 1),
            window_y: (0, family.lines - 1),
            counter: (0, 0),
        }
    }

    /// Number of bytes in the window.
    fn window_bytes(&self) -> usize {
        let width = usize::from(self.window_x.1.saturating_sub(self.window_x.0)) + 1;
        let height = usize::from(self.window_y.1.saturating_sub(self.window_y.0)) + 1;
        width * height
    }

    /// Advances the address counters within the window, first in bytes and then in lines.
    fn advance_counter(&mut self) {
        let (x_up, y_up) = (self.entry & 1 != 0, self.entry & 2 != 0);
        let (x_first, x_last) = self.window_x;
        let (y_first, y_last) = self.window_y;
        let (x, y) = self.counter;
        let row_end = if x_up { x_last } else { x_first };
        if x != row_end {
            self.counter.0 = if x_up { x.wrapping_add(1) } else { x.wrapping_sub(1) };
            return;
        }
        let end = if y_up { y_last } else { y_first };
        let next = match (y == end, y_up) {
            (true, true) => y_first,
            (true, false) => y_last,
            (false, true) => y.wrapping_add(1),
            (false, false) => y.wrapping_sub(1),
        };
        self.counter = (if x_up { x_first } else { x_last }, next);
    }
}

impl Ssd16xxChip {
    pub(super) fn new(
        family: &'static Ssd16xx,
        setup: &Setup,
        noise: &mut PowerOnNoise,
    ) -> Ssd16xxChip {
        let bytes = usize::from(family.row_bytes) * usize::from(family.lines);
        Ssd16xxChip {
            family,
            x_offset: setup.x_offset,
            registers: State::of(family),
            new: Plane::new(bytes, noise),
            old: Plane::new(bytes, noise),
            has_power: false,
            running: 0,
        }
    }

    /// Starts the sequence.
    fn activate(&mut self, panel: &mut PanelState, report: &mut Report<'_>) {
        let Some(sequence) = self.registers.sequence else {
            return report.record("started without a sequence");
        };
        if panel.condition == PanelCondition::Silent {
            return;
        }
        let refreshes = sequence & phase::DISPLAY != 0;
        if refreshes && !self.has_power && sequence & phase::ANALOG_ON == 0 {
            report.record("refreshed without its supply");
        }
        if sequence == update::FAST_FULL && !self.registers.has_temperature {
            report.record("waveform of an unknown temperature");
        }
        if refreshes && self.registers.lines != panel.model.height {
            report.record(format_args!("refreshed {} lines", self.registers.lines));
        }
        if refreshes {
            self.check_planes(sequence & phase::PARTIAL != 0, panel, report);
        }
        self.running = sequence;
        panel.start(report.now, self.duration(panel, sequence));
    }

    /// Checks the planes at the start of a refresh.
    fn check_planes(&self, is_partial: bool, panel: &PanelState, report: &mut Report<'_>) {
        let visible = || {
            let pixels = panel.pixels();
            pixels.map(|(x, y)| (panel.pixel(x, y), self.address(x, y)))
        };
        let unwritten = |plane: &Plane| visible().any(|(_, (at, _))| !plane.is_written(at));
        if unwritten(&self.new) || is_partial && unwritten(&self.old) {
            report.record("refreshed from a plane that was not written");
        }
        let is_stale = || visible().any(|(pixel, at)| self.old.bit(at) == panel.glass[pixel]);
        if is_partial && is_stale() {
            report.record("partial refresh while the old plane is not what is on the glass");
        }
    }

    fn duration(&self, panel: &PanelState, sequence: u8) -> Duration {
        let times = &panel.model.times;
        let (on, off) = (times.power_on, times.power_off);
        let mut duration = SHORT;
        if sequence & phase::DISPLAY != 0 {
            duration = match (
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
            duration += on;
        }
        if sequence & phase::ANALOG_OFF != 0 {
            duration += off;
        }
        duration
    }

    /// Byte of a plane, and the bit in it, of a pixel of the panel.
    fn address(&self, x: u16, y: u16) -> (usize, u8) {
        let unshifted = if self.registers.is_shifted { 0 } else { 8 };
        let column = usize::from(x) + unshifted + 8 * usize::from(self.x_offset);
        self.place(column, usize::from(y))
    }

    fn place(&self, column: usize, line: usize) -> (usize, u8) {
        let row = usize::from(self.family.row_bytes);
        (line * row + column / 8, 7 - (column % 8) as u8)
    }
}

impl Controller for Ssd16xxChip {
    fn commands(&self) -> &'static [(u8, usize, usize)] {
        COMMANDS
    }

    fn plane_bytes(&self, code: u8) -> Option<usize> {
        matches!(code, command::WRITE_NEW | command::WRITE_OLD)
            .then(|| self.registers.window_bytes())
    }

    fn reset(&mut self) {
        self.registers = State::of(self.family);
        self.has_power = false;
    }

    fn lose_supply(&mut self) {
        self.new.lose();
        self.old.lose();
    }

    fn command(&mut self, code: u8, panel: &mut PanelState, report: &mut Report<'_>) {
        match code {
            command::SOFTWARE_RESET => {
                self.registers = State::of(self.family);
                panel.start_reset(report.now);
            }
            command::ACTIVATE => self.activate(panel, report),
            _ => {}
        }
    }

    fn store(&mut self, code: u8, _: usize, byte: u8) {
        let plane = match code {
            command::WRITE_NEW => &mut self.new,
            _ => &mut self.old,
        };
        let (x, y) = self.registers.counter;
        if x < self.family.row_bytes {
            let at = usize::from(y) * usize::from(self.family.row_bytes) + usize::from(x);
            plane.store(at, byte);
        }
        self.registers.advance_counter();
    }

    fn set(&mut self, code: u8, bytes: &[u8], panel: &mut PanelState, report: &mut Report<'_>) {
        let registers = &mut self.registers;
        match (code, bytes) {
            (command::DRIVER_OUTPUT, [low, high, _]) => {
                registers.lines = u16::from_le_bytes([*low, *high]) + 1;
            }
            (command::ENTRY_MODE, [mode]) => {
                registers.entry = *mode;
                if *mode & !0b11 != 0 {
                    report.record(format_args!("entry mode {mode:02X}"));
                }
            }
            (command::TEMPERATURE, [_]) => registers.has_temperature = true,
            (command::UPDATE_CONTROL, [_, sources]) => registers.is_shifted = sources & 0x80 != 0,
            (command::UPDATE_SEQUENCE, [sequence]) => {
                registers.sequence = Some(*sequence);
                if !SEQUENCES.contains(sequence) {
                    report.record(format_args!("update sequence {sequence:02X}"));
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
            (command::DEEP_SLEEP, [_]) => panel.is_asleep = true,
            _ => {}
        }
        let (x, y) = (registers.window_x.1, registers.window_y.1);
        if x >= self.family.row_bytes || y >= self.family.lines {
            report.record(format_args!("window up to {x}, {y}"));
        }
    }

    fn end(&mut self, panel: &mut PanelState) {
        let sequence = self.running;
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
        for (x, y) in panel.pixels() {
            let (pixel, at) = (panel.pixel(x, y), self.address(x, y));
            let (old, new) = (!self.old.bit(at), !self.new.bit(at));
            panel.refresh_pixel(pixel, old, new, is_partial);
        }
        panel.count(is_partial);
        if is_partial && panel.condition == PanelCondition::PingPong {
            std::mem::swap(&mut self.new, &mut self.old);
        }
    }
}
