//! The device process: opens the data folder, runs the tasks, and stops them in the right order.
//!
//! The HTTP server and the services stop first, then the main loop. A restart has its own exit code: the supervisor keeps
//! the listening socket and starts the next device. The lock on the data folder is released when the process exits.

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
    config::DEFAULTS,
    crash_dumps,
    messages::{BROKEN_CODE, DeviceMessage, RESTART_CODE},
};
use tokio::signal::unix::{self, SignalKind};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    config::{DeviceConfig, MarketSource},
    failure::Failure,
    liveness::{FIRST_PICTURE, SUPERVISOR_TASK, first_picture, heartbeat},
    setup::{EffectsFuture, RunningDevice},
    stored_state::StoredState,
};

/// How long to wait for the previous device to release the data folder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Threads for slow work, such as password hashes and the logos of pools.
const BLOCKING_THREADS: usize = 4;

/// Threads that run the tasks. With a second thread each wake of a task costs several system calls, because the threads
/// wake each other; slow work runs on the blocking threads.
const WORKER_THREADS: usize = 1;

/// Timeout for active requests to end.
const HTTP_STOP: Duration = Duration::from_millis(900);

/// Timeout for all other tasks to end.
const STOP: Duration = Duration::from_millis(500);

/// Timeout for all tasks to end if the supervisor is gone: another clock may be starting on the same folder.
const ORPHAN_STOP: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopReason {
    Signal,
    /// A restart was requested.
    Restart,
    /// A task ended unexpectedly.
    Failed,
}

/// Runs the device until it stops. The exit code is the reason for the supervisor.
///
/// # Errors
/// It cannot start.
pub fn run(mut config: DeviceConfig) -> Result<ExitCode, Failure> {
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
    let lock = lock::lock_patiently(&config.run.data_dir, Holder::Device, LOCK_TIMEOUT)?;
    let (store, loaded) = Store::open(Box::new(Folder::new(&config.run.data_dir)));
    config.run = config.run.with_chosen_panel();
    let defaults = config.run.defaults.clone();
    let defaults = defaults.or_else(|| std::env::var(DEFAULTS).ok());
    let fresh = || fresh(config.run.market, defaults.as_deref());
    let mut stored = StoredState::read(loaded, fresh).map_err(cannot)?;
    stored.storage_error = lock.unwritable().map(ToString::to_string);
    let log = start_log(&config, &stored.settings);
    crash_dumps::mention(&config.run.data_dir);
    let reason = runtime
        .block_on(run_tasks(config, listener, store, stored, log))
        .map_err(cannot)?;
    // A blocking thread that hangs must not prevent the exit.
    runtime.shutdown_timeout(Duration::from_millis(100));
    // The lock is released by the exit of the process: until then a blocking thread may still write.
    std::mem::forget(lock);
    Ok(match reason {
        StopReason::Signal => ExitCode::SUCCESS,
        StopReason::Restart => ExitCode::from(RESTART_CODE),
        StopReason::Failed => ExitCode::from(BROKEN_CODE),
    })
}

/// Time a demo shows each screen, s. It is short, so that visitors see several screens.
const DEMO_SCREEN_SECS: u32 = 15;

/// The settings for an empty data folder, and the mistakes in `--defaults`.
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
    // If this fails, the device notices at its next heartbeat.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    leave_if_orphan(config.supervisor);
}

fn leave_if_orphan(supervisor: u32) {
    if is_orphan(supervisor) {
        std::process::exit(i32::from(BROKEN_CODE));
    }
}

/// Whether the supervisor is gone.
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
            // Standard input would keep the address in use until this process has exited.
            dup2_stdin(File::open("/dev/null")?)?;
            Ok(socket)
        })
        .map_err(|error| {
            Failure::failed(format!(
                "the device got no socket from its supervisor: {error}"
            ))
        })
}

/// Starts the log, with a buffer of its last lines.
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

/// Starts all tasks, waits for a reason to stop, and stops them.
async fn run_tasks(
    config: DeviceConfig,
    listener: TcpListener,
    store: Store,
    stored: StoredState,
    log: LogLines,
) -> io::Result<StopReason> {
    let mut signals = TerminationSignals::new()?;
    let lifecycle = Lifecycle {
        supervisor: config.supervisor,
        last_refresh: config.run.last_refresh(),
    };
    let mut device = RunningDevice::start(config, listener, store, stored, log).await?;
    DeviceMessage::Ready(Some(lifecycle.last_refresh)).send()?;
    device
        .drivers
        .spawn(FIRST_PICTURE, first_picture(device.liveness.glass()));
    let mut heartbeats = Tasks::new();
    heartbeats.spawn(
        SUPERVISOR_TASK,
        heartbeat(device.liveness.clone(), DeviceMessage::send),
    );
    let reason = lifecycle
        .run(&mut device, &mut heartbeats, &mut signals)
        .await;
    lifecycle.stop(device).await;
    Ok(reason)
}

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

/// How the device stops.
struct Lifecycle {
    supervisor: u32,
    /// Longest time to wait for a refresh in progress.
    last_refresh: Duration,
}

