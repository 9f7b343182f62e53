//! Chooses the program to start, and stores the results of trials and executions.

use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

use runtime::standard_error::print_error;
use serde::{Deserialize, Serialize};
use storage::disk::Folder;
use updates::{
    record,
    slots::{EXECUTIONS_MAX, Factory, Firmware, ImageSlot, Program, Slots, TRIAL_STARTS_MAX},
};

/// The installed program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Installation {
    pub(super) path: PathBuf,
    /// Its version and build, for comparison with the slots.
    pub(super) factory: Factory,
}

/// The installed program and the programs in the slots.
pub(super) struct Programs {
    data_dir: PathBuf,
    disk: Folder,
    installation: Installation,
    /// Slots that are not used until a requested restart, because their program failed.
    suspended: Vec<ImageSlot>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenProgram {
    pub(super) program: Program,
    pub(super) path: PathBuf,
    pub(super) version: String,
    /// SHA-256 of its file in hex digits; `None` for the installed program.
    pub(super) digest: Option<String>,
    pub(super) is_trial: bool,
    /// It may be executed in place of the installed program.
    pub(super) may_execute: bool,
}

impl Programs {
    pub(super) fn new(data_dir: PathBuf, installation: Installation) -> Programs {
        Programs {
            disk: Folder::new(&data_dir),
            data_dir,
            installation,
            suspended: Vec::new(),
        }
    }

    /// The program to start: the first one in the boot order that is intact and not suspended.
    pub(super) fn choose(&mut self) -> ChosenProgram {
        let (slots, warnings) = record::load_and_repair(&mut self.disk);
        for warning in warnings {
            print_error(&warning);
        }
        if let Some(slot) = slots.exhausted_trial() {
            let reason = format!("it ended {TRIAL_STARTS_MAX} times before its trial was over");
            self.fail(slot, &reason);
        }
        for program in slots.boot_order(&self.installation.factory) {
            let Program::Slot(slot) = program else { break };
            if self.suspended.contains(&slot) {
                continue;
            }
            match record::is_intact(&mut self.disk, &slots, slot) {
                Ok(true) => return self.chosen(&slots, slot),
                Ok(false) => self.fail(slot, "its file is not the one that was installed"),
                Err(error) => self.set_aside(slot, &format!("it cannot be read: {error}")),
            }
        }
        self.installed()
    }

    fn installed(&self) -> ChosenProgram {
        ChosenProgram {
            program: Program::Factory,
            path: self.installation.path.clone(),
            version: self.installation.factory.version.to_string(),
            digest: None,
            is_trial: false,
            may_execute: false,
        }
    }

    fn chosen(&self, slots: &Slots, slot: ImageSlot) -> ChosenProgram {
        let program = Program::Slot(slot);
        let installed = slots.get(slot);
        let executions = installed.map_or(EXECUTIONS_MAX, |installed| installed.executions);
        let is_trial = slots.is_trial(program);
        ChosenProgram {
            program,
            path: self.data_dir.join(record::program_file(slot)),
            version: installed.map_or_else(String::new, |installed| installed.version.to_string()),
            digest: installed.map(|installed| hex::encode(installed.digest)),
            is_trial,
            may_execute: !is_trial && executions < EXECUTIONS_MAX,
        }
    }

    /// The running program, as reported to the device.
    pub(super) fn firmware(&self, chosen: &ChosenProgram) -> Firmware {
        Firmware {
            running: chosen.program,
            version: chosen.version.clone(),
            factory: self.installation.factory.clone(),
        }
    }

    pub(super) fn is_on_trial(&mut self, program: Program) -> bool {
        record::load(&mut self.disk).is_trial(program)
    }

    /// Counts the start of a program on trial.
    pub(super) fn count_start(&mut self, slot: ImageSlot) {
        self.change("the start of a new program", |slots| {
            slots.count_start(slot)
        });
    }

    /// Stores that a program works.
    pub(super) fn mark_proven(&mut self, slot: ImageSlot) {
        self.change("that a program works", |slots| slots.mark_proven(slot));
    }

