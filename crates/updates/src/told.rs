//! What clients are told of the program that runs.

use api::status::FirmwareStatus;
use storage::disk::Folder;

use super::{installer::InstallerConfig, judge::Signatures, record, slots::Program};
use crate::build;

/// The member `firmware` of the system status.
pub fn status(means: &InstallerConfig) -> FirmwareStatus {
    // The supervisor writes it, too; what it found out is on the disk before anything follows from it.
    let slots = record::look(&mut Folder::new(&means.data_dir));
    let firmware = means.firmware.as_ref();
    let running = firmware.map_or(Program::Factory, |firmware| firmware.running);
    FirmwareStatus {
        running: running.word(),
        version: firmware.map_or_else(
            || build::VERSION.into(),
            |firmware| firmware.version.clone(),
        ),
        trial: slots.is_trial(running),
        last_failure: slots.last_failure,
        signed: means.signatures == Signatures::Required,
        keys: means.keys.good().len(),
    }
}
