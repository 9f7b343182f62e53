//! An emulated SSD1680, or one of its larger siblings.

use std::time::Duration;

use board::parts::epaper::{
    ChipCount, LineEnd, Model, SSD1680_ROW, Setup, Ssd16xx, XUnit,
    sequence::ssd16xx::{command, update},
};

use super::{
    Controller, PanelCondition, PanelState, Report, parameters,
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
    (0x0C, 4, 5),
    (0x10, 1, 1),
    (0x11, 1, 1),
    (0x12, 0, 0),
    (0x18, 1, 1),
    (0x1A, 1, 2),
    (0x20, 0, 0),
    (0x21, 2, 2),
    (0x22, 1, 1),
    (0x2C, 1, 1),
    (0x32, 105, 233),
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

/// Columns that each of two controllers shows of the byte that both have.
const SHARED_COLUMNS: u16 = 4;

/// The registers, which a reset sets to their defaults.
#[derive(Debug, Clone)]
struct RegisterValues {
    lines: u16,
    is_shifted: bool,
    ignores_old: bool,
    is_coupled: bool,
    sequence: Option<u8>,
    has_temperature: bool,
}

/// The address registers, which a reset sets to their defaults. Columns are in bytes.
#[derive(Debug, Clone)]
struct Address {
    entry: u8,
    window_x: (u16, u16),
    window_y: (u16, u16),
    counter: (u16, u16),
}

/// The planes of a controller.
#[derive(Debug)]
struct Memory {
    address: Address,
    new: Plane,
    old: Plane,
}

#[derive(Debug)]
pub(super) struct Ssd16xxChip {
    model: &'static Model,
    family: &'static Ssd16xx,
    /// First byte of a row of the controller that is on the panel.
    x_offset: u8,
    registers: RegisterValues,
    /// Of each controller.
    memories: Vec<Memory>,
    has_power: bool,
    /// The sequence that runs.
    running: u8,
}

impl RegisterValues {
    fn of(family: &Ssd16xx) -> RegisterValues {
        RegisterValues {
            lines: family.lines,
            is_shifted: false,
            ignores_old: false,
            is_coupled: false,
            sequence: None,
            has_temperature: false,
        }
    }
}

impl Address {
    fn of(family: &Ssd16xx) -> Address {
        Address {
            entry: 0x03,
            window_x: (0, u16::from(family.row_bytes) - 1),
            window_y: (0, family.lines - 1),
            counter: (0, 0),
        }
    }

    /// Number of bytes in the window.
    fn window_bytes(&self) -> usize {
        let length = |(first, last): (u16, u16)| usize::from(first.abs_diff(last)) + 1;
        length(self.window_x) * length(self.window_y)
    }

    /// Advances the address counters from the start to the end of the window, first in bytes and then in lines.
    fn advance_counter(&mut self) {
        let step =
            |at: u16, is_up: bool| if is_up { at.wrapping_add(1) } else { at.wrapping_sub(1) };
        let (x, y) = self.counter;
        let (x_up, y_up) = (self.entry & 1 != 0, self.entry & 2 != 0);
        if x != self.window_x.1 {
            self.counter.0 = step(x, x_up);
            return;
        }
        let next = if y == self.window_y.1 { self.window_y.0 } else { step(y, y_up) };
        self.counter = (self.window_x.0, next);
    }
}

impl Ssd16xxChip {
    pub(super) fn new(
        family: &'static Ssd16xx,
        setup: &Setup,
        noise: &mut PowerOnNoise,
    ) -> Ssd16xxChip {
        let bytes = usize::from(family.row_bytes) * usize::from(family.lines);
        let count = match family.chips {
            ChipCount::One => 1,
            ChipCount::Two => 2,
        };
        let memory = |_| Memory {
            address: Address::of(family),
            new: Plane::new(bytes, noise),
            old: Plane::new(bytes, noise),
        };
        Ssd16xxChip {
            model: setup.model,
            family,
            x_offset: setup.x_offset,
            registers: RegisterValues::of(family),
            memories: (0..count).map(memory).collect(),
            has_power: false,
            running: 0,
        }
    }

    fn reset_registers(&mut self) {
        self.registers = RegisterValues::of(self.family);
        for memory in &mut self.memories {
            memory.address = Address::of(self.family);
        }
    }

    /// Which of the controllers receives a command, by its index, and the same command of the first controller.
    fn target(&self, code: u8) -> (u8, usize) {
        let first = code & !command::SECOND;
        let is_address = matches!(
            first,
            command::ENTRY_MODE
                | command::WINDOW_X
                | command::WINDOW_Y
                | command::COUNTER_X
                | command::COUNTER_Y
                | command::WRITE_NEW
                | command::WRITE_OLD
        );
        if is_address && code != first && self.memories.len() == 2 {
            (first, 1)
        } else {
            (code, 0)
        }
    }

    /// Column in bytes of parameters in the unit of the controller.
    fn column(&self, bytes: &[u8], report: &mut Report<'_>) -> u16 {
        match (self.family.x_unit, bytes) {
            (XUnit::Bytes, [byte]) => u16::from(*byte),
            (XUnit::Pixels, [low, high]) => {
                let pixel = u16::from_le_bytes([*low, *high]);
                if !matches!(pixel % 8, 0 | 7) {
                    report.record(format_args!("window at pixel {pixel}"));
                }
                pixel / 8
            }
            (XUnit::Bytes | XUnit::Pixels, _) => 0,
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
        let lines = match self.family.line_order {
            Some(_) => self.model.height,
            None => self.family.lines,
        };
        if refreshes && self.registers.lines != lines {
            report.record(format_args!("refreshed {} lines", self.registers.lines));
        }
        if refreshes && self.memories.len() == 2 && !self.registers.is_coupled {
            report.record("refreshed without the bit for two controllers");
        }
        if refreshes && sequence & phase::PARTIAL != 0 && self.registers.ignores_old {
            report.record("partial refresh that ignores the old plane");
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
            pixels.map(|(x, y)| (panel.pixel(x, y), self.place(x, y)))
        };
        let is_unwritten = |is_old: bool| {
            visible().any(|(_, (memory, (at, _)))| {
                let plane = if is_old { &memory.old } else { &memory.new };
                !plane.is_written(at)
            })
        };
        if is_unwritten(false) || is_partial && is_unwritten(true) {
            report.record("refreshed from a plane that was not written");
        }
        let is_stale =
            || visible().any(|(pixel, (memory, at))| memory.old.bit(at) == panel.glass[pixel]);
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

    /// The memory of a pixel of the panel, its byte of a plane, and the bit in it.
    fn place(&self, x: u16, y: u16) -> (&Memory, (usize, u8)) {
        let line = match self.family.begins {
            LineEnd::First => y,
            LineEnd::Last => self.model.height - 1 - y,
        };
        let row = u16::from(self.family.row_bytes);
        let half = 8 * row - SHARED_COLUMNS;
        let (memory, byte, bit) = if self.memories.len() == 2 && x >= half {
            // The second one is mounted the other way round, and shares its first byte with the first one.
            let x = x - 8 * (row - 1);
            (1, row - 1 - x / 8, x % 8)
        } else {
            let has_margin = self.family.row_bytes == SSD1680_ROW && !self.registers.is_shifted;
            let first = u16::from(self.x_offset) + u16::from(has_margin);
            (0, first + x / 8, x % 8)
        };
        let at = usize::from(line) * usize::from(row) + usize::from(byte);
        (&self.memories[memory], (at, 7 - bit as u8))
    }
}

impl Controller for Ssd16xxChip {
    fn parameters(&self, code: u8) -> Option<(usize, usize)> {
        let (code, _) = self.target(code);
        let factor = match (self.family.x_unit, code) {
            (XUnit::Pixels, command::WINDOW_X | command::COUNTER_X) => 2,
            (XUnit::Bytes | XUnit::Pixels, _) => 1,
        };
        parameters(COMMANDS, code).map(|(least, most)| (factor * least, factor * most))
    }

    fn plane_bytes(&self, code: u8) -> Option<usize> {
        let (code, memory) = self.target(code);
        matches!(code, command::WRITE_NEW | command::WRITE_OLD)
            .then(|| self.memories[memory].address.window_bytes())
    }

    fn reset(&mut self) {
        self.reset_registers();
        self.has_power = false;
    }

    fn lose_supply(&mut self) {
        for memory in &mut self.memories {
            memory.new.lose();
            memory.old.lose();
        }
    }

    fn command(&mut self, code: u8, panel: &mut PanelState, report: &mut Report<'_>) {
        match code {
            command::SOFTWARE_RESET => {
                self.reset_registers();
                panel.start_reset(report.now);
            }
            command::ACTIVATE => self.activate(panel, report),
            _ => {}
        }
    }

    fn store(&mut self, code: u8, _: usize, byte: u8) {
        let (code, memory) = self.target(code);
        let memory = &mut self.memories[memory];
        let plane = match code {
            command::WRITE_NEW => &mut memory.new,
            _ => &mut memory.old,
        };
        let (x, y) = memory.address.counter;
        let row = u16::from(self.family.row_bytes);
        if x < row {
            plane.store(usize::from(y) * usize::from(row) + usize::from(x), byte);
        }
        memory.address.advance_counter();
    }

    fn set(&mut self, code: u8, bytes: &[u8], panel: &mut PanelState, report: &mut Report<'_>) {
        let (code, memory) = self.target(code);
        if self
            .parameters(code)
            .is_none_or(|(least, _)| bytes.len() < least)
        {
            return;
        }
        let columns = match code {
            command::WINDOW_X => bytes.split_at(bytes.len() / 2),
            command::COUNTER_X => (bytes, bytes),
            _ => (&[][..], &[][..]),
        };
        let columns = (
            self.column(columns.0, report),
            self.column(columns.1, report),
        );
        let address = &mut self.memories[memory].address;
        let registers = &mut self.registers;
        match (code, bytes) {
            (command::DRIVER_OUTPUT, [low, high, _]) => {
                registers.lines = u16::from_le_bytes([*low, *high]) + 1;
            }
            (command::ENTRY_MODE, [mode]) => {
                address.entry = *mode;
                if *mode & !0b11 != 0 {
                    report.record(format_args!("entry mode {mode:02X}"));
                }
            }
            (command::TEMPERATURE, _) => registers.has_temperature = true,
            (command::UPDATE_CONTROL, [planes, sources]) => {
                registers.ignores_old = planes & 0x40 != 0;
                registers.is_shifted = sources & 0x80 != 0;
                registers.is_coupled = sources & 0x10 != 0;
            }
            (command::UPDATE_SEQUENCE, [sequence]) => {
                registers.sequence = Some(*sequence);
                if !SEQUENCES.contains(sequence) {
                    report.record(format_args!("update sequence {sequence:02X}"));
                }
            }
            (command::WINDOW_X, _) => address.window_x = columns,
            (command::WINDOW_Y, [first, first_high, last, last_high]) => {
                address.window_y = (
                    u16::from_le_bytes([*first, *first_high]),
                    u16::from_le_bytes([*last, *last_high]),
                );
            }
            (command::COUNTER_X, _) => address.counter.0 = columns.0,
            (command::COUNTER_Y, [low, high]) => {
                address.counter.1 = u16::from_le_bytes([*low, *high]);
            }
            (command::DEEP_SLEEP, [_]) => panel.is_asleep = true,
            _ => {}
        }
        let x = address.window_x.0.max(address.window_x.1);
        let y = address.window_y.0.max(address.window_y.1);
        if x >= u16::from(self.family.row_bytes) || y >= self.family.lines {
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
            let (pixel, (memory, at)) = (panel.pixel(x, y), self.place(x, y));
            let (old, new) = (!memory.old.bit(at), !memory.new.bit(at));
            panel.refresh_pixel(pixel, old, new, is_partial);
        }
        panel.count(is_partial);
        if is_partial && panel.condition == PanelCondition::PingPong {
            for memory in &mut self.memories {
                std::mem::swap(&mut memory.new, &mut memory.old);
            }
        }
    }
}
