//! Patience with the I2C bus: one that hangs is left alone for a while, so that it costs its parts and nothing else.
//!
//! The host gives up a transaction on such a bus only after a second or so, and whoever drives it can do nothing
//! meanwhile.

use std::time::Duration;

use embedded_hal::i2c::{self, I2c, Operation, SevenBitAddress};

use super::Hardware;

/// Longest time that a transaction fails in where merely nobody answers.
const NO_ANSWER: Duration = Duration::from_millis(200);

/// Time for which a bus that hangs is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(5);

/// The I2C bus of some hardware.
pub struct PatientI2c<H: Hardware> {
    hardware: H,
    i2c: H::I2c,
    /// It hung, and is left alone until then.
    left_until: Option<Duration>,
}

/// Nobody answered, or the bus hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct I2cFault;

impl<H: Hardware> PatientI2c<H> {
    /// A bus of which nothing bad is known.
    pub(super) fn new(hardware: H, i2c: H::I2c) -> PatientI2c<H> {
        PatientI2c {
            hardware,
            i2c,
            left_until: None,
        }
    }
}

impl i2c::Error for I2cFault {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::Other
    }
}

impl<H: Hardware> i2c::ErrorType for PatientI2c<H> {
    type Error = I2cFault;
}

impl<H: Hardware> I2c for PatientI2c<H> {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), I2cFault> {
        let begun = self.hardware.now();
        if self.left_until.is_some_and(|until| begun < until) {
            return Err(I2cFault);
        }
        if self.i2c.transaction(address, operations).is_ok() {
            self.left_until = None;
            return Ok(());
        }
        let now = self.hardware.now();
        if now >= begun + NO_ANSWER {
            if self.left_until.is_none() {
                tracing::warn!("the I2C bus hangs: a part on it holds its lines");
            }
            self.left_until = Some(now + LEFT_ALONE);
        }
        Err(I2cFault)
    }
}
