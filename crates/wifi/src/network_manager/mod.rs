//! The radio of a host that NetworkManager manages.
//!
//! Events are derived from the whole state of the radio. Signals only trigger reading it, and give the reason if an
//! attempt has failed.
//! `bus` is the D-Bus connection, `manager` the calls, `states` the meaning of numbers, `profile` connection profiles;
//! `joining` applies the plan, `provisioning` tries and deletes credentials, `scanning` lists the networks in range.
//!
//! **Invariant:** profiles of other programs are used unchanged, and never changed or deleted.

mod bus;
mod joining;
mod manager;
mod profile;
mod provisioning;
mod scanning;
mod states;

use std::{collections::VecDeque, future::pending, time::Duration};

use board::{
    host,
    moments::until,
    ports::{ProvisionError, Wifi, WifiNetwork},
};
use device::{
    input::{LinkEvent, LinkFailure},
    output::{AccessPoint, WifiPlan},
    secret::Secret,
};
use tokio::time::Instant;
use zbus::OwnedObjectPath;

use bus::{DBusConnection, Signal};
use manager::{RadioError, RadioState};
use profile::{Profile, ProfileRole};
use states::{ACTIVATED, DISCONNECTED, UNMANAGED};

/// How long to wait for NetworkManager and its radio after the start of the host.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// First time between two attempts to connect to NetworkManager.
const RETRY: Duration = Duration::from_secs(1);

/// Longest time between two attempts to connect to NetworkManager.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Time between two attempts to start the access point.
const ACCESS_POINT_RETRY: Duration = Duration::from_secs(10);

/// Configuration of the radio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Address of the bus; `None` for the system bus.
    pub bus: Option<String>,
    pub portal_port: u16,
    /// How long to wait for a radio before the clock uses the host's network.
    pub patience: Duration,
}

#[derive(Debug)]
pub struct NetworkManager {
    options: Options,
    bus: Option<DBusConnection>,
    device: Option<OwnedObjectPath>,
    /// Whether the clock manages the radio; `None` until that is decided.
    managed: Option<bool>,
    started: Instant,
    /// Time until the next attempt to connect to NetworkManager, if one fails.
    retry_in: Duration,
    /// The last logged error.
    error: Option<String>,
    events: VecDeque<LinkEvent>,
    /// The state must be read again.
    stale: bool,
    /// When the state is read again at the latest.
    refresh_at: Option<Instant>,
    /// Objects whose changes make the state stale.
    watched: Vec<OwnedObjectPath>,
    /// Why an attempt has failed since the state was last read.
    failure: Option<LinkFailure>,
    reported: Option<(String, Option<String>)>,
    rssi: Option<i32>,
    attempts: u64,
    /// An attempt to join is in progress.
    joining: bool,
    /// The stored network refused its password.
    refused: bool,
    wanted: Option<AccessPoint>,
    /// Profile of the started access point.
    access_point: Option<OwnedObjectPath>,
    /// The access point was reported as up.
    is_portal: bool,
    /// Not before this time the access point is started again.
    access_point_at: Option<Instant>,
    /// Own profiles that are no longer needed.
    expired_profiles: Vec<OwnedObjectPath>,
}

impl NetworkManager {
    /// A radio that connects to NetworkManager when its events are awaited.
    pub fn new(options: Options) -> NetworkManager {
        NetworkManager {
            options,
            bus: None,
            device: None,
            managed: None,
            started: Instant::now(),
            retry_in: RETRY,
            error: None,
            events: VecDeque::new(),
            stale: true,
            refresh_at: None,
            watched: Vec::new(),
            failure: None,
            reported: None,
            rssi: None,
            attempts: 0,
            joining: false,
            refused: false,
            wanted: None,
            access_point: None,
            is_portal: false,
            access_point_at: None,
            expired_profiles: Vec::new(),
        }
    }

    /// The bus and the radio; `None` while there is no connection or no radio.
    fn connected(&self) -> Option<(&DBusConnection, &OwnedObjectPath)> {
        self.bus.as_ref().zip(self.device.as_ref())
    }

