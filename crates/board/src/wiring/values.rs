//! The types of a wiring.
//!
//! A *line* is a GPIO pin of the host or of an expander.

use std::{fmt, ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Deserializer, de};

use crate::parts::{
    bh1750,
    epaper::{self, Care, FullWaveform, Model, PanelRotation, Setup},
    mcp23017::{self, LineLevel},
    ws2812::{self, ColourOrder, LedChannels},
};

/// Longest text in a wiring file, bytes.
pub const TEXT_MAX: usize = 128;

/// Largest number of panels.
pub const PANELS_MAX: usize = 8;

/// Longest time between the starts of two panels.
pub const STAGGER_MAX: Duration = Duration::from_secs(1);

/// Largest number of LEDs of a strip.
pub const LEDS_MAX: usize = 64;

pub const BUTTONS: usize = 4;

/// Clock rates of the bus of the panels, Hz.
pub const SPI_HZ: RangeInclusive<u32> = 100_000..=20_000_000;

/// Clock rates of the I2C bus, Hz.
pub const I2C_HZ: RangeInclusive<u32> = 10_000..=1_000_000;

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
    /// The panels are cleared when the clock stops, so that they show no old value.
    pub clear_at_stop: bool,
    pub strip: Option<StripWiring>,
    pub frontlight: Option<FrontlightWiring>,
    pub sensor: Option<SensorWiring>,
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SpiWiring {
    #[serde(deserialize_with = "device")]
    pub device: String,
    #[serde(default = "number::<10_000_000>")]
    pub hz: u32,
    /// Data/command line of all panels.
    pub command: WiringLine,
    /// Line that switches the supply of the panels on.
    pub power: Option<WiringLine>,
}

/// Bus of the other chips.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct I2cWiring {
    #[serde(deserialize_with = "device")]
    pub device: String,
    /// Clock rate that the host is set to, Hz.
    #[serde(default = "number::<100_000>")]
    pub hz: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExpanderWiring {
    /// Its name, the prefix of its lines.
    #[serde(skip)]
    pub name: String,
    pub address: u8,
    pub reset: Option<WiringLine>,
    /// Its interrupt line, low when an input has changed.
    pub interrupt: Option<WiringLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PanelWiring {
    #[serde(deserialize_with = "model")]
    pub model: &'static Model,
    #[serde(default)]
    pub rotation: PanelRotation,
    /// First byte of a row of the controller that is on the panel.
    #[serde(default)]
    pub x_offset: u8,
    #[serde(default)]
    pub full: FullWaveform,
    /// Select line, active low.
    pub select: WiringLine,
    /// Busy line; its level while busy depends on the model.
    pub busy: WiringLine,
    /// Reset line, active low; several panels may share one.
    pub reset: WiringLine,
    /// Delay of its refresh after that of the panel before.
    #[serde(rename = "stagger-ms", default, deserialize_with = "millis")]
    pub stagger: Duration,
}

impl PanelWiring {
    /// Width and height as the viewer sees it, px.
    pub fn size(&self) -> (u16, u16) {
        self.rotation.size(self.model)
    }

    /// How it is mounted and refreshed.
    pub fn setup(&self) -> Setup {
        Setup {
            model: self.model,
            rotation: self.rotation,
            x_offset: self.x_offset,
            full: self.full,
        }
    }
}

/// When panels get a full refresh, where that differs from their model.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CareEntries {
    #[serde(rename = "full-after-partials")]
    pub(super) partials_max: Option<u32>,
    /// Hours.
    #[serde(rename = "full-every-hours")]
    pub(super) full_every: Option<u32>,
    /// The panels are cleared when the clock stops.
    #[serde(rename = "clear-at-stop")]
    pub(super) clear_at_stop: bool,
}

impl CareEntries {
    /// The limits of a board with panels of a model.
    pub(super) fn of(&self, model: Care) -> Care {
        let full_every = self.full_every.map(|hours| 60 * 60 * u64::from(hours));
        Care {
            partials_max: self.partials_max.unwrap_or(model.partials_max),
            full_every: full_every.map_or(model.full_every, Duration::from_secs),
            interval: model.interval,
        }
    }
}

/// The LED strip, alone on its bus.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StripWiring {
    #[serde(deserialize_with = "device")]
    pub device: String,
    #[serde(default = "number::<{ ws2812::HZ }>")]
    pub hz: u32,
    /// Number of LEDs.
    #[serde(default = "leds")]
    pub count: usize,
    #[serde(default)]
    pub order: ColourOrder,
    #[serde(rename = "white", default)]
    pub channels: LedChannels,
    /// Side of the first LED.
    #[serde(default)]
    pub begins: Side,
}

