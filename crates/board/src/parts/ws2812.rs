//! WS2812 and SK6812, the LEDs of the strip, on an SPI bus of their own.
//!
//! Four bits on the bus are one bit for the LEDs: a short pulse is a zero, a long one a one.
//! The LEDs show every byte on the bus, so no other part may be on it.

use std::ops::RangeInclusive;

use device::lights::Rgb;
use embedded_hal::spi::SpiBus;
use serde::Deserialize;

/// Clock rate at which the pulses have their nominal lengths, Hz.
pub const HZ: u32 = 3_200_000;

/// Clock rates that the LEDs accept, Hz.
pub const HZ_RANGE: RangeInclusive<u32> = 2_400_000..=3_800_000;

/// Zero bytes before and after the colours. A low data line is the end of the data, and the idle line may be high.
const RESET_BYTES: usize = 140;

/// Order in which an LED expects its colour bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColourOrder {
    /// Green, red, blue.
    #[default]
    Grb,
    /// Red, green, blue.
    Rgb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "bool")]
pub enum LedChannels {
    /// Red, green and blue.
    #[default]
    Three,
    /// Red, green, blue and a white one, which stays off.
    Four,
}

impl From<bool> for LedChannels {
    fn from(has_white: bool) -> LedChannels {
        if has_white { LedChannels::Four } else { LedChannels::Three }
    }
}

/// Shows colours in the order of the LEDs.
///
/// # Errors
/// The bus fails.
pub fn show<S: SpiBus>(
    spi: &mut S,
    order: ColourOrder,
    channels: LedChannels,
    colours: impl IntoIterator<Item = Rgb>,
) -> Result<(), S::Error> {
    let mut bytes = vec![0; RESET_BYTES];
    for Rgb { red, green, blue } in colours {
        let values = match order {
            ColourOrder::Grb => [green, red, blue],
            ColourOrder::Rgb => [red, green, blue],
        };
        for value in values {
            pulses(value, &mut bytes);
        }
        match channels {
            LedChannels::Three => {}
            LedChannels::Four => pulses(0, &mut bytes),
        }
    }
    bytes.resize(bytes.len() + RESET_BYTES, 0);
    spi.write(&bytes)?;
    spi.flush()
}

fn pulses(value: u8, bytes: &mut Vec<u8>) {
    for pair in 0..4 {
        let byte = match value >> (6 - 2 * pair) & 0b11 {
            0b00 => 0x88,
            0b01 => 0x8E,
            0b10 => 0xE8,
            _ => 0xEE,
        };
        bytes.push(byte);
    }
}
