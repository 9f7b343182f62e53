//! An emulated strip of WS2812: decodes pulses to colours, and reports invalid pulses.

use device::lights::Rgb;

use super::violations::Violations;
use board::parts::ws2812::{ColourOrder, LedChannels};
use board::wiring::StripWiring;

/// Longest pulse of a zero, ns.
const ZERO_MAX: u64 = 500;

/// Shortest pulse of a one, ns.
const ONE_MIN: u64 = 550;

/// Longest pulse, ns.
const PULSE_MAX: u64 = 5_000;

/// Shortest period of a bit, ns.
const BIT_MIN: u64 = 1_063;

/// Shortest low time that ends the data, ns.
const RESET_MIN: u64 = 300_000;

#[derive(Debug)]
pub(super) struct SimLedStrip {
    wiring: StripWiring,
    colours: Vec<Rgb>,
}

impl SimLedStrip {
    pub(super) fn new(wiring: &StripWiring) -> SimLedStrip {
        SimLedStrip {
            colours: vec![Rgb::BLACK; wiring.count],
            wiring: wiring.clone(),
        }
    }

    pub(super) fn colours(&self) -> &[Rgb] {
        &self.colours
    }

    /// Receives the bytes of one write.
    pub(super) fn receive(&mut self, bytes: &[u8], violations: &mut Violations) {
        let bit_ns = 1_000_000_000 / u64::from(self.wiring.hz);
        let mut bits = Vec::new();
        let (mut high, mut low) = (0u64, RESET_MIN);
        let mut levels = bytes
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
            .peekable();
        while let Some(level) = levels.next() {
            if !level {
                low += bit_ns;
                continue;
            }
            high += bit_ns;
            if levels.peek() == Some(&true) {
                continue;
            }
            // A pulse has ended.
            if !bits.is_empty() && low >= RESET_MIN {
                violations.record("strip: a reset in the middle of the data".into());
            }
            match high {
                ..=ZERO_MAX => bits.push(false),
                ONE_MIN..=PULSE_MAX => bits.push(true),
                _ => violations.record(format!("strip: a pulse of {high} ns")),
            }
            let low_after = levels.clone().take_while(|level| !level).count() as u64 * bit_ns;
            if low_after < RESET_MIN && high + low_after < BIT_MIN {
                violations.record(format!("strip: a bit of {} ns", high + low_after));
            }
            (high, low) = (0, 0);
        }
        if low < RESET_MIN {
            violations.record(format!("strip: a reset of {low} ns"));
        }
        self.show(&bits, violations);
    }

    fn show(&mut self, bits: &[bool], violations: &mut Violations) {
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
            .collect();
        let channels = match self.wiring.channels {
            LedChannels::Three => 3,
            LedChannels::Four => 4,
        };
        if !bits.len().is_multiple_of(8 * channels) {
            violations.record(format!("strip: {} bits are no colours", bits.len()));
            return;
        }
        for (shown, bytes) in self.colours.iter_mut().zip(bytes.chunks(channels)) {
            let (red, green) = match self.wiring.order {
                ColourOrder::Grb => (bytes[1], bytes[0]),
                ColourOrder::Rgb => (bytes[0], bytes[1]),
            };
            *shown = Rgb {
                red,
                green,
                blue: bytes[2],
            };
        }
    }
}
