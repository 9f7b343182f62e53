//! An emulated panel: its picture, its lines, and the commands of its controller. It reports commands that are forbidden.
//!
//! `ssd16xx`, `uc8179` and `colour` are the families of controllers, `plane` is a memory of one.

mod colour;
mod plane;
mod ssd16xx;
mod uc8179;

use std::{fmt, time::Duration};

use board::parts::{
    epaper::{Family, Model, PanelRotation, Setup},
    mcp23017::LineLevel,
};
use render::Bitmap;

use self::plane::PowerOnNoise;
use super::violations::Violations;

/// The simulated fault of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelCondition {
    /// No fault.
    #[default]
    Healthy,
    /// Its busy line stays busy, and it ignores everything.
    StuckBusy,
    /// It has no waveform for the temperature, so a refresh does nothing.
    Silent,
    /// It is not connected.
    Absent,
    /// It works, but its busy line is broken.
    BusyLost,
    /// Its refreshes take twice as long.
    Cold,
    /// Its refreshes take three times as long.
    Slow,
    /// The controller swaps its planes after each partial refresh.
    PingPong,
}

/// Time from a command to its busy signal.
const BUSY_DELAY: Duration = Duration::from_millis(5);

/// Duration of the busy signal of a reset.
const RESET_BUSY: Duration = Duration::from_millis(1);

/// Time after a reset during which commands are forbidden.
const NOT_READY: Duration = Duration::from_millis(10);

/// Partial refreshes without a full one that are too many, as a multiple of the maker's number.
const PARTIALS_FACTOR: u32 = 10;

/// Longest time that the supply may stay on without a refresh.
const POWERED_MAX: Duration = Duration::from_secs(1);

/// The commands and registers of a controller.
trait Controller: fmt::Debug + Send {
    /// Smallest and largest number of parameters of a command; `None` if there is no such command.
    fn parameters(&self, code: u8) -> Option<(usize, usize)>;

    /// Number of bytes that a command writes to a plane; `None` if it writes to none.
    fn plane_bytes(&self, code: u8) -> Option<usize>;

    /// Returns whether a command is allowed while it is busy.
    fn is_allowed_while_busy(&self, _code: u8) -> bool {
        false
    }

    /// Sets its registers to their defaults.
    fn reset(&mut self);

    /// The panel is unplugged or hangs.
    fn unplug(&mut self) {}

    /// Loses its planes.
    fn lose_supply(&mut self);

    /// Handles a command before its parameters.
    fn command(&mut self, code: u8, panel: &mut PanelState, report: &mut Report<'_>);

    /// Stores a byte in the plane of a command, the first of which has the index 0.
    fn store(&mut self, code: u8, index: usize, byte: u8);

    /// Handles a command with the parameters so far.
    fn set(&mut self, code: u8, bytes: &[u8], panel: &mut PanelState, report: &mut Report<'_>);

    /// Handles the end of what made it busy.
    fn end(&mut self, panel: &mut PanelState);

    /// Checks its state when time has passed.
    fn check(&self, _panel: &PanelState, _report: &mut Report<'_>) {}
}

/// Records violations of a panel at a moment.
struct Report<'v> {
    now: Duration,
    name: String,
    violations: &'v mut Violations,
}

impl Report<'_> {
    fn record(&mut self, what: impl fmt::Display) {
        self.violations.record(format!("{}: {what}", self.name));
    }
}

/// The last command; the bytes that follow are its parameters.
#[derive(Debug)]
struct ActiveCommand {
    code: u8,
    parameters: Vec<u8>,
    /// Number of bytes written to a plane.
    stored: usize,
}

/// What all panels have.
#[derive(Debug)]
struct PanelState {
    model: &'static Model,
    condition: PanelCondition,
    /// Pixels that are ink, row by row, in the order of the controller.
    glass: Vec<bool>,
    /// Number of partial refreshes of each pixel since its last full one.
    ghosts: Vec<u32>,
    /// Start and end of its busy signal.
    signal_from: Duration,
    busy_until: Duration,
    ready_at: Duration,
    /// It refreshes, or does something else that takes time.
    is_updating: bool,
    is_asleep: bool,
    full: u64,
    partial: u64,
    /// Partial refreshes since the last full one.
    in_a_row: u32,
}

/// A simulated panel.
#[derive(Debug)]
pub(super) struct PanelChip {
    name: String,
    rotation: PanelRotation,
    state: PanelState,
    controller: Box<dyn Controller>,
    active: Option<ActiveCommand>,
    has_supply: bool,
    is_reset: bool,
}

impl PanelState {
    /// Checks a supply that is on.
    fn check_supply(&self, report: &mut Report<'_>) {
        if !self.is_updating && report.now > self.busy_until + POWERED_MAX {
            report.record("its supply stayed on");
        }
    }

