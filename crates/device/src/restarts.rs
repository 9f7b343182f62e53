//! Planned restarts, and the factory reset that leads to one.

use alloc::string::String;
use core::time::Duration;

use crate::{
    limits::{ERASED_SHOWN, PAINT_MAX, PROVISIONED_DELAY, UPDATED_SHOWN},
    output::RebootReason,
};

/// Planned restarts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Restarts {
    /// Its uptime and reason.
    planned: Option<(Duration, RebootReason)>,
    erasing: Option<Erasing>,
}

/// A factory reset that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Erasing {
    /// Serial number of the first picture that shows it.
    picture: u64,
    /// The panels show it.
    shown: bool,
    /// Everything is erased; a restart follows.
    wiped: bool,
}

impl Restarts {
    /// A factory reset is under way.
    pub fn is_erasing(&self) -> bool {
        self.erasing.is_some()
    }

    /// Starts a factory reset that the picture with this serial number shows. Returns `false` if one is under way.
    pub fn begin_erasing(&mut self, picture: u64) -> bool {
        let begins = self.erasing.is_none();
        self.erasing.get_or_insert(Erasing {
            picture,
            shown: false,
            wiped: false,
        });
        begins
    }

    /// Records the picture on the panels. Once they show the reset and everything is erased, the restart follows after
    /// a delay.
    pub fn painted(&mut self, serial: u64, uptime: Duration) {
        let Some(erasing) = self
            .erasing
            .as_mut()
            .filter(|erasing| erasing.picture <= serial)
        else {
            return;
        };
        erasing.shown = true;
        if erasing.wiped {
            self.plan(ERASED_SHOWN, RebootReason::FactoryReset, uptime);
        }
    }

    /// Plans a restart after a successful factory reset; a failed one ends, and its error is returned.
    pub fn wiped(&mut self, outcome: Result<(), String>, uptime: Duration) -> Result<(), String> {
        let Some(erasing) = self.erasing.as_mut().filter(|erasing| !erasing.wiped) else {
            return Ok(());
        };
        if outcome.is_err() {
            self.erasing = None;
            return outcome;
        }
        erasing.wiped = true;
        let time = if erasing.shown { ERASED_SHOWN } else { PAINT_MAX };
        self.plan(time, RebootReason::FactoryReset, uptime);
        Ok(())
    }

    /// Plans a restart after credentials were stored.
    pub fn provisioned(&mut self, uptime: Duration) {
        self.plan(PROVISIONED_DELAY, RebootReason::Provisioned, uptime);
    }

    /// Plans a restart into the updated program.
    pub fn updated(&mut self, uptime: Duration) {
        self.plan(UPDATED_SHOWN, RebootReason::Updated, uptime);
    }

    /// Returns the reason of a restart that is due, once.
    pub fn advance(&mut self, uptime: Duration) -> Option<RebootReason> {
        let (_, reason) = self.planned.take_if(|(at, _)| *at <= uptime)?;
        Some(reason)
    }

    /// Uptime of the next restart.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.planned.map(|(at, _)| at)
    }

    fn plan(&mut self, time: Duration, reason: RebootReason, uptime: Duration) {
        let at = uptime + time;
        let sooner = self.planned.is_none_or(|(planned, _)| at < planned);
        if sooner {
            self.planned = Some((at, reason));
        }
    }
}
