//! The read model: one snapshot behind everything a client can read.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};

use market::{Market, source_id::SourceId, units::Currency};

use crate::{
    board::BoardSpec,
    happenings::Happenings,
    lights::{Rgb, strip::MuteReason},
    releases::Releases,
    settings::Settings,
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
    /// Settings as stored.
    pub settings: Arc<Settings>,
    /// Settings the device runs on.
    pub active: Arc<Settings>,
    /// Names of the settings that are stored, and taken at the next start alone.
    pub restart_for: Vec<&'static str>,
    /// Host name, without a domain.
    pub hostname: String,
    /// Id of the current screen; that of the rotation, whatever covers it.
    pub current_screen: u16,
    /// Currency of the current screen, where it has one.
    pub currency: Option<Currency>,
    /// Text of the newest picture, one per panel.
    pub data: Vec<String>,
    /// What the newest picture shows, in a sentence for people who listen.
    pub says: Sentence,
    /// A value on the glass is older than its source's limit.
    pub stale: bool,
    /// Sources disagree about a value on the glass.
    pub disputed: bool,
    /// What is visible: `rotation`, `splash`, `safe-mode`, `sign-in`, `custom`, `zap`, `payment`, `debug`, `update`, `portal`,
    /// `erasing`.
    pub mode: &'static str,
    /// The rotation timer runs.
    pub timer_running: bool,
    /// An update is under way.
    pub updating: bool,
    /// How much of it has come, percent.
    pub updated_percent: u8,
    /// What is known of releases.
    pub releases: Releases,
    /// White on black.
    pub inverted: bool,
    /// Currencies that can be chosen.
    pub available_currencies: Vec<Currency>,
    /// Currencies that were among them since the start, and are not any more.
    pub former_currencies: Vec<Currency>,
    /// Latest of all observations.
    pub market: Arc<Market>,
    /// How true the values are.
    pub truth: Truth,
    /// State of each source that runs or ran.
    pub sources: BTreeMap<SourceId, SourceState>,
    /// State of the time server; none before it was asked.
    pub time_server: Option<SourceState>,
    /// State of the connection to the owner's broker; none while the settings want none.
    pub mqtt: Option<SourceState>,
    /// What happened lately.
    pub happenings: Happenings,
    /// Do Not Disturb is active.
    pub dnd_active: bool,
    /// Resting colours of the strip, before brightness.
    pub lights: Vec<Rgb>,
    /// Why the strip is muted; none if it is not.
    pub strip_mute: Option<MuteReason>,
    /// Effects of the strip that found its queue full since the start.
    pub strip_drops: u64,
    /// The frontlight, on boards with one.
    pub frontlight: Option<FrontlightState>,
    /// Light in the room, thousandths of a lux; none without a sensor that answers.
    pub millilux: Option<u32>,
    /// The network.
    pub link: LinkState,
    /// What went wrong, in words fit for people.
    pub notes: Vec<String>,
    /// Why the device runs without its sources, in words fit for people; none if it runs as usual.
    pub safe_mode: Option<String>,
    /// The glass shows a password until somebody has signed in.
    pub shows_password: bool,
}
