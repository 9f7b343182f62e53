//! Refreshes: what a sequence does to the pixels, how long it takes, and which sequences are forbidden.

use std::time::Duration;

use board::parts::ssd1680::{PanelRotation, sequence::update};
use render::Bitmap;

use super::{
    super::violations::Violations,
    PanelCondition, Ssd1680Chip,
    memory::{Bank, ROW},
};

/// Time it is busy with a sequence without a refresh.
const SHORT: Duration = Duration::from_millis(5);

/// Bits of an update sequence.
mod phase {
    pub(super) const ANALOG_ON: u8 = 0x40;
    pub(super) const TEMPERATURE: u8 = 0x20;
    pub(super) const PARTIAL: u8 = 0x08;
    pub(super) const DISPLAY: u8 = 0x04;
    pub(super) const ANALOG_OFF: u8 = 0x02;
}

/// A refresh in progress.
#[derive(Debug)]
pub(super) struct RunningRefresh {
    pub(super) sequence: u8,
    pub(super) ends: Duration,
}

impl Ssd1680Chip {
    /// Returns whether a sequence runs.
    pub(in crate::circuit) fn is_updating(&self) -> bool {
        self.update.is_some()
    }

    /// Numbers of full and partial refreshes.
    pub(in crate::circuit) fn refreshes(&self) -> (u64, u64) {
        (self.full, self.partial)
    }

    /// Largest number of partial refreshes of a pixel since its last full one.
    pub(in crate::circuit) fn ghosts(&self) -> u32 {
        self.ghosts.iter().copied().max().unwrap_or_default()
    }

    /// The picture on the panel.
    pub(in crate::circuit) fn glass(&self) -> Bitmap {
        let (width, height) = (self.model.width, self.model.height);
        Bitmap::from_ink(width, height, |x, y| match self.rotation {
            PanelRotation::Upright => self.glass[self.pixel(x, y)],
            PanelRotation::UpsideDown => self.glass[self.pixel(width - 1 - x, height - 1 - y)],
        })
    }

    /// Starts the sequence.
    pub(super) fn activate(&mut self, now: Duration, violations: &mut Violations) {
        let name = &self.name;
        let Some(sequence) = self.registers.sequence else {
            return violations.record(format!("{name}: started without a sequence"));
        };
        if self.condition == PanelCondition::Silent {
            return;
        }
        let refreshes = sequence & phase::DISPLAY != 0;
        if refreshes && !self.has_power && sequence & phase::ANALOG_ON == 0 {
            violations.record(format!("{name}: refreshed without its supply"));
        }
        if sequence == update::FAST_FULL && !self.registers.has_temperature {
            violations.record(format!("{name}: waveform of an unknown temperature"));
        }
        if refreshes && self.registers.lines != self.model.height {
            violations.record(format!("{name}: refreshed {} lines", self.registers.lines));
        }
        if refreshes {
            self.check_banks(sequence & phase::PARTIAL != 0, violations);
        }
        let mut duration = self.duration(sequence);
        if self.condition == PanelCondition::Slow {
            duration *= 2;
        }
        self.busy_until = now + duration;
        self.update = Some(RunningRefresh {
            sequence,
            ends: now + duration,
        });
    }

    /// Checks the banks at the start of a refresh.
    fn check_banks(&self, is_partial: bool, violations: &mut Violations) {
        let name = &self.name;
        let visible = || {
            (0..self.model.height)
                .flat_map(|y| (0..self.model.width).map(move |x| (x, y)))
                .map(|(x, y)| (self.pixel(x, y), self.address(x, y)))
        };
        let unwritten = |bank: &Bank| visible().any(|(_, (at, _))| !bank.written[at]);
        if unwritten(&self.new) || is_partial && unwritten(&self.old) {
            violations.record(format!(
                "{name}: refreshed from a bank that was not written"
            ));
        }
        let is_stale = visible().any(|(pixel, at)| self.old.is_ink(at) != self.glass[pixel]);
        if is_partial && is_stale {
            violations.record(format!(
                "{name}: partial refresh while the old bank is not what is on the glass"
            ));
        }
    }

    fn duration(&self, sequence: u8) -> Duration {
        let times = &self.model.times;
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

    /// Handles the end of a sequence.
    pub(super) fn end(&mut self, sequence: u8) {
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

    fn pixel(&self, x: u16, y: u16) -> usize {
        usize::from(y) * usize::from(self.model.width) + usize::from(x)
    }

    /// Byte of a bank, and the bit in it, of a pixel of the panel.
    fn address(&self, x: u16, y: u16) -> (usize, u8) {
        let unshifted = if self.registers.is_shifted { 0 } else { 8 };
        let column = usize::from(x) + unshifted + 8 * usize::from(self.x_offset);
        (usize::from(y) * ROW + column / 8, 7 - (column % 8) as u8)
    }
}
