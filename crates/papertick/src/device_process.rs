//! The device process: opens what survived the last run, runs the parts, and ends them in the right order.
//!
//! The HTTP server and the tasks beside it stop first, then the main loop. A restart is such an end with an exit code of its
//! own; the supervisor keeps the listening socket and starts the next device. The data folder is free at the very end.

use std::{fs::File, io, net::TcpListener, os::fd::AsFd, process::ExitCode, time::Duration};

use board::sim::Bench;
use device::settings::{SPECS, Settings, store};
use runtime::{
    log_lines::LogLines,
    tasks::{TaskExit, Tasks},
};
use rustix::{
    process::{Pid, Signal, getppid, set_parent_process_death_signal},
    stdio::dup2_stdin,
};
use serde_json::{Map, Value};
use storage::{
    Store,
    disk::Folder,
    lock::{self, Holder},
};
use supervisor::{
    crash_dumps,
    messages::{BROKEN_CODE, DeviceMessage, RESTART_CODE},
};
use tokio::signal::unix::{self, SignalKind};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    config::{DeviceConfig, MarketSource},
    failure::Failure,
    liveness::{FIRST_PICTURE, SUPERVISOR_TASK, first_picture, heartbeat},
    stored_state::StoredState,
    wiring::{Parts, Performing},
};

/// Time a device waits for the one before it to let go of the data folder.
const PATIENCE: Duration = Duration::from_secs(3);

/// Threads for work that takes its time but ends: password hashes and the pictures of pools.
const BLOCKING_THREADS: usize = 4;

/// Threads that run the tasks. With a second one every wake of a task costs several system calls, because the two wake each
/// other; slow work runs on the blocking threads.
const WORKER_THREADS: usize = 1;

/// Time the requests under way have to end.
const HTTP_STOP: Duration = Duration::from_millis(900);

/// Time everything else has to end.
const STOP: Duration = Duration::from_millis(500);

/// Time for all tasks to end once the supervisor is gone: another clock may be starting on the same folder.
const ORPHAN_STOP: Duration = Duration::from_millis(200);

/// Why the device ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// By a signal.
    Stopped,
    /// It is to be started again.
    Restart,
    /// A task ended that should not.
    Broken,
}

/// Runs the device until it ends; the code tells the supervisor why.
///
/// # Errors
/// It cannot start.
pub fn run(config: DeviceConfig) -> Result<ExitCode, Failure> {
    follow_supervisor(&config);
    if let Some(socket) = &config.crash_dumps {
        crash_dumps::report_crashes(socket);
    }
    let cannot = |error: io::Error| Failure::failed(format!("the device cannot start: {error}"));
    let listener = inherited_socket()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(cannot)?;
    let lock = lock::lock_patiently(&config.run.data_dir, Holder::Device, PATIENCE)?;
    let (store, loaded) = Store::open(Box::new(Folder::new(&config.run.data_dir)));
    let fresh = || fresh(config.run.market, config.run.defaults.as_deref());
    let mut kept = StoredState::read(loaded, fresh).map_err(cannot)?;
    kept.unstored = lock.unwritable().map(ToString::to_string);
    let log = start_log(&config, &kept.settings);
    crash_dumps::mention(&config.run.data_dir);
    let ending = runtime
        .block_on(live(config, listener, store, kept, log))
        .map_err(cannot)?;
    // Work that is stuck on a blocking thread must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    // Nor may another device write while it still does: the lock ends with the process.
    std::mem::forget(lock);
    Ok(match ending {
        Ending::Stopped => ExitCode::SUCCESS,
        Ending::Restart => ExitCode::from(RESTART_CODE),
        Ending::Broken => ExitCode::from(BROKEN_CODE),
    })
}

/// Time for which a demo shows each screen, s: short, so that a visitor sees it change.
const DEMO_SCREEN_SECS: u32 = 15;

