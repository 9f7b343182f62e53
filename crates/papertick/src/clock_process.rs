//! The parent process: runs the supervisor with its part of the configuration.

use std::{path::Path, time::Duration};

use serde::Deserialize;
use serde_json::Value;
use supervisor::{
    SupervisorError,
    config::ClockConfig,
    crash_dumps,
    handover::{Handover, HandoverState},
};

use crate::{
    config::{MarketSource, RunConfig},
    failure::Failure,
};

/// Runs the clock until a signal stops it.
///
/// # Errors
/// The clock cannot start.
pub fn run(config: &RunConfig) -> Result<(), Failure> {
    let passed = serde_json::to_value(config)
        .map_err(|error| Failure::failed(format!("the clock cannot start: {error}")))?;
    Ok(supervisor::run(
        config.listen,
        clock_config(config),
        passed,
    )?)
}

/// Continues the supervisor of another program version, whose state is on the standard input.
///
/// # Errors
/// The state cannot be parsed, or as for [`run`].
pub fn take_over() -> Result<(), Failure> {
    let handover = Handover::receive().map_err(handover_error)?;
    let config = parse(handover.run_config())?;
    Ok(supervisor::resume(handover, clock_config(&config))?)
}

/// Checks that the state on the standard input can be parsed.
///
/// # Errors
/// It cannot.
pub fn try_take_over() -> Result<(), Failure> {
    let state = HandoverState::receive().map_err(handover_error)?;
    parse(state.run_config()).map(drop)
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

fn parse(config: &Value) -> Result<RunConfig, Failure> {
    RunConfig::deserialize(config).map_err(|error| handover_error(error.to_string()))
}

fn handover_error(reason: String) -> Failure {
    Failure::failed(format!("this supervisor cannot take over: {reason}"))
}

impl From<SupervisorError> for Failure {
    fn from(error: SupervisorError) -> Failure {
        match error {
            SupervisorError::InUse(message) => Failure::refused(message),
            SupervisorError::Failed(message) => Failure::failed(message),
        }
    }
}
