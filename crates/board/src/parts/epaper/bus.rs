//! The lines that all panels share: clock, data and data/command.

use device::board::PanelFault;

use embedded_hal::{digital::OutputPin, spi::SpiBus};

/// Largest number of bytes in one transfer, the default limit of spidev on Linux.
pub const CHUNK_MAX: usize = 4096;

/// The SPI bus of the panels. The panel with a low chip select receives the bytes.
#[derive(Debug)]
pub struct PanelBus<S, D> {
    spi: S,
    command_line: D,
}

impl<S: SpiBus, D: OutputPin> PanelBus<S, D> {
    /// A bus with its data/command line.
    pub fn new(spi: S, command_line: D) -> PanelBus<S, D> {
        PanelBus { spi, command_line }
    }

    /// Sends a command with its parameters to the panel of a select line.
    ///
    /// # Errors
    /// The bus or a line fails.
    pub fn send(
        &mut self,
        select: &mut impl OutputPin,
        command: u8,
        parameters: &[u8],
    ) -> Result<(), PanelFault> {
        let sent = select
            .set_low()
            .map_err(|_| PanelFault::Bus)
            .and_then(|()| self.transfer(command, parameters));
        // Also after a failure: a panel that stays selected would receive the data of others.
        let released = select.set_high().map_err(|_| PanelFault::Bus);
        sent.and(released)
    }

    fn transfer(&mut self, command: u8, parameters: &[u8]) -> Result<(), PanelFault> {
        self.command_line.set_low().map_err(|_| PanelFault::Bus)?;
        self.write(&[command])?;
        self.command_line.set_high().map_err(|_| PanelFault::Bus)?;
        parameters
            .chunks(CHUNK_MAX)
            .try_for_each(|chunk| self.write(chunk))
    }

    /// Writes and waits for the last bit, because the other lines change next.
    fn write(&mut self, bytes: &[u8]) -> Result<(), PanelFault> {
        self.spi
            .write(bytes)
            .and_then(|()| self.spi.flush())
            .map_err(|_| PanelFault::Bus)
    }
}
