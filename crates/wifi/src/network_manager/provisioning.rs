//! Tries credentials and stores them if they are right; forgets what is stored.
//!
//! Credentials are tried with a profile of their own that NetworkManager keeps in its memory only, so that whatever
//! breaks off leaves what was stored before.

use board::ports::Unprovisioned;
use device::{input::LinkFailure, secret::Secret};
use tokio::time::{Instant, timeout_at};
use zbus::{Error, OwnedObjectPath};

use super::{
    NetworkManager,
    bus::{DBusConnection, Signal},
    joining::refusal,
    profile::{self, ProfileRole, ProfileSettings, Station, WifiSecurity},
    words::{self, ACTIVATED, NEED_AUTH},
};

/// A connection profile that is being tried and what to store if it works.
struct ProfileTrial {
    path: OwnedObjectPath,
    stored: ProfileSettings,
    /// The network, if it tells its name.
    network: Option<OwnedObjectPath>,
}

impl NetworkManager {
    pub(super) async fn try_and_store(
        &mut self,
        ssid: &str,
        password: &Secret,
        until: Instant,
    ) -> Result<(), Unprovisioned> {
        let trial = self
            .prepare(ssid, password)
            .await
            .map_err(Unprovisioned::Failed)?;
        // The radio leaves the access point for the attempt.
        self.drop_access_point();
        self.begin_anew();
        let tried = self.attempt(&trial, until).await;
        self.failure = None;
        self.stale = true;
        let outcome = match tried {
            Ok(()) => self.keep(&trial).await,
            Err(failure) => Err(Unprovisioned::Failed(failure)),
        };
        if outcome.is_ok() {
            self.wanted = None;
            self.refused = false;
            self.tidy().await;
        } else {
            self.delete(&trial.path).await;
            self.raise_if_due().await;
        }
        outcome
    }

    async fn prepare(&self, ssid: &str, password: &Secret) -> Result<ProfileTrial, LinkFailure> {
        let refused = |error: Error| {
            tracing::warn!(%error, "credentials are not tried");
            refusal(&error)
        };
        let Some((bus, device)) = self.held() else {
            return Err(LinkFailure::NotFound);
        };
        let seen = bus.in_reach(device).await.map_err(refused)?;
        let seen = seen
            .into_iter()
            .filter(|seen| seen.ssid == ssid)
            .max_by_key(|seen| seen.rssi);
        let security = match &seen {
            Some(seen) => seen.security,
            None if password.expose().is_empty() => WifiSecurity::Open,
            None => WifiSecurity::Psk,
        };
        if !security.admits(password.expose()) {
            return Err(LinkFailure::Auth);
        }
        let uuid = profile::uuid().map_err(|_| LinkFailure::Connection)?;
        let station = Station {
            ssid,
            password,
            security,
            is_hidden: seen.is_none(),
            uuid: &uuid,
        };
        let path = bus
            .add(&station.settings(ProfileRole::Trial))
            .await
            .map_err(refused)?;
        Ok(ProfileTrial {
            path,
            stored: station.settings(ProfileRole::Network),
            network: seen.map(|seen| seen.path),
        })
    }

    async fn attempt(&mut self, trial: &ProfileTrial, until: Instant) -> Result<(), LinkFailure> {
        let Some((bus, device)) = self.held() else {
            return Err(LinkFailure::Connection);
        };
        bus.activate(device, Some(&trial.path), trial.network.as_ref())
            .await
            .map_err(|error| refusal(&error))?;
        loop {
            let Some(bus) = &mut self.bus else {
                return Err(LinkFailure::Connection);
            };
            let signal = match timeout_at(until, bus.signal()).await {
                Ok(signal) => signal,
                Err(_) => return Err(self.unanswered().await),
            };
            match signal {
                Some(Signal::State {
                    device,
                    new,
                    old,
                    reason,
                }) if self.device.as_ref() == Some(&device) => {
                    if let Some(failure) = words::failure(new, old, reason) {
                        return Err(failure);
                    }
                    if new == ACTIVATED && self.is_used(&trial.path).await {
                        return Ok(());
                    }
                }
                None | Some(Signal::Owner) => {
                    self.hear(signal);
                    return Err(LinkFailure::Connection);
                }
                Some(
                    Signal::State { .. } | Signal::Changed(_) | Signal::Devices | Signal::Noise,
                ) => {}
            }
        }
    }

    async fn is_used(&self, profile: &OwnedObjectPath) -> bool {
        let Some((bus, device)) = self.held() else {
            return false;
        };
        let sight = bus.sight(device).await;
        sight.is_ok_and(|sight| sight.profile.as_ref() == Some(profile))
    }

    /// Why an attempt has no end: somebody at the host's screen is asked for another password, or nobody knows.
    async fn unanswered(&self) -> LinkFailure {
        let Some((bus, device)) = self.held() else {
            return LinkFailure::Connection;
        };
        match bus.state(device).await {
            Ok(NEED_AUTH) => LinkFailure::Auth,
            Ok(_) | Err(_) => LinkFailure::Timeout,
        }
    }

    /// Stores what is right, then deletes what was stored before.
    async fn keep(&self, trial: &ProfileTrial) -> Result<(), Unprovisioned> {
        let not_stored = |error: Error| Unprovisioned::NotStored(error.to_string());
        let Some(bus) = &self.bus else {
            return Err(Unprovisioned::NotStored("the bus went away".to_string()));
        };
        bus.store(&trial.path, &trial.stored)
            .await
            .map_err(not_stored)?;
        // Where an older one stays, the newer one counts: it was used last.
        let profiles = bus.profiles().await.unwrap_or_default();
        for profile in profiles {
            if profile.role.is_some() && profile.path != trial.path {
                self.delete(&profile.path).await;
            }
        }
        Ok(())
    }

    /// Deletes all profiles of ours.
    pub(super) async fn forget_all(&mut self) -> Result<(), String> {
        let words = |error: Error| error.to_string();
        let bus = match self.bus.take() {
            Some(bus) => bus,
            None => DBusConnection::connect(self.options.bus.as_deref())
                .await
                .map_err(words)?,
        };
        let profiles = bus.profiles().await;
        let mut outcome = Ok(());
        for profile in profiles.as_deref().unwrap_or_default() {
            if profile.role.is_some() {
                outcome = outcome.and(bus.delete(&profile.path).await.map_err(words));
            }
        }
        if self.managed != Some(false) {
            self.bus = Some(bus);
        }
        self.drop_access_point();
        self.expired_profiles.clear();
        self.stale = true;
        profiles.map_err(words)?;
        outcome
    }
}