    /// Shows a pixel, if a refresh of this kind changes it.
    fn refresh_pixel(&mut self, pixel: usize, old: bool, new: bool, is_partial: bool) {
        if !is_partial {
            self.glass[pixel] = new;
            self.ghosts[pixel] = 0;
        } else if old != new {
            self.glass[pixel] = new;
            self.ghosts[pixel] += 1;
        }
    }

    fn count(&mut self, is_partial: bool) {
        if is_partial {
            self.partial += 1;
            self.in_a_row += 1;
        } else {
            self.full += 1;
            self.in_a_row = 0;
        }
    }

    /// Becomes busy.
    fn start(&mut self, now: Duration, duration: Duration) {
        let factor = match self.condition {
            PanelCondition::Cold => 2,
            PanelCondition::Slow => 3,
            PanelCondition::Healthy
            | PanelCondition::StuckBusy
            | PanelCondition::Silent
            | PanelCondition::Absent
            | PanelCondition::BusyLost
            | PanelCondition::PingPong => 1,
        };
        self.signal_from = now + BUSY_DELAY;
        self.busy_until = now + factor * duration;
        self.is_updating = true;
    }

    /// Is busy with a reset.
    fn start_reset(&mut self, now: Duration) {
        self.signal_from = now;
        self.busy_until = now + RESET_BUSY;
        self.ready_at = now + NOT_READY;
        self.is_updating = false;
        self.is_asleep = false;
    }

    fn pixels(&self) -> impl Iterator<Item = (u16, u16)> + use<> {
        let (width, height) = (self.model.width, self.model.height);
        (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }

    fn pixel(&self, x: u16, y: u16) -> usize {
        usize::from(y) * usize::from(self.model.width) + usize::from(x)
    }
}

impl PanelChip {
    pub(super) fn new(index: usize, setup: &Setup) -> PanelChip {
        let mut noise = PowerOnNoise(0x9E37_79B9 ^ (index as u32 + 1));
        let model = setup.model;
        let pixels = usize::from(model.width) * usize::from(model.height);
        let controller: Box<dyn Controller> = match &model.family {
            Family::Ssd16xx(family) => {
                Box::new(ssd16xx::Ssd16xxChip::new(family, setup, &mut noise))
            }
            Family::Uc8179(_) => Box::new(uc8179::Uc8179Chip::new(model, &mut noise)),
            Family::Colour(_) => Box::new(colour::ColourChip::new(model, &mut noise)),
        };
        PanelChip {
            name: format!("panel {}", index + 1),
            rotation: setup.rotation,
            state: PanelState {
                model,
                condition: PanelCondition::Healthy,
                glass: (0..pixels).map(|_| noise.byte() & 1 == 0).collect(),
                ghosts: vec![0; pixels],
                signal_from: Duration::ZERO,
                busy_until: Duration::ZERO,
                ready_at: Duration::ZERO,
                is_updating: false,
                is_asleep: false,
                full: 0,
                partial: 0,
                in_a_row: 0,
            },
            controller,
            active: None,
            has_supply: true,
            is_reset: false,
        }
    }

    pub(super) fn condition(&self) -> PanelCondition {
        self.state.condition
    }

    pub(super) fn set_condition(&mut self, condition: PanelCondition) {
        self.state.condition = condition;
        // An unplugged panel must not refresh when it is plugged in again.
        if condition == PanelCondition::Absent && self.state.is_updating {
            self.state.is_updating = false;
            self.state.busy_until = Duration::ZERO;
            self.controller.end(&mut self.state);
        }
        if self.is_unresponsive() {
            self.controller.unplug();
        }
    }

    /// Level of its busy line; `None` if it does not drive it.
    pub(super) fn busy(&self, now: Duration) -> Option<LineLevel> {
        let is_busy = match self.state.condition {
            _ if !self.has_supply => return None,
            PanelCondition::Absent | PanelCondition::BusyLost => return None,
            PanelCondition::StuckBusy => true,
            PanelCondition::Healthy
            | PanelCondition::Silent
            | PanelCondition::Cold
            | PanelCondition::Slow
            | PanelCondition::PingPong => {
                let signal = self.state.signal_from..self.state.busy_until;
                self.state.is_asleep || signal.contains(&now)
            }
        };
        Some(match (self.state.model.busy(), is_busy) {
            (LineLevel::High, true) | (LineLevel::Low, false) => LineLevel::High,
            (LineLevel::High, false) | (LineLevel::Low, true) => LineLevel::Low,
        })
    }

    /// When its busy signal ends, if it is busy.
    pub(super) fn falls_at(&self, now: Duration) -> Option<Duration> {
        let falls = self.has_supply
            && self.state.condition != PanelCondition::StuckBusy
            && now < self.state.busy_until;
        falls.then_some(self.state.busy_until)
    }

