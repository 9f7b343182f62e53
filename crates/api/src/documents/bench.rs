//! The table on which a simulated board lies.

use alloc::{string::String, vec::Vec};
use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::WholeNumber;
use crate::schema::plain_words;

/// Brightest light, lux.
pub const LUX_MAX: u32 = 4_294_967;

/// Default duration of a button press, ms.
const SHORT_PRESS_MS: u64 = 100;

/// All signals of a simulated board, and what else a client can change there.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BenchState {
    /// The signals.
    #[serde(flatten)]
    pub signals: BenchSignals,
    /// Whether the relay of a demo is there; null on a clock that is no demo.
    pub demo_relay: Option<DemoRelayState>,
}

/// All signals of a simulated board at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BenchSignals {
    /// Identifier of the board.
    pub board: &'static str,
    /// Name of the timing of the panels.
    pub panel_timing: &'static str,
    /// The panels, leftmost first.
    pub panels: Vec<BenchPanelState>,
    /// Live colours of the LEDs, `#RRGGBB`, leftmost first.
    pub leds: Vec<String>,
    /// Live duties of the frontlight, 0 to 4095; empty on a board without one.
    pub frontlight: Vec<u16>,
    /// Numbers of the buttons that are down; the first is 1.
    pub buttons: Vec<u8>,
    /// Light, lux; null without a sensor.
    pub lux: Option<f64>,
    /// The network.
    pub link: BenchLink,
    /// Name of the network that a simulated radio has joined.
    pub network: Option<String>,
    /// The access point, if the simulated radio is one.
    pub access_point: Option<AccessPointState>,
    /// The power.
    pub power: PowerState,
}

/// The access point, as shown on the panels.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AccessPointState {
    /// Its name.
    pub ssid: String,
    /// Its password.
    pub password: String,
    /// Address of the name server as `ADDRESS:PORT`, while there is one.
    pub dns: Option<String>,
}

impl fmt::Debug for AccessPointState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AccessPointState")
            .field("ssid", &self.ssid)
            .finish_non_exhaustive()
    }
}

/// State of one simulated panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BenchPanelState {
    /// Full refreshes since the start.
    pub full: u64,
    /// Partial refreshes since the start.
    pub partial: u64,
    /// Its busy line is high.
    pub busy: bool,
    /// What is wrong with it.
    pub fault: SimFault,
}

/// A fault of a simulated panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = plain_words)]
pub enum SimFault {
    /// No fault.
    #[default]
    None,
    /// It never becomes idle again.
    BusyStuck,
}

/// State of the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum PowerState {
    /// It is on.
    On,
    /// It is about to be cut.
    Cycling,
}

/// State of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum BenchLink {
    /// Plugged in.
    Up,
    /// Pulled out.
    Down,
}

/// State of the relay of a demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum DemoRelayState {
    /// It answers.
    There,
    /// It does not.
    Gone,
}

/// Buttons to press together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ButtonPress {
    /// Numbers of the buttons; the first is 1.
    #[schemars(inner(range(min = 1, max = 4)))]
    pub press: Vec<WholeNumber>,
    /// How long they are held, ms.
    #[serde(default = "short_press")]
    #[schemars(range(max = 60_000))]
    pub ms: WholeNumber,
}

fn short_press() -> WholeNumber {
    WholeNumber(SHORT_PRESS_MS)
}

/// Ambient light.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct AmbientLight {
    /// The light, lux; null takes the sensor away.
    #[serde(deserialize_with = "present")]
    #[schemars(schema_with = "lux")]
    pub lux: Option<f64>,
}

/// Reads a member that must be there, though it may be null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(deserializer)
}

fn lux(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "null"], "minimum": 0, "maximum": LUX_MAX })
}

/// The network is plugged in or pulled out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LinkChange {
    /// The new state.
    pub link: BenchLink,
}

/// The power is cut and comes back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PowerChange {
    /// What happens.
    pub action: PowerAction,
    /// Numbers of the buttons that are held from then on; the first is 1.
    #[serde(default)]
    #[schemars(inner(range(min = 1, max = 4)))]
    pub hold: Vec<WholeNumber>,
    /// How long they are held, ms.
    #[serde(default = "no_time")]
    #[schemars(range(max = 60_000))]
    pub ms: WholeNumber,
}

fn no_time() -> WholeNumber {
    WholeNumber(0)
}

/// What happens to the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum PowerAction {
    /// It is cut and comes back.
    Cycle,
}

/// A panel breaks or is mended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PanelFaultChange {
    /// Index of the panel, from 0.
    pub panel: WholeNumber,
    /// What is wrong with it from now on.
    pub fault: SimFault,
}

/// Something happens in the market.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MarketEvent {
    /// What happens.
    pub event: MarketEventKind,
}

/// What happens in the market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = plain_words)]
pub enum MarketEventKind {
    /// A block is found.
    Block,
    /// The price jumps.
    Price,
    /// The wallet receives a payment.
    Payment,
    /// The relay of a demo goes away.
    RelayGone,
    /// It comes back.
    RelayBack,
}
