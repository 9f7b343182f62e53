//! The LED strip.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use super::Rgb;
use crate::settings::Settings;

/// The LED strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strip {
    resting: Vec<Rgb>,
}

impl Strip {
    /// A dark strip.
    pub fn new(leds: usize) -> Strip {
        Strip {
            resting: vec![Rgb::BLACK; leds],
        }
    }

    /// Colours between effects, leftmost first, before brightness.
    pub fn resting(&self) -> &[Rgb] {
        &self.resting
    }

    /// Sets the colours between effects; an empty list is all off.
    pub fn rest(&mut self, pixels: Vec<Rgb>) {
        for (index, resting) in self.resting.iter_mut().enumerate() {
            *resting = pixels.get(index).copied().unwrap_or(Rgb::BLACK);
        }
    }

    /// Does what is due by this uptime.
    pub fn advance(&mut self, _uptime: Duration) {}

    /// Uptime of the next change.
    pub fn next_deadline(&self) -> Option<Duration> {
        None
    }

    /// Colours to show, brightness applied.
    pub fn pixels(&self, settings: &Settings) -> Vec<Rgb> {
        if settings.disable_leds {
            return vec![Rgb::BLACK; self.resting.len()];
        }
        self.resting
            .iter()
            .map(|color| color.dimmed(settings.led_brightness))
            .collect()
    }
}
