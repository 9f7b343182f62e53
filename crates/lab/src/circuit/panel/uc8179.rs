//! An emulated UC8179.

use std::time::Duration;

use board::parts::epaper::{
    Model,
    sequence::uc8179::{DEEP_SLEEP_CHECK, command, waveform},
};

use super::{
    Controller, PanelCondition, PanelState, Report, parameters,
    plane::{Plane, PowerOnNoise},
};

/// The command that asks for the state, which is allowed while it is busy.
const STATE: u8 = 0x71;

const COMMANDS: &[(u8, usize, usize)] = &[
    (command::PANEL, 1, 2),
    (0x01, 3, 5),
    (command::POWER_OFF, 0, 0),
    (0x03, 1, 1),
    (command::POWER_ON, 0, 0),
    (0x06, 3, 4),
    (command::DEEP_SLEEP, 1, 1),
    (0x11, 0, 0),
    (command::REFRESH, 0, 0),
    (0x15, 1, 1),
    (0x20, 42, 60),
    (0x21, 42, 60),
    (0x22, 42, 60),
    (0x23, 42, 60),
    (0x24, 42, 60),
    (0x25, 42, 60),
    (0x2A, 2, 2),
    (0x30, 1, 1),
    (command::SENSOR, 1, 1),
    (command::DATA_INTERVAL, 1, 2),
    (0x52, 1, 1),
    (0x60, 1, 1),
    (command::SIZE, 4, 4),
    (0x65, 4, 4),
    (STATE, 0, 0),
    (0x82, 1, 1),
    (command::WINDOW, 9, 9),
    (command::PARTIAL_IN, 0, 0),
    (command::PARTIAL_OUT, 0, 0),
    (command::CASCADE, 1, 1),
    (0xE3, 1, 1),
    (command::TEMPERATURE, 1, 1),
];

/// Inclusive bounds in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    x: (u16, u16),
    y: (u16, u16),
}

/// The registers, which a reset sets to their defaults.
#[derive(Debug, Clone)]
struct RegisterValues {
    panel: u8,
    interval: u8,
    size: (u16, u16),
    is_temperature_fixed: bool,
    temperature: u8,
    window: Window,
    is_partial_mode: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    PowerOn,
    PowerOff,
    Refresh { is_partial: bool },
}

#[derive(Debug)]
pub(super) struct Uc8179Chip {
    model: &'static Model,
    registers: RegisterValues,
    new: Plane,
    old: Plane,
    has_power: bool,
    running: Option<Activity>,
}

impl RegisterValues {
    fn of(model: &Model) -> RegisterValues {
        RegisterValues {
            panel: 0x0F,
            interval: 0x31,
            size: (model.width, model.height),
            is_temperature_fixed: false,
            temperature: 0,
            window: whole(model),
            is_partial_mode: false,
        }
    }

    /// Returns whether a bit is ink.
    fn is_ink(&self, bit: bool) -> bool {
        bit != (self.interval & 1 != 0)
    }
}

fn whole(model: &Model) -> Window {
    Window {
        x: (0, model.width - 1),
        y: (0, model.height - 1),
    }
}

impl Uc8179Chip {
    pub(super) fn new(model: &'static Model, noise: &mut PowerOnNoise) -> Uc8179Chip {
        let bytes = usize::from(model.width / 8) * usize::from(model.height);
        Uc8179Chip {
            model,
            registers: RegisterValues::of(model),
            new: Plane::new(bytes, noise),
            old: Plane::new(bytes, noise),
            has_power: false,
            running: None,
        }
    }

    /// The part of the panel that is written and refreshed.
    fn window(&self) -> Window {
        if self.registers.is_partial_mode {
            self.registers.window
        } else {
            whole(self.model)
        }
    }

    /// The pixels in the window, each with its place in a plane.
    fn visible(&self) -> impl Iterator<Item = (u16, u16, (usize, u8))> + use<> {
        let Window { x, y } = self.window();
        let row = usize::from(self.model.width / 8);
        (y.0..=y.1).flat_map(move |y| {
            (x.0..=x.1).map(move |x| {
                let at = usize::from(y) * row + usize::from(x / 8);
                (x, y, (at, 7 - (x % 8) as u8))
            })
        })
    }

    fn run(
        &mut self,
        activity: Activity,
        time: Duration,
        panel: &mut PanelState,
        report: &Report<'_>,
    ) {
        self.running = Some(activity);
        panel.start(report.now, time);
    }

    fn refresh(&mut self, panel: &mut PanelState, report: &mut Report<'_>) {
        let times = &self.model.times;
        let (on, off) = (times.power_on, times.power_off);
        let full = times.full - on - off;
        let registers = &self.registers;
        let (is_partial, time) = match (registers.is_temperature_fixed, registers.temperature) {
            (false, _) => (false, full),
            (true, waveform::PARTIAL) => (true, times.partial - on),
            (true, waveform::FAST_FULL) => (false, times.fast_full.unwrap_or(full) - on - off),
            (true, other) => {
                report.record(format_args!("waveform of the temperature {other:02X}"));
                (false, full)
            }
        };
        if !self.has_power {
            report.record("refreshed without its supply");
        }
        if registers.panel & 0x30 != 0x10 {
            report.record(format_args!("refreshed in mode {:02X}", registers.panel));
        }
        if registers.size != (self.model.width, self.model.height) {
            let (width, height) = registers.size;
            report.record(format_args!("refreshed {width} x {height} pixels"));
        }
        self.check_planes(is_partial, panel, report);
        if panel.condition != PanelCondition::Silent {
            self.run(Activity::Refresh { is_partial }, time, panel, report);
        }
    }

