//! The read model: one snapshot that all documents for clients are built from.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};

use market::{MarkReasons, Market, offer::Offer, source_id::SourceId, units::Currency};

use crate::{
    board::BoardSpec,
    displays::DisplayState,
    event_log::EventLog,
    glass::Glass,
    history::History,
    host::HostFacts,
    lights::{Rgb, strip::MuteReason},
    releases::Releases,
    screens::no_data::Silence,
    settings::RunningSettings,
    sources::Truth,
    spoken::Sentence,
};

pub use crate::{lights::frontlight::FrontlightState, network::LinkState};
pub use market::SourceState;

/// One snapshot of the device.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The board.
    pub board: BoardSpec,
    /// The panels, without passwords.
    pub glass: Glass,
    /// Facts about the host.
    pub host: HostFacts,
    /// The settings.
    pub settings: RunningSettings,
    /// Host name, without a domain.
    pub hostname: String,
    /// Id of the current screen of the rotation, even if another layer covers it.
    pub current_screen: u16,
    /// Currency of the current screen, if it has one.
    pub currency: Option<Currency>,
    /// Text of the newest picture, one per panel.
    pub data: Vec<String>,
    /// The newest picture as a sentence, for screen readers.
    pub sentence: Sentence,
    /// A value on the glass is older than its source's limit.
    pub stale: bool,
    /// Sources disagree about a value on the glass.
    pub disputed: bool,
    /// The visible layer: `rotation`, `splash`, `safe-mode`, `sign-in`, `custom`, `zap`, `payment`, `debug`, `update`,
    /// `portal`, `erasing`.
    pub mode: &'static str,
    /// What is known of releases.
    pub releases: Releases,
    /// Currencies that can be chosen.
    pub offer: Offer,
    /// Latest of all observations.
    pub market: Arc<Market>,
    /// Why values are marked, besides their age.
    pub mark_reasons: MarkReasons,
    /// Why neither chain nor prices were ever received. `None` if either was.
    pub silence: Option<Silence>,
    /// Verdicts about the values.
    pub truth: Truth,
    /// State of each source that runs or ran.
    pub sources: BTreeMap<SourceId, SourceState>,
    /// State of the time server. `None` before the first query.
    pub time_server: Option<SourceState>,
    /// State of the connection to the owner's broker. `None` if it is switched off.
    pub mqtt: Option<SourceState>,
    /// Recent events.
    pub event_log: EventLog,
    /// Do Not Disturb is active.
    pub dnd_active: bool,
    /// Resting colours of the strip, before brightness.
    pub lights: Vec<Rgb>,
    /// Why the strip is muted. `None` if it is not.
    pub strip_mute: Option<MuteReason>,
    /// Effects of the strip that were dropped since the start because its queue was full.
    pub strip_drops: u64,
    /// The frontlight, on boards with one.
    pub frontlight: Option<FrontlightState>,
    /// Ambient light, thousandths of a lux. `None` without a working sensor.
    pub millilux: Option<u32>,
    /// The network.
    pub link: LinkState,
    /// Current problems, as texts for people.
    pub notes: Vec<String>,
    /// Why the device runs without its sources, as a text for people. `None` if it runs normally.
    pub safe_mode: Option<String>,
    /// How the values have moved.
    pub history: Arc<History>,
    /// The remote displays.
    pub displays: Arc<Vec<DisplayState>>,
    /// Ids of approved remote displays that were removed since the start.
    pub former_displays: Vec<String>,
    /// The panels show a password until a client has signed in.
    pub shows_password: bool,
}