    pub(super) fn advance(&mut self, now: Duration, violations: &mut Violations) {
        if self.state.is_updating && self.state.busy_until <= now {
            self.state.is_updating = false;
            self.controller.end(&mut self.state);
        }
        if !self.is_unresponsive() {
            let mut report = report(&self.name, now, violations);
            self.controller.check(&self.state, &mut report);
            let care = self.state.model.care;
            if self.state.in_a_row > PARTIALS_FACTOR * care.partials_max {
                report.record("too many partial refreshes in a row");
            }
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
        if is_low && self.state.is_updating {
            report(&self.name, now, violations).record("reset in the middle of a refresh");
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
        if self.state.is_updating {
            report(&self.name, now, violations)
                .record("lost its supply in the middle of a refresh");
        }
        self.controller.lose_supply();
        self.restart(now);
    }

    fn restart(&mut self, now: Duration) {
        self.controller.reset();
        self.active = None;
        self.state.start_reset(now);
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
        let mut report = report(&self.name, now, violations);
        if self.is_reset {
            return report.record("data during a reset");
        }
        if self.state.is_asleep {
            return report.record("data in deep sleep");
        }
        if is_data {
            let Some(active) = &mut self.active else {
                return report.record("data without a command");
            };
            if self.controller.plane_bytes(active.code).is_some() {
                self.controller.store(active.code, active.stored, byte);
                active.stored += 1;
            } else {
                active.parameters.push(byte);
                self.controller.set(
                    active.code,
                    &active.parameters,
                    &mut self.state,
                    &mut report,
                );
            }
        } else {
            self.command(byte, now, violations)
        }
    }

    /// Checks the number of parameters of the last command, once it is complete.
    fn finish(&mut self, report: &mut Report<'_>) {
        let Some(active) = self.active.take() else {
            return;
        };
        let code = active.code;
        if let Some(expected) = self.controller.plane_bytes(code) {
            if active.stored != expected {
                report.record(format_args!(
                    "{} bytes for a window of {expected}",
                    active.stored
                ));
            }
            return;
        }
        let Some((least, most)) = self.controller.parameters(code) else {
            return report.record(format_args!("unknown command {code:02X}"));
        };
        let count = active.parameters.len();
        if !(least..=most).contains(&count) {
            report.record(format_args!("{count} parameters for command {code:02X}"));
        }
    }

    fn command(&mut self, code: u8, now: Duration, violations: &mut Violations) {
        let name = self.name.clone();
        let mut report = report(&name, now, violations);
        self.finish(&mut report);
        if now < self.state.busy_until && !self.controller.is_allowed_while_busy(code) {
            return report.record(format_args!("command {code:02X} while it is busy"));
        }
        if now < self.state.ready_at {
            report.record(format_args!("command {code:02X} too soon after a reset"));
        }
        self.controller.command(code, &mut self.state, &mut report);
        self.active = Some(ActiveCommand {
            code,
            parameters: Vec::new(),
            stored: 0,
        });
    }

    /// Returns whether it ignores everything.
    fn is_unresponsive(&self) -> bool {
        !self.has_supply
            || matches!(
                self.state.condition,
                PanelCondition::StuckBusy | PanelCondition::Absent
            )
    }

    /// Returns whether it refreshes, or does something else that takes time.
    pub(super) fn is_updating(&self) -> bool {
        self.state.is_updating
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.state.is_asleep
    }

    /// Numbers of full and partial refreshes.
    pub(super) fn refreshes(&self) -> (u64, u64) {
        (self.state.full, self.state.partial)
    }

    /// Largest number of partial refreshes of a pixel since its last full one.
    pub(super) fn ghosts(&self) -> u32 {
        self.state.ghosts.iter().copied().max().unwrap_or_default()
    }

    /// The picture on the panel, as it is seen.
    pub(super) fn glass(&self) -> Bitmap {
        let state = &self.state;
        let (right, bottom) = (state.model.width - 1, state.model.height - 1);
        let (width, height) = self.rotation.size(state.model);
        Bitmap::from_ink(width, height, |x, y| {
            let (x, y) = match self.rotation {
                PanelRotation::Upright => (x, y),
                PanelRotation::Right => (right - y, x),
                PanelRotation::UpsideDown => (right - x, bottom - y),
                PanelRotation::Left => (y, bottom - x),
            };
            state.glass[state.pixel(x, y)]
        })
    }
}

/// Smallest and largest number of parameters of a command in a table.
fn parameters(commands: &[(u8, usize, usize)], code: u8) -> Option<(usize, usize)> {
    let mut commands = commands.iter();
    let (_, least, most) = commands.find(|(known, _, _)| *known == code)?;
    Some((*least, *most))
}

fn report<'v>(name: &str, now: Duration, violations: &'v mut Violations) -> Report<'v> {
    Report {
        now,
        name: name.to_owned(),
        violations,
    }
}
