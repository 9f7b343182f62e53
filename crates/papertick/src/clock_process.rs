//! The parent process: runs the supervisor with what it has to know of the configuration.

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
    Ok(supervisor::run(config.listen, clock(config), passed)?)
}

/// Continues as the supervisor of another program, whose state comes on the standard input.
///
/// # Errors
/// The state is not understood, or the clock ends as after [`run`].
pub fn take_over() -> Result<(), Failure> {
    let handover = Handover::receive().map_err(not_understood)?;
    let config = parse(handover.run_config())?;
    Ok(supervisor::resume(handover, clock(&config))?)
}

/// Returns whether the state on the standard input is understood.
///
/// # Errors
/// It is not.
pub fn try_take_over() -> Result<(), Failure> {
    let state = HandoverState::receive().map_err(not_understood)?;
    parse(state.run_config()).map(drop)
}

/// Makes a dump of a device that crashed.
///
/// # Errors
/// There is no dump.
pub fn dump_crash(process: u32, folder: &Path) -> Result<(), Failure> {
    crash_dumps::take(process, folder).map_err(|error| Failure::failed(error.to_string()))
}

fn clock(config: &RunConfig) -> ClockConfig {
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
    RunConfig::deserialize(config).map_err(|error| not_understood(error.to_string()))
}

fn not_understood(reason: String) -> Failure {
    Failure::failed(format!("this supervisor cannot go on: {reason}"))
}

impl From<SupervisorError> for Failure {
    fn from(error: SupervisorError) -> Failure {
        match error {
            SupervisorError::InUse(message) => Failure::refused(message),
            SupervisorError::Failed(message) => Failure::failed(message),
        }
    }
}
