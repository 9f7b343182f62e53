//! BH1750, the ambient light sensor.

use std::time::Duration;

use embedded_hal::i2c::I2c;

/// Possible addresses, the usual one first.
pub const ADDRESSES: [u8; 2] = [0x5C, 0x23];

/// Longest time of a measurement in high resolution.
pub const MEASURING: Duration = Duration::from_millis(180);

const POWER_ON: u8 = 0x01;
const ONCE_HIGH: u8 = 0x20;

/// A sensor that may be at one of several addresses.
#[derive(Debug, Clone)]
pub struct Bh1750 {
    addresses: Vec<u8>,
    /// Address at which it has answered last.
    found: Option<u8>,
}

impl Bh1750 {
    /// A sensor at the first of these addresses that answers.
    pub fn new(addresses: &[u8]) -> Bh1750 {
        Bh1750 {
            addresses: addresses.to_vec(),
            found: None,
        }
    }

    /// Starts a measurement, which takes [`MEASURING`].
    ///
    /// # Errors
    /// No address answers; the error is that of the last one tried.
    pub fn begin<I: I2c>(&mut self, i2c: &mut I) -> Result<(), I::Error> {
        let known = self.found.take();
        let others = self
            .addresses
            .iter()
            .copied()
            .filter(|at| Some(*at) != known);
        let mut outcome = Ok(());
        for address in known.into_iter().chain(others) {
            outcome = i2c
                .write(address, &[POWER_ON])
                .and_then(|()| i2c.write(address, &[ONCE_HIGH]));
            if outcome.is_ok() {
                self.found = Some(address);
                break;
            }
        }
        outcome
    }

    /// Reads the result, thousandths of a lux; `None` before any measurement.
    ///
    /// # Errors
    /// It does not answer.
    pub fn read<I: I2c>(&mut self, i2c: &mut I) -> Result<Option<u32>, I::Error> {
        let Some(address) = self.found else {
            return Ok(None);
        };
        let mut count = [0; 2];
        i2c.read(address, &mut count)?;
        Ok(Some(millilux(u16::from_be_bytes(count))))
    }
}

/// Converts a count in high resolution to thousandths of a lux: 1.2 counts are one lux.
pub fn millilux(count: u16) -> u32 {
    u32::from(count) * 10_000 / 12
}
