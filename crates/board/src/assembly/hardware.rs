//! The trait of a host: buses, lines and a clock.

use std::{fmt, future::Future, time::Duration};

use embedded_hal::{
    digital::{InputPin, OutputPin},
    i2c::I2c,
    spi::SpiBus,
};

use crate::{
    parts::mcp23017::LineLevel,
    wiring::{Pull, WiringLine},
};

/// A host, real or simulated. Clones are the same host.
pub trait Hardware: Clone + fmt::Debug + Send + Sync + 'static {
    type Spi: SpiBus + Send + 'static;
    /// An I2C bus.
    type I2c: I2c + Send + 'static;
    type HostOutput: OutputPin + Send + 'static;
    type HostInput: InputPin + Edges + Send + 'static;
    /// The lock on a device file, until it is dropped.
    type Claim: Send + 'static;
    /// Why something cannot be opened, as a text for people.
    type Error: fmt::Display;

    /// Locks a device file, so that no other program uses it.
    ///
    /// # Errors
    /// It does not exist, is not permitted, or is in use.
    fn claim(&self, device: &str) -> Result<Self::Claim, Self::Error>;

    /// Opens an SPI bus with a clock rate in Hz.
    ///
    /// # Errors
    /// It does not exist, or is not permitted.
    fn spi(&self, device: &str, hz: u32) -> Result<Self::Spi, Self::Error>;

    /// Opens an I2C bus.
    ///
    /// # Errors
    /// It does not exist, or is not permitted.
    fn i2c(&self, device: &str) -> Result<Self::I2c, Self::Error>;

    /// Opens an output line, with its initial level.
    ///
    /// # Errors
    /// It does not exist, is not permitted, or is in use.
    fn output(&self, line: &WiringLine, level: LineLevel) -> Result<Self::HostOutput, Self::Error>;

    /// Opens an input line; the pull is on the side of the host of an inverter.
    ///
    /// # Errors
    /// It does not exist, is not permitted, or is in use.
    fn input(&self, line: &WiringLine, pull: Pull) -> Result<Self::HostInput, Self::Error>;

    /// Time since an origin.
    fn now(&self) -> Duration;

    /// Waits until a moment.
    fn sleep_until(&self, moment: Duration) -> impl Future<Output = ()> + Send;
}

/// A line with edge detection.
pub trait Edges {
    /// Waits until the line has a level other than this one. Dropping the future loses nothing.
    fn leave(&mut self, level: LineLevel) -> impl Future<Output = ()> + Send;
}