/// Side of the clock, seen from the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    #[default]
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FrontlightWiring {
    pub address: u8,
    /// Output for the leftmost panel.
    #[serde(rename = "first-output", default)]
    pub first: u8,
    /// PWM frequency, Hz.
    #[serde(default = "number::<1000>")]
    pub hz: u32,
    /// Output-enable line, active low.
    pub enable: Option<WiringLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SensorWiring {
    /// Addresses to probe, in this order.
    #[serde(default = "bh1750_addresses")]
    pub addresses: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ButtonsWiring {
    /// Their lines, low while pressed; button 1 first.
    pub lines: Vec<WiringLine>,
}

/// A GPIO line and whether it is active low.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct WiringLine {
    pub place: LineLocation,
    pub sense: Sense,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pull {
    Up,
    /// To ground.
    Down,
    None,
}

/// Whether a line is inverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sense {
    /// It is not inverted.
    Straight,
    Inverted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineLocation {
    Named(String),
    /// A line of the host, by the label of its chip and its number on the chip.
    Numbered {
        chip: String,
        /// Number on the chip.
        offset: u32,
    },
    Expander {
        name: String,
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

impl TryFrom<String> for WiringLine {
    type Error = String;

    /// Parses `gpio:NAME`, `chip:LABEL/OFFSET` or `EXPANDER:PIN`, with `!` before it if it is inverted.
    fn try_from(text: String) -> Result<WiringLine, String> {
        let forms = || format!("{text:?} is not gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN");
        let (sense, rest) = match text.strip_prefix('!') {
            Some(rest) => (Sense::Inverted, rest),
            None => (Sense::Straight, text.as_str()),
        };
        let (kind, name) = rest.split_once(':').ok_or_else(forms)?;
        let is_blank = |c: char| c.is_whitespace() || c.is_control();
        let place = match kind {
            _ if name.is_empty() || text.len() > TEXT_MAX || text.contains(is_blank) => {
                return Err(forms());
            }
            "gpio" => LineLocation::Named(name.to_owned()),
            "chip" => {
                let (chip, offset) = name.rsplit_once('/').ok_or_else(forms)?;
                let offset = offset.parse().map_err(|_| forms())?;
                if chip.is_empty() {
                    return Err(forms());
                }
                LineLocation::Numbered {
                    chip: chip.to_owned(),
                    offset,
                }
            }
            expander => LineLocation::Expander {
                name: expander.to_owned(),
                pin: name
                    .parse()
                    .ok()
                    .filter(|pin| *pin < mcp23017::PINS)
                    .ok_or_else(|| format!("{text:?}: an expander has pins 0 to 15"))?,
            },
        };
        Ok(WiringLine { place, sense })
    }
}

/// A default.
fn number<const N: u32>() -> u32 {
    N
}

fn leds() -> usize {
    4
}

fn bh1750_addresses() -> Vec<u8> {
    bh1750::ADDRESSES.to_vec()
}

/// Reads a text that can be printed.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() || text.len() > TEXT_MAX || text.contains(char::is_control) {
        let expected = format!("1 to {TEXT_MAX} bytes without control characters");
        return Err(de::Error::invalid_value(
            de::Unexpected::Str(&text),
            &expected.as_str(),
        ));
    }
    Ok(text)
}

fn device<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let path = text(from)?;
    if !path.starts_with("/dev/") || path.contains("/../") {
        let found = de::Unexpected::Str(&path);
        return Err(de::Error::invalid_value(found, &"a file in /dev"));
    }
    Ok(path)
}

fn model<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Model, D::Error> {
    let name = text(from)?;
    let id = name.to_ascii_lowercase();
    let mut refused = epaper::REFUSED_MODELS.iter();
    epaper::find(&id).ok_or_else(|| {
        de::Error::custom(match refused.find(|(known, _)| *known == id) {
            Some((_, why)) => format!("{name:?} cannot be used: {why}"),
            // The waveforms of another model can damage a panel, so no name is suggested.
            None => format!(
                "{name:?} is not supported; write a name from docs/wiring.md, and only that of your own panel: \
                 the waveforms of another can damage it"
            ),
        })
    })
}

fn millis<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    u32::deserialize(from).map(|millis| Duration::from_millis(millis.into()))
}