/// The settings of a clock that has stored none, and what is wrong with those of `--defaults`.
fn fresh(market: MarketSource, defaults: Option<&str>) -> (Settings, Vec<String>) {
    let settings = match market {
        MarketSource::World => Settings::default(),
        MarketSource::Demo => Settings {
            timer_seconds: DEMO_SCREEN_SECS,
            ..Settings::default()
        },
    };
    let Some(text) = defaults else {
        return (settings, Vec::new());
    };
    let Ok(mut defaults) = serde_json::from_str::<Map<String, Value>>(text) else {
        return (settings, vec!["--defaults is not a JSON object".into()]);
    };
    let mut stored = store::to_json(&settings);
    let unknown = defaults.keys().filter(|name| !stored.contains_key(*name));
    let mut notes: Vec<String> = unknown
        .map(|name| format!("--defaults: there is no setting {name}"))
        .collect();
    for spec in SPECS.iter().filter(|spec| spec.kind.password().is_some()) {
        if let Some(Value::String(text)) = defaults.get_mut(spec.name)
            && !text.is_empty()
            && !passwords::is_hash(text)
        {
            match passwords::hash(text, &mut Vec::new()) {
                Some(hash) => *text = hash.phc().into(),
                // Stored as it is, no password would match it.
                None => notes.push(format!("--defaults: {} could not be hashed", spec.name)),
            }
        }
    }
    stored.extend(defaults);
    let (settings, found) = store::from_json(&stored);
    notes.extend(found.iter().map(|note| format!("--defaults: {note}")));
    (settings, notes)
}

/// Lets the kernel end this process with the supervisor, because it uses its socket and lock.
fn follow_supervisor(config: &DeviceConfig) {
    // Without this the device still notices at its next sign of life.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    leave_if_orphan(config.supervisor);
}

fn leave_if_orphan(supervisor: u32) {
    if is_orphan(supervisor) {
        std::process::exit(i32::from(BROKEN_CODE));
    }
}

/// Tells whether the supervisor is gone.
fn is_orphan(supervisor: u32) -> bool {
    let expected = i32::try_from(supervisor).ok().and_then(Pid::from_raw);
    getppid() != expected
}

/// The listening socket, which the supervisor hands over as standard input.
fn inherited_socket() -> Result<TcpListener, Failure> {
    let socket = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(TcpListener::from);
    socket
        .and_then(|socket| {
            socket.local_addr()?;
            socket.set_nonblocking(true)?;
            // Else the address would be taken for as long as this process takes to end.
            dup2_stdin(File::open("/dev/null")?)?;
            Ok(socket)
        })
        .map_err(|error| {
            Failure::failed(format!(
                "the device got no socket from its supervisor: {error}"
            ))
        })
}

/// Starts the log; what is given keeps its last lines.
fn start_log(config: &DeviceConfig, settings: &Settings) -> LogLines {
    let word = match &config.run.log {
        Some(word) => word.as_str(),
        None if settings.enable_debug_log => "debug",
        None => "info",
    };
    let level = word
        .parse()
        .unwrap_or(tracing::level_filters::LevelFilter::INFO);
    let lines = LogLines::new();
    let written = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_writer(io::stderr);
    tracing_subscriber::registry()
        .with(level)
        .with(written)
        .with(lines.layer())
        .init();
    lines
}

/// Starts all parts, waits for a reason to end, and ends them.
async fn live(
    config: DeviceConfig,
    listener: TcpListener,
    store: Store,
    kept: StoredState,
    log: LogLines,
) -> io::Result<Ending> {
    let mut signals = TerminationSignals::new()?;
    let life = Life {
        supervisor: config.supervisor,
        last_refresh: config.run.last_refresh(),
    };
    let mut parts = Parts::start(config, listener, store, kept, log).await?;
    DeviceMessage::Ready.send()?;
    parts
        .endless
        .spawn(FIRST_PICTURE, first_picture(parts.pulse.glass()));
    let mut signs = Tasks::new();
    signs.spawn(
        SUPERVISOR_TASK,
        heartbeat(parts.pulse.clone(), DeviceMessage::send),
    );
    let ending = life.run(&mut parts, &mut signs, &mut signals).await;
    life.stop(parts).await;
    Ok(ending)
}

/// The signals that end the device.
struct TerminationSignals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

impl TerminationSignals {
    fn new() -> io::Result<TerminationSignals> {
        Ok(TerminationSignals {
            terminate: unix::signal(SignalKind::terminate())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
        })
    }
}

/// What a device needs to know for its end.
struct Life {
    supervisor: u32,
    last_refresh: Duration,
}

impl Life {
    /// Runs until there is a reason to end.
    async fn run(
        &self,
        parts: &mut Parts,
        signs: &mut Tasks,
        signals: &mut TerminationSignals,
    ) -> Ending {
        loop {
            tokio::select! {
                _ = signals.terminate.recv() => return Ending::Stopped,
                _ = signals.interrupt.recv() => return Ending::Stopped,
                // It ends never.
                () = &mut parts.performing => {}
                () = parts.restart.notified() => return Ending::Restart,
                carried = power_cut(parts.bench.as_ref()) => {
                    // No ceremony: what is not on the disk is lost, as it would be on a real board.
                    let _ = DeviceMessage::PowerCut(carried).send();
                    std::process::exit(i32::from(RESTART_CODE));
                }
                ended = parts.front.ended() => return broken(ended),
                ended = parts.core.ended() => return broken(ended),
                ended = parts.rest.ended() => return broken(ended),
                ended = parts.endless.ended() => return broken(ended),
                ended = signs.ended() => return broken(ended),
                // One that is still needed cannot end by itself.
                ended = parts.buses.ended(), if !parts.buses.is_empty() => return broken(ended),
            }
        }
    }

