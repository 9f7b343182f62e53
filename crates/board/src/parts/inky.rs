//! Boards of the Inky series, by the EEPROM in which their maker describes them.

use std::fmt;

use embedded_hal::i2c::I2c;

/// I2C bus of the EEPROM, on the header of a Raspberry Pi.
pub const BUS: &str = "/dev/i2c-1";

/// Address of the EEPROM on it.
pub const ADDRESS: u8 = 0x50;

/// Length of the description, bytes.
pub const BYTES: usize = 29;

const OLD: &str = "papertick has no waveforms for its controller";
const RED_OR_YELLOW: &str = "its third colour is driven at every refresh, which takes many seconds and needs another driver";
const COLOUR: &str = "a refresh of its colours takes up to a minute and needs another driver";

/// The boards by their code: name, and the preset that serves it or the reason why none does.
#[rustfmt::skip]
const BOARDS: [(u8, &str, Result<&str, &str>); 26] = [
    (1, "Inky pHAT, red, for high temperatures", Err(OLD)),
    (2, "Inky wHAT, yellow", Err(OLD)),
    (3, "Inky wHAT, black", Err(OLD)),
    (4, "Inky pHAT, black", Err(OLD)),
    (5, "Inky pHAT, yellow", Err(OLD)),
    (6, "Inky wHAT, red", Err(OLD)),
    (7, "Inky wHAT, red, for high temperatures", Err(OLD)),
    (8, "Inky wHAT, red", Err(OLD)),
    (10, "Inky pHAT, black (SSD1608)", Err(OLD)),
    (11, "Inky pHAT, red (SSD1608)", Err(OLD)),
    (12, "Inky pHAT, yellow (SSD1608)", Err(OLD)),
    (14, "Inky Impression 5.7, seven colours (UC8159)", Err(COLOUR)),
    (15, "Inky Impression 4, seven colours (UC8159)", Err(COLOUR)),
    (16, "Inky Impression 4, seven colours (UC8159)", Err(COLOUR)),
    (17, "Inky wHAT, black (SSD1683)", Ok("inky-what")),
    (18, "Inky wHAT, red (SSD1683)", Err(RED_OR_YELLOW)),
    (19, "Inky wHAT, yellow (SSD1683)", Err(RED_OR_YELLOW)),
    (20, "Inky Impression 7.3, seven colours (AC073TC1A)", Err(COLOUR)),
    (21, "Inky Impression 13.3, Spectra 6 (EL133UF1)", Err(COLOUR)),
    (22, "Inky Impression 7.3, Spectra 6 (E673)", Err(COLOUR)),
    (23, "Inky pHAT, red and yellow (JD79661)", Err(RED_OR_YELLOW)),
    (24, "Inky wHAT, red and yellow (JD79668)", Err(RED_OR_YELLOW)),
    (25, "Inky Impression 4, Spectra 6 (E640)", Err(COLOUR)),
    (26, "Inky Impression 7.3, Spectra 6 (E673)", Err(COLOUR)),
    (27, "Inky Impression 13.3, Spectra 6 (EL133UF1)", Err(COLOUR)),
    (28, "Inky wHAT, red and yellow (SSD2683)", Err(RED_OR_YELLOW)),
];

/// A board of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inky {
    pub code: u8,
    pub name: &'static str,
    /// Width, px.
    pub width: u16,
    /// Height, px.
    pub height: u16,
    /// The preset that serves it, or why none does.
    pub preset: Result<&'static str, &'static str>,
}

/// Why no board was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInky {
    /// Nothing answers at the address.
    Absent,
    /// Another device is there, or the EEPROM is empty or damaged.
    Invalid,
    /// A board that is newer than this program.
    Unknown(u8),
}

impl fmt::Display for NoInky {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoInky::Absent => formatter.write_str("no Inky board answers"),
            NoInky::Invalid => write!(
                formatter,
                "the EEPROM at {ADDRESS:#x} of {BUS} does not describe an Inky board"
            ),
            NoInky::Unknown(code) => write!(
                formatter,
                "an Inky board of code {code}, which this version does not know"
            ),
        }
    }
}

