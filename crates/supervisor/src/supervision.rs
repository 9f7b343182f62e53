//! The loop of the supervisor: start a device, watch it, and decide what follows its end.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::{Command, ExitCode, ExitStatus, Stdio},
    time::Duration,
};

use runtime::{standard_error::print_error, tasks::Tasks, time_budget::TimeBudget};
use rustix::process::Signal;
use serde_json::Value;
use signal_hook::low_level::signal_name;
use tokio::time::{Instant, sleep_until, timeout};
use updates::slots::ImageSlot;

use crate::{
    SupervisorError,
    config::{ClockConfig, DEFAULTS, DeviceConfig, OpaqueConfig},
    crash_dumps::CrashDumps,
    execution::Execution,
    limits::SupervisorLimits,
    messages::{DeviceMessage, REFUSED_CODE, RESTART_CODE},
    process::Process,
    programs::{self, ChosenProgram, Programs},
    restarts::{DeviceEnd, EndedDevice, FailureCounts, FailureKind, NextStep},
    service_manager::{NOTIFY_SOCKET, Notifier},
    signals::StopSignals,
    start::cannot_start,
    trial::{ProgramTrial, TrialVerdict},
};

/// Options of the host's resolver, unless the owner sets others: a shorter timeout than the default of half a minute, so
/// that a name server without a response does not block a thread for so long.
const RESOLVER: &str = "RES_OPTIONS";
const RESOLVER_OPTIONS: &str = "timeout:3 attempts:2";

/// Number of heaps of the C library, unless the owner sets another: one for the worker thread and one for all other threads,
/// because each keeps its freed memory.
const HEAPS: &str = "MALLOC_ARENA_MAX";
const HEAPS_MAX: &str = "2";

/// Longest wait for the last messages of a device that has ended: another process may hold its pipe open.
const LAST_MESSAGES: Duration = Duration::from_millis(100);

pub(crate) struct Supervisor {
    /// The listening socket of the clock.
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) own: Execution,
    pub(crate) programs: Programs,
    pub(crate) clock: ClockConfig,
    pub(crate) notifier: Notifier,
    /// The address of the page was printed: a device has run.
    pub(crate) is_announced: bool,
    pub(crate) limits: SupervisorLimits,
    /// Configuration of the next device.
    pub(crate) next: OpaqueConfig,
    /// Failures so far.
    pub(crate) counts: FailureCounts,
    /// The slot of this program, until its device makes progress.
    unconfirmed: Option<ImageSlot>,
    /// A service manager holds the socket and starts the clock again.
    pub(crate) has_manager: bool,
}

/// The running device process.
pub(crate) struct SupervisedDevice {
    pub(crate) process: Process,
    pub(crate) chosen: ChosenProgram,
    /// State of a simulated board whose power was cut.
    pub(crate) cut: Option<String>,
    /// `None` if its program is not on trial, or has passed.
    pub(crate) trial: Option<ProgramTrial>,
}

impl Supervisor {
    /// A supervisor that has not started a device yet.
    ///
    /// # Errors
    /// The listener has no address.
    pub(crate) fn new(
        listener: TcpListener,
        own: Execution,
        programs: Programs,
        clock: ClockConfig,
        run: Value,
    ) -> io::Result<Supervisor> {
        Ok(Supervisor {
            address: listener.local_addr()?,
            listener,
            unconfirmed: own.program.slot(),
            own,
            programs,
            limits: SupervisorLimits::of(&clock),
            clock,
            notifier: Notifier::from_environment(),
            is_announced: false,
            next: DeviceConfig::first(run),
            counts: FailureCounts::default(),
            has_manager: false,
        })
    }

    /// Runs until a stop signal, until a service manager should start the clock with a new program, or until it is clear that
    /// no device can start.
    ///
    /// # Errors
    /// No device starts.
    pub(crate) async fn run(mut self) -> Result<ExitCode, SupervisorError> {
        let mut stop = StopSignals::new().map_err(cannot_start)?;
        let _dumps = self.serve_crash_dumps();
        let mut chosen = self.programs.choose();
        loop {
            let ended = self.run_device(chosen, &mut stop).await;
            let is_restart = matches!(ended.end, DeviceEnd::Restart);
            match self.next_step(ended)? {
                NextStep::Stop => return Ok(ExitCode::SUCCESS),
                NextStep::Start => {}
                NextStep::StartAfter(pause) => {
                    if stop.received_within(pause).await {
                        return Ok(ExitCode::SUCCESS);
                    }
                }
            }
            chosen = self.programs.choose();
            if is_restart && self.should_end_for(&chosen) {
                self.notifier.notify("STOPPING=1");
                return Ok(ExitCode::from(RESTART_CODE));
            }
        }
    }

