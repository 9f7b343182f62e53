//! The supervisor: a small process that owns the listening socket and keeps a device process running on it.
//!
//! The device gets the socket as its standard input and says on its standard output that it is ready and makes
//! progress; a device that ends, breaks off or makes no progress is started again.
//! Meanwhile the socket stays open, so no connection is refused.
//! A restart ends the device and starts it again; clients that connect meanwhile wait in the queue of the socket.
//! One that cannot be started, because the host is short of something or its file is being replaced, is tried again.
//!
//! `programs` says which program is started: the installed one, or one that an update has put into a slot. A new one is on
//! `trial`; if it fails, the one before it runs again. After a trial that passed, the supervisor executes the new program in
//! its own place at the next start of the device (`handover`).

pub mod handover;
mod process;
mod programs;
mod trial;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::ExitStatusExt,
    },
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use handover::{Handover, HandoverState, TakeOver};
use listenfd::ListenFd;
use process::Process;
use programs::{Chosen, Installation, Programs};
use runtime::{patience::TimeBudget, tasks::Tasks};
use rustix::process::Signal;
use signal_hook::flag::register_conditional_default;
use storage::lock::{self, FolderError, Holder};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep_until, timeout},
};
use trial::{ProgramTrial, TRIAL, TrialVerdict};
use updates::slots::{Factory, ImageSlot, Program};

use crate::{
    config::{DeviceConfig, MarketSource, RunConfig},
    crash_dumps::CrashDumps,
    failure::{Code, Failure},
    lifeline::{BEAT_PERIOD, DeviceMessage, PROTOCOL, RESTART_CODE},
    service_manager::{NOTIFY_SOCKET, Notifier},
    standard_error::say,
};

/// Timeouts and limits of the supervisor.
#[derive(Debug, Clone, Copy)]
struct SupervisorLimits {
    /// Time in which a device must be ready.
    start: Duration,
    /// Time without a sign of life after which a device is given up.
    beat: Duration,
    /// Time a device has to end when it is told to, beside that for the ink that moves.
    stop: Duration,
    /// Pauses before a device that broke off is started again; the last one counts from then on.
    pauses: [Duration; 6],
    /// A device that ran for so long did not fail to start: it starts with the shortest pause again.
    steady: Duration,
    /// Failures in a row after which the device is started without its sources.
    failures: usize,
    /// Time without its sources after which the device is tried as usual again.
    safe: Duration,
    /// Time for which a new program must answer.
    trial: Duration,
}

impl SupervisorLimits {
    /// The same with trials as long as they are asked for.
    fn for_trials(self, run: &RunConfig) -> SupervisorLimits {
        let trial = run.trial_secs.map_or(self.trial, Duration::from_secs);
        SupervisorLimits { trial, ..self }
    }
}

const LIMITS: SupervisorLimits = SupervisorLimits {
    start: Duration::from_secs(30),
    beat: Duration::from_secs(6 * BEAT_PERIOD.as_secs()),
    stop: Duration::from_millis(1700),
    pauses: [
        Duration::from_millis(200),
        Duration::from_secs(1),
        Duration::from_secs(3),
        Duration::from_secs(10),
        Duration::from_secs(30),
        Duration::from_secs(60),
    ],
    steady: Duration::from_secs(120),
    failures: 3,
    safe: Duration::from_secs(3600),
    trial: TRIAL,
};

/// Options of the host's resolver, and what they are unless the owner says otherwise: a name server that does not answer
/// is given up sooner than after the usual half a minute, so that its thread is of use again.
const RESOLVER: &str = "RES_OPTIONS";
const RESOLVER_OPTIONS: &str = "timeout:3 attempts:2";

/// Number of heaps of the C library, unless the owner says otherwise: one for each worker thread, because each keeps freed
/// memory of its own.
const HEAPS: &str = "MALLOC_ARENA_MAX";
const HEAPS_MAX: &str = "2";

/// Time in which a supervisor that is about to be replaced hears signals that came meanwhile.
const LAST_LOOK: Duration = Duration::from_millis(1);

/// Longest time that a supervisor takes to end that was killed just now.
const KILLED: Duration = Duration::from_secs(1);

/// Longest time that a device whose supervisor was killed takes to end, beside that for the ink that moves.
const ORPHAN: Duration = Duration::from_secs(3);

/// Attempts to have an address that a process has just given up, and the pause between two: locks and address do not go
/// at the very same moment.
const ADDRESS_TRIES: u32 = 20;
const ADDRESS_PAUSE: Duration = Duration::from_millis(25);

/// Runs the clock until it is told to stop.
///
/// # Errors
/// The folder or the address cannot be used, or the device does not start at all.
pub fn run(config: RunConfig) -> Result<(), Failure> {
    let lock = lock::lock_patiently(&config.data_dir, Holder::Clock, KILLED)?;
    wait_for_orphan(&config)?;
    let listener = match inherited()? {
        Some(listener) => listener,
        None => listen(config.listen)?,
    };
    let place = listener.local_addr().map_err(cannot)?;
    let installation = Installation {
        path: std::env::current_exe().map_err(cannot)?,
        factory: Factory::own(),
    };
    let supervisor = Supervisor {
        lock: lock.as_fd().try_clone_to_owned().map_err(cannot)?,
        listener,
        place,
        own: Program::Factory,
        own_digest: None,
        may_execute: true,
        unconfirmed: None,
        programs: Programs::new(config.data_dir.clone(), installation, Vec::new()),
        notifier: Notifier::from_environment(),
        announced: false,
        limits: LIMITS.for_trials(&config),
        next: DeviceConfig::first(config),
    };
    runtime()?.block_on(supervisor.run())
}

