//! The settings twice: as they are stored, and as the device runs on them.

use alloc::{sync::Arc, vec::Vec};

use super::{Settings, patch::after_restart};
use crate::secret::PasswordHash;
use market::{
    now::{LocalTime, Now, Zone},
    units::Currency,
};

/// The stored settings and those in effect.
#[derive(Debug, Clone)]
pub struct RunningSettings {
    /// What GET and PATCH see.
    stored: Arc<Settings>,
    /// What the device runs on: live settings at once, the others as they were at the start.
    active: Arc<Settings>,
    zone: Zone,
    /// What guards the control interface by the settings, while a password that is not stored does.
    unlocked: Option<(bool, PasswordHash)>,
}

impl RunningSettings {
    /// The settings at the start, where all that is stored counts; of the chosen currencies these are there.
    pub fn new(stored: Settings, currencies: Vec<Currency>) -> RunningSettings {
        let active = Settings {
            act_currencies: currencies,
            ..stored.clone()
        };
        RunningSettings {
            zone: active.zone(),
            stored: Arc::new(stored),
            active: Arc::new(active),
            unlocked: None,
        }
    }

    /// What GET and PATCH see.
    pub fn stored(&self) -> &Arc<Settings> {
        &self.stored
    }

    /// What the device runs on.
    pub fn active(&self) -> &Arc<Settings> {
        &self.active
    }

    /// The time zone it runs in.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Local time, once the wall clock is plausible.
    pub fn local(&self, now: Now) -> Option<LocalTime> {
        now.utc.map(|utc| self.zone.local(utc))
    }

    /// What would be active with other settings stored, by all of their currencies that are active now.
    pub fn next(&self, stored: &Settings) -> Settings {
        let mut active = (*self.active).clone();
        active.take_live(stored);
        active
    }

    /// Makes other settings the stored ones and follows the live ones among them; of the chosen currencies these are there.
    ///
    /// Returns what was active before.
    pub fn adopt(&mut self, stored: Arc<Settings>, currencies: Vec<Currency>) -> Arc<Settings> {
        let mut active = self.next(&stored);
        active.act_currencies = currencies;
        if active.tz_string != self.active.tz_string {
            self.zone = active.zone();
        }
        self.stored = stored;
        core::mem::replace(&mut self.active, Arc::new(active))
    }

    /// Shuts the control interface with a password that is not stored.
    pub fn lock(&mut self, password: &PasswordHash) {
        let active = Arc::make_mut(&mut self.active);
        let enabled = core::mem::replace(&mut active.http_auth_enabled, true);
        let pass = core::mem::replace(&mut active.http_auth_pass, password.clone());
        self.unlocked.get_or_insert((enabled, pass));
    }

    /// Names of the settings that are stored, and taken at the next start alone.
    pub fn waiting(&self) -> Vec<&'static str> {
        let Some((enabled, pass)) = &self.unlocked else {
            return after_restart(&self.stored, &self.active).collect();
        };
        let asked = Settings {
            http_auth_enabled: *enabled,
            http_auth_pass: pass.clone(),
            ..(*self.active).clone()
        };
        after_restart(&self.stored, &asked).collect()
    }
}
