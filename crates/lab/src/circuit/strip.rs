//! A strip of WS2812: takes pulses apart into colours, and knows which pulses it would not understand.

use device::lights::Rgb;

use super::violations::Violations;
use board::parts::ws2812::{ColourOrder, LedChannels};
use board::wiring::StripWiring;

/// Longest pulse that is a zero, ns.
const ZERO_MAX: u64 = 500;

/// Shortest pulse that is a one, ns.
const ONE_MIN: u64 = 550;

/// Longest pulse, ns.
const PULSE_MAX: u64 = 5_000;

/// Shortest time from one bit to the next, ns.
const BIT_MIN: u64 = 1_063;

/// Rest after which the colours are shown, ns.
const REST_MIN: u64 = 300_000;

/// A simulated LED strip.
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

    /// Colours that it shows, in the order of its chain.
    pub(super) fn colours(&self) -> &[Rgb] {
        &self.colours
    }

    /// Takes what is put on the bus in one write.
    pub(super) fn take(&mut self, bytes: &[u8], violations: &mut Violations) {
        let bit_ns = 1_000_000_000 / u64::from(self.wiring.hz);
        let mut bits = Vec::new();
        let (mut high, mut low) = (0u64, REST_MIN);
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
            if !bits.is_empty() && low >= REST_MIN {
                violations.note("strip: a rest in the middle of the colours".into());
            }
            match high {
                ..=ZERO_MAX => bits.push(false),
                ONE_MIN..=PULSE_MAX => bits.push(true),
                _ => violations.note(format!("strip: a pulse of {high} ns")),
            }
            let rest = levels.clone().take_while(|level| !level).count() as u64 * bit_ns;
            if rest < REST_MIN && high + rest < BIT_MIN {
                violations.note(format!("strip: a bit of {} ns", high + rest));
            }
            (high, low) = (0, 0);
        }
        if low < REST_MIN {
            violations.note(format!("strip: a rest of {low} ns"));
        }
        self.show(&bits, violations);
    }

    fn show(&mut self, bits: &[bool], violations: &mut Violations) {
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
            .collect();
        let channels = match self.wiring.kind.channels {
            LedChannels::Three => 3,
            LedChannels::Four => 4,
        };
        if !bits.len().is_multiple_of(8 * channels) {
            violations.note(format!("strip: {} bits are no colours", bits.len()));
            return;
        }
        for (shown, bytes) in self.colours.iter_mut().zip(bytes.chunks(channels)) {
            let (red, green) = match self.wiring.kind.order {
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