    /// Stores that a program does not work. It is never started again.
    pub(super) fn fail(&mut self, slot: ImageSlot, reason: &str) {
        print_error(&format!("{} failed: {reason}", Program::Slot(slot)));
        self.change("that a program does not work", |slots| {
            slots.mark_failed(slot, reason);
        });
        // Also if it could not be stored.
        self.suspend(slot);
    }

    /// Stops using a proven program until the clock or a requested restart starts it again.
    pub(super) fn set_aside(&mut self, slot: ImageSlot, reason: &str) {
        print_error(&format!("{} was set aside: {reason}", Program::Slot(slot)));
        self.change("why a program was set aside", |slots| {
            slots.set_aside(slot, reason);
        });
        self.suspend(slot);
    }

    fn suspend(&mut self, slot: ImageSlot) {
        if !self.suspended.contains(&slot) {
            self.suspended.push(slot);
        }
    }

    /// Uses all slots again.
    pub(super) fn resume_all(&mut self) {
        self.suspended.clear();
    }

    /// Counts an execution of a program in place of the installed one. Returns whether that was stored.
    pub(super) fn count_execution(&mut self, slot: ImageSlot) -> bool {
        self.change("the start of a program", |slots| {
            slots.count_execution(slot)
        })
    }

    /// Stores that a program works in place of the installed one.
    pub(super) fn clear_executions(&mut self, slot: ImageSlot) {
        self.change("that a program works", |slots| slots.clear_executions(slot));
    }

    fn change(&mut self, what: &str, change: impl FnOnce(&mut Slots)) -> bool {
        let stored = record::change(&mut self.disk, change);
        if let Err(error) = &stored {
            print_error(&format!("cannot store {what}: {error}"));
        }
        stored.is_ok()
    }
}

/// Whether the file of the program is the cause of a failed start, and not a lack of resources on the host.
pub(super) fn is_file_error(error: &io::Error) -> bool {
    const ENOEXEC: i32 = rustix::io::Errno::NOEXEC.raw_os_error();
    error.raw_os_error() == Some(ENOEXEC)
        || matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::PermissionDenied
        )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::fs;

    use semver::Version;
    use sha2::{Digest, Sha256};

    use updates::slots::{Installed, TrialState};

    use super::*;

    /// The chosen program and the stored state, after the file of a proven program was replaced.
    fn chosen_with(write_file: impl FnOnce(&std::path::Path)) -> (Program, TrialState) {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation {
            path: "/usr/bin/papertick".into(),
            factory: Factory::own(),
        };
        let slot = ImageSlot::A;
        record::change(&mut Folder::new(folder.path()), |slots| {
            let installed = Installed {
                version: Version::new(99, 0, 0),
                bytes: 5,
                digest: Sha256::digest(b"hello").into(),
                factory_build: Factory::own().build,
                trial_state: TrialState::Proven,
                executions: 0,
            };
            slots.activate(slot, installed);
        })
        .unwrap();
        write_file(&folder.path().join(record::program_file(slot)));
        let mut programs = Programs::new(folder.path().to_path_buf(), installation);
        let chosen = programs.choose();
        let slots = record::load(&mut Folder::new(folder.path()));
        (chosen.program, slots.get(slot).unwrap().trial_state)
    }

    #[test]
    fn a_program_that_cannot_be_read_stays_proven() {
        let (own, factory) = (Program::Slot(ImageSlot::A), Program::Factory);
        let (proven, failed) = (TrialState::Proven, TrialState::Failed);
        let intact = chosen_with(|file| fs::write(file, "hello").unwrap());
        assert_eq!(intact, (own, proven));
        let unreadable = chosen_with(|file| fs::create_dir(file).unwrap());
        assert_eq!(unreadable, (factory, proven));
        for content in [Some("hellO"), Some("hello!"), None] {
            let damaged = chosen_with(|file| {
                if let Some(text) = content {
                    fs::write(file, text).unwrap();
                }
            });
            assert_eq!(damaged, (factory, failed));
        }
    }
}
