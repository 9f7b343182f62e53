//! What follows the end of a device: when it is restarted, with which program, and with or without its sources.

use std::{fmt, time::Duration};

use runtime::standard_error::print_error;
use updates::slots::ImageSlot;

use crate::{SupervisorError, programs::ChosenProgram, supervision::Supervisor};

pub(crate) struct EndedDevice {
    pub(crate) end: DeviceEnd,
    pub(crate) chosen: ChosenProgram,
    /// How long it ran.
    pub(crate) lifetime: Duration,
}

/// How a device ended. Reasons are texts for people.
pub(crate) enum DeviceEnd {
    /// The supervisor received a stop signal.
    Stopped,
    Restart,
    /// The power of a simulated board was cut; with the state of the board.
    PowerCut(String),
    /// The device failed, with the reason.
    Failed(FailureKind, String),
    /// The time in safe mode is over.
    SafeModeOver,
    /// The host could not start the device, with the reason.
    NotStarted(String),
    /// The program failed its trial, with the reason.
    TrialFailed(String),
}

impl DeviceEnd {
    /// A crash, or a failure that counts as one.
    pub(crate) fn broken(reason: impl fmt::Display) -> DeviceEnd {
        DeviceEnd::Failed(FailureKind::Broken, reason.to_string())
    }
}

/// How a device failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// It cannot start and has printed the reason.
    Refused,
    /// It crashed, or made no progress.
    Broken,
    /// Another process ended it, such as `kill`, or the kernel because memory is short.
    Killed,
}

/// What the supervisor does next.
pub(crate) enum NextStep {
    Stop,
    Start,
    /// Start the next device after a pause.
    StartAfter(Duration),
}

/// Failures so far.
#[derive(Debug, Default)]
pub(crate) struct FailureCounts {
    /// Failures in a row.
    failed: usize,
    /// Attempts in a row in which the host could not start a device.
    pub(crate) unstarted: usize,
    /// Digest of the program on trial that was restarted once after its device was killed.
    retried: Option<String>,
}

impl Supervisor {
    /// Decides what follows the end of a device.
    ///
    /// # Errors
    /// No device has ever run, and another attempt is pointless.
    pub(crate) fn next_step(&mut self, ended: EndedDevice) -> Result<NextStep, SupervisorError> {
        let EndedDevice {
            end,
            chosen,
            lifetime,
        } = ended;
        let step = match end {
            DeviceEnd::Stopped => NextStep::Stop,
            DeviceEnd::Restart => self.restart(None),
            DeviceEnd::PowerCut(state) => self.restart(Some(state)),
            DeviceEnd::TrialFailed(reason) => self.fall_back(&chosen, &reason),
            DeviceEnd::SafeModeOver => {
                // The next failure starts safe mode again.
                self.counts.failed = self.limits.failures - 1;
                NextStep::Start
            }
            DeviceEnd::NotStarted(reason) => self.not_started(&reason)?,
            DeviceEnd::Failed(kind, reason) => match chosen.program.slot() {
                Some(_) if chosen.is_trial => self.trial_failed(kind, &reason, &chosen),
                Some(slot) => self.slot_failed(slot, &reason, lifetime),
                None => self.installed_failed(kind, &reason, lifetime)?,
            },
        };
        if self.counts.failed < self.limits.failures {
            self.next.safe_mode = None;
        }
        Ok(step)
    }

    /// A requested restart: all programs are tried again.
    fn restart(&mut self, carried: Option<String>) -> NextStep {
        self.counts.failed = 0;
        self.programs.resume_all();
        self.next.carried = carried;
        NextStep::Start
    }

    /// Stores that a new program does not work, so that the previous one is chosen.
    fn fall_back(&mut self, chosen: &ChosenProgram, reason: &str) -> NextStep {
        self.counts.failed = 0;
        if let Some(slot) = chosen.program.slot() {
            self.programs.fail(slot, reason);
        }
        let version = &chosen.version;
        self.next.note = Some(format!(
            "version {version} did not work, so the previous version runs again: {reason}"
        ));
        NextStep::Start
    }

    /// The host could not start a device. This does not count against the program.
    fn not_started(&mut self, reason: &str) -> Result<NextStep, SupervisorError> {
        self.counts.unstarted += 1;
        if self.counts.unstarted >= self.limits.failures && !self.is_announced {
            return Err(did_not_start(reason));
        }
        print_error(&format!(
            "the device could not be started ({reason}), trying again"
        ));
        self.count("The clock could not be started at first", reason);
        Ok(NextStep::StartAfter(
            self.limits.pause(self.counts.unstarted),
        ))
    }

    /// A failure during the trial is final, except that a killed device is restarted once.
    fn trial_failed(
        &mut self,
        kind: FailureKind,
        reason: &str,
        chosen: &ChosenProgram,
    ) -> NextStep {
        if kind == FailureKind::Killed && self.counts.retried != chosen.digest {
            self.counts.retried = chosen.digest.clone();
            return self.start_again(reason, 1);
        }
        self.fall_back(chosen, reason)
    }

    /// A proven program that fails several times in a row is set aside for the next program.
    fn slot_failed(&mut self, slot: ImageSlot, reason: &str, lifetime: Duration) -> NextStep {
        let failures = self.count_in_row(lifetime);
        if failures < self.limits.failures {
            return self.start_again(reason, failures);
        }
        self.counts.failed = 0;
        let reason = format!("it ended unexpectedly {failures} times: {reason}");
        self.programs.set_aside(slot, &reason);
        self.count("Another version runs", &reason);
        NextStep::Start
    }

    /// The installed program is restarted; after several failures in a row without its sources.
    fn installed_failed(
        &mut self,
        kind: FailureKind,
        reason: &str,
        lifetime: Duration,
    ) -> Result<NextStep, SupervisorError> {
        let is_pointless = kind == FailureKind::Refused || self.next.safe_mode.is_some();
        if is_pointless && !self.is_announced {
            return Err(did_not_start(reason));
        }
        let failures = self.count_in_row(lifetime);
        Ok(self.start_again(reason, failures))
    }

    /// Counts a failure. Returns the number of failures in a row.
    fn count_in_row(&mut self, lifetime: Duration) -> usize {
        if lifetime >= self.limits.steady {
            self.counts.failed = 0;
        }
        self.counts.failed += 1;
        self.counts.failed
    }

    /// Restarts the device after a pause; without its sources if it failed often.
    fn start_again(&mut self, reason: &str, failures: usize) -> NextStep {
        print_error(&format!(
            "the device ended unexpectedly ({reason}); restarting it"
        ));
        self.count("Restarted after an unexpected end", reason);
        if failures >= self.limits.failures && self.next.safe_mode.is_none() {
            print_error(
                "the device ended unexpectedly several times; restarting it without its sources",
            );
            self.next.safe_mode = Some(format!(
                "The clock ended unexpectedly {failures} times: {reason}"
            ));
        }
        NextStep::StartAfter(self.limits.pause(failures))
    }

    /// Counts a failure, and sets the note for the next device.
    fn count(&mut self, what: &str, reason: &str) {
        self.next.crashes += 1;
        let times = match self.next.crashes {
            1 => "once".to_string(),
            times => format!("{times} times"),
        };
        self.next.note = Some(format!("{what}, {times} so far: {reason}"));
    }
}

fn did_not_start(reason: &str) -> SupervisorError {
    SupervisorError::Failed(format!("the clock did not start: {reason}"))
}
