//! The simulation: signals and inputs of a simulated board.

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

/// All signals of a simulated board, and the simulated relay.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BenchState {
    /// The signals.
    #[serde(flatten)]
    pub signals: BenchSignals,
    /// State of the relay of a demo; null on a clock that is not a demo.
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
    /// Numbers of the pressed buttons; the first is 1.
    pub buttons: Vec<u8>,
    /// Ambient light, lux; null without a sensor.
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
    /// Name of the network.
    pub ssid: String,
    /// Password of the network.
    pub password: String,
    /// Address of the DNS server as `ADDRESS:PORT`, while it runs.
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
    /// Whether the busy line is high.
    pub busy: bool,
    /// Fault of the panel.
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
    /// The panel stays busy.
    BusyStuck,
}

/// State of the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum PowerState {
    /// The power is on.
    On,
    /// The power is about to be cut.
    Cycling,
}

/// State of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum BenchLink {
    /// The network is connected.
    Up,
    /// The network is disconnected.
    Down,
}

/// State of the relay of a demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum DemoRelayState {
    /// The relay responds.
    There,
    /// The relay does not respond.
    Gone,
}

/// Buttons to press together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ButtonPress {
    /// Numbers of the buttons; the first is 1.
    #[schemars(inner(range(min = 1, max = 4)))]
    pub press: Vec<WholeNumber>,
    /// Duration of the press, ms.
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
    /// The light, lux; null removes the sensor.
    #[serde(deserialize_with = "present")]
    #[schemars(schema_with = "lux")]
    pub lux: Option<f64>,
}

/// Parses a required member that may be null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(deserializer)
}

fn lux(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "null"], "minimum": 0, "maximum": LUX_MAX })
}

/// Connects or disconnects the simulated network.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LinkChange {
    /// The new state.
    pub link: BenchLink,
}

/// Cuts the simulated power and restores it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PowerChange {
    /// The event.
    pub action: PowerAction,
    /// Numbers of the buttons that are held from power-on; the first is 1.
    #[serde(default)]
    #[schemars(inner(range(min = 1, max = 4)))]
    pub hold: Vec<WholeNumber>,
    /// Duration of the press, ms.
    #[serde(default = "no_time")]
    #[schemars(range(max = 60_000))]
    pub ms: WholeNumber,
}

fn no_time() -> WholeNumber {
    WholeNumber(0)
}

/// A change of the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_words)]
pub enum PowerAction {
    /// The power is cut and restored.
    Cycle,
}

/// Breaks or repairs a panel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PanelFaultChange {
    /// Index of the panel, from 0.
    pub panel: WholeNumber,
    /// The new fault of the panel.
    pub fault: SimFault,
}

/// Simulates an event of the market.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MarketEvent {
    /// The event.
    pub event: MarketEventKind,
}

/// An event of the market.
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
    /// The relay of a demo disconnects.
    RelayGone,
    /// The relay connects again.
    RelayBack,
}
