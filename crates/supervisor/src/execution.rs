//! Execution of the program of an update in place of the installed one, at the start of the clock.
//!
//! The process stays the same, and with it the process ID and the sockets of a service manager.
//! Each execution is counted until the device makes progress, so that after a few failed starts the installed program runs
//! itself.

use std::{io, os::unix::process::CommandExt, process::Command};

use serde::{Deserialize, Serialize};
use updates::slots::{Factory, Program};

use crate::programs::{ChosenProgram, Installation, Programs};

/// Environment variable with the [`Execution`] of this process as JSON.
const EXECUTION: &str = "PAPERTICK_EXECUTION";

/// The program of this process, and the installed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Execution {
    pub(crate) program: Program,
    /// SHA-256 of its file in hex digits, because its slot may have another program now; `None` for the installed program.
    pub(crate) digest: Option<String>,
    pub(crate) installation: Installation,
}

impl Execution {
    /// The execution that the installed program has prepared, or else that of the installed program.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub(crate) fn of_this_process() -> io::Result<Execution> {
        let prepared = std::env::var(EXECUTION).ok();
        match prepared.and_then(|json| serde_json::from_str(&json).ok()) {
            Some(execution) => Ok(execution),
            None => Ok(Execution {
                program: Program::Factory,
                digest: None,
                installation: Installation {
                    path: std::env::current_exe()?,
                    factory: Factory::own(),
                },
            }),
        }
    }

    pub(crate) fn is_of(&self, chosen: &ChosenProgram) -> bool {
        self.program == chosen.program && self.digest == chosen.digest
    }

    /// Executes the program of an update with the same arguments, if this is the installed program and there is one that
    /// works. Returns `None` if not, or why that failed, for people.
    pub(crate) fn execute_update(&self, programs: &mut Programs) -> Option<String> {
        if self.program != Program::Factory {
            return None;
        }
        let chosen = programs.choose();
        let slot = chosen.program.slot().filter(|_| chosen.may_execute)?;
        let execution = Execution {
            program: chosen.program,
            digest: chosen.digest,
            installation: self.installation.clone(),
        };
        let execution = serde_json::to_string(&execution).ok()?;
        if !programs.count_execution(slot) {
            // An execution that is not counted could fail forever.
            return None;
        }
        let error = Command::new(&chosen.path)
            .args(std::env::args_os().skip(1))
            .env(EXECUTION, execution)
            .exec();
        let version = chosen.version;
        Some(format!("version {version} cannot be executed: {error}"))
    }
}
