//! The lights: colours, animations of the LED strip, the frontlight, Do Not Disturb.
//!
//! All changes of the lights go through [`Lights`] in `control`.

pub mod ambient;
pub mod animations;
pub mod control;
pub mod faults;
pub mod frontlight;
pub mod quiet;
pub mod strip;

use alloc::{format, string::String};

pub use control::Lights;

/// A colour, before brightness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rgb {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

impl Rgb {
    /// No light.
    pub const BLACK: Rgb = Rgb {
        red: 0,
        green: 0,
        blue: 0,
    };

    /// The lower 24 bits: red, green, blue.
    pub const fn from_u24(value: u32) -> Rgb {
        let [_, red, green, blue] = value.to_be_bytes();
        Rgb { red, green, blue }
    }

    /// Parses `RRGGBB` or `RGB`, with or without `#`, in any case; `off` is black.
    pub fn parse(text: &str) -> Option<Rgb> {
        if text.eq_ignore_ascii_case("off") {
            return Some(Rgb::BLACK);
        }
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        match digits.len() {
            6 => Some(Rgb::from_u24(value)),
            3 => {
                let nibble = |shift: u32| ((value >> shift) & 0xF) * 0x11;
                Some(Rgb::from_u24(
                    (nibble(8) << 16) | (nibble(4) << 8) | nibble(0),
                ))
            }
            _ => None,
        }
    }

    /// The colour at a brightness of 0 to 255, rounded down.
    pub fn dimmed(self, brightness: u32) -> Rgb {
        let scale =
            |part: u8| u8::try_from(u32::from(part) * brightness.min(255) / 255).unwrap_or(u8::MAX);
        Rgb {
            red: scale(self.red),
            green: scale(self.green),
            blue: scale(self.blue),
        }
    }

    /// Writes `#RRGGBB`.
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.red, self.green, self.blue)
    }
}

/// An effect of the LED strip that clients can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripEffect {
    /// Green and yellow.
    Blink,
    /// Colours of a success.
    BlinkSuccess,
    /// Colours of an error.
    BlinkError,
    /// The boot rainbow, once.
    Rainbow,
    /// A blue breath.
    Breathe,
    /// A red breath.
    BreatheError,
    /// A zap.
    Zap,
    /// Red and cyan, green and blue.
    Identify,
    /// A sign of life.
    Heartbeat,
    /// Back to the resting colours.
    Idle,
    /// All off.
    Off,
}

impl StripEffect {
    /// The effects and their names on the wire.
    pub const NAMED: &[(&str, StripEffect)] = &[
        ("blink", StripEffect::Blink),
        ("blink_success", StripEffect::BlinkSuccess),
        ("blink_error", StripEffect::BlinkError),
        ("rainbow", StripEffect::Rainbow),
        ("breathe", StripEffect::Breathe),
        ("breathe_error", StripEffect::BreatheError),
        ("zap", StripEffect::Zap),
        ("identify", StripEffect::Identify),
        ("heartbeat", StripEffect::Heartbeat),
        ("off", StripEffect::Off),
        ("idle", StripEffect::Idle),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_as_in_the_table() {
        let rows = [
            ("#E04300", Some(0x00E0_4300)),
            ("e04300", Some(0x00E0_4300)),
            ("#000000", Some(0)),
            ("#FFFFFF", Some(0x00FF_FFFF)),
            ("ff9900", Some(0x00FF_9900)),
            ("#f00", Some(0x00FF_0000)),
            ("f00", Some(0x00FF_0000)),
            ("abc", Some(0x00AA_BBCC)),
            ("off", Some(0)),
            ("OFF", Some(0)),
            ("", None),
            ("#", None),
            ("zzzzzz", None),
            ("#12345", None),
            ("#1234567", None),
            ("#12345g", None),
            ("+12345", None),
            ("##f00", None),
        ];
        for (text, value) in rows {
            assert_eq!(Rgb::parse(text), value.map(Rgb::from_u24), "{text}");
        }
    }
}
