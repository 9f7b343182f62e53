//! WS2812 and SK6812, the LEDs of the strip, on an SPI bus of their own.
//!
//! Four bits on the bus are one bit for the LEDs: a short pulse is a zero, a long one a one.
//! The LEDs show every byte on the bus, so no other part may be on it.

use std::ops::RangeInclusive;

use device::lights::Rgb;
use embedded_hal::spi::SpiBus;

/// Clock rate at which the pulses have their nominal lengths, Hz.
pub const HZ: u32 = 3_200_000;

/// Clock rates that the LEDs accept, Hz.
pub const HZ_RANGE: RangeInclusive<u32> = 2_400_000..=3_800_000;

/// Zero bytes before and after the colours. A low data line is the end of the data, and the idle line may be high.
const RESET_BYTES: usize = 140;

/// Order in which an LED expects its colour bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColourOrder {
    /// Green, red, blue.
    #[default]
    Grb,
    /// Red, green, blue.
    Rgb,
}

impl ColourOrder {
    /// The orders by name.
    pub const NAMED: &[(&str, ColourOrder)] =
        &[("grb", ColourOrder::Grb), ("rgb", ColourOrder::Rgb)];
}

/// Channels of an LED.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LedChannels {
    /// Red, green and blue.
    #[default]
    Three,
    /// Red, green, blue and a white one, which stays off.
    Four,
}

/// Colour order and channels of the LEDs of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StripKind {
    /// Order of the colours.
    pub order: ColourOrder,
    /// Channels of each LED.
    pub channels: LedChannels,
}

/// Shows colours in the order of the LEDs.
///
/// # Errors
/// The bus fails.
pub fn show<S: SpiBus>(
    spi: &mut S,
    kind: StripKind,
    colours: impl IntoIterator<Item = Rgb>,
) -> Result<(), S::Error> {
    spi.write(&encode(kind, colours))?;
    spi.flush()
}

/// The bytes on the bus that show these colours.
pub fn encode(kind: StripKind, colours: impl IntoIterator<Item = Rgb>) -> Vec<u8> {
    let mut bytes = vec![0; RESET_BYTES];
    for Rgb { red, green, blue } in colours {
        let channels = match kind.order {
            ColourOrder::Grb => [green, red, blue],
            ColourOrder::Rgb => [red, green, blue],
        };
        for value in channels {
            pulses(value, &mut bytes);
        }
        match kind.channels {
            LedChannels::Three => {}
            LedChannels::Four => pulses(0, &mut bytes),
        }
    }
    bytes.resize(bytes.len() + RESET_BYTES, 0);
    bytes
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