    /// Reads the state of the radio and reports changes.
    async fn refresh(&mut self) {
        let state = self.read_state().await;
        self.stale = false;
        self.refresh_at = None;
        match state {
            Ok(state) => {
                self.retry_in = RETRY;
                if self.error.take().is_some() {
                    tracing::info!("NetworkManager has a radio again");
                }
                self.report(state);
                self.start_access_point_if_due().await;
            }
            Err(error) => self.handle_error(&error),
        }
    }

    async fn read_state(&mut self) -> Result<RadioState, RadioError> {
        let bus = match self.bus.take() {
            Some(bus) => bus,
            None => DBusConnection::connect(self.options.bus.as_deref()).await?,
        };
        let bus = &*self.bus.insert(bus);
        let device = match &self.device {
            Some(device) => device.clone(),
            None => bus.radio().await?,
        };
        let state = bus.radio_state(&device).await?;
        if state.device == UNMANAGED {
            return Err(RadioError::NoDevice);
        }
        if self.managed.is_none() {
            let profiles = bus.profiles().await?;
            self.start_managing(&profiles, &state);
        }
        self.device = Some(device);
        Ok(state)
    }

    /// Reports whether there is a network to join: a stored one, one that the host knows, or the current one.
    fn start_managing(&mut self, profiles: &[Profile], state: &RadioState) {
        let by_path =
            |path: &OwnedObjectPath| profiles.iter().find(|profile| profile.path == *path);
        let active = state.profile.as_ref().and_then(by_path);
        let is_joined =
            active.is_some_and(|profile| profile.role.is_none() && profile.ssid.is_some());
        let known = is_joined || profiles.iter().any(Profile::is_known);
        // Temporary profiles of a previous run.
        let expired = profiles.iter().filter(|profile| match profile.role {
            Some(ProfileRole::Trial | ProfileRole::AccessPoint) => true,
            Some(ProfileRole::Network) | None => false,
        });
        self.expired_profiles
            .extend(expired.map(|profile| profile.path.clone()));
        tracing::info!(known, "the radio is managed through NetworkManager");
        self.managed = Some(true);
        self.events.push_back(LinkEvent::Credentials(known));
    }

    fn handle_error(&mut self, error: &RadioError) {
        if self.managed.is_none() {
            let waited = self.started.elapsed();
            if !error.may_be_temporary() || waited >= self.options.patience {
                return self.leave_to_host(error);
            }
            self.retry_in = self.retry_in.min(self.options.patience - waited);
        }
        let text = error.to_string();
        if self.error.as_ref() != Some(&text) {
            tracing::warn!(%error, "there is no radio to manage");
            self.error = Some(text);
        }
        match error {
            // The network stays up without NetworkManager.
            RadioError::Bus(_) | RadioError::Closed => {
                self.bus = None;
                self.lose_manager();
            }
            RadioError::NoManager | RadioError::Starting => self.lose_manager(),
            RadioError::NoDevice | RadioError::Unavailable | RadioError::Forbidden(_) => {
                self.device = None;
                self.drop_access_point();
                if self.reported.take().is_some() {
                    self.events.push_back(LinkEvent::Down(LinkFailure::Lost));
                }
            }
        }
        self.refresh_at = Some(Instant::now() + self.retry_in);
        self.retry_in = (self.retry_in * 2).min(RETRY_MAX);
    }

    fn leave_to_host(&mut self, error: &RadioError) {
        tracing::warn!(reason = %error, "there is no radio to manage: the clock uses the host's network");
        self.bus = None;
        self.managed = Some(false);
        self.events.push_back(LinkEvent::Unmanaged);
        self.events.push_back(LinkEvent::Up {
            ip: host::address().to_string(),
            ssid: None,
        });
    }

    fn lose_manager(&mut self) {
        self.device = None;
        self.drop_access_point();
        // NetworkManager forgets these profiles when it restarts.
        self.expired_profiles.clear();
    }

    fn handle_signal(&mut self, signal: Option<Signal>) {
        match signal {
            None => self.handle_error(&RadioError::Closed),
            Some(Signal::Owner) => {
                self.lose_manager();
                self.stale = true;
            }
            Some(Signal::State {
                device,
                new,
                old,
                reason,
            }) => {
                if self.device.as_ref() == Some(&device) {
                    tracing::debug!(new, old, reason, "the state of the radio changed");
                    self.failure = states::failure(new, old, reason).or(self.failure);
                    self.stale = true;
                } else if self.device.is_none() {
                    self.stale = true;
                }
            }
            Some(Signal::Changed(path)) => self.stale |= self.watched.contains(&path),
            Some(Signal::Devices) => self.stale = true,
            Some(Signal::Other) => {}
        }
    }

