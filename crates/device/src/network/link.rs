//! State machine of the network: it follows the events of the radio and plans what the radio should do.
//!
//! A *managed* radio joins the stored network; it becomes an access point with a portal if that fails or no network is
//! stored. Without a managed radio the network of the host is used as it is.
//! `portal` makes name and password of the access point.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use super::portal;
use crate::{
    input::{LinkEvent, LinkFailure},
    limits::{FALLBACK_GRACE, JOIN_MAX, JOIN_RETRY, PORTAL_TRY_MAX},
    output::{AccessPoint, Advert, RebootReason, WifiPlan},
    secret::Secret,
    settings::Settings,
};

/// State of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkLink {
    state: LinkPhase,
    since: Duration,
    /// Whether the clock manages a radio. `None` until that is known.
    managed: Option<bool>,
    has_credentials: bool,
    /// There was an address since the start.
    was_connected: bool,
    /// Uptime of the first attempt to join.
    first_attempt: Option<Duration>,
    attempts: u64,
    /// Start of the current outage.
    away_since: Option<Duration>,
    /// Uptime since which the access point is up.
    portal_since: Option<Duration>,
    /// While the access point is up: uptime at which the stored network was last found missing.
    missed_at: Option<Duration>,
    /// A restart was requested; nothing else is due.
    over: bool,
    ip: String,
    ssid: Option<String>,
    rssi: i32,
    tx_power: Option<i32>,
    failure: Option<LinkFailure>,
    /// `None` until the driver has reported it.
    suffix: Option<String>,
    /// Requested host name, and the one in use on the network.
    announced: Option<(String, String)>,
    password: Secret,
    /// No panels can show the password.
    is_password_unseen: bool,
    portal_address: String,
}

/// Phase of the connection to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkPhase {
    /// Nothing was tried.
    Idle,
    /// The stored network is being joined.
    Connecting,
    /// Credentials from the portal are being tried; the access point stays up.
    Trying,
    /// There is an address.
    Connected,
    /// There is no address.
    Disconnected,
    /// The access point is up.
    AccessPoint,
}

/// State of the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkState {
    /// Word for the state: `idle`, `connecting`, `connected`, `disconnected`, `access-point`.
    pub state: &'static str,
    /// The clock manages a radio; otherwise it uses the network of its host.
    pub managed: bool,
    /// Address of the portal, with its port if that is not 80. `None` without an access point. While it is up, only the
    /// portal is served.
    pub portal: Option<String>,
    /// The access point is up and has no password.
    pub is_open: bool,
    /// Address; empty if there is none.
    pub ip: String,
    /// Name of the network; empty on a wire.
    pub ssid: String,
    /// Strength of the signal, dBm; 0 when not joined.
    pub rssi: i32,
    /// Transmit power in effect, quarter-dBm.
    pub tx_power: Option<i32>,
    /// Word for the last failure. `None` while joined.
    pub failure: Option<&'static str>,
    /// Uptime since which the state holds.
    pub since: Duration,
    /// Host name in use on the local network, without a domain. `None` if it is not announced.
    pub announced: Option<String>,
}

/// What the device must do after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkNews {
    /// Nothing.
    None,
    /// There is an address for the first time since the start.
    FirstAddress,
    /// Credentials were stored.
    Provisioned,
}

impl Default for NetworkLink {
    fn default() -> NetworkLink {
        NetworkLink {
            state: LinkPhase::Idle,
            since: Duration::ZERO,
            managed: None,
            has_credentials: false,
            was_connected: false,
            first_attempt: None,
            attempts: 0,
            away_since: None,
            portal_since: None,
            missed_at: None,
            over: false,
            ip: String::new(),
            ssid: None,
            rssi: 0,
            tx_power: None,
            failure: None,
            suffix: None,
            announced: None,
            password: Secret::default(),
            is_password_unseen: false,
            portal_address: portal::ADDRESS.into(),
        }
    }
}

