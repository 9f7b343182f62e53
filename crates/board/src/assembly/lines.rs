//! GPIO lines of the host, and of expanders on the I2C bus.

use std::sync::{Arc, MutexGuard, PoisonError};

use embedded_hal::digital::{self, InputPin, OutputPin};

use super::{BackoffI2c, Edges, Hardware};
use crate::{
    parts::mcp23017::{LineLevel, Mcp23017},
    wiring::{I2cWiring, LineLocation, Pull, Sense, Wiring, WiringLine},
};

/// The I2C bus and its port expanders. Clones share one bus; each transaction locks it.
pub struct ExpanderBus<H: Hardware> {
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
    i2c: BackoffI2c<H>,
    expanders: Vec<Expander>,
    /// Reset lines of the expanders, which are driven until they are dropped.
    _resets: Vec<OutputLine<H>>,
}

#[derive(Debug)]
struct Expander {
    name: String,
    chip: Mcp23017,
    /// Levels read since the cache was cleared.
    levels: Option<u16>,
}

/// A line cannot be read or set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineFault;

impl digital::Error for LineFault {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl<H: Hardware> ExpanderBus<H> {
    /// Opens the bus and resets the expanders of a wiring; `None` if the wiring has no such bus. Sends nothing yet: an
    /// expander is configured at its first use.
    ///
    /// # Errors
    /// It cannot be opened; why, as a text for people.
    pub fn open(hardware: &H, wiring: &Wiring) -> Result<Option<ExpanderBus<H>>, String> {
        let Some(I2cWiring { device, .. }) = &wiring.i2c else {
            return Ok(None);
        };
        let i2c = hardware
            .i2c(device)
            .map_err(|error| format!("{device}: {error}"))?;
        let i2c = BackoffI2c::new(hardware.clone(), i2c);
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
        let shared = std::sync::Mutex::new(ExpanderBusState {
            i2c,
            expanders,
            _resets: resets,
        });
        Ok(Some(ExpanderBus {
            shared: Arc::new(shared),
        }))
    }

    /// Calls a function with exclusive access to the bus.
    pub fn with<T>(&self, act: impl FnOnce(&mut BackoffI2c<H>) -> T) -> T {
        act(&mut self.lock().i2c)
    }

    /// Clears the cached levels, so that expanders are read again.
    pub fn clear_cache(&self) {
        for expander in &mut self.lock().expanders {
            expander.levels = None;
        }
    }

    /// Configures all expanders again at their next use, because they may have lost power.
    pub fn forget(&self) {
        for expander in &mut self.lock().expanders {
            expander.chip.forget();
        }
    }

    /// Enables the interrupt of a line of an expander.
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

    /// Makes a pin an output from the first use of the expander; `None` if there is no such expander.
    fn output(&self, name: &str, pin: u8, level: LineLevel) -> Option<Pin<H>> {
        let pin = self.pin(name, pin)?;
        self.lock().expanders[pin.expander]
            .chip
            .output(pin.number, level);
        Some(pin)
    }

    /// Makes a pin an input from the first use of the expander; `None` if there is no such expander.
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

/// Resets the expanders, each line once. They leave the reset while the lines are held.
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
    /// On the host, which handles inversion itself.
    Host(H::HostOutput),
    Expander(ExpanderLine<H>),
}

/// An input line of the host or of a port expander.
pub enum InputLine<H: Hardware> {
    Host(H::HostInput),
    Expander(ExpanderLine<H>),
}

pub struct ExpanderLine<H: Hardware> {
    pin: Pin<H>,
    sense: Sense,
}

impl<H: Hardware> OutputLine<H> {
    /// Opens a line. A line of the host is driven at once, a line of an expander from its first use.
    ///
    /// # Errors
    /// It cannot be opened; why, as a text for people.
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
    /// The hardware does not answer.
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
    /// Opens a line with a pull resistor. An expander can only pull up.
    ///
    /// # Errors
    /// It cannot be opened; why, as a text for people.
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
    /// The hardware does not answer.
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

    /// Returns whether it has edge detection. Lines of an expander must be polled.
    pub fn has_edges(&self) -> bool {
        match self {
            InputLine::Host(_) => true,
            InputLine::Expander(_) => false,
        }
    }

    /// Waits until it has a level other than this one; forever on an expander.
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