    /// Ends the HTTP server and the sources, then the main loop, then the buses.
    async fn stop(&self, parts: Parts) {
        let (requests, others) = if is_orphan(self.supervisor) {
            (Duration::ZERO, ORPHAN_STOP)
        } else {
            (HTTP_STOP, STOP)
        };
        let ending = async {
            parts.front_stop.stop();
            parts.rest_stop.stop();
            let (front, rest) = tokio::join!(parts.front.stop(requests), parts.rest.stop(others));
            for name in front.into_iter().chain(rest) {
                tracing::debug!(task = %name, "cut off");
            }
            parts.endless.abort().await;
            // The main loop saves its memory when no task can send it anything.
            parts.core_stop.stop();
            parts.core.stop(others).await;
            // A refresh under way is finished.
            parts.buses.stop(self.last_refresh).await;
        };
        beside(parts.performing, ending).await;
    }
}

/// Ends while what was begun before is still being performed: its client may wait for it.
async fn beside(performing: Performing, ending: impl Future<Output = ()>) {
    tokio::select! {
        () = performing => {}
        () = ending => {}
    }
}

/// Waits until the simulated power is cut, on a real board for ever. Returns what the board needs at the next start.
async fn power_cut(bench: Option<&Bench>) -> String {
    match bench {
        Some(bench) => bench.power_cut().await.to_string(),
        None => std::future::pending().await,
    }
}

fn broken(ended: Option<TaskExit>) -> Ending {
    let name = ended.map(|ended| ended.name).unwrap_or_default();
    if name == SUPERVISOR_TASK || name == FIRST_PICTURE {
        // The supervisor is gone, and the device goes with it.
        return Ending::Stopped;
    }
    tracing::error!(task = %name, "a part broke off, the device is started again");
    Ending::Broken
}

#[cfg(test)]
mod tests {
    use runtime::tasks::stop_signal;
    use tokio::time::timeout;

    use super::*;
    use crate::liveness::Pulse;

    /// A device with parts that do nothing.
    fn idle() -> Parts {
        let idling = || {
            let mut tasks = Tasks::new();
            tasks.spawn("idle", std::future::pending());
            tasks
        };
        Parts {
            front: idling(),
            front_stop: stop_signal().0,
            core: idling(),
            core_stop: stop_signal().0,
            rest: idling(),
            endless: idling(),
            rest_stop: stop_signal().0,
            performing: Box::pin(std::future::pending()),
            restart: std::sync::Arc::default(),
            bench: None,
            buses: idling(),
            pulse: Pulse::by_hand().0,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_one_of_whose_parts_breaks_off_is_started_again() {
        let life = Life {
            supervisor: std::process::id(),
            last_refresh: Duration::ZERO,
        };
        let mut signals = TerminationSignals::new().unwrap();
        let groups: [fn(&mut Parts) -> &mut Tasks; 5] = [
            |parts| &mut parts.front,
            |parts| &mut parts.core,
            |parts| &mut parts.rest,
            |parts| &mut parts.endless,
            |parts| &mut parts.buses,
        ];
        for (group, of) in groups.into_iter().enumerate() {
            let (mut parts, mut signs) = (idle(), Tasks::new());
            signs.spawn("idle", std::future::pending());
            of(&mut parts).spawn("broken", async {});
            let ending = life.run(&mut parts, &mut signs, &mut signals);
            let ending = timeout(HTTP_STOP, ending).await;
            assert_eq!(ending, Ok(Ending::Broken), "{group}");
        }
        // The supervisor is gone, and the device goes with it.
        for sign in [SUPERVISOR_TASK, FIRST_PICTURE] {
            let (mut parts, mut signs) = (idle(), Tasks::new());
            signs.spawn(sign, async {});
            let ending = life.run(&mut parts, &mut signs, &mut signals);
            let ending = timeout(HTTP_STOP, ending).await;
            assert_eq!(ending, Ok(Ending::Stopped), "{sign}");
        }
    }

    #[test]
    fn a_demo_that_is_new_shows_another_screen_soon() {
        assert_eq!(fresh(MarketSource::Demo, None).0.timer_seconds, 15);
        assert_eq!(fresh(MarketSource::World, None).0, Settings::default());
    }
}