/// Goes on in the place of a supervisor of another program.
///
/// # Errors
/// What it gives is not understood, or the clock ends as after [`run`].
pub fn take_over(how: TakeOver) -> Result<(), Failure> {
    let not_taken =
        |reason: String| Failure::failed(format!("this supervisor cannot go on: {reason}"));
    match how {
        TakeOver::Try => handover::try_only().map_err(not_taken),
        TakeOver::Really => {
            let runtime = runtime()?;
            // What watches a process belongs to the runtime.
            let given = {
                let _within = runtime.enter();
                handover::taken().map_err(not_taken)?
            };
            let supervisor = Supervisor::after(given).map_err(cannot)?;
            runtime.block_on(supervisor.run())
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(cannot)
}

fn did_not_start(reason: &str) -> Failure {
    Failure::failed(format!("the clock did not start: {reason}"))
}

fn cannot(error: io::Error) -> Failure {
    Failure::failed(format!("the clock cannot start: {error}"))
}

/// Waits for the device of an earlier supervisor that was killed.
fn wait_for_orphan(config: &RunConfig) -> Result<(), FolderError> {
    match lock::lock(&config.data_dir, Holder::Device) {
        Ok(_) => return Ok(()),
        Err(FolderError::Taken { .. }) => {}
        Err(error @ FolderError::Unusable { .. }) => return Err(error),
    }
    say("the device of an earlier run has not ended yet, waiting for it");
    let patience = ORPHAN + config.last_refresh();
    lock::lock_patiently(&config.data_dir, Holder::Device, patience).map(drop)
}

/// The socket that the service manager listens on for the clock, if it does.
fn inherited() -> Result<Option<TcpListener>, Failure> {
    let mut given = ListenFd::from_env();
    if given.len() > 1 {
        say("more than one socket is given: the clock answers on the first alone");
    }
    let listener = given.take_tcp_listener(0).map_err(|error| {
        Failure::failed(format!("the socket that is given is of no use: {error}"))
    })?;
    if let Some(listener) = &listener {
        let place = listener.local_addr().map_err(cannot)?;
        say(&format!(
            "listening on {place}, as the service manager says"
        ));
    }
    Ok(listener)
}

fn listen(place: SocketAddr) -> Result<TcpListener, Failure> {
    bind_patiently(place).map_err(|error| {
        let (address, port) = (place.ip(), place.port());
        let kind = error.kind();
        if kind == io::ErrorKind::AddrInUse {
            return Failure::refused(format!("port {port} of {address} is taken by another program: choose another with --listen {address}:PORT"));
        }
        Failure::failed(if kind == io::ErrorKind::PermissionDenied {
            format!("port {port} may not be used by this user: choose one from 1024 up with --listen {address}:PORT")
        } else if kind == io::ErrorKind::AddrNotAvailable {
            format!("this machine has no address {address}: choose another with --listen, such as 0.0.0.0:{port}")
        } else {
            format!("{place} cannot be listened on ({error}): choose another place with --listen")
        })
    })
}

/// Binds, if need be after waiting for a process that is ending.
fn bind_patiently(place: SocketAddr) -> io::Result<TcpListener> {
    for _ in 1..ADDRESS_TRIES {
        match TcpListener::bind(place) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                std::thread::sleep(ADDRESS_PAUSE);
            }
            bound => return bound,
        }
    }
    TcpListener::bind(place)
}

struct Supervisor {
    /// Keeps other clocks out of the data folder for as long as it is open.
    lock: OwnedFd,
    listener: TcpListener,
    place: SocketAddr,
    /// The program that this supervisor is of.
    own: Program,
    /// SHA-256 of its file, in hex digits, for a slot may hold another program by now; none if nobody said.
    own_digest: Option<String>,
    programs: Programs,
    notifier: Notifier,
    /// The page was announced, so the clock has run.
    announced: bool,
    limits: SupervisorLimits,
    next: DeviceConfig,
    /// The slot of this supervisor, until there is a sign that it works.
    unconfirmed: Option<ImageSlot>,
    /// It was never tried in vain to execute another program in this process.
    may_execute: bool,
}

/// Longest wait for what a device said last, once it has ended: something else may have its pipe.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The running device process.
struct SupervisedDevice {
    process: Process,
    chosen: Chosen,
    /// What the board left for its next start.
    cut: Option<String>,
    /// Under way while its program is on trial.
    trial: Option<ProgramTrial>,
}

/// How a device process ended.
enum End {
    /// The supervisor was told to stop.
    Stopped,
    /// It wants to be started again.
    Restart,
    /// Its power was cut, with this for the next start.
    PowerCut(String),
    /// It said why it cannot start.
    Refused(String),
    /// It broke off, with the reason in words for people.
    Broken(String),
    /// It was ended from outside, as by `kill` or by a host that is short of memory.
    Killed(String),
    /// It ran without its sources for long enough.
    SafeLongEnough,
    /// It could not be started, for this reason in words for people.
    NotStarted(String),
    /// Its program did not pass its trial.
    NotPassed(String),
}

