//! What clients are told of the program that runs.

use serde_json::{Value, json};
use storage::disk::Folder;

use super::{installer::InstallerConfig, judge::Signatures, record, slots::Program};
use crate::build;

/// The member `firmware` of the system status: which program runs, which version it is, whether it has yet to show that it
/// works, why the last update failed, whether updates must be signed, and how many keys are trusted to sign them.
pub fn status(means: &InstallerConfig) -> Value {
    // The supervisor writes it, too; what it found out is on the disk before anything follows from it.
    let slots = record::look(&mut Folder::new(&means.data_dir));
    let firmware = means.firmware.as_ref();
    let running = firmware.map_or(Program::Factory, |firmware| firmware.running);
    json!({
        "running": running.word(),
        "version": firmware.map_or(build::VERSION, |firmware| &firmware.version),
        "trial": slots.is_trial(running),
        "lastFailure": slots.last_failure,
        "signed": means.signatures == Signatures::Required,
        "keys": means.keys.good().len(),
    })
}
