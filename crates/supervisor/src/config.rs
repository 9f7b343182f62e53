//! What the supervisor knows of the clock, and what a device process is started with.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use updates::slots::Firmware;

use crate::messages::PROTOCOL;

/// What the supervisor knows of the clock.
#[derive(Debug, Clone)]
pub struct ClockConfig {
    /// The data folder.
    pub data_dir: PathBuf,
    /// Printed before the address of the page.
    pub label: &'static str,
    /// A crashed device leaves a dump.
    pub has_crash_dumps: bool,
    /// Time that a refresh of the panels may still take when the device is stopped.
    pub last_refresh: Duration,
    /// Time for which a new program must answer; `None` for the usual time.
    pub trial: Option<Duration>,
}

/// What a device process is started with. Supervisor and device may be of different versions: fields are only ever added, and
/// each has a value for when it is missing.
///
/// The supervisor does not look into `run`, the configuration of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceConfig<Run> {
    /// Version of the protocol between supervisor and device.
    #[serde(default)]
    pub protocol: u32,
    /// Configuration of the clock.
    pub run: Run,
    /// Process number of the supervisor.
    pub supervisor: u32,
    /// How often the device failed since the supervisor started.
    pub crashes: u64,
    /// Why the device is started again, in words for people; `None` if a person or an update wanted the start.
    pub note: Option<String>,
    /// Why the device runs without its sources, in words for people; `None` if it runs with them.
    pub safe_mode: Option<String>,
    /// State of a simulated board whose power was cut, in its own format.
    pub carried: Option<String>,
    /// Name of the socket on which the device reports that it crashed; `None` if there are no dumps.
    pub crash_dumps: Option<String>,
    /// The program that runs; `None` if the supervisor does not say, and then nothing can be updated.
    #[serde(default)]
    pub firmware: Option<Firmware>,
}

impl<Run> DeviceConfig<Run> {
    /// The first start of a device by this process.
    pub fn first(run: Run) -> DeviceConfig<Run> {
        DeviceConfig {
            protocol: PROTOCOL,
            run,
            supervisor: std::process::id(),
            crashes: 0,
            note: None,
            safe_mode: None,
            carried: None,
            crash_dumps: None,
            firmware: None,
        }
    }
}

/// The same, as the supervisor passes it on.
pub(crate) type OpaqueConfig = DeviceConfig<serde_json::Value>;