impl Supervisor {
    /// Goes on with what another supervisor gave.
    fn after(given: Handover) -> io::Result<Supervisor> {
        let Handover {
            told,
            listener,
            lock,
        } = given;
        let run = &told.next.run;
        Ok(Supervisor {
            lock,
            place: listener.local_addr()?,
            listener,
            own: told.own,
            own_digest: told.own_digest,
            may_execute: true,
            unconfirmed: told.own.slot(),
            programs: Programs::new(run.data_dir.clone(), told.installation, told.given_up),
            notifier: Notifier::from_environment(),
            announced: told.announced,
            limits: LIMITS.for_trials(run),
            next: DeviceConfig {
                protocol: PROTOCOL,
                ..told.next
            },
        })
    }

    /// Has dumps made of devices that crash, for as long as the tasks live; on boards that have dumps.
    fn take_crash_dumps(&mut self) -> Tasks {
        let mut tasks = Tasks::new();
        let run = &self.next.run;
        if run.board().coredump {
            match CrashDumps::open(&run.data_dir) {
                Ok(dumps) => {
                    self.next.crash_dumps = Some(dumps.name().to_string());
                    tasks.spawn("crash dumps", dumps.serve());
                }
                Err(error) => {
                    self.next.crash_dumps = None;
                    say(&format!("there will be no dumps of crashes: {error}"));
                }
            }
        }
        tasks
    }

    async fn run(mut self) -> Result<(), Failure> {
        let mut stop = StopSignals::new().map_err(cannot)?;
        let _dumps = self.take_crash_dumps();
        let (mut failures, mut unstarted) = (0, 0);
        // The program on trial that was started once more after its device was ended from outside.
        let mut retried = None;
        loop {
            let begun = Instant::now();
            let started = self.start_next(&mut stop).await;
            let (end, chosen) = match started {
                (Ok(process), mut chosen) => {
                    unstarted = 0;
                    let end = self.watch(process, &chosen, &mut stop).await;
                    // It may have passed meanwhile: a break-off of later is one like any other.
                    chosen.is_trial &= self.programs.is_on_trial(chosen.program);
                    self.next.note = None;
                    self.next.carried = None;
                    (end, chosen)
                }
                (Err(error), chosen) => {
                    let is_of_slot = chosen.program.slot().is_some();
                    if is_of_slot && programs::is_to_blame(&error) {
                        (
                            End::Broken(format!("it cannot be started: {error}")),
                            chosen,
                        )
                    } else {
                        (End::NotStarted(error.to_string()), chosen)
                    }
                }
            };
            if let End::Killed(reason) = &end
                && chosen.is_trial
                && retried != chosen.digest
            {
                retried = chosen.digest;
                let pause = self.count_failure(reason, 1);
                if stop.given_within(pause).await {
                    return Ok(());
                }
                continue;
            }
            let end = match (end, chosen.program.slot()) {
                (End::Refused(reason) | End::Broken(reason) | End::Killed(reason), Some(_))
                    if chosen.is_trial =>
                {
                    End::NotPassed(reason)
                }
                (End::Refused(reason) | End::Broken(reason) | End::Killed(reason), Some(slot)) => {
                    let has_failed = begun.elapsed() < self.limits.steady;
                    failures = if has_failed { failures + 1 } else { 1 };
                    if failures < self.limits.failures {
                        let pause = self.count_failure(&reason, failures);
                        if stop.given_within(pause).await {
                            return Ok(());
                        }
                    } else {
                        failures = 0;
                        let reason =
                            format!("it broke off {} times: {reason}", self.limits.failures);
                        self.programs.leave_aside(slot, &reason);
                        self.count("another version runs", &reason);
                    }
                    continue;
                }
                (end, _) => end,
            };
            match end {
                End::Stopped => return Ok(()),
                End::Restart => {
                    failures = 0;
                    self.programs.forgive();
                }
                End::PowerCut(carried) => {
                    failures = 0;
                    self.programs.forgive();
                    self.next.carried = Some(carried);
                }
                End::NotPassed(reason) => {
                    failures = 0;
                    self.go_back(&chosen, &reason);
                }
                // Once more and it is safe again.
                End::SafeLongEnough => failures = self.limits.failures - 1,
                End::Refused(reason) if !self.announced => {
                    return Err(did_not_start(&reason));
                }
                End::Broken(reason) | End::Killed(reason)
                    if !self.announced && self.next.safe_mode.is_some() =>
                {
                    return Err(did_not_start(&reason));
                }
                End::NotStarted(reason) => {
                    unstarted += 1;
                    if unstarted >= self.limits.failures && !self.announced {
                        return Err(did_not_start(&reason));
                    }
                    let pause = self.count_unstarted(&reason, unstarted);
                    if stop.given_within(pause).await {
                        return Ok(());
                    }
                }
                End::Refused(reason) | End::Broken(reason) | End::Killed(reason) => {
                    if begun.elapsed() >= self.limits.steady {
                        failures = 0;
                    }
                    failures += 1;
                    let pause = self.count_failure(&reason, failures);
                    if stop.given_within(pause).await {
                        return Ok(());
                    }
                }
            }
            if failures < self.limits.failures {
                self.next.safe_mode = None;
            }
        }
    }

    /// Hands over to the supervisor of the chosen program if that is due, then starts the device.
    async fn start_next(&mut self, stop: &mut StopSignals) -> (io::Result<Process>, Chosen) {
        let chosen = self.programs.choose();
        if !chosen.is_trial {
            self.hand_over(&chosen, stop).await;
        }
        self.next.firmware = Some(self.programs.told(&chosen));
        let started = self.start(&chosen);
        // A host that is short of something says nothing of the program.
        if let (Ok(_), true, Some(slot)) = (&started, chosen.is_trial, chosen.program.slot()) {
            self.programs.started(slot);
        }
        (started, chosen)
    }

