//! Which program the supervisor starts, and what it stores about each.

use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

use runtime::standard_error::print_error;
use serde::{Deserialize, Serialize};
use storage::disk::Folder;
use updates::{
    record,
    slots::{Factory, Firmware, HANDOVERS_MAX, ImageSlot, Program, Slots, TRIAL_STARTS_MAX},
};

/// The installed program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Installation {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What slots are compared with.
    pub(super) factory: Factory,
}

/// The programs there are.
pub(super) struct Programs {
    data_dir: PathBuf,
    disk: Folder,
    installation: Installation,
    /// Slots that are not used until a restart: their program failed several times, or its failure could not be stored.
    given_up: Vec<ImageSlot>,
}

/// The program that is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenProgram {
    /// Which one it is.
    pub(super) program: Program,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its version.
    pub(super) version: String,
    /// SHA-256 of its file in hex digits; `None` for the installed program.
    pub(super) digest: Option<String>,
    /// It has not shown yet that it works.
    pub(super) is_trial: bool,
    /// Its supervisor may replace this one.
    pub(super) may_take_over: bool,
}

impl Programs {
    pub(super) fn new(data_dir: PathBuf, installation: Installation) -> Programs {
        Programs {
            disk: Folder::new(&data_dir),
            data_dir,
            installation,
            given_up: Vec::new(),
        }
    }

    /// Slots that are not used until a restart.
    pub(super) fn given_up(&self) -> &[ImageSlot] {
        &self.given_up
    }

    /// Does not use these slots until a restart.
    pub(super) fn leave_alone(&mut self, slots: Vec<ImageSlot>) {
        self.given_up = slots;
    }

    /// The installed program.
    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// The program to start: the first of the ladder that is whole and was not given up.
    pub(super) fn choose(&mut self) -> ChosenProgram {
        let (slots, notes) = record::load_and_repair(&mut self.disk);
        for note in notes {
            print_error(&note);
        }
        if let Some(slot) = slots.exhausted_trial() {
            let reason =
                format!("it ended {TRIAL_STARTS_MAX} times before it had shown that it works");
            self.fail(slot, &reason);
        }
        for program in slots.boot_order(&self.installation.factory) {
            let Program::Slot(slot) = program else { break };
            if self.given_up.contains(&slot) {
                continue;
            }
            match record::is_intact(&mut self.disk, &slots, slot) {
                Ok(true) => return self.chosen(&slots, slot),
                Ok(false) => self.fail(slot, "its file is not the one that was installed"),
                Err(error) => self.leave_aside(slot, &format!("it cannot be read: {error}")),
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
            may_take_over: false,
        }
    }

    fn chosen(&self, slots: &Slots, slot: ImageSlot) -> ChosenProgram {
        let program = Program::Slot(slot);
        let installed = slots.get(slot);
        let handovers = installed.map_or(HANDOVERS_MAX, |installed| installed.handovers);
        ChosenProgram {
            program,
            path: self.data_dir.join(record::program_file(slot)),
            version: installed.map_or_else(String::new, |installed| installed.version.to_string()),
            digest: installed.map(|installed| hex::encode(installed.digest)),
            is_trial: slots.is_trial(program),
            // A program that runs because another one failed is not here to stay.
            may_take_over: handovers < HANDOVERS_MAX && self.given_up.is_empty(),
        }
    }

    /// What the device gets to know about its program.
    pub(super) fn firmware(&self, chosen: &ChosenProgram) -> Firmware {
        Firmware {
            running: chosen.program,
            version: chosen.version.clone(),
            factory: self.installation.factory.clone(),
        }
    }

    /// Returns whether a program is on trial.
    pub(super) fn is_on_trial(&mut self, program: Program) -> bool {
        record::load(&mut self.disk).is_trial(program)
    }

    /// Counts the start of a program on trial.
    pub(super) fn started(&mut self, slot: ImageSlot) {
        self.change("the start of a new program", |slots| {
            slots.count_start(slot)
        });
    }

    /// Stores that a program works; returns whether that was stored.
    pub(super) fn passed(&mut self, slot: ImageSlot) -> bool {
        self.change("that a program works", |slots| slots.mark_proven(slot))
    }

    /// Stores that a program does not work; it is never started again.
    pub(super) fn fail(&mut self, slot: ImageSlot, reason: &str) {
        print_error(&format!("{} was given up: {reason}", Program::Slot(slot)));
        self.change("that a program does not work", |slots| {
            slots.mark_failed(slot, reason);
        });
        // For this run, also if it could not be stored.
        self.leave(slot);
    }

    /// Stops using a program that did work, until the clock is started again or a restart is requested.
    pub(super) fn leave_aside(&mut self, slot: ImageSlot, reason: &str) {
        print_error(&format!("{} is left aside: {reason}", Program::Slot(slot)));
        self.change("why a program was left aside", |slots| {
            slots.set_aside(slot, reason);
        });
        self.leave(slot);
    }

    fn leave(&mut self, slot: ImageSlot) {
        if !self.given_up.contains(&slot) {
            self.given_up.push(slot);
        }
    }

    /// Tries all programs again.
    pub(super) fn forgive(&mut self) {
        self.given_up.clear();
    }

    /// Counts an attempt to hand over to the supervisor of a program; returns whether that was stored.
    pub(super) fn handing_over(&mut self, slot: ImageSlot) -> bool {
        self.change("an attempt to hand over", |slots| {
            slots.handover_started(slot)
        })
    }

    /// Stores that the supervisor of a program works.
    pub(super) fn handed_over(&mut self, slot: ImageSlot) {
        self.change("that a supervisor works", |slots| {
            slots.handover_succeeded(slot)
        });
    }

    fn change(&mut self, what: &str, change: impl FnOnce(&mut Slots)) -> bool {
        let outcome = record::change(&mut self.disk, change);
        if let Err(error) = &outcome {
            print_error(&format!("{what} could not be stored: {error}"));
        }
        outcome.is_ok()
    }
}

/// Returns whether a failed start is the fault of the program's file, not of a host that is short of something.
pub(super) fn is_to_blame(error: &io::Error) -> bool {
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

    /// The program that is chosen, and what is stored, after the file of a proven program was replaced.
    fn chosen_with(place: impl FnOnce(&std::path::Path)) -> (Program, TrialState) {
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
                handovers: 0,
            };
            slots.activate(slot, installed);
        })
        .unwrap();
        place(&folder.path().join(record::program_file(slot)));
        let mut programs = Programs::new(folder.path().to_path_buf(), installation);
        let chosen = programs.choose();
        let slots = record::load(&mut Folder::new(folder.path()));
        (chosen.program, slots.get(slot).unwrap().trial_state)
    }

    #[test]
    fn a_program_that_cannot_be_read_now_is_not_given_up_for_good() {
        let (own, factory) = (Program::Slot(ImageSlot::A), Program::Factory);
        let is_kept = |standing| standing == TrialState::Proven;
        let whole = chosen_with(|file| fs::write(file, "hello").unwrap());
        assert_eq!((whole.0, is_kept(whole.1)), (own, true));
        let unread = chosen_with(|file| fs::create_dir(file).unwrap());
        assert_eq!((unread.0, is_kept(unread.1)), (factory, true));
        for rotten in [Some("hellO"), Some("hello!"), None] {
            let rotten = chosen_with(|file| {
                if let Some(text) = rotten {
                    fs::write(file, text).unwrap();
                }
            });
            assert_eq!((rotten.0, is_kept(rotten.1)), (factory, false));
        }
    }
}
