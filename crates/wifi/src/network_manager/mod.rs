//! The radio of a host whose network NetworkManager manages.
//!
//! What is told of the network follows from a look at the whole radio; signals only say that it is time to look,
//! and why an attempt has failed.
//! `bus` is the way to NetworkManager, `manager` what it is asked for, `words` its numbers, `profile` the profiles it
//! keeps; `joining` does as the plan says, `provisioning` tries credentials and forgets them,
//! `scanning` lists the networks in reach.
//!
//! **Invariant:** profiles that are not ours are used as they are, and never changed or deleted.

mod bus;
mod joining;
mod manager;
mod profile;
mod provisioning;
mod scanning;
mod words;

use std::{collections::VecDeque, future::pending, time::Duration};

use board::{
    host,
    moments::until,
    ports::{Unprovisioned, Wifi, WifiNetwork},
};
use device::{
    input::{LinkEvent, LinkFailure},
    output::{AccessPoint, WifiPlan},
    secret::Secret,
};
use tokio::time::Instant;
use zbus::OwnedObjectPath;

use bus::{DBusConnection, Signal};
use manager::{RadioError, Sight};
use profile::{Profile, ProfileRole};
use words::{ACTIVATED, DISCONNECTED, UNMANAGED};

/// Time a host may take from its start until NetworkManager has its radio.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// First and longest time between two attempts to reach NetworkManager.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Time between two attempts to be an access point.
const RAISE_RETRY: Duration = Duration::from_secs(10);

/// Where NetworkManager is, and what it cannot know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Address of its bus; none for the system's.
    pub bus: Option<String>,
    /// Port of the portal.
    pub portal_port: u16,
    /// Time the host may take until there is a radio.
    pub patience: Duration,
}

/// The radio.
#[derive(Debug)]
pub struct NetworkManager {
    options: Options,
    bus: Option<DBusConnection>,
    device: Option<OwnedObjectPath>,
    /// The radio is ours to manage; none until it is known.
    managed: Option<bool>,
    begun: Instant,
    /// Time until the next attempt to reach NetworkManager, if one fails.
    wait: Duration,
    /// What was last said to be in the way.
    worry: Option<String>,
    events: VecDeque<LinkEvent>,
    /// It is time to look.
    stale: bool,
    look_at: Option<Instant>,
    /// Objects whose changes make it time to look.
    watched: Vec<OwnedObjectPath>,
    /// Why an attempt has failed since the last look.
    failure: Option<LinkFailure>,
    /// Address and network that were told.
    told: Option<(String, Option<String>)>,
    rssi: Option<i32>,
    attempts: u64,
    /// An attempt to join runs.
    joining: bool,
    /// The stored network did not take its password.
    refused: bool,
    /// The access point that there should be.
    wanted: Option<AccessPoint>,
    /// Profile of the access point that there is.
    raised: Option<OwnedObjectPath>,
    /// The access point was told to be up.
    is_portal: bool,
    raise_at: Option<Instant>,
    /// Profiles of ours that have had their use.
    expired_profiles: Vec<OwnedObjectPath>,
}

impl NetworkManager {
    /// A radio that is looked for when somebody waits for its events.
    pub fn new(options: Options) -> NetworkManager {
        NetworkManager {
            options,
            bus: None,
            device: None,
            managed: None,
            begun: Instant::now(),
            wait: RETRY,
            worry: None,
            events: VecDeque::new(),
            stale: true,
            look_at: None,
            watched: Vec::new(),
            failure: None,
            told: None,
            rssi: None,
            attempts: 0,
            joining: false,
            refused: false,
            wanted: None,
            raised: None,
            is_portal: false,
            raise_at: None,
            expired_profiles: Vec::new(),
        }
    }

    /// The bus and the radio; none while they are away.
    fn held(&self) -> Option<(&DBusConnection, &OwnedObjectPath)> {
        self.bus.as_ref().zip(self.device.as_ref())
    }

    async fn look(&mut self) {
        let seen = self.see().await;
        self.stale = false;
        self.look_at = None;
        match seen {
            Ok(sight) => {
                self.wait = RETRY;
                if self.worry.take().is_some() {
                    tracing::info!("NetworkManager has a radio again");
                }
                self.report(sight);
                self.raise_if_due().await;
            }
            Err(trouble) => self.worry_about(&trouble),
        }
    }

    async fn see(&mut self) -> Result<Sight, RadioError> {
        let bus = match self.bus.take() {
            Some(bus) => bus,
            None => DBusConnection::connect(self.options.bus.as_deref()).await?,
        };
        let bus = &*self.bus.insert(bus);
        let device = match &self.device {
            Some(device) => device.clone(),
            None => bus.radio().await?,
        };
        let sight = bus.sight(&device).await?;
        if sight.state == UNMANAGED {
            return Err(RadioError::NoDevice);
        }
        if self.managed.is_none() {
            let profiles = bus.profiles().await?;
            self.begin(&profiles, &sight);
        }
        self.device = Some(device);
        Ok(sight)
    }

    /// Says whether there is a network to join: one that is stored, one that the host knows, or one it is on.
    fn begin(&mut self, profiles: &[Profile], sight: &Sight) {
        let of = |path: &OwnedObjectPath| profiles.iter().find(|profile| profile.path == *path);
        let used = sight.profile.as_ref().and_then(of);
        let is_on = used.is_some_and(|profile| profile.role.is_none() && profile.ssid.is_some());
        let known = is_on || profiles.iter().any(Profile::is_known);
        // What an earlier run left behind when it broke off.
        let left = profiles.iter().filter(|profile| match profile.role {
            Some(ProfileRole::Trial | ProfileRole::AccessPoint) => true,
            Some(ProfileRole::Network) | None => false,
        });
        self.expired_profiles
            .extend(left.map(|profile| profile.path.clone()));
        tracing::info!(known, "the radio is managed through NetworkManager");
        self.managed = Some(true);
        self.events.push_back(LinkEvent::Credentials(known));
    }