    /// Whether the service manager should start the clock again, so that it runs another program than this process.
    fn should_end_for(&self, chosen: &ChosenProgram) -> bool {
        let would_execute = chosen.may_execute || chosen.program.slot().is_none();
        self.has_manager && would_execute && !self.own.is_of(chosen)
    }

    /// Serves the socket for crash dumps, on boards that have them, until the tasks are dropped.
    fn serve_crash_dumps(&mut self) -> Tasks {
        let mut tasks = Tasks::new();
        if !self.clock.has_crash_dumps {
            return tasks;
        }
        match CrashDumps::open(&self.clock.data_dir) {
            Ok(dumps) => {
                self.next.crash_dumps = Some(dumps.name().to_string());
                tasks.spawn("crash dumps", dumps.serve());
            }
            Err(error) => {
                self.next.crash_dumps = None;
                print_error(&format!("crash dumps are not available: {error}"));
            }
        }
        tasks
    }

    /// Starts a device and watches it until it ends.
    async fn run_device(
        &mut self,
        mut chosen: ChosenProgram,
        stop: &mut StopSignals,
    ) -> EndedDevice {
        let begun = Instant::now();
        let end = match self.start_next(&chosen) {
            Ok(process) => {
                self.counts.unstarted = 0;
                let end = self.watch(process, &chosen, stop).await;
                // The trial may have passed while the device was running.
                chosen.is_trial &= self.programs.is_on_trial(chosen.program);
                self.next.note = None;
                self.next.carried = None;
                end
            }
            Err(error) if chosen.program.slot().is_some() && programs::is_file_error(&error) => {
                DeviceEnd::Failed(
                    FailureKind::Broken,
                    format!("it cannot be started: {error}"),
                )
            }
            Err(error) => DeviceEnd::NotStarted(error.to_string()),
        };
        EndedDevice {
            end,
            chosen,
            lifetime: begun.elapsed(),
        }
    }

    /// Starts the next device, and counts the start of a program on trial.
    fn start_next(&mut self, chosen: &ChosenProgram) -> io::Result<Process> {
        self.next.firmware = Some(self.programs.firmware(chosen));
        let started = self.start(chosen);
        // A failed start does not count, because the host may be the cause.
        if let (Ok(_), true, Some(slot)) = (&started, chosen.is_trial, chosen.program.slot()) {
            self.programs.count_start(slot);
        }
        started
    }

    /// Starts a device process.
    ///
    /// # Errors
    /// The host cannot start it.
    pub(crate) fn start(&self, chosen: &ChosenProgram) -> io::Result<Process> {
        let socket = OwnedFd::from(self.listener.try_clone()?);
        let mut config = self.next.clone();
        let defaults = config.take_defaults();
        let config = serde_json::to_string(&config).map_err(io::Error::other)?;
        let own_or = |name, value: &str| std::env::var_os(name).unwrap_or_else(|| value.into());
        let mut command = Command::new(&chosen.path);
        let command = command
            .arg("device")
            .arg(config)
            .env(RESOLVER, own_or(RESOLVER, RESOLVER_OPTIONS))
            .env(HEAPS, own_or(HEAPS, HEAPS_MAX))
            // Only the supervisor reports to the service manager.
            .env_remove(NOTIFY_SOCKET)
            .stdin(Stdio::from(socket));
        match defaults {
            Some(defaults) => command.env(DEFAULTS, defaults),
            None => command.env_remove(DEFAULTS),
        };
        Process::start(command)
    }

    /// Watches a device process until it ends.
    async fn watch(
        &mut self,
        process: Process,
        chosen: &ChosenProgram,
        stop: &mut StopSignals,
    ) -> DeviceEnd {
        let mut watchdog = TimeBudget::of(self.limits.start);
        let safe_until = Instant::now() + self.limits.safe;
        let trial = || ProgramTrial::new(self.address, self.limits.trial);
        let mut device = SupervisedDevice {
            process,
            chosen: chosen.clone(),
            cut: None,
            trial: chosen.is_trial.then(trial),
        };
        loop {
            let SupervisedDevice { process, trial, .. } = &mut device;
            tokio::select! {
                () = stop.received() => {
                    self.notifier.notify("STOPPING=1");
                    self.stop(process).await;
                    return DeviceEnd::Stopped;
                }
                message = process.messages.next() => {
                    if message == DeviceMessage::PainterStuck {
                        process.child.kill().await;
                        return DeviceEnd::broken("its painter made no progress");
                    }
                    watchdog = TimeBudget::of(self.limits.beat);
                    self.handle(message, &mut device);
                }
                status = process.child.wait() => return self.ended(status, &mut device).await,
                () = watchdog.ended() => {
                    process.child.kill().await;
                    return DeviceEnd::broken("it made no progress");
                }
                () = sleep_until(safe_until), if self.next.safe_mode.is_some() => {
                    print_error("safe mode is over, restarting the device with its sources");
                    self.stop(process).await;
                    return DeviceEnd::SafeModeOver;
                }
                verdict = verdict_of(trial) => match verdict {
                    TrialVerdict::Passed => self.trial_passed(&mut device),
                    TrialVerdict::Failed(reason) => {
                        self.stop(process).await;
                        return DeviceEnd::TrialFailed(reason);
                    }
                },
            }
        }
    }