    /// Notes that a new program does not work, so that the next device is of the one before it.
    fn go_back(&mut self, chosen: &Chosen, reason: &str) {
        if let Some(slot) = chosen.program.slot() {
            self.programs.fail(slot, reason);
        }
        let version = &chosen.version;
        self.next.note = Some(format!(
            "version {version} did not work, and the one before it runs again: {reason}"
        ));
    }

    /// Tells whether the supervisor of a program should take the place of this one.
    fn is_to_hand_over(&self, chosen: &Chosen) -> bool {
        let is_own = self.own == chosen.program
            && (self.own_digest.is_none() || self.own_digest == chosen.digest);
        let is_of_slot = chosen.program.slot().is_some();
        is_of_slot && !is_own && chosen.may_take_over && self.may_execute
    }

    /// Lets the supervisor of the program that runs take the place of this one; returns where it does not.
    async fn hand_over(&mut self, chosen: &Chosen, stop: &mut StopSignals) {
        let Some(slot) = chosen.program.slot() else {
            return;
        };
        if !self.is_to_hand_over(chosen) {
            return;
        }
        let told = HandoverState {
            protocol: handover::PROTOCOL,
            own: chosen.program,
            own_digest: chosen.digest.clone(),
            installation: self.programs.installation().clone(),
            next: self.next.clone(),
            given_up: self.programs.given_up().to_vec(),
            announced: self.announced,
        };
        // Without a note of the attempt one that fails would be made for ever.
        if !self.programs.handing_over(slot) {
            return;
        }
        let is_understood = tokio::select! {
            biased;
            // The next supervisor would not hear of it.
            () = stop.given() => return,
            is_understood = handover::is_understood(&chosen.path, &told) => is_understood,
        };
        let why_not = match is_understood {
            Ok(()) => {
                let things = [self.listener.as_fd(), self.lock.as_fd()];
                let prepared = handover::prepare(&chosen.path, &told, &things);
                // From here on nobody would hear of one. What was told until now is heard here or never.
                stop.end_at_once(true);
                let is_stopped = stop.given_within(LAST_LOOK).await;
                let why_not = match prepared {
                    Ok(prepared) if !is_stopped => Some(prepared.execute()),
                    Ok(_) => None,
                    Err(error) => Some(error),
                };
                stop.end_at_once(false);
                let Some(why_not) = why_not else {
                    return;
                };
                self.may_execute = false;
                why_not.to_string()
            }
            Err(reason) => reason,
        };
        let version = &chosen.version;
        say(&format!(
            "the supervisor of version {version} does not take over: {why_not}"
        ));
    }

    /// Notes why the device is started again, and how; returns when.
    fn count_failure(&mut self, reason: &str, failures: usize) -> Duration {
        say(&format!(
            "the device broke off ({reason}) and is started again"
        ));
        self.count("started again after it broke off", reason);
        if failures >= self.limits.failures && self.next.safe_mode.is_none() {
            say("it broke off again and again: it is started without its sources");
            self.next.safe_mode = Some(format!("it broke off {failures} times: {reason}"));
        }
        self.pause(failures)
    }

