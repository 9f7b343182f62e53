//! The settings that clients see, and those in effect: some changes take effect only at the next start.

use alloc::{sync::Arc, vec::Vec};

use super::{Settings, patch::after_restart};
use crate::secret::PasswordHash;
use market::{
    now::{LocalTime, Now, Zone},
    units::Currency,
};

/// The stored settings and those in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningSettings {
    /// What clients see.
    pub stored: Arc<Settings>,
    /// What is in effect: live settings at once, the others as at the start.
    pub active: Arc<Settings>,
    /// The zone of `active`.
    zone: Zone,
    /// Active values of `httpAuthEnabled` and `httpAuthPass` before a generated password replaced them.
    replaced_auth: Option<(bool, PasswordHash)>,
}

impl RunningSettings {
    /// The settings at the start, when all stored ones take effect; `currencies` are the chosen ones that are offered.
    pub fn new(stored: Settings, currencies: Vec<Currency>) -> RunningSettings {
        let active = Settings {
            act_currencies: currencies,
            ..stored.clone()
        };
        RunningSettings {
            zone: active.zone(),
            stored: Arc::new(stored),
            active: Arc::new(active),
            replaced_auth: None,
        }
    }

    /// The active time zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Local time, once the wall clock is plausible.
    pub fn local(&self, now: Now) -> Option<LocalTime> {
        now.utc.map(|utc| self.zone.local(utc))
    }

    /// What would be active if these settings were stored.
    pub fn active_after(&self, stored: &Settings) -> Settings {
        let mut active = (*self.active).clone();
        active.take_live(stored);
        active
    }

    /// Stores other settings and applies the live ones; `currencies` are the chosen ones that are offered.
    ///
    /// Returns the settings that were active before.
    pub fn store(&mut self, stored: Arc<Settings>, currencies: Vec<Currency>) -> Arc<Settings> {
        let mut active = self.active_after(&stored);
        active.act_currencies = currencies;
        if active.tz_string != self.active.tz_string {
            self.zone = active.zone();
        }
        self.stored = stored;
        core::mem::replace(&mut self.active, Arc::new(active))
    }

    /// Requires a password that is not stored at the control interface.
    pub fn require_password(&mut self, password: &PasswordHash) {
        let active = Arc::make_mut(&mut self.active);
        let enabled = core::mem::replace(&mut active.http_auth_enabled, true);
        let pass = core::mem::replace(&mut active.http_auth_pass, password.clone());
        self.replaced_auth.get_or_insert((enabled, pass));
    }

    /// Names of the settings that take effect at the next start.
    pub fn pending_restart(&self) -> Vec<&'static str> {
        let Some((enabled, pass)) = &self.replaced_auth else {
            return after_restart(&self.stored, &self.active).collect();
        };
        let stored = Settings {
            http_auth_enabled: *enabled,
            http_auth_pass: pass.clone(),
            ..(*self.active).clone()
        };
        after_restart(&self.stored, &stored).collect()
    }
}
