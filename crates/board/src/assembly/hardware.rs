//! What a host offers to the parts: buses, lines and a clock.

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

/// A host, or what stands in for one; clones are the same one.
pub trait Hardware: Clone + fmt::Debug + Send + Sync + 'static {
    /// A bus that sends.
    type Spi: SpiBus + Send + 'static;
    /// The bus of the other chips.
    type I2c: I2c + Send + 'static;
    /// A line that is driven.
    type HostOutput: OutputPin + Send + 'static;
    /// A line that is read.
    type HostInput: InputPin + Edges + Send + 'static;
    /// What keeps others from using a device file for as long as it lives.
    type Claim: Send + 'static;
    /// Why something is not to be had, in words for people.
    type Error: fmt::Display;

    /// Keeps other programs from using a device file.
    ///
    /// # Errors
    /// It is not there, not permitted, or taken.
    fn claim(&self, device: &str) -> Result<Self::Claim, Self::Error>;

    /// Opens a bus that sends, at a clock in Hz.
    ///
    /// # Errors
    /// It is not there, or not permitted.
    fn spi(&self, device: &str, hz: u32) -> Result<Self::Spi, Self::Error>;

    /// Opens the bus of the other chips.
    ///
    /// # Errors
    /// It is not there, or not permitted.
    fn i2c(&self, device: &str) -> Result<Self::I2c, Self::Error>;

    /// Drives a line of the host from this level on.
    ///
    /// # Errors
    /// It is not there, not permitted, or taken.
    fn output(&self, line: &WiringLine, level: LineLevel) -> Result<Self::HostOutput, Self::Error>;

    /// Reads a line of the host, which is pulled this way, on its side of an inverter.
    ///
    /// # Errors
    /// It is not there, not permitted, or taken.
    fn input(&self, line: &WiringLine, pull: Pull) -> Result<Self::HostInput, Self::Error>;

    /// Time since some origin.
    fn now(&self) -> Duration;

    /// Waits until a moment.
    fn sleep_until(&self, moment: Duration) -> impl Future<Output = ()> + Send;
}

/// A line whose changes can be waited for.
pub trait Edges {
    /// Waits until the line has another level than this; dropping the future loses nothing.
    fn leave(&mut self, level: LineLevel) -> impl Future<Output = ()> + Send;
}
