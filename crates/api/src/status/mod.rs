//! The status document, made from one [`View`].

mod doubt;
mod lights;
mod parts;
mod system;
mod truth;
pub(crate) mod values;
mod widget;

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use device::{
    displays::DisplayState,
    glass::Layer,
    lights::{frontlight::DUTY_MAX, strip::MuteReason},
    settings::emit::lux,
    view::{SourceState, View},
};
use market::{now::UtcTime, source_id::SourceId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::Word;

pub use lights::{DndStatus, FrontlightDuties, FrontlightStatus, Led, leds};
pub use parts::{
    Connections, LinkStatus, PanelFailure, PanelRefreshes, PanelStatus, Phrase, PhraseValue,
    SourceStatus,
};
pub use system::{
    DiskSpace, FirmwareStatus, FoundRelease, MemoryStatus, QueueDrops, ReleaseStatus, SystemStatus,
};
pub use truth::{
    ClaimedHeight, FeeStatus, HeightStatus, PriceQuote, PriceQuotes, PriceStatus, ProvenHeight,
    TimeStatus, TruthStatus,
};
pub use values::{FigureValues, MarketStatus, MarketValue, Quantity};
pub use widget::{Widget, WidgetItem};

/// Facts of the status that the view does not have.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Time since the device started.
    pub uptime: Duration,
    /// Wall clock, once it is plausible.
    pub utc: Option<UtcTime>,
    /// Memory of the host.
    pub memory: HostMemory,
    /// The panels, leftmost first.
    pub panels: Vec<PanelStatus>,
    /// The owner's proxy; `None` if no proxy is in use.
    pub proxy: Option<SourceState>,
    /// Version of the settings.
    pub settings_tag: String,
}

/// Memory of the host, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostMemory {
    /// All memory.
    pub total: u64,
    /// Available memory.
    pub free: u64,
    /// Lowest available memory since the start.
    pub least_free: u64,
    /// All additional memory, such as swap.
    pub more_total: u64,
    /// Free additional memory.
    pub more_free: u64,
    /// Lowest free additional memory since the start.
    pub least_more_free: u64,
}

/// The status of the clock.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What HTTP and MQTT have in common.
    #[serde(flatten)]
    pub clock: ClockStatus,
    /// The newest values.
    pub market: MarketStatus,
    /// The newest values of the owner's mining pool, miner and wallet.
    pub figures: FigureValues,
    /// Quality of the values.
    pub truth: TruthStatus,
    /// Why the clock is in safe mode, without its sources, as a text for people; null if it is not.
    pub safe_mode: Option<String>,
    /// The network.
    pub link: LinkStatus,
    /// Remote displays that wait for approval: their names, or their ids.
    pub displays_waiting: Vec<String>,
    /// Version of the settings document.
    pub settings_tag: String,
    /// Time since the start, s.
    pub esp_uptime: u64,
    /// Memory of the host.
    #[serde(flatten)]
    pub memory: MemoryStatus,
    /// The panels, leftmost first.
    pub panels: Vec<PanelStatus>,
    /// The sources that should run, by name.
    #[schemars(with = "BTreeMap<String, SourceStatus>")]
    pub sources: BTreeMap<Word<SourceId>, SourceStatus>,
    /// The time server; null before the first query.
    pub time_server: Option<SourceStatus>,
    /// The owner's MQTT broker; null if the settings want none.
    pub mqtt: Option<SourceStatus>,
    /// The owner's proxy; null if no proxy is in use.
    pub proxy: Option<SourceStatus>,
}