    /// Stops a device process, and kills it if it does not stop in time.
    pub(crate) async fn stop(&self, process: &mut Process) {
        let limit = self.limits.stop + self.clock.last_refresh;
        if !process.child.stop(limit).await {
            print_error("the device did not stop in time and is killed");
            process.child.kill().await;
        }
    }

    /// Handles the messages that are still in the pipe of a device that ended, and returns how it ended.
    async fn ended(
        &mut self,
        status: io::Result<ExitStatus>,
        device: &mut SupervisedDevice,
    ) -> DeviceEnd {
        while let Ok(Some(message)) =
            timeout(LAST_MESSAGES, device.process.messages.next_or_end()).await
        {
            self.handle(message, device);
        }
        match status {
            Ok(status) => end_of(status, device.cut.take()),
            Err(error) => DeviceEnd::broken(error),
        }
    }

    /// Stores that a new program works.
    fn trial_passed(&mut self, device: &mut SupervisedDevice) {
        device.trial = None;
        let chosen = &mut device.chosen;
        chosen.is_trial = false;
        if let Some(slot) = chosen.program.slot() {
            print_error(&format!("version {} works", chosen.version));
            self.programs.mark_proven(slot);
        }
    }

    pub(crate) fn handle(&mut self, message: DeviceMessage, device: &mut SupervisedDevice) {
        match message {
            DeviceMessage::Ready(last_refresh) => {
                if let Some(last_refresh) = last_refresh {
                    self.clock.last_refresh = last_refresh;
                }
                self.notifier.notify("READY=1\nWATCHDOG=1");
                if !self.is_announced {
                    self.is_announced = true;
                    self.announce();
                }
            }
            DeviceMessage::Painted => {
                if let Some(trial) = &mut device.trial {
                    trial.painted();
                }
            }
            DeviceMessage::Beat => {
                self.notifier.notify("WATCHDOG=1");
                if let Some(slot) = self.unconfirmed.take() {
                    self.programs.clear_executions(slot);
                }
            }
            DeviceMessage::PainterStuck => {}
            DeviceMessage::PowerCut(state) => device.cut = Some(state),
        }
    }

    /// Prints the address of the page.
    fn announce(&self) {
        let mut out = io::stdout().lock();
        // Fails if the standard output is closed.
        let _ = writeln!(out, "{}: {}", self.clock.label, page(self.address))
            .and_then(|()| out.flush());
    }
}

/// Address of the page of a clock that listens on an address.
pub(crate) fn page(address: SocketAddr) -> String {
    let port = address.port();
    if address.ip().is_unspecified() {
        format!("http://localhost:{port}/ and port {port} of every other address of this machine")
    } else {
        format!("http://{address}/")
    }
}

/// Waits for the verdict of a trial; forever if there is none.
async fn verdict_of(trial: &mut Option<ProgramTrial>) -> TrialVerdict {
    match trial {
        Some(trial) => trial.verdict().await,
        None => std::future::pending().await,
    }
}

fn end_of(status: ExitStatus, cut: Option<String>) -> DeviceEnd {
    if let Some(state) = cut {
        return DeviceEnd::PowerCut(state);
    }
    let kind = match status.code() {
        Some(code) if code == i32::from(RESTART_CODE) => return DeviceEnd::Restart,
        Some(code) if code == i32::from(REFUSED_CODE) => FailureKind::Refused,
        // A device exits with 0 only after SIGTERM.
        Some(0) => {
            return DeviceEnd::Failed(FailureKind::Killed, "it received SIGTERM".to_string());
        }
        None if is_from_outside(status) => FailureKind::Killed,
        Some(_) | None => FailureKind::Broken,
    };
    let reason = match status.signal() {
        Some(signal) => match signal_name(signal) {
            Some(name) => format!("it was ended by {name}"),
            None => format!("it was ended by signal number {signal}"),
        },
        None => status.to_string(),
    };
    DeviceEnd::Failed(kind, reason)
}

/// Whether the process was ended by a signal of another process. A crash raises other signals.
fn is_from_outside(status: ExitStatus) -> bool {
    let outside = [
        Signal::KILL,
        Signal::TERM,
        Signal::INT,
        Signal::HUP,
        Signal::QUIT,
    ];
    let signal = status.signal();
    outside
        .iter()
        .any(|outside| signal == Some(outside.as_raw()))
}