    fn check_planes(&self, is_partial: bool, panel: &PanelState, report: &mut Report<'_>) {
        let unwritten = |plane: &Plane| self.visible().any(|(_, _, (at, _))| !plane.is_written(at));
        if unwritten(&self.new) || unwritten(&self.old) {
            report.record("refreshed from a plane that was not written");
        }
        if !is_partial {
            return;
        }
        let is_shown =
            |(x, y, at)| self.registers.is_ink(self.old.bit(at)) == panel.glass[panel.pixel(x, y)];
        if !self.visible().any(is_shown) {
            report.record("partial refresh with planes of the other polarity");
        } else if !self.visible().all(is_shown) {
            report.record("partial refresh while the old plane is not what is on the glass");
        }
    }
}

impl Controller for Uc8179Chip {
    fn parameters(&self, code: u8) -> Option<(usize, usize)> {
        parameters(COMMANDS, code)
    }

    fn plane_bytes(&self, code: u8) -> Option<usize> {
        let Window { x, y } = self.window();
        let row = usize::from((x.1 + 1).saturating_sub(x.0).div_ceil(8));
        let bytes = row * usize::from((y.1 + 1).saturating_sub(y.0));
        matches!(code, command::WRITE_NEW | command::WRITE_OLD).then_some(bytes)
    }

    fn is_allowed_while_busy(&self, code: u8) -> bool {
        code == STATE
    }

    fn reset(&mut self) {
        self.registers = RegisterValues::of(self.model);
        self.has_power = false;
        self.running = None;
    }

    fn unplug(&mut self) {
        self.has_power = false;
    }

    fn lose_supply(&mut self) {
        self.new.lose();
        self.old.lose();
    }

    fn command(&mut self, code: u8, panel: &mut PanelState, report: &mut Report<'_>) {
        let times = &self.model.times;
        match code {
            command::POWER_ON => self.run(Activity::PowerOn, times.power_on, panel, report),
            command::POWER_OFF => self.run(Activity::PowerOff, times.power_off, panel, report),
            command::REFRESH => self.refresh(panel, report),
            command::PARTIAL_IN => self.registers.is_partial_mode = true,
            command::PARTIAL_OUT => self.registers.is_partial_mode = false,
            _ => {}
        }
    }

    fn store(&mut self, code: u8, index: usize, byte: u8) {
        let Window { x, y } = self.window();
        let row = usize::from((x.1 + 1).saturating_sub(x.0).div_ceil(8)).max(1);
        let line = usize::from(y.0) + index / row;
        let at = line * usize::from(self.model.width / 8) + usize::from(x.0 / 8) + index % row;
        match code {
            command::WRITE_NEW => self.new.store(at, byte),
            _ => self.old.store(at, byte),
        }
    }

    fn set(&mut self, code: u8, bytes: &[u8], panel: &mut PanelState, report: &mut Report<'_>) {
        let registers = &mut self.registers;
        match (code, bytes) {
            (command::PANEL, [mode]) if mode & 1 == 0 => {
                self.reset();
                panel.start_reset(report.now);
            }
            (command::PANEL, [mode]) => registers.panel = *mode,
            (command::DATA_INTERVAL, [interval]) => registers.interval = *interval,
            (command::SIZE, [x_high, x_low, y_high, y_low]) => {
                registers.size = (
                    u16::from_be_bytes([*x_high, *x_low]),
                    u16::from_be_bytes([*y_high, *y_low]),
                );
            }
            (command::CASCADE, [flags]) => registers.is_temperature_fixed = flags & 2 != 0,
            (command::TEMPERATURE, [degrees]) => registers.temperature = *degrees,
            (command::WINDOW, [x0, x1, x2, x3, y0, y1, y2, y3, _]) => {
                let pair = |high: &u8, low: &u8| u16::from_be_bytes([*high, *low]);
                let window = Window {
                    x: (pair(x0, x1), pair(x2, x3)),
                    y: (pair(y0, y1), pair(y2, y3)),
                };
                let is_whole_bytes = window.x.0.is_multiple_of(8) && window.x.1 % 8 == 7;
                let is_inside = window.x.1 < self.model.width && window.y.1 < self.model.height;
                let is_forward = window.x.0 <= window.x.1 && window.y.0 <= window.y.1;
                if is_whole_bytes && is_inside && is_forward {
                    registers.window = window;
                } else {
                    report.record(format_args!("window {:?}, {:?}", window.x, window.y));
                }
            }
            (command::DEEP_SLEEP, [DEEP_SLEEP_CHECK]) => {
                if self.has_power {
                    report.record("deep sleep with its supply on");
                }
                panel.is_asleep = true;
            }
            (command::DEEP_SLEEP, _) => report.record("deep sleep without its check byte"),
            _ => {}
        }
    }

    fn end(&mut self, panel: &mut PanelState) {
        match self.running.take() {
            None => {}
            Some(Activity::PowerOn) => self.has_power = true,
            Some(Activity::PowerOff) => self.has_power = false,
            Some(Activity::Refresh { is_partial }) => {
                let copies = self.registers.interval & 8 != 0;
                for (x, y, at) in self.visible() {
                    let old = self.registers.is_ink(self.old.bit(at));
                    let new = self.registers.is_ink(self.new.bit(at));
                    panel.refresh_pixel(panel.pixel(x, y), old, new, is_partial);
                    // After the last pixel of a byte.
                    if copies && at.1 == 0 {
                        self.old.copy(at.0, &self.new);
                    }
                }
                panel.count(is_partial);
                if is_partial && panel.condition == PanelCondition::PingPong {
                    std::mem::swap(&mut self.new, &mut self.old);
                }
            }
        }
    }

    fn check(&self, panel: &PanelState, report: &mut Report<'_>) {
        if self.has_power {
            panel.check_supply(report);
        }
    }
}
