//! Tries credentials and stores them if they are right; deletes stored credentials.
//!
//! Credentials are tried with a temporary profile that NetworkManager keeps in memory only. If the attempt is interrupted,
//! the stored profile is unchanged.

use board::ports::ProvisionError;
use device::{input::LinkFailure, secret::Secret};
use tokio::time::{Instant, timeout_at};
use zbus::{Error, OwnedObjectPath};

use super::{
    NetworkManager,
    bus::{DBusConnection, Signal},
    joining::link_failure,
    profile::{self, ProfileRole, ProfileSettings, Station, WifiSecurity},
    states::{self, ACTIVATED, NEED_AUTH},
};

/// A temporary profile and the settings to store if it works.
struct ProfileTrial {
    path: OwnedObjectPath,
    to_store: ProfileSettings,
    /// The network, if it is in range and broadcasts its name.
    network: Option<OwnedObjectPath>,
}

impl NetworkManager {
    pub(super) async fn try_and_store(
        &mut self,
        ssid: &str,
        password: &Secret,
        deadline: Instant,
    ) -> Result<Option<String>, ProvisionError> {
        let trial = self
            .prepare(ssid, password)
            .await
            .map_err(ProvisionError::Failed)?;
        // The attempt stops the access point.
        self.drop_access_point();
        self.reset_attempt();
        let joined = self.attempt(&trial, deadline).await;
        self.failure = None;
        self.stale = true;
        let result = match joined {
            Ok(ip) => self.store(&trial, password).await.map(|()| ip),
            Err(failure) => Err(ProvisionError::Failed(failure)),
        };
        if result.is_ok() {
            self.wanted = None;
            self.refused = false;
            self.delete_expired().await;
        } else {
            self.delete(&trial.path).await;
            self.start_access_point_if_due().await;
        }
        result
    }

    async fn prepare(&self, ssid: &str, password: &Secret) -> Result<ProfileTrial, LinkFailure> {
        let failed = |error: Error| {
            let reason = password.hidden_in(&error.to_string());
            tracing::warn!(reason, "cannot try the credentials");
            link_failure(&error)
        };
        let Some((bus, device)) = self.connected() else {
            return Err(LinkFailure::NotFound);
        };
        let seen = bus.scanned_networks(device).await.map_err(failed)?;
        let seen = seen
            .into_iter()
            .filter(|seen| seen.ssid == ssid)
            .max_by_key(|seen| seen.rssi);
        let security = match &seen {
            Some(seen) => seen.security,
            None if password.expose().is_empty() => WifiSecurity::Open,
            None => WifiSecurity::Psk,
        };
        if !security.accepts(password.expose()) {
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
            .map_err(failed)?;
        Ok(ProfileTrial {
            path,
            to_store: station.settings(ProfileRole::Network),
            network: seen.map(|seen| seen.path),
        })
    }

    /// Joins the network of a trial. Returns the address in it.
    async fn attempt(
        &mut self,
        trial: &ProfileTrial,
        deadline: Instant,
    ) -> Result<Option<String>, LinkFailure> {
        let Some((bus, device)) = self.connected() else {
            return Err(LinkFailure::Connection);
        };
        bus.activate(device, Some(&trial.path), trial.network.as_ref())
            .await
            .map_err(|error| link_failure(&error))?;
        loop {
            let Some(bus) = &mut self.bus else {
                return Err(LinkFailure::Connection);
            };
            let signal = match timeout_at(deadline, bus.signal()).await {
                Ok(signal) => signal,
                Err(_) => return Err(self.timeout_failure().await),
            };
            match signal {
                Some(Signal::State {
                    device,
                    new,
                    old,
                    reason,
                }) if self.device.as_ref() == Some(&device) => {
                    if let Some(failure) = states::failure(new, old, reason) {
                        return Err(failure);
                    }
                    if new == ACTIVATED
                        && let Some((bus, device)) = self.connected()
                        && let Ok(state) = bus.radio_state(device).await
                        && state.profile.as_ref() == Some(&trial.path)
                    {
                        return Ok(state.ip);
                    }
                }
                None | Some(Signal::Owner) => {
                    self.handle_signal(signal);
                    return Err(LinkFailure::Connection);
                }
                Some(
                    Signal::State { .. } | Signal::Changed(_) | Signal::Devices | Signal::Other,
                ) => {}
            }
        }
    }

    /// The failure after a timeout: a wrong password if the host is asking for another one on its screen.
    async fn timeout_failure(&self) -> LinkFailure {
        let Some((bus, device)) = self.connected() else {
            return LinkFailure::Connection;
        };
        match bus.device_state(device).await {
            Ok(NEED_AUTH) => LinkFailure::Auth,
            Ok(_) | Err(_) => LinkFailure::Timeout,
        }
    }

    /// Stores the tried profile, then deletes the previously stored one.
    async fn store(&self, trial: &ProfileTrial, password: &Secret) -> Result<(), ProvisionError> {
        let not_stored =
            |error: Error| ProvisionError::NotStored(password.hidden_in(&error.to_string()));
        let Some(bus) = &self.bus else {
            let error = "the connection to D-Bus was closed".to_string();
            return Err(ProvisionError::NotStored(error));
        };
        bus.store(&trial.path, &trial.to_store)
            .await
            .map_err(not_stored)?;
        // If the old profile cannot be deleted, the new one takes precedence, because it was used last.
        let profiles = bus.profiles().await.unwrap_or_default();
        for profile in profiles {
            if profile.role.is_some() && profile.path != trial.path {
                self.delete(&profile.path).await;
            }
        }
        Ok(())
    }

    /// Deletes all own profiles.
    pub(super) async fn forget_all(&mut self) -> Result<(), String> {
        let text = |error: Error| error.to_string();
        let bus = match self.bus.take() {
            Some(bus) => bus,
            None => DBusConnection::connect(self.options.bus.as_deref())
                .await
                .map_err(text)?,
        };
        let profiles = bus.profiles().await;
        let mut deleted = Ok(());
        for profile in profiles.as_deref().unwrap_or_default() {
            if profile.role.is_some() {
                deleted = deleted.and(bus.delete(&profile.path).await.map_err(text));
            }
        }
        if self.managed != Some(false) {
            self.bus = Some(bus);
        }
        self.drop_access_point();
        self.expired_profiles.clear();
        self.stale = true;
        profiles.map_err(text)?;
        deleted
    }
}
