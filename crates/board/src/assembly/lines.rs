//! Lines, wherever they are: on the host, or on an expander behind the I2C bus.

use std::sync::{Arc, MutexGuard, PoisonError};

use embedded_hal::digital::{self, InputPin, OutputPin};

use super::{Edges, Hardware, PatientI2c};
use crate::{
    parts::mcp23017::{LineLevel, Mcp23017},
    wiring::{I2cWiring, LineLocation, Pull, Sense, Wiring, WiringLine},
};

/// The I2C bus and its port expanders. Clones share one bus; each transaction locks it.
pub struct ExpanderBus<H: Hardware> {
    #[expect(
        clippy::disallowed_types,
        reason = "the lines of an expander are used by the threads of both buses"
    )]
    shared: Arc<std::sync::Mutex<ExpanderBusState<H>>>,
}

impl<H: Hardware> Clone for ExpanderBus<H> {
    fn clone(&self) -> ExpanderBus<H> {
        ExpanderBus {
            shared: Arc::clone(&self.shared),
        }
    }
}

/// State that all clones of an [`ExpanderBus`] share.
struct ExpanderBusState<H: Hardware> {
    i2c: PatientI2c<H>,
    expanders: Vec<Expander>,
    /// Reset lines of the expanders, which nobody drives once they are dropped.
    _resets: Vec<OutputLine<H>>,
}

#[derive(Debug)]
struct Expander {
    name: String,
    chip: Mcp23017,
    /// Levels that were read in this round.
    levels: Option<u16>,
}

/// A line does not do what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineFault;

impl digital::Error for LineFault {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl<H: Hardware> ExpanderBus<H> {
    /// Opens the bus with the expanders of a wiring, whose pins are what its parts need; they begin anew, in whatever
    /// state an earlier run left them, and nothing is sent yet. None if the wiring has no such bus.
    ///
    /// # Errors
    /// It is not to be had; why, in words for people.
    pub fn open(hardware: &H, wiring: &Wiring) -> Result<Option<ExpanderBus<H>>, String> {
        let Some(I2cWiring { device, .. }) = &wiring.i2c else {
            return Ok(None);
        };
        let i2c = hardware
            .i2c(device)
            .map_err(|error| format!("{device}: {error}"))?;
        let i2c = PatientI2c::new(hardware.clone(), i2c);
        let resets = reset_expanders(hardware, wiring)?;
        let expanders = wiring
            .expanders
            .iter()
            .map(|expander| Expander {
                name: expander.name.clone(),
                chip: Mcp23017::new(expander.address),
                levels: None,
            })
            .collect();
        #[expect(clippy::disallowed_types, reason = "as the field says")]
        let shared = std::sync::Mutex::new(ExpanderBusState {
            i2c,
            expanders,
            _resets: resets,
        });
        Ok(Some(ExpanderBus {
            shared: Arc::new(shared),
        }))
    }

    /// Does something on the bus, alone.
    pub fn with<T>(&self, act: impl FnOnce(&mut PatientI2c<H>) -> T) -> T {
        act(&mut self.lock().i2c)
    }

    /// Begins a round: what was read in the one before is out of date.
    pub fn begin_round(&self) {
        for expander in &mut self.lock().expanders {
            expander.levels = None;
        }
    }

    /// Takes all expanders for new: they are configured whole at their next use.
    pub fn forget(&self) {
        for expander in &mut self.lock().expanders {
            expander.chip.forget();
        }
    }

    /// Lets changes of a line pull the interrupt line of its expander.
    pub fn watch(&self, line: &WiringLine) {
        let LineLocation::Expander { name, pin } = &line.place else {
            return;
        };
        for expander in &mut self.lock().expanders {
            if expander.name == *name {
                expander.chip.watch(*pin);
            }
        }
    }

    /// Pin of an expander that is an output from the first use of the expander on; none if there is no such
    /// expander.
    fn output(&self, name: &str, pin: u8, level: LineLevel) -> Option<Pin<H>> {
        let pin = self.pin(name, pin)?;
        self.lock().expanders[pin.expander]
            .chip
            .output(pin.number, level);
        Some(pin)
    }

    fn input(&self, name: &str, pin: u8) -> Option<Pin<H>> {
        let pin = self.pin(name, pin)?;
        self.lock().expanders[pin.expander].chip.input(pin.number);
        Some(pin)
    }

    fn pin(&self, name: &str, number: u8) -> Option<Pin<H>> {
        let shared = self.lock();
        let expander = shared
            .expanders
            .iter()
            .position(|expander| expander.name == name)?;
        Some(Pin {
            wire: self.clone(),
            expander,
            number,
        })
    }