    /// Notes why there is no device, which says nothing of the device itself; returns when the next attempt is due.
    fn count_unstarted(&mut self, reason: &str, unstarted: usize) -> Duration {
        say(&format!(
            "the device could not be started ({reason}) and is tried again"
        ));
        self.count("could not be started at first", reason);
        self.pause(unstarted)
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

    /// Time before the next attempt.
    fn pause(&self, failures: usize) -> Duration {
        let pauses = &self.limits.pauses;
        pauses[(failures - 1).min(pauses.len() - 1)]
    }

    fn start(&self, chosen: &Chosen) -> io::Result<Process> {
        let socket = OwnedFd::from(self.listener.try_clone()?);
        let config = serde_json::to_string(&self.next).map_err(io::Error::other)?;
        let or = |name, value: &str| std::env::var_os(name).unwrap_or_else(|| value.into());
        let mut command = Command::new(&chosen.path);
        let command = command
            .arg("device")
            .arg(config)
            .env(RESOLVER, or(RESOLVER, RESOLVER_OPTIONS))
            .env(HEAPS, or(HEAPS, HEAPS_MAX))
            // The service manager hears from the supervisor alone.
            .env_remove(NOTIFY_SOCKET)
            .stdin(Stdio::from(socket));
        Process::start(command)
    }

    /// Time a device has to end, with the ink that may move.
    fn stop_limit(&self) -> Duration {
        self.limits.stop + self.next.run.last_refresh()
    }

    /// Follows a device process to its end.
    async fn watch(&mut self, process: Process, chosen: &Chosen, stop: &mut StopSignals) -> End {
        let mut patience = TimeBudget::of(self.limits.start);
        let safe_until = Instant::now() + self.limits.safe;
        let trial = || ProgramTrial::new(self.place, self.limits.trial);
        let mut followed = SupervisedDevice {
            process,
            chosen: chosen.clone(),
            cut: None,
            trial: chosen.is_trial.then(trial),
        };
        loop {
            let SupervisedDevice { process, trial, .. } = &mut followed;
            tokio::select! {
                () = stop.given() => return self.stopped(process).await,
                word = process.words.next() => {
                    if word == DeviceMessage::PainterStuck {
                        process.child.kill().await;
                        return End::Broken("its painter made no progress".to_string());
                    }
                    patience = TimeBudget::of(self.limits.beat);
                    self.hear(word, &mut followed);
                }
                status = process.child.wait() => {
                    return self.judge_last_words(status, &mut followed).await;
                }
                () = patience.ended() => {
                    process.child.kill().await;
                    return End::Broken("it made no progress".to_string());
                }
                () = sleep_until(safe_until), if self.next.safe_mode.is_some() => {
                    say("the device is tried with its sources again");
                    self.end(process).await;
                    return End::SafeLongEnough;
                }
                verdict = of_trial(trial) => match verdict {
                    TrialVerdict::Passed => self.pass(&mut followed),
                    TrialVerdict::Failed(reason) => {
                        self.end(process).await;
                        return End::NotPassed(reason);
                    }
                },
            }
        }
    }

    /// Ends the clock.
    async fn stopped(&self, process: &mut Process) -> End {
        self.notifier.tell("STOPPING=1");
        self.end(process).await;
        End::Stopped
    }

    /// Hears what a device said last, which may still be in the pipe, and tells how it ended.
    async fn judge_last_words(
        &mut self,
        status: io::Result<ExitStatus>,
        followed: &mut SupervisedDevice,
    ) -> End {
        while let Ok(Some(word)) = timeout(LAST_WORDS, followed.process.words.next_or_end()).await {
            self.hear(word, followed);
        }
        judge(status, followed.cut.take())
    }

    /// Notes that a new program works. Its supervisor takes over at the next start of the device.
    fn pass(&mut self, followed: &mut SupervisedDevice) {
        followed.trial = None;
        followed.chosen.is_trial = false;
        let chosen = &followed.chosen;
        if let Some(slot) = chosen.program.slot() {
            say(&format!("version {} works", chosen.version));
            self.programs.passed(slot);
        }
    }

    /// Tells a device process to end, and ends it if it does not.
    async fn end(&self, process: &mut Process) {
        if !process.child.stop(self.stop_limit()).await {
            say("the device did not end in time and was killed");
            process.child.kill().await;
        }
    }

    fn hear(&mut self, word: DeviceMessage, followed: &mut SupervisedDevice) {
        match word {
            DeviceMessage::Ready => {
                self.notifier.tell("READY=1\nWATCHDOG=1");
                if !self.announced {
                    self.announced = true;
                    self.announce();
                }
            }
            DeviceMessage::Painted => {
                if let Some(trial) = &mut followed.trial {
                    trial.painted();
                }
            }
            DeviceMessage::Beat => {
                self.notifier.tell("WATCHDOG=1");
                self.show_life();
            }
            DeviceMessage::PainterStuck => {}
            DeviceMessage::PowerCut(carried) => followed.cut = Some(carried),
        }
    }

    /// Notes once that this supervisor works in its place.
    fn show_life(&mut self) {
        if let Some(slot) = self.unconfirmed.take() {
            self.programs.handed_over(slot);
        }
    }

    /// Says in one line where the page is.
    fn announce(&self) {
        let what = match self.next.run.market {
            MarketSource::World => "papertick",
            MarketSource::Demo => "papertick demo",
        };
        let page = page(self.place);
        let mut out = io::stdout().lock();
        // Nobody may be there to read it, which is no reason to stop.
        let _ = writeln!(out, "{what}: {page}").and_then(|()| out.flush());
    }
}

/// Where the page of a clock is that listens at a place.
fn page(place: SocketAddr) -> String {
    let port = place.port();
    if place.ip().is_unspecified() {
        format!("http://localhost:{port}/ and port {port} of every other address of this machine")
    } else {
        format!("http://{place}/")
    }
}

/// Waits for the verdict of a trial; for ever if there is none under way.
async fn of_trial(trial: &mut Option<ProgramTrial>) -> TrialVerdict {
    match trial {
        Some(trial) => trial.verdict().await,
        None => std::future::pending().await,
    }
}

fn judge(status: io::Result<ExitStatus>, cut: Option<String>) -> End {
    let status = match status {
        Ok(status) => status,
        Err(error) => return End::Broken(error.to_string()),
    };
    match (cut, status.code()) {
        (Some(carried), _) => End::PowerCut(carried),
        (None, Some(code)) if code == i32::from(RESTART_CODE) => End::Restart,
        (None, Some(code)) if code == Code::Failed as i32 => End::Refused(status.to_string()),
        // A device exits with 0 only after SIGTERM.
        (None, Some(0)) => End::Killed("it was told to stop".to_string()),
        (None, None) if is_from_outside(status) => End::Killed(status.to_string()),
        (None, _) => End::Broken(status.to_string()),
    }
}

/// Returns whether the process was ended by a signal that another process sent; a crash raises other signals.
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

/// The signals that mean stop.
struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    is_given: bool,
    /// They end this process as they would one that does not listen.
    end_at_once: Arc<AtomicBool>,
}

