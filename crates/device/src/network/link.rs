//! The network as the core sees it: a state machine over what the radio says, and the plan the radio follows.
//!
//! A radio that is *managed* joins the stored network, and is an access point with a portal where that does not work
//! or where no network is stored. Without one the host's network is used as it is.
//! `portal` makes what the access point is called and asks for.

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
    /// The radio is ours to manage; none until it is known.
    managed: Option<bool>,
    has_credentials: bool,
    /// There was an address since the start.
    was_connected: bool,
    /// Uptime of the first attempt to join.
    first_attempt: Option<Duration>,
    attempts: u64,
    /// Uptime since which there is no network although there should be one.
    away_since: Option<Duration>,
    /// Uptime since which the access point is up.
    portal_since: Option<Duration>,
    /// While the access point is up: uptime at which the stored network was last found missing.
    missed_at: Option<Duration>,
    /// A restart was asked for; nothing else is due.
    over: bool,
    ip: String,
    ssid: Option<String>,
    rssi: i32,
    tx_power: Option<i32>,
    failure: Option<LinkFailure>,
    /// None until the driver has said who the device is.
    suffix: Option<String>,
    /// Host name that was to be announced, and the one under which the device is found.
    announced: Option<(String, String)>,
    password: Secret,
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
    /// There is none.
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

/// What the rest of the device must do about an event.
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
            portal_address: portal::ADDRESS.into(),
        }
    }
}

impl NetworkLink {
    /// Takes note of what the network says.
    pub fn hear(&mut self, event: LinkEvent, uptime: Duration) -> LinkNews {
        match event {
            LinkEvent::Identity { suffix, password } => {
                self.suffix = Some(suffix);
                self.password = password;
            }
            LinkEvent::Announced { asked, name } => {
                self.announced = name.map(|name| (asked, name));
            }
            LinkEvent::Unmanaged => self.managed = Some(false),
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

    /// Does what is due by this uptime; a reason to restart is given once.
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
            // Behind the access point nobody waits for the radio's answer; one that never comes counts as a failure.
            self.missed_at = self.is_portal().then_some(uptime + JOIN_MAX);
        }
        None
    }

    /// Uptime at which something is due.
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
                password: self.password.clone(),
            }),
            tx_power: settings.tx_power,
        }
    }

    /// Host name, without a domain: the one under which the device is found, where that is known.
    pub fn hostname(&self, settings: &Settings) -> String {
        let own = settings.hostname(self.suffix());
        match &self.announced {
            Some((asked, name)) if *asked == own => name.clone(),
            Some(_) | None => own,
        }
    }

    /// What to announce; nothing before the device knows who it is, or while it has a network of its own.
    pub fn advert(&self, settings: &Settings) -> Option<Advert> {
        let announces = settings.mdns_enabled && !self.is_portal();
        let suffix = self.suffix.as_ref().filter(|_| announces)?;
        Some(Advert {
            hostname: settings.hostname(suffix),
        })
    }

    /// The host name that the settings give it, whoever else has it; none before the device knows who it is.
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

    /// The stored network is being joined for the first time since the start.
    pub fn is_joining(&self) -> bool {
        let joins = matches!(self.state, LinkPhase::Connecting | LinkPhase::Disconnected);
        joins && self.managed == Some(true) && !self.was_connected
    }

    /// There was a network and it is gone.
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

    /// There is a network, or nobody has said that there is none.
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

    /// Address of the portal, with its port where that is not the usual one.
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
        // Until the portal has answered, an address belongs to credentials that nobody has stored.
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
        // Also from one attempt that failed to the next: the pause counts from the last failure.
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

    /// Whether something may still become due.
    fn live<T>(&self, deadline: Option<T>) -> Option<T> {
        deadline.filter(|_| !self.over)
    }

    /// The network has been away for too long.
    fn guard_deadline(&self, settings: &Settings) -> Option<Duration> {
        let minutes = u64::from(settings.wifi_reboot_min);
        let away = self.away_since.filter(|_| minutes != 0)?;
        self.live(Some(away + Duration::from_secs(minutes * 60)))
    }

    /// The access point has been up for too long, on a clock that was provisioned before.
    fn portal_deadline(&self, settings: &Settings) -> Option<Duration> {
        let seconds = u64::from(settings.wp_timeout);
        let since = self.portal_since.filter(|_| {
            // Nobody's attempt is cut short.
            seconds != 0 && settings.wifi_configured && self.state != LinkPhase::Trying
        })?;
        self.live(Some(since + Duration::from_secs(seconds)))
    }

    /// The stored network was not there since the start.
    fn fallback_deadline(&self) -> Option<Duration> {
        let waits = matches!(self.state, LinkPhase::Connecting | LinkPhase::Disconnected);
        let first = self
            .first_attempt
            .filter(|_| waits && !self.was_connected && self.managed == Some(true))?;
        self.live(Some(first + FALLBACK_GRACE))
    }

    /// The radio does not say how an attempt ended.
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

    /// Time to try again.
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

/// Words of the failures, in the order of their numbers; the portal's clients know both.
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

    /// Number of the failure as radios give it; 0 if they give none.
    pub fn number(self) -> u16 {
        let row = FAILURES.iter().find(|(failure, ..)| *failure == self);
        row.map_or(0, |(.., number)| *number)
    }

    /// Looks up a failure by its word.
    pub fn parse(name: &str) -> Option<LinkFailure> {
        let row = FAILURES.iter().find(|(_, known, _)| *known == name);
        row.map(|(failure, ..)| *failure)
    }
}
