//! Applies the plan: joins the stored network, starts or stops the access point.

use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
};
use tokio::time::Instant;
use zbus::{Error, OwnedObjectPath};

use super::{
    ACCESS_POINT_RETRY, NetworkManager,
    bus::is_unresponsive,
    profile::{self, Profile, ProfileRole},
    states,
};

/// Suffixes of NetworkManager's errors for a network that is not in range.
const NOT_AVAILABLE: [&str; 2] = [".ConnectionNotAvailable", ".UnknownConnection"];

impl NetworkManager {
    pub(super) async fn apply(&mut self, plan: &WifiPlan) {
        let should_join = plan.attempts != self.attempts;
        self.attempts = plan.attempts;
        self.wanted.clone_from(&plan.access_point);
        if self.managed == Some(false) {
            return;
        }
        if self.wanted.is_none() {
            self.drop_access_point();
            self.delete_expired().await;
        }
        if should_join {
            self.join().await;
        } else if self.wanted.is_some() && self.access_point.is_none() {
            self.start_access_point().await;
        }
        self.stale = true;
    }

    async fn join(&mut self) {
        // Clears the reported state, so that the result is reported even if it is the same.
        self.reset_attempt();
        let started = match self.connected() {
            Some(_) => self.start_to_join().await,
            None => Err(LinkFailure::NotFound),
        };
        self.joining = started.is_ok();
        match started {
            // Its profile is deleted after the radio has left it.
            Ok(()) => self.drop_access_point(),
            Err(failure) => self.events.push_back(LinkEvent::Down(failure)),
        }
    }

    async fn start_to_join(&self) -> Result<(), LinkFailure> {
        let failed = |error: Error| {
            tracing::warn!(%error, "cannot join the stored network");
            link_failure(&error)
        };
        let Some((bus, device)) = self.connected() else {
            return Err(LinkFailure::NotFound);
        };
        let state = bus.radio_state(device).await.map_err(failed)?;
        let is_own = self.access_point.is_some() && state.profile == self.access_point;
        if states::is_activating(state.device) && !is_own {
            return Ok(());
        }
        let profiles = bus.profiles().await.map_err(failed)?;
        if self.wanted.is_some() {
            // A radio is either a station or an access point. It stops the access point only if a known network is in
            // range and its password was not refused.
            if self.refused {
                return Err(LinkFailure::Auth);
            }
            let seen = bus.scanned_networks(device).await.map_err(failed)?;
            let known: Vec<&str> = profiles
                .iter()
                .filter(|profile| profile.is_known())
                .filter_map(|profile| profile.ssid.as_deref())
                .collect();
            if !seen.iter().any(|seen| known.contains(&&*seen.ssid)) {
                return Err(LinkFailure::NotFound);
            }
        }
        let stored = stored(&profiles);
        bus.activate(device, stored, None).await.map_err(failed)
    }

    /// Starts the access point if it is wanted and not running, after a pause if it has failed.
    pub(super) async fn start_access_point_if_due(&mut self) {
        if self.wanted.is_none() || self.access_point.is_some() || self.joining {
            return;
        }
        match self.access_point_at.filter(|at| *at > Instant::now()) {
            None => self.start_access_point().await,
            Some(later) => self.refresh_at = Some(later),
        }
    }

    pub(super) async fn start_access_point(&mut self) {
        self.reset_attempt();
        match self.activate_access_point().await {
            Ok(profile) => {
                self.access_point = profile;
                self.access_point_at = None;
            }
            Err(error) => {
                let wanted = self.wanted.as_ref();
                let password = wanted.map(|wanted| wanted.password.clone());
                let reason = password.unwrap_or_default().hidden_in(&error.to_string());
                tracing::warn!(reason, "cannot start the access point");
                self.access_point_at = Some(Instant::now() + ACCESS_POINT_RETRY);
                self.refresh_at = self.access_point_at;
            }
        }
    }

    async fn activate_access_point(&mut self) -> zbus::Result<Option<OwnedObjectPath>> {
        self.delete_expired().await;
        let (Some((bus, device)), Some(wanted)) = (self.connected(), &self.wanted) else {
            return Ok(None);
        };
        let uuid = profile::uuid().map_err(Error::from)?;
        let settings = profile::access_point(wanted, &uuid);
        let profile = bus.add(&settings).await?;
        let activated = bus.activate(device, Some(&profile), None).await;
        if activated.is_err() {
            bus.delete(&profile).await?;
        }
        activated?;
        Ok(Some(profile))
    }

    /// Records that the access point failed.
    pub(super) fn access_point_failed(&mut self) {
        tracing::warn!("the access point is down");
        self.drop_access_point();
        self.access_point_at = Some(Instant::now() + ACCESS_POINT_RETRY);
    }

    /// Marks the profile of the access point for deletion.
    pub(super) fn drop_access_point(&mut self) {
        self.expired_profiles.extend(self.access_point.take());
        self.is_portal = false;
        self.access_point_at = None;
    }

    /// Deletes own profiles that are no longer needed.
    pub(super) async fn delete_expired(&mut self) {
        for profile in std::mem::take(&mut self.expired_profiles) {
            self.delete(&profile).await;
        }
    }

    pub(super) async fn delete(&self, profile: &OwnedObjectPath) {
        let Some(bus) = &self.bus else { return };
        if let Err(error) = bus.delete(profile).await {
            tracing::warn!(%error, "cannot delete a profile of the clock");
        }
    }
}

/// The own network profile that was used last.
pub(super) fn stored(profiles: &[Profile]) -> Option<&OwnedObjectPath> {
    let own = profiles
        .iter()
        .filter(|profile| profile.role == Some(ProfileRole::Network));
    own.max_by_key(|profile| profile.used)
        .map(|profile| &profile.path)
}

/// The link failure for an error of NetworkManager.
pub(super) fn link_failure(error: &Error) -> LinkFailure {
    let is_missing = if let Error::MethodError(name, ..) = error {
        NOT_AVAILABLE.iter().any(|end| name.ends_with(end))
    } else {
        // As if there were no radio.
        is_unresponsive(error)
    };
    if is_missing { LinkFailure::NotFound } else { LinkFailure::Connection }
}