impl Lifecycle {
    /// Runs until there is a reason to stop.
    async fn run(
        &self,
        device: &mut RunningDevice,
        heartbeats: &mut Tasks,
        signals: &mut TerminationSignals,
    ) -> StopReason {
        loop {
            tokio::select! {
                _ = signals.terminate.recv() => return StopReason::Signal,
                _ = signals.interrupt.recv() => return StopReason::Signal,
                // Never returns.
                () = &mut device.effects => {}
                () = device.restart.notified() => return StopReason::Restart,
                carried = power_cut(device.bench.as_ref()) => {
                    // Exits at once: unsaved data is lost, as on a real board.
                    let _ = DeviceMessage::PowerCut(carried).send();
                    std::process::exit(i32::from(RESTART_CODE));
                }
                ended = device.http.ended() => return task_ended(ended),
                ended = device.main_loop.ended() => return task_ended(ended),
                ended = device.services.ended() => return task_ended(ended),
                ended = device.drivers.ended() => return task_ended(ended),
                ended = heartbeats.ended() => return task_ended(ended),
                // A bus that is in use ends only by a failure.
                ended = device.buses.ended(), if !device.buses.is_empty() => return task_ended(ended),
            }
        }
    }

    /// Stops the HTTP server and the services, then the main loop, then the buses.
    async fn stop(&self, device: RunningDevice) {
        let (http_timeout, timeout) = if is_orphan(self.supervisor) {
            (Duration::ZERO, ORPHAN_STOP)
        } else {
            (HTTP_STOP, STOP)
        };
        let stopping = async {
            device.http_stop.stop();
            device.services_stop.stop();
            let (http, services) = tokio::join!(
                device.http.stop(http_timeout),
                device.services.stop(timeout)
            );
            for name in http.into_iter().chain(services) {
                tracing::debug!(task = %name, "aborted after the timeout");
            }
            device.drivers.abort().await;
            // The main loop stops after all senders of inputs, and then saves its memory.
            device.main_loop_stop.stop();
            device.main_loop.stop(timeout).await;
            // The buses finish a refresh in progress.
            device.buses.stop(self.last_refresh).await;
        };
        with_effects(device.effects, stopping).await;
    }
}

/// Keeps performing effects while the device stops, because a client may wait for the result of one.
async fn with_effects(effects: EffectsFuture, stopping: impl Future<Output = ()>) {
    tokio::select! {
        () = effects => {}
        () = stopping => {}
    }
}

/// Waits until the simulated power is cut; never returns on a real board. Returns the state of the board for the next
/// start.
async fn power_cut(bench: Option<&Bench>) -> String {
    match bench {
        Some(bench) => bench.power_cut().await.to_string(),
        None => std::future::pending().await,
    }
}

/// The reason to stop after a task has ended.
fn task_ended(ended: Option<TaskExit>) -> StopReason {
    let name = ended.map(|ended| ended.name).unwrap_or_default();
    if name == SUPERVISOR_TASK || name == FIRST_PICTURE {
        // These tasks end only if the supervisor is gone.
        return StopReason::Signal;
    }
    tracing::error!(task = %name, "a task ended unexpectedly, restarting the device");
    StopReason::Failed
}

#[cfg(test)]
mod tests {
    use runtime::tasks::stop_signal;
    use tokio::time::timeout;

    use super::*;
    use crate::liveness::LivenessSources;

    /// A device whose tasks do nothing.
    fn idle() -> RunningDevice {
        let idle_task = || {
            let mut tasks = Tasks::new();
            tasks.spawn("idle", std::future::pending());
            tasks
        };
        RunningDevice {
            http: idle_task(),
            http_stop: stop_signal().0,
            main_loop: idle_task(),
            main_loop_stop: stop_signal().0,
            services: idle_task(),
            drivers: idle_task(),
            services_stop: stop_signal().0,
            effects: Box::pin(std::future::pending()),
            restart: std::sync::Arc::default(),
            bench: None,
            buses: idle_task(),
            liveness: LivenessSources::manual().0,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_restarts_if_a_task_ends() {
        let lifecycle = Lifecycle {
            supervisor: std::process::id(),
            last_refresh: Duration::ZERO,
        };
        let mut signals = TerminationSignals::new().unwrap();
        let groups: [fn(&mut RunningDevice) -> &mut Tasks; 5] = [
            |device| &mut device.http,
            |device| &mut device.main_loop,
            |device| &mut device.services,
            |device| &mut device.drivers,
            |device| &mut device.buses,
        ];
        for (index, group) in groups.into_iter().enumerate() {
            let (mut device, mut heartbeats) = (idle(), Tasks::new());
            heartbeats.spawn("idle", std::future::pending());
            group(&mut device).spawn("ends", async {});
            let run = lifecycle.run(&mut device, &mut heartbeats, &mut signals);
            let reason = timeout(HTTP_STOP, run).await;
            assert_eq!(reason, Ok(StopReason::Failed), "{index}");
        }
        // These tasks end only if the supervisor is gone.
        for task in [SUPERVISOR_TASK, FIRST_PICTURE] {
            let (mut device, mut heartbeats) = (idle(), Tasks::new());
            heartbeats.spawn(task, async {});
            let run = lifecycle.run(&mut device, &mut heartbeats, &mut signals);
            let reason = timeout(HTTP_STOP, run).await;
            assert_eq!(reason, Ok(StopReason::Signal), "{task}");
        }
    }

    #[test]
    fn a_new_demo_shows_each_screen_for_15_seconds() {
        assert_eq!(fresh(MarketSource::Demo, None).0.timer_seconds, 15);
        assert_eq!(fresh(MarketSource::World, None).0, Settings::default());
    }
}
