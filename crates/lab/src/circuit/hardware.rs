//! The buses and lines of a circuit, for the drivers.

use std::{convert::Infallible, fmt, time::Duration};

use embedded_hal::{
    digital::{self, InputPin, OutputPin},
    i2c::{self, I2c, NoAcknowledgeSource, Operation, SevenBitAddress},
    spi::{self, SpiBus},
};
use tokio::time::sleep_until;

use super::Circuit;
use board::{
    assembly::{Edges, Hardware},
    moments::until,
    parts::mcp23017::LineLevel,
    wiring::{Pull, WiringLine},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpiBusId {
    Panels,
    Strip,
}

#[derive(Debug)]
pub struct CircuitSpi {
    circuit: Circuit,
    bus: SpiBusId,
}

/// The I2C bus.
#[derive(Debug)]
pub struct CircuitI2c {
    circuit: Circuit,
}

/// An output line of the host.
#[derive(Debug)]
pub struct CircuitOutput(OpenLine);

/// An input line of the host.
#[derive(Debug)]
pub struct CircuitInput(OpenLine);

/// An open line of the host. Dropping it closes the line.
#[derive(Debug)]
struct OpenLine {
    circuit: Circuit,
    line: WiringLine,
}

/// The line is already open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InUse;

/// No chip answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

impl Hardware for Circuit {
    type Spi = CircuitSpi;
    type I2c = CircuitI2c;
    type HostOutput = CircuitOutput;
    type HostInput = CircuitInput;
    type Claim = ();
    type Error = InUse;

    fn claim(&self, _: &str) -> Result<(), InUse> {
        Ok(())
    }

    fn spi(&self, device: &str, _: u32) -> Result<CircuitSpi, InUse> {
        Ok(self.bus(device))
    }

    fn i2c(&self, _: &str) -> Result<CircuitI2c, InUse> {
        Ok(CircuitI2c {
            circuit: self.clone(),
        })
    }

    fn output(&self, line: &WiringLine, level: LineLevel) -> Result<CircuitOutput, InUse> {
        let mut output = CircuitOutput(self.open(line)?);
        output.set(level);
        Ok(output)
    }

    fn input(&self, line: &WiringLine, pull: Pull) -> Result<CircuitInput, InUse> {
        let input = CircuitInput(self.open(line)?);
        self.change(|state| state.pull(&line.place, pull));
        Ok(input)
    }

    fn now(&self) -> Duration {
        Circuit::now(self)
    }

    async fn sleep_until(&self, moment: Duration) {
        match self.moment(moment) {
            Some(moment) => sleep_until(moment).await,
            None => self.advance(moment),
        }
    }
}

impl Circuit {
    /// The bus of a device file: that of the strip, otherwise that of the panels.
    fn bus(&self, device: &str) -> CircuitSpi {
        let bus = if self.lock().is_strip(device) { SpiBusId::Strip } else { SpiBusId::Panels };
        CircuitSpi {
            circuit: self.clone(),
            bus,
        }
    }

    fn open(&self, line: &WiringLine) -> Result<OpenLine, InUse> {
        if self.change(|state| state.open(&line.place)) {
            Ok(OpenLine {
                circuit: self.clone(),
                line: line.clone(),
            })
        } else {
            Err(InUse)
        }
    }
}

impl Drop for OpenLine {
    fn drop(&mut self) {
        self.circuit.change(|state| state.close(&self.line));
    }
}

impl fmt::Display for InUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the line is in use")
    }
}

impl spi::ErrorType for CircuitSpi {
    type Error = Infallible;
}

impl SpiBus for CircuitSpi {
    fn read(&mut self, words: &mut [u8]) -> Result<(), Infallible> {
        // There is no data line to the host.
        words.fill(0);
        Ok(())
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Infallible> {
        self.circuit.change(|state| match self.bus {
            SpiBusId::Panels => state.send(words),
            SpiBusId::Strip => state.send_to_strip(words),
        });
        Ok(())
    }

    fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), Infallible> {
        self.write(write)?;
        self.read(read)
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), Infallible> {
        self.write(words)?;
        self.read(words)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl i2c::Error for Unanswered {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address)
    }
}

impl i2c::ErrorType for CircuitI2c {
    type Error = Unanswered;
}

impl I2c for CircuitI2c {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Unanswered> {
        if self
            .circuit
            .change(|state| state.transact(address, operations))
        {
            Ok(())
        } else {
            Err(Unanswered)
        }
    }
}

impl digital::ErrorType for CircuitOutput {
    type Error = Infallible;
}

impl CircuitOutput {
    fn set(&mut self, level: LineLevel) {
        let OpenLine { circuit, line } = &self.0;
        circuit.change(|state| state.drive(line, level));
    }
}

impl OutputPin for CircuitOutput {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.set(LineLevel::Low);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.set(LineLevel::High);
        Ok(())
    }
}

impl digital::ErrorType for CircuitInput {
    type Error = Infallible;
}

impl InputPin for CircuitInput {
    fn is_high(&mut self) -> Result<bool, Infallible> {
        Ok(self.level() == LineLevel::High)
    }

    fn is_low(&mut self) -> Result<bool, Infallible> {
        Ok(self.level() == LineLevel::Low)
    }
}

impl CircuitInput {
    fn level(&self) -> LineLevel {
        let OpenLine { circuit, line } = &self.0;
        circuit.level(line)
    }
}

impl Edges for CircuitInput {
    async fn leave(&mut self, level: LineLevel) {
        let circuit = &self.0.circuit;
        let mut changes = circuit.changes();
        loop {
            changes.mark_unchanged();
            if self.level() != level {
                return;
            }
            let next = circuit.next_change();
            let next_change = next.and_then(|next| circuit.moment(next));
            tokio::select! {
                () = until(next_change) => {}
                changed = changes.changed() => if changed.is_err() {
                    std::future::pending::<()>().await;
                },
            }
        }
    }
}
