//! An emulated BH1750.

use std::time::Duration;

use super::violations::Violations;

/// Time of a measurement in high resolution.
const HIGH: Duration = Duration::from_millis(120);

/// Time of a measurement in low resolution.
const LOW: Duration = Duration::from_millis(16);

/// A simulated light sensor.
#[derive(Debug)]
pub(super) struct Bh1750Chip {
    pub(super) address: u8,
    /// Light, thousandths of a lux; `None` while it is removed.
    pub(super) millilux: Option<u32>,
    is_on: bool,
    /// End of the running measurement, and its result.
    measuring: Option<(Duration, u16)>,
    measured: u16,
}

impl Bh1750Chip {
    pub(super) fn new(address: u8, millilux: u32) -> Bh1750Chip {
        Bh1750Chip {
            address,
            millilux: Some(millilux),
            is_on: false,
            measuring: None,
            measured: 0,
        }
    }

    /// Receives the bytes of a write: one instruction.
    pub(super) fn write(&mut self, bytes: &[u8], now: Duration, violations: &mut Violations) {
        for byte in bytes {
            match byte {
                0x00 => self.is_on = false,
                0x01 => self.is_on = true,
                0x07 if !self.is_on => {
                    violations.record("light sensor: cleared while it is off".into());
                }
                0x07 => self.measured = 0,
                0x10 | 0x11 | 0x20 | 0x21 => self.begin(now + HIGH),
                0x13 | 0x23 => self.begin(now + LOW),
                other => violations.record(format!("light sensor: instruction {other:02X}")),
            }
        }
    }

    /// Sends the newest result; the old one during a measurement.
    pub(super) fn read(&mut self, bytes: &mut [u8], now: Duration) {
        if let Some((_, count)) = self.measuring.take_if(|(end, _)| *end <= now) {
            self.measured = count;
            self.is_on = false;
        }
        for (byte, value) in bytes.iter_mut().zip(self.measured.to_be_bytes()) {
            *byte = value;
        }
    }

    fn begin(&mut self, end: Duration) {
        let millilux = u64::from(self.millilux.unwrap_or_default());
        let count = u16::try_from(millilux * 12 / 10_000).unwrap_or(u16::MAX);
        self.measuring = Some((end, count));
    }
}
