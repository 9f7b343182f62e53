//! Configuration of the supervisor and of a device process.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use updates::slots::Firmware;

use crate::messages::PROTOCOL;

/// Environment variable with the settings for an empty data folder. They can contain passwords, and other users of the host
/// can read the arguments of a process but not its environment.
pub const DEFAULTS: &str = "PAPERTICK_DEFAULTS";

/// Configuration of the supervisor.
#[derive(Debug, Clone)]
pub struct ClockConfig {
    /// The data folder.
    pub data_dir: PathBuf,
    /// Printed before the address of the page.
    pub label: &'static str,
    /// A crashed device leaves a dump.
    pub has_crash_dumps: bool,
    /// Additional time to stop, because a refresh of the panels may be in progress. A device that is ready reports its own.
    pub last_refresh: Duration,
    /// How long a new program must answer requests; `None` for the default.
    pub trial: Option<Duration>,
}

/// Configuration of a device process, as its command-line argument. Supervisor and device may have different versions:
/// fields are only added, and each new field has a default.
///
/// `run` is the configuration of the clock, which the supervisor does not parse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceConfig<Run> {
    /// Version of the protocol between supervisor and device.
    #[serde(default)]
    pub protocol: u32,
    /// Configuration of the clock.
    pub run: Run,
    /// Process ID of the supervisor.
    pub supervisor: u32,
    /// How often the device failed since the supervisor started.
    pub crashes: u64,
    /// Why the device was restarted, for people; `None` if the restart was requested.
    pub note: Option<String>,
    /// Why the device runs without its sources, for people; `None` if it runs with them.
    pub safe_mode: Option<String>,
    /// State of a simulated board whose power was cut, in its own format.
    pub carried: Option<String>,
    /// Name of the socket on which the device reports a crash; `None` if there are no dumps.
    pub crash_dumps: Option<String>,
    /// The running program. `None` from a supervisor without slots; then the program cannot be updated.
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

/// The configuration of a device with an unparsed `run`.
pub(crate) type OpaqueConfig = DeviceConfig<serde_json::Value>;

impl OpaqueConfig {
    /// Removes the value of [`DEFAULTS`], to be passed outside the arguments.
    pub(crate) fn take_defaults(&mut self) -> Option<String> {
        let defaults = self.run.as_object_mut()?.remove("defaults")?;
        defaults.as_str().map(String::from)
    }
}
