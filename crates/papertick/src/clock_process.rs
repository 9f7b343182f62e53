//! The parent process: runs the supervisor with its part of the configuration.

use std::{path::Path, process::ExitCode, time::Duration};

use supervisor::{SupervisorError, config::ClockConfig, crash_dumps};

use crate::{
    config::{MarketSource, RunConfig},
    failure::Failure,
};

/// Runs the clock until a signal or an update stops it. Returns the exit code.
///
/// # Errors
/// The clock cannot start.
pub fn run(config: &RunConfig) -> Result<ExitCode, Failure> {
    let passed = serde_json::to_value(config)
        .map_err(|error| Failure::failed(format!("the clock cannot start: {error}")))?;
    Ok(supervisor::run(
        config.listen,
        clock_config(config),
        passed,
    )?)
}

/// Writes a dump of a crashed device.
///
/// # Errors
/// The dump cannot be written.
pub fn dump_crash(process: u32, folder: &Path) -> Result<(), Failure> {
    crash_dumps::take(process, folder).map_err(|error| Failure::failed(error.to_string()))
}

fn clock_config(config: &RunConfig) -> ClockConfig {
    ClockConfig {
        data_dir: config.data_dir.clone(),
        label: match config.market {
            MarketSource::World => "papertick",
            MarketSource::Demo => "papertick demo",
        },
        has_crash_dumps: config.board().coredump,
        last_refresh: config.last_refresh(),
        trial: config.trial_secs.map(Duration::from_secs),
    }
}

impl From<SupervisorError> for Failure {
    fn from(error: SupervisorError) -> Failure {
        match error {
            SupervisorError::InUse(message) => Failure::refused(message),
            SupervisorError::Failed(message) => Failure::failed(message),
        }
    }
}