impl NetworkLink {
    /// Applies an event.
    pub fn apply(&mut self, event: LinkEvent, uptime: Duration) -> LinkNews {
        match event {
            LinkEvent::Identity { suffix, password } => {
                self.suffix = Some(suffix);
                self.password = password;
            }
            LinkEvent::Announced { asked, name } => {
                self.announced = name.map(|name| (asked, name));
            }
            LinkEvent::Unmanaged => self.managed = Some(false),
            LinkEvent::PasswordUnseen => self.is_password_unseen = true,
            LinkEvent::Credentials(there) => self.begin(there, uptime),
            LinkEvent::Up { ip, ssid } => return self.up(ip, ssid, uptime),
            LinkEvent::Down(failure) => self.down(failure, uptime),
            LinkEvent::Rssi(dbm) => self.rssi = dbm,
            LinkEvent::TxPower(quarter_dbm) => self.tx_power = Some(quarter_dbm),
            LinkEvent::Portal { address } => self.portal_address = address,
            LinkEvent::Trying => {
                if self.state == LinkPhase::AccessPoint {
                    self.enter(LinkPhase::Trying, uptime);
                }
            }
            LinkEvent::Refused(failure) => {
                if self.state == LinkPhase::Trying {
                    self.failure = Some(failure);
                    self.enter(LinkPhase::AccessPoint, uptime);
                }
            }
            LinkEvent::Provisioned => {
                self.has_credentials = true;
                self.over = true;
                return LinkNews::Provisioned;
            }
        }
        LinkNews::None
    }

    /// Handles everything that is due by this uptime. Returns a reason to restart once.
    pub fn advance(&mut self, settings: &Settings, uptime: Duration) -> Option<RebootReason> {
        let due = |deadline: Option<Duration>| deadline.is_some_and(|at| at <= uptime);
        if due(self.guard_deadline(settings)) {
            self.over = true;
            return Some(RebootReason::NoNetwork);
        }
        if due(self.portal_deadline(settings)) {
            self.over = true;
            return Some(RebootReason::PortalTimeout);
        }
        if due(self.fallback_deadline()) {
            self.open_portal(uptime);
        }
        if due(self.patience_deadline()) {
            match self.state {
                LinkPhase::Trying => self.enter(LinkPhase::AccessPoint, uptime),
                LinkPhase::Idle
                | LinkPhase::Connecting
                | LinkPhase::Connected
                | LinkPhase::Disconnected
                | LinkPhase::AccessPoint => self.down(LinkFailure::Timeout, uptime),
            }
        }
        if due(self.retry_deadline()) {
            self.attempt(uptime);
            // While the access point is up, no timeout runs for the attempt; one without a result counts as a failure
            // after this time.
            self.missed_at = self.is_portal().then_some(uptime + JOIN_MAX);
        }
        None
    }

