//! Does as the plan says: joins what is stored, is an access point or is none.

use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
};
use tokio::time::Instant;
use zbus::{Error, OwnedObjectPath};

use super::{
    NetworkManager, RAISE_RETRY,
    bus::is_silence,
    profile::{self, Profile, ProfileRole},
    words,
};

/// Ends of the names of NetworkManager's errors that say that a network is not there.
const NOT_THERE: [&str; 2] = [".ConnectionNotAvailable", ".UnknownConnection"];

impl NetworkManager {
    pub(super) async fn obey(&mut self, plan: &WifiPlan) {
        let is_due = plan.attempts != self.attempts;
        self.attempts = plan.attempts;
        self.wanted.clone_from(&plan.access_point);
        if self.managed == Some(false) {
            return;
        }
        if self.wanted.is_none() {
            self.drop_access_point();
            self.tidy().await;
        }
        if is_due {
            self.join().await;
        } else if self.wanted.is_some() && self.raised.is_none() {
            self.raise().await;
        }
        self.stale = true;
    }

    async fn join(&mut self) {
        // What comes of it is told even where it is as before.
        self.begin_anew();
        let begun = match self.held() {
            Some(_) => self.begin_to_join().await,
            None => Err(LinkFailure::NotFound),
        };
        self.joining = begun.is_ok();
        match begun {
            // The profile is in use until the radio has left it.
            Ok(()) => self.drop_access_point(),
            Err(failure) => self.events.push_back(LinkEvent::Down(failure)),
        }
    }

    async fn begin_to_join(&self) -> Result<(), LinkFailure> {
        let refused = |error: Error| {
            tracing::warn!(%error, "the stored network is not joined");
            refusal(&error)
        };
        let Some((bus, device)) = self.held() else {
            return Err(LinkFailure::NotFound);
        };
        let sight = bus.sight(device).await.map_err(refused)?;
        let is_own = self.raised.is_some() && sight.profile == self.raised;
        if words::is_underway(sight.state) && !is_own {
            return Ok(());
        }
        let profiles = bus.profiles().await.map_err(refused)?;
        if self.wanted.is_some() {
            // A radio is a station or an access point; it stops being one only where there is something to gain.
            if self.refused {
                return Err(LinkFailure::Auth);
            }
            let seen = bus.in_reach(device).await.map_err(refused)?;
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
        bus.activate(device, stored, None).await.map_err(refused)
    }

    /// Becomes the access point if it should be one, and is not, and has waited since it failed.
    pub(super) async fn raise_if_due(&mut self) {
        if self.wanted.is_none() || self.raised.is_some() || self.joining {
            return;
        }
        match self.raise_at.filter(|at| *at > Instant::now()) {
            None => self.raise().await,
            Some(later) => self.look_at = Some(later),
        }
    }

    pub(super) async fn raise(&mut self) {
        self.begin_anew();
        match self.become_access_point().await {
            Ok(profile) => {
                self.raised = profile;
                self.raise_at = None;
            }
            Err(error) => {
                tracing::warn!(%error, "the access point does not come up");
                self.raise_at = Some(Instant::now() + RAISE_RETRY);
                self.look_at = self.raise_at;
            }
        }
    }

    async fn become_access_point(&mut self) -> zbus::Result<Option<OwnedObjectPath>> {
        self.tidy().await;
        let (Some((bus, device)), Some(wanted)) = (self.held(), &self.wanted) else {
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

    /// Takes note that the access point broke down.
    pub(super) fn fall(&mut self) {
        tracing::warn!("the access point is down");
        self.drop_access_point();
        self.raise_at = Some(Instant::now() + RAISE_RETRY);
    }

    /// The access point has had its use.
    pub(super) fn drop_access_point(&mut self) {
        self.expired_profiles.extend(self.raised.take());
        self.is_portal = false;
        self.raise_at = None;
    }

    /// Deletes the profiles of ours that have had their use.
    pub(super) async fn tidy(&mut self) {
        for profile in std::mem::take(&mut self.expired_profiles) {
            self.delete(&profile).await;
        }
    }

    /// Deletes a profile of ours.
    pub(super) async fn delete(&self, profile: &OwnedObjectPath) {
        let Some(bus) = &self.bus else { return };
        if let Err(error) = bus.delete(profile).await {
            tracing::warn!(%error, "a profile of the clock stays behind");
        }
    }
}

/// The profile of the network that was stored last.
pub(super) fn stored(profiles: &[Profile]) -> Option<&OwnedObjectPath> {
    let ours = profiles
        .iter()
        .filter(|profile| profile.role == Some(ProfileRole::Network));
    ours.max_by_key(|profile| profile.used)
        .map(|profile| &profile.path)
}

/// What it means for the network that NetworkManager refuses, or is not there to be asked.
pub(super) fn refusal(error: &Error) -> LinkFailure {
    let is_missing = if let Error::MethodError(name, ..) = error {
        NOT_THERE.iter().any(|end| name.ends_with(end))
    } else {
        // Just as if it had been noticed a moment earlier.
        is_silence(error)
    };
    if is_missing {
        LinkFailure::NotFound
    } else {
        LinkFailure::Connection
    }
}