    fn lock(&self) -> MutexGuard<'_, ExpanderBusState<H>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pulls the reset lines of the expanders, each once; none of them is in reset for as long as its line is held.
fn reset_expanders<H: Hardware>(
    hardware: &H,
    wiring: &Wiring,
) -> Result<Vec<OutputLine<H>>, String> {
    let mut lines: Vec<&WiringLine> = Vec::new();
    for line in wiring
        .expanders
        .iter()
        .filter_map(|expander| expander.reset.as_ref())
    {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
        .into_iter()
        .map(|line| {
            let mut output = OutputLine::open(hardware, None, line, LineLevel::Low)?;
            output
                .set(LineLevel::High)
                .map_err(|_| format!("{line}: the line cannot be set"))?;
            Ok(output)
        })
        .collect()
}

/// A pin of an expander.
struct Pin<H: Hardware> {
    wire: ExpanderBus<H>,
    expander: usize,
    number: u8,
}

impl<H: Hardware> Pin<H> {
    fn set(&self, level: LineLevel) -> Result<(), LineFault> {
        let mut shared = self.wire.lock();
        let ExpanderBusState { i2c, expanders, .. } = &mut *shared;
        let expander = &mut expanders[self.expander];
        expander
            .chip
            .set(i2c, self.number, level)
            .map_err(|_| LineFault)
    }

    fn level(&self) -> Result<LineLevel, LineFault> {
        let mut shared = self.wire.lock();
        let ExpanderBusState { i2c, expanders, .. } = &mut *shared;
        let expander = &mut expanders[self.expander];
        let levels = match expander.levels {
            Some(levels) => levels,
            None => expander.chip.read(i2c).map_err(|_| LineFault)?,
        };
        expander.levels = Some(levels);
        match levels >> self.number & 1 {
            0 => Ok(LineLevel::Low),
            _ => Ok(LineLevel::High),
        }
    }
}

/// An output line of the host or of a port expander.
pub enum OutputLine<H: Hardware> {
    /// On the host, which knows of inverters itself.
    Host(H::HostOutput),
    /// On an expander.
    Expander(ExpanderLine<H>),
}

/// An input line of the host or of a port expander.
pub enum InputLine<H: Hardware> {
    /// On the host.
    Host(H::HostInput),
    /// On an expander.
    Expander(ExpanderLine<H>),
}

/// A line on an expander.
pub struct ExpanderLine<H: Hardware> {
    pin: Pin<H>,
    sense: Sense,
}

impl<H: Hardware> OutputLine<H> {
    /// Opens a line wherever it is; one of the host is driven at once, one of an expander at its first use.
    ///
    /// # Errors
    /// It is not to be had; why, in words for people.
    pub fn open(
        hardware: &H,
        wire: Option<&ExpanderBus<H>>,
        line: &WiringLine,
        level: LineLevel,
    ) -> Result<OutputLine<H>, String> {
        let LineLocation::Expander { name, pin } = &line.place else {
            return hardware
                .output(line, level)
                .map(OutputLine::Host)
                .map_err(|error| format!("{line}: {error}"));
        };
        wire.and_then(|wire| wire.output(name, *pin, level.through(line.sense)))
            .map(|pin| {
                OutputLine::Expander(ExpanderLine {
                    pin,
                    sense: line.sense,
                })
            })
            .ok_or_else(|| format!("{line}: there is no such expander"))
    }

    /// Sets its level.
    ///
    /// # Errors
    /// It does not answer.
    pub fn set(&mut self, level: LineLevel) -> Result<(), LineFault> {
        match self {
            OutputLine::Host(output) => match level {
                LineLevel::Low => output.set_low(),
                LineLevel::High => output.set_high(),
            }
            .map_err(|_| LineFault),
            OutputLine::Expander(line) => line.pin.set(level.through(line.sense)),
        }
    }
}

impl<H: Hardware> digital::ErrorType for OutputLine<H> {
    type Error = LineFault;
}

impl<H: Hardware> OutputPin for OutputLine<H> {
    fn set_low(&mut self) -> Result<(), LineFault> {
        self.set(LineLevel::Low)
    }

    fn set_high(&mut self) -> Result<(), LineFault> {
        self.set(LineLevel::High)
    }
}

impl<H: Hardware> InputLine<H> {
    /// Opens a line wherever it is, with this pull on the host; an expander can only pull up.
    ///
    /// # Errors
    /// It is not to be had; why, in words for people.
    pub fn open(
        hardware: &H,
        wire: Option<&ExpanderBus<H>>,
        line: &WiringLine,
        pull: Pull,
    ) -> Result<InputLine<H>, String> {
        let LineLocation::Expander { name, pin } = &line.place else {
            return hardware
                .input(line, pull.through(line.sense))
                .map(InputLine::Host)
                .map_err(|error| format!("{line}: {error}"));
        };
        wire.and_then(|wire| wire.input(name, *pin))
            .map(|pin| {
                InputLine::Expander(ExpanderLine {
                    pin,
                    sense: line.sense,
                })
            })
            .ok_or_else(|| format!("{line}: there is no such expander"))
    }

    /// Level of the line.
    ///
    /// # Errors
    /// It does not answer.
    pub fn level(&mut self) -> Result<LineLevel, LineFault> {
        match self {
            InputLine::Host(input) => match input.is_high() {
                Ok(true) => Ok(LineLevel::High),
                Ok(false) => Ok(LineLevel::Low),
                Err(_) => Err(LineFault),
            },
            InputLine::Expander(line) => line.pin.level().map(|level| level.through(line.sense)),
        }
    }

    /// Tells whether its changes can be waited for; those of an expander must be looked for.
    pub fn has_edges(&self) -> bool {
        match self {
            InputLine::Host(_) => true,
            InputLine::Expander(_) => false,
        }
    }

    /// Waits until it has another level than this; for ever on an expander.
    pub async fn leave(&mut self, level: LineLevel) {
        match self {
            InputLine::Host(input) => input.leave(level).await,
            InputLine::Expander(_) => std::future::pending().await,
        }
    }
}

impl<H: Hardware> digital::ErrorType for InputLine<H> {
    type Error = LineFault;
}

impl<H: Hardware> InputPin for InputLine<H> {
    fn is_high(&mut self) -> Result<bool, LineFault> {
        self.level().map(|level| level == LineLevel::High)
    }

    fn is_low(&mut self) -> Result<bool, LineFault> {
        self.level().map(|level| level == LineLevel::Low)
    }
}