    /// Uptime of the next deadline.
    pub fn next_deadline(&self, settings: &Settings) -> Option<Duration> {
        [
            self.guard_deadline(settings),
            self.portal_deadline(settings),
            self.fallback_deadline(),
            self.patience_deadline(),
            self.retry_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// What the radio should do.
    pub fn plan(&self, settings: &Settings) -> WifiPlan {
        WifiPlan {
            attempts: self.attempts,
            access_point: self.is_portal().then(|| AccessPoint {
                ssid: portal::ssid(self.suffix()),
                password: if self.is_open() { Secret::default() } else { self.password.clone() },
            }),
            tx_power: settings.tx_power,
        }
    }

    /// Host name in use, without a domain; the configured one until it is announced.
    pub fn hostname(&self, settings: &Settings) -> String {
        let own = settings.hostname(self.suffix());
        match &self.announced {
            Some((asked, name)) if *asked == own => name.clone(),
            Some(_) | None => own,
        }
    }

    /// What to announce. `None` before the identity is known and while the access point is up.
    pub fn advert(&self, settings: &Settings) -> Option<Advert> {
        let announces = settings.mdns_enabled && !self.is_portal();
        let suffix = self.suffix.as_ref().filter(|_| announces)?;
        Some(Advert {
            hostname: settings.hostname(suffix),
        })
    }

    /// Host name by the settings, even if another device uses it. `None` before the identity is known.
    pub fn own_hostname(&self, settings: &Settings) -> Option<String> {
        let suffix = self.suffix.as_ref()?;
        Some(settings.hostname(suffix))
    }

    /// The access point is up.
    pub fn is_portal(&self) -> bool {
        match self.state {
            LinkPhase::AccessPoint | LinkPhase::Trying => true,
            LinkPhase::Idle
            | LinkPhase::Connecting
            | LinkPhase::Connected
            | LinkPhase::Disconnected => false,
        }
    }

    /// The access point is up without a password. Strangers could otherwise change the network of a clock that has one.
    fn is_open(&self) -> bool {
        // Until the restart after credentials were stored, the page that tells so stays in reach.
        let is_new = !self.has_credentials || self.over;
        self.is_portal() && self.is_password_unseen && is_new
    }

    /// The stored network is being joined for the first time since the start.
    pub fn is_joining(&self) -> bool {
        let joins = matches!(self.state, LinkPhase::Connecting | LinkPhase::Disconnected);
        joins && self.managed == Some(true) && !self.was_connected
    }

    /// There was a network, but it is gone.
    pub fn is_lost(&self) -> bool {
        match self.state {
            LinkPhase::Disconnected | LinkPhase::Connecting => {
                self.was_connected || self.managed == Some(false)
            }
            LinkPhase::Idle | LinkPhase::Trying | LinkPhase::Connected | LinkPhase::AccessPoint => {
                false
            }
        }
    }

    /// There is a network, or its state is not known yet.
    pub fn is_usable(&self) -> bool {
        matches!(self.state, LinkPhase::Idle | LinkPhase::Connected)
    }

    /// Address; empty if there is none.
    pub fn ip(&self) -> &str {
        &self.ip
    }

    /// Name of the network; empty on a wire.
    pub fn ssid(&self) -> &str {
        self.ssid.as_deref().unwrap_or_default()
    }

    /// Address of the portal, with its port if that is not 80.
    pub fn portal_address(&self) -> &str {
        &self.portal_address
    }

    /// State for clients.
    pub fn state(&self) -> LinkState {
        LinkState {
            state: match self.state {
                LinkPhase::Idle => "idle",
                LinkPhase::Connecting | LinkPhase::Trying => "connecting",
                LinkPhase::Connected => "connected",
                LinkPhase::Disconnected => "disconnected",
                LinkPhase::AccessPoint => "access-point",
            },
            managed: self.managed == Some(true),
            portal: self.is_portal().then(|| self.portal_address.clone()),
            is_open: self.is_open(),
            ip: self.ip.clone(),
            ssid: self.ssid().into(),
            rssi: self.rssi,
            tx_power: self.tx_power,
            failure: self.failure.map(LinkFailure::name),
            since: self.since,
            announced: self.announced.as_ref().map(|(_, name)| name.clone()),
        }
    }

    fn suffix(&self) -> &str {
        self.suffix.as_deref().unwrap_or("000000")
    }

    fn begin(&mut self, has_credentials: bool, uptime: Duration) {
        self.managed = Some(true);
        self.has_credentials = has_credentials;
        if self.state != LinkPhase::Idle {
            return;
        }
        if has_credentials {
            self.attempt(uptime);
        } else {
            self.open_portal(uptime);
        }
    }

    fn up(&mut self, ip: String, ssid: Option<String>, uptime: Duration) -> LinkNews {
        // Credentials that are being tried are not stored yet, so this address does not count.
        if self.state == LinkPhase::Trying {
            return LinkNews::None;
        }
        self.enter(LinkPhase::Connected, uptime);
        self.ip = ip;
        self.ssid = ssid;
        self.failure = None;
        self.away_since = None;
        self.portal_since = None;
        self.missed_at = None;
        if core::mem::replace(&mut self.was_connected, true) {
            LinkNews::None
        } else {
            LinkNews::FirstAddress
        }
    }

    fn down(&mut self, failure: LinkFailure, uptime: Duration) {
        if self.is_portal() {
            self.missed_at = self.has_credentials.then_some(uptime);
            return;
        }
        self.failure = Some(failure);
        self.ip.clear();
        self.ssid = None;
        self.rssi = 0;
        self.away_since.get_or_insert(uptime);
        // Entered again on every failed attempt, so that the pause counts from the last failure.
        self.state = LinkPhase::Disconnected;
        self.since = uptime;
    }

    fn attempt(&mut self, uptime: Duration) {
        self.attempts += 1;
        self.first_attempt.get_or_insert(uptime);
        if !self.is_portal() {
            self.away_since.get_or_insert(uptime);
            self.enter(LinkPhase::Connecting, uptime);
        }
    }

    fn open_portal(&mut self, uptime: Duration) {
        self.ip.clear();
        self.rssi = 0;
        self.away_since = None;
        self.portal_since = Some(uptime);
        self.missed_at = self.has_credentials.then_some(uptime);
        self.enter(LinkPhase::AccessPoint, uptime);
    }

    fn enter(&mut self, state: LinkPhase, uptime: Duration) {
        if self.state != state {
            self.state = state;
            self.since = uptime;
        }
    }

    /// Filters a deadline: after a requested restart none counts.
    fn live<T>(&self, deadline: Option<T>) -> Option<T> {
        deadline.filter(|_| !self.over)
    }

    /// The network was away for too long.
    fn guard_deadline(&self, settings: &Settings) -> Option<Duration> {
        let minutes = u64::from(settings.wifi_reboot_min);
        let away = self.away_since.filter(|_| minutes != 0)?;
        self.live(Some(away + Duration::from_secs(minutes * 60)))
    }

    /// The access point was up for too long on a clock that was provisioned before.
    fn portal_deadline(&self, settings: &Settings) -> Option<Duration> {
        let seconds = u64::from(settings.wp_timeout);
        let since = self.portal_since.filter(|_| {
            // A running attempt is not interrupted.
            seconds != 0 && settings.wifi_configured && self.state != LinkPhase::Trying
        })?;
        self.live(Some(since + Duration::from_secs(seconds)))
    }

    /// The stored network was not found since the start.
    fn fallback_deadline(&self) -> Option<Duration> {
        let waits = matches!(self.state, LinkPhase::Connecting | LinkPhase::Disconnected);
        let first = self
            .first_attempt
            .filter(|_| waits && !self.was_connected && self.managed == Some(true))?;
        self.live(Some(first + FALLBACK_GRACE))
    }

    /// Timeout of an attempt whose result the radio does not report.
    fn patience_deadline(&self) -> Option<Duration> {
        let patience = match self.state {
            LinkPhase::Connecting => JOIN_MAX,
            LinkPhase::Trying => PORTAL_TRY_MAX,
            LinkPhase::Idle
            | LinkPhase::Connected
            | LinkPhase::Disconnected
            | LinkPhase::AccessPoint => {
                return None;
            }
        };
        self.live(Some(self.since + patience))
    }

    /// Next attempt to join.
    fn retry_deadline(&self) -> Option<Duration> {
        let failed = match self.state {
            LinkPhase::Disconnected => (self.managed == Some(true)).then_some(self.since),
            LinkPhase::AccessPoint => self.missed_at,
            LinkPhase::Idle | LinkPhase::Connecting | LinkPhase::Trying | LinkPhase::Connected => {
                None
            }
        };
        self.live(Some(failed? + JOIN_RETRY))
    }
}

/// Words of the failures, sorted by number; part of the portal's interface.
const FAILURES: &[(LinkFailure, &str, u16)] = &[
    (LinkFailure::Lost, "lost", 0),
    (LinkFailure::NotFound, "no_ap_found", 201),
    (LinkFailure::Auth, "auth_fail", 202),
    (LinkFailure::Association, "assoc_fail", 203),
    (LinkFailure::Handshake, "handshake_timeout", 204),
    (LinkFailure::Connection, "connection_fail", 205),
    (LinkFailure::Timeout, "timeout", 0),
];

#[cfg(test)]
mod tests;

impl LinkFailure {
    /// All failures.
    pub fn all() -> Vec<LinkFailure> {
        FAILURES.iter().map(|(failure, ..)| *failure).collect()
    }

    /// Word for the failure.
    pub fn name(self) -> &'static str {
        let row = FAILURES.iter().find(|(failure, ..)| *failure == self);
        row.map_or("unknown", |(_, name, _)| name)
    }

    /// Number of the failure as radios report it; 0 if they have none.
    pub fn number(self) -> u16 {
        let row = FAILURES.iter().find(|(failure, ..)| *failure == self);
        row.map_or(0, |(.., number)| *number)
    }

    /// Finds a failure by its word.
    pub fn parse(name: &str) -> Option<LinkFailure> {
        let row = FAILURES.iter().find(|(_, known, _)| *known == name);
        row.map(|(failure, ..)| *failure)
    }
}
