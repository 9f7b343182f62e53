//! Time limits of the supervisor, as values so that tests can shorten them.

use std::time::Duration;

use crate::{config::ClockConfig, messages::BEAT_PERIOD, trial::TRIAL};

#[derive(Debug, Clone, Copy)]
pub(crate) struct SupervisorLimits {
    /// Timeout for the start of a device.
    pub(crate) start: Duration,
    /// Time without a message after which a device is killed.
    pub(crate) beat: Duration,
    /// Timeout to stop a device, without a refresh of the panels.
    pub(crate) stop: Duration,
    /// Pauses before a failed device is started again; the last one repeats.
    pub(crate) pauses: [Duration; 6],
    /// After this run time, the next failure of a device counts as the first in a row.
    pub(crate) steady: Duration,
    /// Failures in a row after which the device is started without its sources.
    pub(crate) failures: usize,
    /// Time without sources after which the device is started with them again.
    pub(crate) safe: Duration,
    /// How long a new program must answer requests.
    pub(crate) trial: Duration,
}

pub(crate) const LIMITS: SupervisorLimits = SupervisorLimits {
    start: Duration::from_secs(30),
    beat: Duration::from_secs(6 * BEAT_PERIOD.as_secs()),
    stop: Duration::from_millis(1700),
    pauses: [
        Duration::from_millis(200),
        Duration::from_secs(1),
        Duration::from_secs(3),
        Duration::from_secs(10),
        Duration::from_secs(30),
        Duration::from_secs(60),
    ],
    steady: Duration::from_secs(120),
    failures: 3,
    safe: Duration::from_secs(3600),
    trial: TRIAL,
};

impl SupervisorLimits {
    pub(crate) fn of(clock: &ClockConfig) -> SupervisorLimits {
        SupervisorLimits {
            trial: clock.trial.unwrap_or(LIMITS.trial),
            ..LIMITS
        }
    }

    /// Pause before the next attempt, after a number of failures in a row.
    pub(crate) fn pause(&self, failures: usize) -> Duration {
        self.pauses[(failures - 1).min(self.pauses.len() - 1)]
    }
}
