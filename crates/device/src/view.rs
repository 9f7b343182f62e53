//! The read model: one snapshot behind everything a client can read.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    board::BoardSpec,
    cells,
    device::Device,
    lights::{Rgb, strip::Mute},
    market::{Connection, Market},
    overlays::{Layer, Overlay},
    screens::catalog,
    settings::Settings,
    sources::{ByHand, SourceId},
    units::Currency,
};

/// One snapshot of the device.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The board.
    pub board: BoardSpec,
    /// Settings as stored.
    pub settings: Arc<Settings>,
    /// Settings the device runs on.
    pub active: Arc<Settings>,
    /// Host name, without a domain.
    pub hostname: String,
    /// Id of the current screen; that of the rotation, whatever covers it.
    pub current_screen: u16,
    /// Currency of the current screen, where it has one.
    pub currency: Option<Currency>,
    /// Text of the newest picture, one per panel.
    pub data: Vec<String>,
    /// A value on the glass is older than its source's limit.
    pub stale: bool,
    /// What is visible: `rotation`, `splash`, `safe-mode`, `sign-in`, `custom`, `zap`, `payment`, `debug`, `update`, `portal`,
    /// `erasing`.
    pub mode: &'static str,
    /// The rotation timer runs.
    pub timer_running: bool,
    /// An update is under way.
    pub updating: bool,
    /// White on black.
    pub inverted: bool,
    /// Screens in rotation order, available or not.
    pub screens: Vec<ScreenState>,
    /// Currencies that can be chosen.
    pub available_currencies: Vec<Currency>,
    /// Latest of all observations.
    pub market: Market,
    /// State of each source that runs or ran.
    pub sources: BTreeMap<SourceId, SourceState>,
    /// State of the time server; none before it was asked.
    pub time_server: Option<SourceState>,
    /// Do Not Disturb is active.
    pub dnd_active: bool,
    /// Resting colours of the strip, before brightness.
    pub lights: Vec<Rgb>,
    /// Why the strip is muted; none if it is not.
    pub strip_mute: Option<Mute>,
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

/// A screen as the settings list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenState {
    /// Id of the screen.
    pub id: u16,
    /// Name of the screen.
    pub name: &'static str,
    /// Rotation shows it.
    pub enabled: bool,
    /// Its feature is on.
    pub available: bool,
}

/// State of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceState {
    /// A frame was understood on this connection, or the last poll answered.
    pub up: bool,
    /// Uptime at which it last said something of use.
    pub last_success: Option<Duration>,
    /// Why it is down, in words fit for people.
    pub last_error: Option<String>,
    /// Uptime of the next attempt.
    pub next_try: Option<Duration>,
    /// How much of what it sent was dropped, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// State of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontlightState {
    /// It is on, or on its way.
    pub on: bool,
    /// Duty per panel, 0..=4095.
    pub duties: Vec<u16>,
    /// Duty it is going to.
    pub target: u16,
    /// Duty of full brightness.
    pub brightness: u16,
}

/// State of the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkState {
    /// Word for the state: `idle`, `connecting`, `connected`, `disconnected`, `access-point`.
    pub state: &'static str,
    /// The clock manages a radio; otherwise it uses the network of its host.
    pub managed: bool,
    /// Address of the portal, with its port where that is not the usual one; none while there is no access point.
    /// While there is one, only the portal is served.
    pub portal: Option<String>,
    /// Address; empty if there is none.
    pub ip: String,
    /// Name of the network; empty on a wire.
    pub ssid: String,
    /// Strength of the signal, dBm; 0 when not joined.
    pub rssi: i32,
    /// Transmit power the radio says it uses, quarter-dBm.
    pub tx_power: Option<i32>,
    /// Word for what went wrong last; none while joined.
    pub failure: Option<&'static str>,
    /// Uptime since which the state holds.
    pub since: Duration,
    /// Host name under which it is found on the local network, without a domain; none while it is not announced.
    pub announced: Option<String>,
}