    fn worry_about(&mut self, trouble: &RadioError) {
        if self.managed.is_none() {
            let waited = self.begun.elapsed();
            if !trouble.may_pass() || waited >= self.options.patience {
                return self.leave_to_host(trouble);
            }
            self.wait = self.wait.min(self.options.patience - waited);
        }
        let worry = trouble.to_string();
        if self.worry.as_ref() != Some(&worry) {
            tracing::warn!(%worry, "there is no radio to manage");
            self.worry = Some(worry);
        }
        match trouble {
            // The network itself outlives whoever set it up.
            RadioError::Silence(_) | RadioError::Gone => {
                self.bus = None;
                self.lose_manager();
            }
            RadioError::NoManager | RadioError::Starting => self.lose_manager(),
            RadioError::NoDevice | RadioError::Unavailable | RadioError::Forbidden(_) => {
                self.device = None;
                self.drop_access_point();
                if self.told.take().is_some() {
                    self.events.push_back(LinkEvent::Down(LinkFailure::Lost));
                }
            }
        }
        self.look_at = Some(Instant::now() + self.wait);
        self.wait = (self.wait * 2).min(RETRY_MAX);
    }

    fn leave_to_host(&mut self, trouble: &RadioError) {
        tracing::warn!(reason = %trouble, "there is no radio to manage: the clock uses the host's network");
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
        // NetworkManager keeps none of these for its next life.
        self.expired_profiles.clear();
    }

    fn hear(&mut self, signal: Option<Signal>) {
        match signal {
            None => self.worry_about(&RadioError::Gone),
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
                    tracing::debug!(new, old, reason, "the radio entered another state");
                    self.failure = words::failure(new, old, reason).or(self.failure);
                    self.stale = true;
                } else if self.device.is_none() {
                    self.stale = true;
                }
            }
            Some(Signal::Changed(path)) => self.stale |= self.watched.contains(&path),
            Some(Signal::Devices) => self.stale = true,
            Some(Signal::Noise) => {}
        }
    }

    fn hear_waiting(&mut self) {
        while let Some(signal) = self.bus.as_mut().and_then(DBusConnection::waiting) {
            self.hear(Some(signal));
        }
    }

    /// Begins something that the failures so far are not about.
    fn begin_anew(&mut self) {
        self.hear_waiting();
        self.failure = None;
        self.told = None;
        self.joining = false;
    }

    /// Tells what has changed since it was last told.
    fn report(&mut self, sight: Sight) {
        let is_own = self.raised.is_some() && sight.profile == self.raised;
        let is_on = sight.state == ACTIVATED && !is_own;
        let failure = self.failure.take();
        if self.told.is_some() && (failure.is_some() || sight.state != ACTIVATED) {
            self.told = None;
            self.events.push_back(LinkEvent::Down(LinkFailure::Lost));
        } else if let Some(failure) = failure.filter(|_| self.joining) {
            self.joining = false;
            self.refused = matches!(failure, LinkFailure::Auth | LinkFailure::Handshake);
            self.events.push_back(LinkEvent::Down(failure));
        } else if failure.is_some() && self.raised.is_some() {
            self.fall();
        }
        if self.is_portal && sight.state <= DISCONNECTED {
            self.fall();
        }
        if is_own && sight.state == ACTIVATED && !self.is_portal {
            self.is_portal = true;
            let ip = sight.ip.as_deref().unwrap_or(device::portal::ADDRESS);
            let address = match self.options.portal_port {
                80 => ip.to_string(),
                port => format!("{ip}:{port}"),
            };
            self.events.push_back(LinkEvent::Portal { address });
        }
        if is_on && let Some(ip) = sight.ip {
            self.joining = false;
            self.refused = false;
            let place = (ip, sight.ssid);
            if self.told.as_ref() != Some(&place) {
                let (ip, ssid) = place.clone();
                self.events.push_back(LinkEvent::Up { ip, ssid });
                self.told = Some(place);
                self.rssi = None;
            }
            if self.rssi != sight.rssi {
                self.rssi = sight.rssi;
                self.events.extend(sight.rssi.map(LinkEvent::Rssi));
            }
        }
        self.watched = sight.watched;
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
                self.look().await;
                continue;
            }
            let look_at = self.look_at;
            tokio::select! {
                signal = heard(&mut self.bus) => {
                    self.hear(signal);
                    // A burst is looked at once.
                    self.hear_waiting();
                }
                () = until(look_at) => {
                    self.look_at = None;
                    self.stale = true;
                }
            }
        }
    }

    async fn follow(&mut self, plan: &WifiPlan) {
        self.obey(plan).await;
    }

    async fn scan(&mut self) -> Vec<WifiNetwork> {
        self.networks().await
    }

    async fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> Result<(), Unprovisioned> {
        self.try_and_store(ssid, password, Instant::now() + limit)
            .await
    }

    async fn forget(&mut self) -> Result<(), String> {
        self.forget_all().await
    }
}

/// The next signal of a bus; never without one.
async fn heard(bus: &mut Option<DBusConnection>) -> Option<Signal> {
    match bus {
        Some(bus) => bus.signal().await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_manager_that_is_away_is_looked_for_less_and_less_often() {
        let mut radio = NetworkManager::new(Options {
            bus: None,
            portal_port: 80,
            patience: PATIENCE,
        });
        radio.managed = Some(true);
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            radio.worry_about(&RadioError::Gone);
            let wait = radio.look_at.unwrap() - Instant::now();
            assert_eq!(wait, Duration::from_secs(seconds));
        }
    }
}
