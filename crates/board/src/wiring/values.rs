//! The types of a wiring.
//!
//! A *line* is a GPIO pin of the host or of an expander.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::parts::{mcp23017::LineLevel, ssd1680::Setup, ws2812};

/// Largest number of panels.
pub const PANELS_MAX: usize = 8;

/// Longest time between the starts of two panels.
pub const STAGGER_MAX: Duration = Duration::from_secs(1);

/// Largest number of LEDs of a strip.
pub const LEDS_MAX: usize = 64;

/// Number of buttons.
pub const BUTTONS: usize = 4;

/// Clock rates of the bus of the panels, Hz.
pub const SPI_HZ: RangeInclusive<u32> = 100_000..=20_000_000;

/// Clock rates of the I2C bus, Hz.
pub const I2C_HZ: RangeInclusive<u32> = 10_000..=1_000_000;

/// The wiring of a board.
#[derive(Debug, Clone, PartialEq)]
pub struct Wiring {
    /// Identifier of the board.
    pub id: String,
    /// Name of the board for people.
    pub name: String,
    /// Bus of the panels.
    pub spi: SpiWiring,
    /// Bus of the other chips.
    pub i2c: Option<I2cWiring>,
    /// Expanders, in the order of their names.
    pub expanders: Vec<ExpanderWiring>,
    /// Panels, leftmost first.
    pub panels: Vec<PanelWiring>,
    /// When panels get a full refresh by themselves.
    pub care: Care,
    /// LED strip.
    pub strip: Option<StripWiring>,
    /// Frontlight.
    pub frontlight: Option<FrontlightWiring>,
    /// Light sensor.
    pub sensor: Option<SensorWiring>,
    /// Buttons.
    pub buttons: Option<ButtonsWiring>,
}

impl Wiring {
    /// Device files of its buses.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let i2c = self.i2c.iter().map(|i2c| i2c.device.as_str());
        let strip = self.strip.iter().map(|strip| strip.device.as_str());
        [self.spi.device.as_str()]
            .into_iter()
            .chain(i2c)
            .chain(strip)
    }
}

/// Bus of the panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpiWiring {
    /// Device file.
    pub device: String,
    /// Clock, Hz.
    pub hz: u32,
    /// Data/command line of all panels.
    pub command: WiringLine,
    /// Line that switches the supply of the panels on.
    pub power: Option<WiringLine>,
}

/// Bus of the other chips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct I2cWiring {
    /// Device file.
    pub device: String,
    /// Clock rate that the host is set to, Hz.
    pub hz: u32,
}

/// One expander.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpanderWiring {
    /// Its name, the prefix of its lines.
    pub name: String,
    /// Its address.
    pub address: u8,
    /// Its reset line.
    pub reset: Option<WiringLine>,
    /// Its interrupt line, low when an input has changed.
    pub interrupt: Option<WiringLine>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelWiring {
    /// How it is mounted and refreshed.
    pub setup: Setup,
    /// Select line, active low.
    pub select: WiringLine,
    /// Busy line, active high.
    pub busy: WiringLine,
    /// Reset line, active low; several panels may share one.
    pub reset: WiringLine,
    /// Delay of its refresh after that of the panel before.
    pub stagger: Duration,
}

/// When panels get a full refresh, beyond the settings of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Care {
    /// Number of partial refreshes before a full one; 0 for no limit.
    pub partials_max: u32,
    /// Longest time between full ones; zero for no limit.
    pub full_every: Duration,
}

impl Care {
    /// No limits, for panels without ghosting.
    pub const NONE: Care = Care {
        partials_max: 0,
        full_every: Duration::ZERO,
    };
}

impl Default for Care {
    fn default() -> Care {
        Care {
            partials_max: 200,
            full_every: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// The LED strip, alone on its bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripWiring {
    /// Device file.
    pub device: String,
    /// Clock, Hz.
    pub hz: u32,
    /// Number of LEDs.
    pub count: usize,
    /// Type of the LEDs.
    pub kind: ws2812::StripKind,
    /// Side of the first LED.
    pub begins: Side,
}

/// Side of the clock, seen from the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// Left.
    #[default]
    Left,
    /// Right.
    Right,
}

/// The frontlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightWiring {
    /// Address of its driver.
    pub address: u8,
    /// Output for the leftmost panel.
    pub first: u8,
    /// PWM frequency, Hz.
    pub hz: u32,
    /// Output-enable line, active low.
    pub enable: Option<WiringLine>,
}

/// The light sensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorWiring {
    /// Addresses to probe, in this order.
    pub addresses: Vec<u8>,
}

/// The buttons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ButtonsWiring {
    /// Their lines, low while pressed; button 1 first.
    pub lines: Vec<WiringLine>,
}

/// A GPIO line and whether it is active low.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WiringLine {
    /// Where it is.
    pub place: LineLocation,
    /// Whether it is inverted.
    pub sense: Sense,
}

/// The pull resistor of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pull {
    /// To the supply.
    Up,
    /// To ground.
    Down,
    /// There is none.
    None,
}

/// Whether a line is inverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sense {
    /// It is not inverted.
    Straight,
    /// It is inverted.
    Inverted,
}

/// Location of a GPIO line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineLocation {
    /// A line of the host, by its name.
    Named(String),
    /// A line of the host, by the label of its chip and its number on the chip.
    Numbered {
        /// Label of the chip.
        chip: String,
        /// Number on the chip.
        offset: u32,
    },
    /// A pin of an expander.
    Expander {
        /// Name of the expander.
        name: String,
        /// Number of the pin.
        pin: u8,
    },
}

impl LineLevel {
    /// The same on the other side of a line.
    pub fn through(self, sense: Sense) -> LineLevel {
        match (sense, self) {
            (Sense::Straight, level) => level,
            (Sense::Inverted, LineLevel::Low) => LineLevel::High,
            (Sense::Inverted, LineLevel::High) => LineLevel::Low,
        }
    }
}

impl Pull {
    /// The same on the other side of a line.
    pub fn through(self, sense: Sense) -> Pull {
        match (sense, self) {
            (Sense::Inverted, Pull::Up) => Pull::Down,
            (Sense::Inverted, Pull::Down) => Pull::Up,
            (Sense::Inverted, Pull::None) | (Sense::Straight, _) => self,
        }
    }
}

impl WiringLine {
    /// A line of the host that is not inverted.
    pub fn named(name: &str) -> WiringLine {
        WiringLine {
            place: LineLocation::Named(name.to_owned()),
            sense: Sense::Straight,
        }
    }
}

impl fmt::Display for LineLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineLocation::Named(name) => write!(formatter, "gpio:{name}"),
            LineLocation::Numbered { chip, offset } => write!(formatter, "chip:{chip}/{offset}"),
            LineLocation::Expander { name, pin } => write!(formatter, "{name}:{pin}"),
        }
    }
}

impl fmt::Display for WiringLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sense {
            Sense::Straight => write!(formatter, "{}", self.place),
            Sense::Inverted => write!(formatter, "!{}", self.place),
        }
    }
}