    fn handle_queued_signals(&mut self) {
        while let Some(signal) = self.bus.as_mut().and_then(DBusConnection::queued_signal) {
            self.handle_signal(Some(signal));
        }
    }

    /// Clears the results of previous attempts before a new one.
    fn reset_attempt(&mut self) {
        self.handle_queued_signals();
        self.failure = None;
        self.reported = None;
        self.joining = false;
    }

    fn report(&mut self, state: RadioState) {
        let is_own = self.access_point.is_some() && state.profile == self.access_point;
        let is_up = state.device == ACTIVATED && !is_own;
        let failure = self.failure.take();
        if self.reported.is_some() && (failure.is_some() || state.device != ACTIVATED) {
            self.reported = None;
            self.events.push_back(LinkEvent::Down(LinkFailure::Lost));
        } else if let Some(failure) = failure.filter(|_| self.joining) {
            self.joining = false;
            self.refused = matches!(failure, LinkFailure::Auth | LinkFailure::Handshake);
            self.events.push_back(LinkEvent::Down(failure));
        } else if failure.is_some() && self.access_point.is_some() {
            self.access_point_failed();
        }
        if self.is_portal && state.device <= DISCONNECTED {
            self.access_point_failed();
        }
        if is_own && state.device == ACTIVATED && !self.is_portal {
            self.is_portal = true;
            let ip = state.ip.as_deref().unwrap_or(device::portal::ADDRESS);
            let address = match self.options.portal_port {
                80 => ip.to_string(),
                port => format!("{ip}:{port}"),
            };
            self.events.push_back(LinkEvent::Portal { address });
        }
        if is_up && let Some(ip) = state.ip {
            self.joining = false;
            self.refused = false;
            let link = (ip, state.ssid);
            if self.reported.as_ref() != Some(&link) {
                let (ip, ssid) = link.clone();
                self.events.push_back(LinkEvent::Up { ip, ssid });
                self.reported = Some(link);
                self.rssi = None;
            }
            if self.rssi != state.rssi {
                self.rssi = state.rssi;
                self.events.extend(state.rssi.map(LinkEvent::Rssi));
            }
        }
        self.watched = state.watched;
    }
}

impl Wifi for NetworkManager {
    async fn event(&mut self) -> LinkEvent {
        loop {
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            if self.managed == Some(false) {
                return pending().await;
            }
            if self.stale {
                self.refresh().await;
                continue;
            }
            let refresh_at = self.refresh_at;
            tokio::select! {
                signal = next_signal(&mut self.bus) => {
                    self.handle_signal(signal);
                    // Handle a burst of signals before the state is read.
                    self.handle_queued_signals();
                }
                () = until(refresh_at) => {
                    self.refresh_at = None;
                    self.stale = true;
                }
            }
        }
    }

    async fn follow(&mut self, plan: &WifiPlan) {
        self.apply(plan).await;
    }

    async fn scan(&mut self) -> Vec<WifiNetwork> {
        self.networks().await
    }

    async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<Option<String>, ProvisionError> {
        self.try_and_store(ssid, password, Instant::now() + limit)
            .await
    }

    async fn forget(&mut self) -> Result<(), String> {
        self.forget_all().await
    }
}

/// Waits for the next signal; forever without a bus.
async fn next_signal(bus: &mut Option<DBusConnection>) -> Option<Signal> {
    match bus {
        Some(bus) => bus.signal().await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_between_connection_attempts_grows() {
        let mut radio = NetworkManager::new(Options {
            bus: None,
            portal_port: 80,
            patience: PATIENCE,
        });
        radio.managed = Some(true);
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            radio.handle_error(&RadioError::Closed);
            let wait = radio.refresh_at.unwrap() - Instant::now();
            assert_eq!(wait, Duration::from_secs(seconds));
        }
    }
}
