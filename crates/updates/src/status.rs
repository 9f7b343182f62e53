//! Status of the running program.

use api::status::FirmwareStatus;
use storage::disk::Folder;

use super::{installer::InstallerConfig, policy::Signatures, record, slots::Program};
use crate::build;

/// The member `firmware` of the system status.
pub fn firmware(config: &InstallerConfig) -> FirmwareStatus {
    // Loaded each time, because the supervisor changes the file, too.
    let slots = record::load(&mut Folder::new(&config.data_dir));
    let firmware = config.firmware.as_ref();
    let running = firmware.map_or(Program::Factory, |firmware| firmware.running);
    FirmwareStatus {
        running: running.name(),
        version: firmware.map_or_else(
            || build::VERSION.into(),
            |firmware| firmware.version.clone(),
        ),
        trial: slots.is_trial(running),
        last_failure: slots.last_failure,
        signed: config.signatures == Signatures::Required,
        keys: config.keys.load_quietly().len(),
        managed_by: config.managed_by.clone(),
    }
}