impl StopSignals {
    fn new() -> io::Result<StopSignals> {
        let end_at_once = Arc::default();
        let listen = |kind: SignalKind| {
            let heard = signal(kind)?;
            register_conditional_default(kind.as_raw_value(), Arc::clone(&end_at_once))?;
            Ok::<_, io::Error>(heard)
        };
        Ok(StopSignals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
            is_given: false,
            end_at_once,
        })
    }

    /// Says whether one ends this process at once from now on.
    fn end_at_once(&self, is_so: bool) {
        self.end_at_once.store(is_so, Ordering::SeqCst);
    }

    /// Waits for them for a while; tells whether one came.
    async fn given_within(&mut self, time: Duration) -> bool {
        timeout(time, self.given()).await.is_ok()
    }

    /// Waits for them; who asks again after that is told at once.
    async fn given(&mut self) {
        if self.is_given {
            return;
        }
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
        self.is_given = true;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{ffi::OsString, fs, os::unix::fs::symlink, path::Path};

    use rustix::process::{getpid, kill_process};
    use semver::Version;
    use sha2::{Digest, Sha256};
    use storage::disk::Folder;
    use tokio::time::sleep;

    use super::*;
    use crate::{
        cli::{self, Command as Parsed},
        config::PartsKind,
    };
    use updates::{
        record,
        slots::{HANDOVERS_MAX, Installed, TrialState},
    };

    #[test]
    fn a_signal_ends_only_who_is_being_replaced_at_once() {
        const ROLE: &str = "PAPERTICK_IS_BEING_REPLACED";
        const HEARD: i32 = 7;
        if let Ok(role) = std::env::var(ROLE) {
            runtime().unwrap().block_on(async {
                let mut stop = StopSignals::new().unwrap();
                stop.end_at_once(true);
                stop.end_at_once(role == "true");
                kill_process(getpid(), Signal::TERM).unwrap();
                stop.given().await;
                std::process::exit(HEARD);
            });
        }
        let test = std::thread::current().name().unwrap().to_string();
        for (is_so, ends) in [
            (false, (Some(HEARD), None)),
            (true, (None, Some(Signal::TERM.as_raw()))),
        ] {
            let mut itself = Command::new(std::env::current_exe().unwrap());
            let itself = itself.args(["--exact", &test]).stdout(Stdio::null());
            let status = itself.env(ROLE, is_so.to_string()).status().unwrap();
            assert_eq!((status.code(), status.signal()), ends, "{is_so}");
        }
    }

    fn config(folder: &Path) -> RunConfig {
        let arguments = ["papertick", "run", "--data-dir"].map(OsString::from);
        let arguments = arguments.into_iter().chain([folder.into()]);
        let Ok(Parsed::Run(config)) = cli::parse(arguments) else {
            panic!("the command line is right")
        };
        *config
    }

    /// A supervisor in a hurry whose device is a shell script; each start adds its configuration to `starts`.
    pub(super) fn supervisor(folder: &Path, script: &str) -> Supervisor {
        let program = folder.join("device.sh");
        let starts = folder.join("starts");
        let text = format!("echo \"$2\" >> {}\n{script}\n", starts.display());
        fs::write(folder.join("script"), text).unwrap();
        // A program that this process wrote could not be run while another test has just forked.
        let prepared = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/device.sh");
        let _ = fs::remove_file(&program);
        symlink(prepared, &program).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let lock = lock::lock(folder, Holder::Clock).unwrap();
        let installation = Installation {
            path: program,
            factory: Factory::own(),
        };
        Supervisor {
            lock: lock.as_fd().try_clone_to_owned().unwrap(),
            place: listener.local_addr().unwrap(),
            listener,
            own: Program::Factory,
            own_digest: None,
            may_execute: true,
            unconfirmed: None,
            programs: Programs::new(folder.to_path_buf(), installation, Vec::new()),
            notifier: Notifier::default(),
            announced: false,
            // However slow the host is.
            limits: SupervisorLimits {
                beat: Duration::from_secs(60),
                stop: Duration::from_secs(60),
                pauses: [Duration::from_millis(10); 6],
                ..LIMITS
            },
            next: DeviceConfig::first(config(folder)),
        }
    }

    /// Runs a supervisor until its device was started a number of times; returns what it was started with.
    pub(super) async fn starts(
        folder: &Path,
        supervisor: Supervisor,
        count: usize,
    ) -> Vec<DeviceConfig> {
        let read = || -> Vec<DeviceConfig> {
            let text = fs::read_to_string(folder.join("starts")).unwrap_or_default();
            text.lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect()
        };
        tokio::select! {
            ended = supervisor.run() => panic!("it ended: {ended:?}"),
            () = async {
                while read().len() < count {
                    sleep(Duration::from_millis(5)).await;
                }
            } => {}
        }
        read()
    }

    /// Puts the script into the first slot, as a program of a version that is newer than the installed one.
    pub(super) fn install(folder: &Path, record: &Path, standing: TrialState) {
        let slot = ImageSlot::A;
        let file = folder.join(record::program_file(slot));
        let prepared = fs::canonicalize(folder.join("device.sh")).unwrap();
        let bytes = fs::read(&prepared).unwrap();
        symlink(prepared, file).unwrap();
        record::change(&mut Folder::new(record), |slots| {
            let installed = Installed {
                version: Version::new(99, 0, 0),
                bytes: bytes.len() as u64,
                digest: Sha256::digest(&bytes).into(),
                beside: Factory::own().build,
                standing,
                // Its supervisor stays out of this.
                handovers: HANDOVERS_MAX,
            };
            slots.switch(slot, installed);
        })
        .unwrap();
    }

    pub(super) fn running(start: &DeviceConfig) -> Program {
        start.firmware.as_ref().unwrap().running
    }

    #[tokio::test]
    async fn a_device_on_trial_that_is_ended_from_outside_is_started_once_more() {
        let (own, factory) = (Program::Slot(ImageSlot::A), Program::Factory);
        for (signals, expected) in [
            ("kill -KILL $$", [own, own, factory]),
            ("kill -TERM $$", [own, own, factory]),
            // As `papertick device` does at a SIGTERM.
            ("exit 0", [own, own, factory]),
            ("kill -SEGV $$", [own, factory, factory]),
            ("exit 70", [own, factory, factory]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let supervisor = supervisor(folder.path(), &format!("echo ready; {signals}"));
            install(
                folder.path(),
                folder.path(),
                TrialState::Trial { starts: 0 },
            );
            let starts = starts(folder.path(), supervisor, 3).await;
            let programs: Vec<Program> = starts[..3].iter().map(running).collect();
            assert_eq!(programs, expected, "{signals}");
            let slots = record::look(&mut Folder::new(folder.path()));
            let standing = slots.get(ImageSlot::A).unwrap().standing;
            assert_eq!(standing, TrialState::Failed, "{signals}");
        }
    }

    #[tokio::test]
    async fn a_device_whose_ink_may_move_has_longer_to_end() {
        for (parts, ends_by_itself) in [
            (PartsKind::Simulated, false),
            (PartsKind::Circuit(None), true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let ended = folder.path().join("ended");
            let script = format!(
                "trap 'sleep 1; touch {}; exit 0' TERM; echo ready; while :; do sleep 0.01; done",
                ended.display()
            );
            let mut supervisor = supervisor(folder.path(), &script);
            supervisor.limits.stop = Duration::from_millis(100);
            supervisor.next.run.parts = parts;
            let chosen = supervisor.programs.choose();
            let mut process = supervisor.start(&chosen).unwrap();
            assert_eq!(process.words.next().await, DeviceMessage::Ready);
            supervisor.end(&mut process).await;
            assert_eq!(ended.exists(), ends_by_itself);
        }
    }

    #[test]
    fn the_page_is_said_to_be_where_a_browser_finds_it() {
        let everywhere =
            "http://localhost:8080/ and port 8080 of every other address of this machine";
        for (place, expected) in [
            ("127.0.0.1:81", "http://127.0.0.1:81/"),
            ("[::1]:8080", "http://[::1]:8080/"),
            ("0.0.0.0:8080", everywhere),
            ("[::]:8080", everywhere),
        ] {
            assert_eq!(page(place.parse().unwrap()), expected);
        }
    }

    #[test]
    fn each_failure_in_a_row_is_waited_for_longer_up_to_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = Supervisor {
            limits: LIMITS,
            ..supervisor(folder.path(), "")
        };
        let pauses: Vec<_> = (1..=8).map(|failures| supervisor.pause(failures)).collect();
        let expected = [200, 1000, 3000, 10_000, 30_000, 60_000, 60_000, 60_000];
        assert_eq!(pauses, expected.map(Duration::from_millis));
        assert_eq!(LIMITS.beat, Duration::from_secs(30));
    }

    #[tokio::test]
    async fn a_device_that_makes_no_progress_is_killed_and_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut supervisor = supervisor(folder.path(), "echo ready; exec sleep 1000");
        supervisor.limits.beat = Duration::from_millis(200);
        let starts = starts(folder.path(), supervisor, 2).await;
        assert_eq!((starts[0].crashes, starts[1].crashes), (0, 1));
        let note = starts[1].note.clone().unwrap();
        assert!(note.contains("no progress"), "{note}");
    }

    #[tokio::test]
    async fn signs_of_life_keep_a_device_running() {
        let folder = tempfile::tempdir().unwrap();
        let beats = "echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; echo beat; done; exit 70";
        let mut supervisor = supervisor(folder.path(), beats);
        supervisor.limits.beat = Duration::from_secs(1);
        let starts = starts(folder.path(), supervisor, 2).await;
        let note = starts[1].note.clone().unwrap();
        assert!(note.contains("70"), "it ended by itself: {note}");
    }

    #[tokio::test]
    async fn every_sign_of_life_goes_on_to_the_service_manager() {
        let folder = tempfile::tempdir().unwrap();
        let beats = "echo ready; echo beat; echo beat; exit 70";
        let mut supervisor = supervisor(folder.path(), beats);
        let (notifier, manager) = Notifier::heard().unwrap();
        manager
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        supervisor.notifier = notifier;
        starts(folder.path(), supervisor, 2).await;
        let hear = || {
            let mut bytes = [0; 64];
            let length = manager.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        let heard = [hear(), hear(), hear()];
        assert_eq!(heard, ["READY=1\nWATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"]);
    }

    #[tokio::test]
    async fn a_device_that_cannot_be_started_is_tried_again_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("device.sh");
        let away = folder.path().join("away");
        // Its file is being replaced, as by an upgrade, whenever it ends.
        let script = format!(
            "echo ready; mv {} {}; exit 75",
            program.display(),
            away.display()
        );
        let supervisor = supervisor(folder.path(), &script);
        let putting_back = async {
            loop {
                if away.exists() {
                    sleep(Duration::from_millis(300)).await;
                    fs::rename(&away, &program).unwrap();
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        let starts = tokio::select! {
            starts = starts(folder.path(), supervisor, 3) => starts,
            () = putting_back => panic!("it goes on"),
        };
        assert_eq!(starts[0].crashes, 0);
        // More often than a device may break off before it is started safely.
        assert!(
            starts[2].crashes > LIMITS.failures as u64,
            "{:?}",
            starts[2]
        );
        assert_eq!(starts[2].safe_mode, None);
        let note = starts[2].note.clone().unwrap();
        assert!(note.contains("could not be started"), "{note}");
    }

    #[tokio::test]
    async fn a_device_that_never_could_be_started_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = supervisor(folder.path(), "");
        fs::remove_file(folder.path().join("device.sh")).unwrap();
        let failure = supervisor.run().await.unwrap_err();
        assert!(failure.message.contains("did not start"), "{failure}");
    }

    #[tokio::test]
    async fn a_restart_that_was_wanted_is_no_crash() {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = supervisor(folder.path(), "echo ready; exit 75");
        let starts = starts(folder.path(), supervisor, 3).await;
        assert_eq!((starts[2].crashes, starts[2].note.clone()), (0, None));
    }

    #[tokio::test]
    async fn a_painter_that_is_stuck_has_the_device_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo ready; echo painter-stuck; exec sleep 1000";
        let starts = starts(folder.path(), supervisor(folder.path(), script), 2).await;
        let note = starts[1].note.clone().unwrap();
        assert!(note.contains("painter"), "{note}");
    }

    #[tokio::test]
    async fn a_device_that_fails_again_and_again_runs_in_safe_mode() {
        for (script, what) in [
            ("exit 70", "before it was ready"),
            ("echo ready; exit 70", "after"),
        ] {
            // A folder of its own: a test that has just forked may hold the lock of the last one for a moment.
            let folder = tempfile::tempdir().unwrap();
            let safe = format!(
                "test $(wc -l < {}) -gt 3 && {{ echo ready; exec sleep 1000; }}; {script}",
                folder.path().join("starts").display()
            );
            let starts = starts(folder.path(), supervisor(folder.path(), &safe), 4).await;
            assert!(
                starts[..3].iter().all(|start| start.safe_mode.is_none()),
                "{what}"
            );
            let reason = starts[3].safe_mode.clone().unwrap();
            assert!(
                reason.contains("3 times") && reason.contains("70"),
                "{what}: {reason}"
            );
        }
    }

    /// Which of the first six devices run in safe mode if all break off, but the fourth does something else.
    async fn safe_but_for_the_fourth(
        fourth: &str,
        limits: impl FnOnce(&mut SupervisorLimits),
    ) -> Vec<bool> {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo ready; test $(wc -l < {}) = 4 && {fourth}; exit 70",
            folder.path().join("starts").display()
        );
        let mut supervisor = supervisor(folder.path(), &script);
        limits(&mut supervisor.limits);
        let starts = starts(folder.path(), supervisor, 6).await;
        let safe = starts.iter().map(|start| start.safe_mode.is_some());
        safe.take(6).collect()
    }

    #[tokio::test]
    async fn safe_mode_ends_with_a_restart_that_was_wanted() {
        let safe = safe_but_for_the_fourth("exit 75", |_| {}).await;
        assert_eq!(safe, [false, false, false, true, false, false]);
    }

    #[tokio::test]
    async fn safe_mode_ends_by_itself_and_returns_at_the_next_failure() {
        let soon = |limits: &mut SupervisorLimits| limits.safe = Duration::from_millis(100);
        let safe = safe_but_for_the_fourth("exec sleep 1000", soon).await;
        assert_eq!(safe, [false, false, false, true, false, true]);
    }

    #[tokio::test]
    async fn failures_with_a_long_life_between_them_are_not_in_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo ready; test $(wc -l < {}) = 3 && sleep 3; exit 70",
            folder.path().join("starts").display()
        );
        let mut supervisor = supervisor(folder.path(), &script);
        supervisor.limits.steady = Duration::from_secs(3);
        let starts = starts(folder.path(), supervisor, 6).await;
        let safe: Vec<bool> = starts
            .iter()
            .map(|start| start.safe_mode.is_some())
            .collect();
        assert_eq!(safe[..6], [false, false, false, false, false, true]);
        assert_eq!(starts[5].crashes, 5, "all are counted");
    }

    #[tokio::test]
    async fn a_device_that_fails_even_in_safe_mode_and_never_was_ready_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let failure = supervisor(folder.path(), "exit 70")
            .run()
            .await
            .unwrap_err();
        assert!(failure.message.contains("did not start"), "{failure}");
        let text = fs::read_to_string(folder.path().join("starts")).unwrap();
        assert_eq!(text.lines().count(), 4);
    }

    #[tokio::test]
    async fn what_a_board_leaves_at_a_power_cut_is_passed_on_once() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo ready; test $(wc -l < {}) = 1 && echo power-cut 1 3200; exit 75",
            folder.path().join("starts").display()
        );
        let supervisor = supervisor(folder.path(), &script);
        let starts = starts(folder.path(), supervisor, 3).await;
        let carried: Vec<Option<&str>> = starts
            .iter()
            .map(|start| start.carried.as_deref())
            .collect();
        assert_eq!(carried[..3], [None, Some("1 3200"), None]);
    }

    #[tokio::test]
    async fn a_device_that_never_was_ready_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let failure = supervisor(folder.path(), "exit 1").run().await.unwrap_err();
        assert!(failure.message.contains("did not start"), "{failure}");
    }
}