/// The part of the status that HTTP and MQTT have in common. The passage of time alone does not change it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockStatus {
    /// Id of the current screen of the rotation, even if a layer covers it.
    pub current_screen: u16,
    /// Number of panels.
    pub num_screens: usize,
    /// Whether the rotation timer runs.
    pub timer_running: bool,
    /// Whether an update is being installed.
    #[serde(rename = "isOTAUpdating")]
    pub is_updating: bool,
    /// White on black.
    pub epd_inverted: bool,
    /// Which connections are up, in groups.
    pub connection_status: Connections,
    /// Strength of the radio signal, dBm; 0 without a radio.
    pub rssi: i32,
    /// Currency of the current screen; empty if it has none.
    pub currency: String,
    /// Texts on the panels, leftmost first.
    pub data: Vec<String>,
    /// What the panels show, as a sentence in English.
    pub says: String,
    /// The same sentence in its parts.
    pub phrase: Phrase,
    /// Do Not Disturb.
    pub dnd: DndStatus,
    /// Ambient light, lux; absent without a working sensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0))]
    pub light_level: Option<f64>,
    /// Colours of the LEDs, leftmost first, before brightness.
    pub leds: Vec<Led>,
    /// Why the LEDs are muted; null if they are not.
    pub leds_muted: Option<Word<MuteReason>>,
    /// The frontlight; absent on boards without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FrontlightStatus")]
    pub frontlight: Option<FrontlightStatus>,
    /// Duty of each frontlight channel; absent on boards without a frontlight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<u16>", inner(range(max = DUTY_MAX)))]
    pub fl_status: Option<Vec<u16>>,
    /// What is visible, such as `rotation`, `zap` or `update`.
    pub mode: &'static str,
    /// Whether a value on the panels is older than the limit of its source.
    pub stale: bool,
    /// Whether sources disagree about a value on the panels.
    pub disputed: bool,
    /// Changed settings that take effect at the next start.
    pub restart_for: Vec<&'static str>,
    /// Panels with a fault; they show an older picture than the others.
    pub panel_faults: Vec<PanelFailure>,
    /// Problems, as texts for people.
    pub notes: Vec<String>,
}

/// Names of the displays that wait for approval, or their ids.
fn displays_waiting(view: &View) -> Vec<String> {
    let waiting = view.displays.iter().filter(|state| !state.is_approved);
    let name = |state: &DisplayState| match state.display.name.as_str() {
        "" => state.display.id.clone(),
        name => name.to_owned(),
    };
    waiting.map(name).collect()
}

impl Status {
    /// The status of a view.
    pub fn of(view: &View, surroundings: &Surroundings) -> Status {
        let uptime = surroundings.uptime;
        let source = |state: &SourceState| SourceStatus::of(state, uptime);
        let sources = view.sources.iter();
        let market = MarketStatus::of(view, uptime);
        let mut truth = TruthStatus::of(view, surroundings);
        doubt::explain(&mut truth, &market);
        Status {
            clock: ClockStatus::of(view, &surroundings.panels),
            market,
            figures: FigureValues::of(view, uptime),
            truth,
            safe_mode: view.safe_mode.clone(),
            link: LinkStatus::from(&view.link),
            displays_waiting: displays_waiting(view),
            settings_tag: surroundings.settings_tag.clone(),
            esp_uptime: uptime.as_secs(),
            memory: surroundings.memory.into(),
            panels: surroundings.panels.clone(),
            sources: sources
                .map(|(id, state)| (Word(*id), source(state)))
                .collect(),
            time_server: view.time_server.as_ref().map(source),
            mqtt: view.mqtt.as_ref().map(source),
            proxy: surroundings.proxy.as_ref().map(source),
        }
    }
}

impl ClockStatus {
    /// The common part of the status of a view.
    pub fn of(view: &View, panels: &[PanelStatus]) -> ClockStatus {
        let currency = view.currency.as_ref().map(|currency| currency.code());
        let frontlight = view.frontlight.as_ref();
        ClockStatus {
            current_screen: view.current_screen,
            num_screens: view.board.panels,
            timer_running: view.settings.active.timer_active,
            is_updating: view.glass.has(Layer::Update),
            epd_inverted: view.settings.active.inverted_color,
            connection_status: Connections::of(view),
            rssi: view.link.rssi,
            currency: currency.unwrap_or_default().to_owned(),
            data: view.data.clone(),
            says: view.sentence.to_string(),
            phrase: Phrase::from(&view.sentence),
            dnd: DndStatus::of(view),
            light_level: view.millilux.map(lux),
            leds: leds(&view.lights),
            leds_muted: view.strip_mute.map(Word),
            frontlight: frontlight.map(FrontlightStatus::from),
            fl_status: frontlight.map(|frontlight| frontlight.duties.clone()),
            mode: view.mode,
            stale: view.stale,
            disputed: view.disputed,
            restart_for: view.settings.pending_restart(),
            panel_faults: PanelFailure::all(panels),
            notes: view.notes.clone(),
        }
    }
}
