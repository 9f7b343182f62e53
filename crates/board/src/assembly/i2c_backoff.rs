//! Backoff for an I2C bus that hangs.
//!
//! The host ends a transaction on such a bus only after about a second, which blocks the task. After that the bus is not used
//! for a while, so that only the parts on it fail.

use std::time::Duration;

use embedded_hal::i2c::{self, I2c, Operation, SevenBitAddress};

use super::Hardware;

/// A transaction that takes longer fails because the bus hangs, not because a chip does not answer.
const NO_ANSWER_MAX: Duration = Duration::from_millis(200);

/// Time for which a bus that hangs is not used.
const BACKOFF: Duration = Duration::from_secs(5);

/// An I2C bus with backoff.
pub struct BackoffI2c<H: Hardware> {
    hardware: H,
    i2c: H::I2c,
    /// It hangs, and is not used until then.
    unused_until: Option<Duration>,
}

/// No chip answered, or the bus hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct I2cFault;

impl<H: Hardware> BackoffI2c<H> {
    /// A bus that works so far.
    pub(super) fn new(hardware: H, i2c: H::I2c) -> BackoffI2c<H> {
        BackoffI2c {
            hardware,
            i2c,
            unused_until: None,
        }
    }
}

impl i2c::Error for I2cFault {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::Other
    }
}

impl<H: Hardware> i2c::ErrorType for BackoffI2c<H> {
    type Error = I2cFault;
}

impl<H: Hardware> I2c for BackoffI2c<H> {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), I2cFault> {
        let started = self.hardware.now();
        if self.unused_until.is_some_and(|until| started < until) {
            return Err(I2cFault);
        }
        if self.i2c.transaction(address, operations).is_ok() {
            self.unused_until = None;
            return Ok(());
        }
        let now = self.hardware.now();
        if now >= started + NO_ANSWER_MAX {
            if self.unused_until.is_none() {
                tracing::warn!("the I2C bus hangs: a chip holds its lines");
            }
            self.unused_until = Some(now + BACKOFF);
        }
        Err(I2cFault)
    }
}