impl SourceState {
    /// Takes note that there is no network to reach it by.
    pub(crate) fn lose_network(&mut self) {
        self.up = false;
        self.last_error = Some("no network".into());
        self.next_try = None;
    }

    /// Takes note of what was dropped.
    pub(crate) fn drop(&mut self, reason: &'static str, count: u32) {
        let dropped = self.dropped.entry(reason).or_default();
        *dropped = dropped.saturating_add(count.into());
    }

    /// Takes note of the state of the connection.
    pub(crate) fn follow(&mut self, connection: Connection, uptime: Duration) {
        match connection {
            Connection::Connecting => {
                self.up = false;
                self.next_try = None;
            }
            Connection::Up => {
                self.up = true;
                self.last_error = None;
                self.next_try = None;
            }
            Connection::Down { reason, retry_in } => {
                self.up = false;
                self.last_error = Some(reason);
                self.next_try = Some(uptime + retry_in);
            }
        }
    }
}

impl Device {
    /// One snapshot of the device.
    pub fn view(&self) -> View {
        let settings = &self.stored;
        View {
            board: self.board,
            settings: settings.clone(),
            active: self.active.clone(),
            hostname: self.link.hostname(&self.active),
            current_screen: self.rotation.slot().screen,
            currency: self.rotation.slot().currency,
            data: cells::mirror(&self.panels.picture().cells),
            stale: self.panels.picture().stale,
            mode: self.mode(),
            timer_running: self.active.timer_active,
            updating: self.overlays.has(Layer::Update),
            inverted: self.active.inverted_color,
            screens: settings
                .rotation_order()
                .into_iter()
                .filter_map(catalog::find)
                .map(|screen| ScreenState {
                    id: screen.id,
                    name: screen.name,
                    enabled: settings.is_screen_enabled(screen.id),
                    available: settings.is_screen_available(screen.id),
                })
                .collect(),
            available_currencies: self.offer.currencies().to_vec(),
            market: self.market.clone(),
            sources: self.source_states(),
            time_server: self.time_server.clone(),
            dnd_active: self.lights.is_quiet(),
            lights: self.lights.resting().to_vec(),
            strip_mute: self.lights.mute(&self.active),
            strip_drops: self.lights.dropped(),
            frontlight: self.lights.frontlight(self.now.uptime),
            millilux: self.lights.millilux(),
            link: self.link.state(),
            notes: self.told_notes(),
            safe_mode: self.power.safe_mode.clone(),
            shows_password: self.made_password.is_some(),
        }
    }

    /// States of the sources that the settings ask for; one that does not run is not up.
    fn source_states(&self) -> BTreeMap<SourceId, SourceState> {
        let running = self.planned_sources();
        let asked_for = if running.is_empty() {
            &self.plan_of(ByHand::default())
        } else {
            &running
        };
        let asked = self
            .sources
            .iter()
            .filter(|(id, _)| asked_for.contains_key(id));
        asked
            .map(|(id, state)| {
                let mut state = state.clone();
                if !running.contains_key(id) {
                    state.up = false;
                    state.next_try = None;
                }
                (*id, state)
            })
            .collect()
    }

    /// What went wrong, and what still does.
    fn told_notes(&self) -> Vec<String> {
        let unstored = self.unstored.as_ref();
        let unstored = unstored.map(|reason| format!("nothing can be stored: {reason}"));
        self.notes.iter().cloned().chain(unstored).collect()
    }

    fn mode(&self) -> &'static str {
        match self.top() {
            Layer::Rotation => "rotation",
            Layer::Splash => "splash",
            Layer::SafeMode => "safe-mode",
            Layer::SignIn => "sign-in",
            Layer::Custom => "custom",
            Layer::Notice => match self.overlays.on(Layer::Notice) {
                Some((Overlay::Payment(_), _)) => "payment",
                Some(_) | None => "zap",
            },
            Layer::Debug => "debug",
            Layer::Update => "update",
            Layer::Portal => "portal",
            Layer::Erasing => "erasing",
        }
    }
}
