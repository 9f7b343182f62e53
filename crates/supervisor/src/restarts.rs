//! What follows the end of a device: when it is started again, which program, and with or without its sources.

use std::{fmt, time::Duration};

use runtime::standard_error::print_error;
use updates::slots::ImageSlot;

use crate::{SupervisorError, programs::ChosenProgram, supervision::Supervisor};

/// A device that ended.
pub(crate) struct EndedDevice {
    pub(crate) end: End,
    /// Its program.
    pub(crate) chosen: ChosenProgram,
    /// How long it ran.
    pub(crate) lifetime: Duration,
}

/// How a device ended. Reasons are in words for people.
pub(crate) enum End {
    /// The supervisor was told to stop.
    Stopped,
    /// It asked to be started again.
    Restart,
    /// The power of a simulated board was cut; with the state of the board.
    PowerCut(String),
    /// It failed, for a reason.
    Failed(FailureKind, String),
    /// It ran without its sources for long enough.
    SafeLongEnough,
    /// The host could not start it, for a reason.
    NotStarted(String),
    /// Its program did not pass its trial, for a reason.
    NotPassed(String),
}

impl End {
    /// A crash, or what counts as one.
    pub(crate) fn broken(reason: impl fmt::Display) -> End {
        End::Failed(FailureKind::Broken, reason.to_string())
    }
}

/// How a device failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// It said why it cannot start.
    Refused,
    /// It crashed, or made no progress.
    Broken,
    /// Another process ended it, such as `kill` or a host that is short of memory.
    Killed,
}

/// What the supervisor does next.
pub(crate) enum NextStep {
    /// End.
    Stop,
    /// Start the next device.
    Start,
    /// Start the next device after a pause.
    StartAfter(Duration),
}

/// Failures so far.
#[derive(Debug, Default)]
pub(crate) struct FailureCounts {
    /// Devices in a row that failed.
    failed: usize,
    /// Attempts in a row in which the host could not start a device.
    pub(crate) unstarted: usize,
    /// Digest of the program on trial that was started once more after its device was killed.
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
            End::Stopped => NextStep::Stop,
            End::Restart => self.restart(None),
            End::PowerCut(state) => self.restart(Some(state)),
            End::NotPassed(reason) => self.go_back(&chosen, &reason),
            End::SafeLongEnough => {
                // One more failure, and it is safe mode again.
                self.counts.failed = self.limits.failures - 1;
                NextStep::Start
            }
            End::NotStarted(reason) => self.not_started(&reason)?,
            End::Failed(kind, reason) => match chosen.program.slot() {
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

    /// A wanted restart: all programs are tried again.
    fn restart(&mut self, carried: Option<String>) -> NextStep {
        self.counts.failed = 0;
        self.programs.forgive();
        self.next.carried = carried;
        NextStep::Start
    }

    /// Stores that a new program does not work, so that the one before it is chosen.
    fn go_back(&mut self, chosen: &ChosenProgram, reason: &str) -> NextStep {
        self.counts.failed = 0;
        if let Some(slot) = chosen.program.slot() {
            self.programs.fail(slot, reason);
        }
        let version = &chosen.version;
        self.next.note = Some(format!(
            "version {version} did not work, and the one before it runs again: {reason}"
        ));
        NextStep::Start
    }

    /// The host could not start a device, which says nothing about the program.
    fn not_started(&mut self, reason: &str) -> Result<NextStep, SupervisorError> {
        self.counts.unstarted += 1;
        if self.counts.unstarted >= self.limits.failures && !self.is_announced {
            return Err(did_not_start(reason));
        }
        print_error(&format!(
            "the device could not be started ({reason}) and is tried again"
        ));
        self.count("could not be started at first", reason);
        Ok(NextStep::StartAfter(
            self.limits.pause(self.counts.unstarted),
        ))
    }

    /// A failure on trial is final, but a device that another process killed is started once more.
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
        self.go_back(chosen, reason)
    }

    /// A proven program that fails several times in a row gives way to the next program.
    fn slot_failed(&mut self, slot: ImageSlot, reason: &str, lifetime: Duration) -> NextStep {
        let failures = self.count_in_row(lifetime);
        if failures < self.limits.failures {
            return self.start_again(reason, failures);
        }
        self.counts.failed = 0;
        let reason = format!("it broke off {failures} times: {reason}");
        self.programs.leave_aside(slot, &reason);
        self.count("another version runs", &reason);
        NextStep::Start
    }

    /// The installed program is started without its sources after several failures in a row.
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

    /// Counts a failure; returns how many there were in a row.
    fn count_in_row(&mut self, lifetime: Duration) -> usize {
        if lifetime >= self.limits.steady {
            self.counts.failed = 0;
        }
        self.counts.failed += 1;
        self.counts.failed
    }

    /// Starts the device again after a pause; without its sources if it failed often.
    fn start_again(&mut self, reason: &str, failures: usize) -> NextStep {
        print_error(&format!(
            "the device broke off ({reason}) and is started again"
        ));
        self.count("started again after it broke off", reason);
        if failures >= self.limits.failures && self.next.safe_mode.is_none() {
            print_error("it broke off again and again: it is started without its sources");
            self.next.safe_mode = Some(format!("it broke off {failures} times: {reason}"));
        }
        NextStep::StartAfter(self.limits.pause(failures))
    }

    /// Counts it, and leaves a note for the next device.
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