/// Reads the description of the board on a bus.
///
/// Setting the address to read would write a byte to an EEPROM with addresses of one byte: call it only for the header of a
/// Raspberry Pi, never for a bus that may have the EEPROM of a memory module or a monitor.
///
/// # Errors
/// No board that is known.
pub fn read<I: I2c>(i2c: &mut I) -> Result<Inky, NoInky> {
    let mut bytes = [0; BYTES];
    i2c.write_read(ADDRESS, &[0, 0], &mut bytes)
        .map_err(|_| NoInky::Absent)?;
    parse(&bytes)
}

/// Parses a description: width, height, colour, version of the board in tenths, code, and the time of writing as text.
///
/// # Errors
/// It is not that of a known board.
pub fn parse(bytes: &[u8; BYTES]) -> Result<Inky, NoInky> {
    let [w0, w1, h0, h1, _colour, _version, code, length, text @ ..] = bytes;
    let (width, height) = (
        u16::from_le_bytes([*w0, *w1]),
        u16::from_le_bytes([*h0, *h1]),
    );
    let text = text.get(..usize::from(*length));
    let is_text = text.is_some_and(|text| text.iter().all(|byte| matches!(byte, b' '..=b'~')));
    if !is_text || width == 0 || height == 0 || *code == 0 {
        return Err(NoInky::Invalid);
    }
    let board = BOARDS.iter().find(|(known, _, _)| known == code);
    let (_, name, preset) = board.ok_or(NoInky::Unknown(*code))?;
    Ok(Inky {
        code: *code,
        name,
        width,
        height,
        preset: *preset,
    })
}

#[cfg(test)]
mod tests {
    use embedded_hal::i2c::{ErrorKind, ErrorType, Operation};

    use super::*;

    /// An EEPROM alone on its bus.
    struct Eeprom([u8; BYTES]);

    impl ErrorType for Eeprom {
        type Error = ErrorKind;
    }

    impl I2c for Eeprom {
        fn transaction(
            &mut self,
            address: u8,
            steps: &mut [Operation<'_>],
        ) -> Result<(), ErrorKind> {
            match (address, steps) {
                (0x50, [Operation::Write([0, 0]), Operation::Read(bytes)]) => {
                    bytes.copy_from_slice(&self.0);
                    Ok(())
                }
                _ => Err(ErrorKind::Other),
            }
        }
    }

    fn description(code: u8) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&[0x90, 1, 0x2C, 1, 1, 12, code, 21]);
        bytes[8..].copy_from_slice(b"2026-11-28 12:00:00.0");
        bytes
    }

    #[test]
    fn every_code_is_a_board_or_unknown() {
        let served: Vec<u8> = (1..=u8::MAX)
            .filter(|code| match parse(&description(*code)) {
                Ok(inky) => {
                    assert_eq!((inky.code, inky.width, inky.height), (*code, 400, 300));
                    inky.preset.is_ok()
                }
                Err(error) => {
                    assert_eq!(error, NoInky::Unknown(*code));
                    assert!([9, 13].contains(code) || *code > 28, "{code}");
                    false
                }
            })
            .collect();
        assert_eq!(served, [17]);
    }

    #[test]
    fn the_description_is_read_from_the_eeprom() {
        let read = read(&mut Eeprom(description(22))).map(|inky| inky.code);
        assert_eq!(read, Ok(22));
    }

    #[test]
    fn bytes_of_other_devices_are_no_board() {
        let good = description(17);
        let with = |at: usize, byte: u8| {
            let mut bytes = good;
            bytes[at] = byte;
            bytes
        };
        let rows = [
            ([0xFF; BYTES], NoInky::Invalid),
            ([0; BYTES], NoInky::Invalid),
            (with(7, 22), NoInky::Invalid),
            (with(7, 0xFF), NoInky::Invalid),
            (with(9, 0x07), NoInky::Invalid),
            (with(6, 0), NoInky::Invalid),
            (with(6, 0xFF), NoInky::Unknown(0xFF)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(parse(&bytes), Err(expected), "{bytes:?}");
        }
        // A description without a time.
        assert!(parse(&with(7, 0)).is_ok());
    }
}
