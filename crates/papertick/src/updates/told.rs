//! What clients are told of the program that runs.

use std::path::Path;

use serde_json::{Value, json};
use storage::disk::Folder;

use super::record;
use crate::{build, config::Firmware, updates::slots::Program};

/// The member `firmware` of the system status: which program runs, which version it is, whether it has yet to show that it
/// works, and why the last update failed.
pub fn status(firmware: Option<&Firmware>, data_dir: &Path) -> Value {
    // The supervisor writes it, too; what it found out is on the disk before anything follows from it.
    let (slots, _) = record::read(&mut Folder::new(data_dir));
    let running = firmware.map_or(Program::Factory, |firmware| firmware.running);
    json!({
        "running": running.word(),
        "version": firmware.map_or(build::VERSION, |firmware| &firmware.version),
        "trial": slots.is_trial(running),
        "lastFailure": slots.last_failure,
    })
}
