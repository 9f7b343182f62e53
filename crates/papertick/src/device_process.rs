//! The device process: opens what survived the last run, runs the parts, and ends them in the right order.

use std::{io, net::TcpListener, os::fd::AsFd, path::PathBuf, process::ExitCode, time::Duration};

use device::{
    memory::Memory,
    output::Effect,
    secret::{MadePassword, WhyMade},
    settings::{Settings, store},
};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::timeout,
};

use crate::{
    config::DeviceConfig,
    drivers::wifi::{Radio, secrets},
    failure::Failure,
    lifeline::{BROKEN_CODE, RESTART_CODE, Word},
    made_password,
    sources::logos::LogoCache,
    storage::{
        Loaded, Store,
        disk::Folder,
        lock::{self, Lock},
    },
    tasks::Ended,
    wiring::{HEART, Parts, heart},
};

/// Time a device waits for the one before it to let go of the data folder.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time the requests under way have to end.
const HTTP_STOP: Duration = Duration::from_millis(900);

/// Time everything else has to end.
const STOP: Duration = Duration::from_millis(500);

/// Time the radio has to forget.
const FORGET: Duration = Duration::from_secs(5);

/// Why the device ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// It was told to.
    Stopped,
    /// It is to be started again.
    Restart,
    /// A part broke off.
    Broken,
}

/// Runs the device until it ends; the code tells the supervisor why.
///
/// # Errors
/// It cannot start.
pub fn run(config: DeviceConfig) -> Result<ExitCode, Failure> {
    follow_supervisor(&config);
    let listener = inherited_socket()?;
    let lock = lock::lock_patiently(&config.run.data_dir, PATIENCE)?;
    let (store, loaded) = Store::open(Box::new(Folder::new(&config.run.data_dir)));
    let cannot = |error: io::Error| Failure::failed(format!("the device cannot start: {error}"));
    let kept = Kept::read(loaded).map_err(cannot)?;
    start_log(&config, &kept.settings);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .enable_all()
        .build()
        .map_err(cannot)?;
    let ending = runtime
        .block_on(live(config, listener, store, kept))
        .map_err(cannot)?;
    // Work that is stuck on a blocking thread must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    drop::<Lock>(lock);
    Ok(match ending {
        Ending::Stopped => ExitCode::SUCCESS,
        Ending::Restart => ExitCode::from(RESTART_CODE),
        Ending::Broken => ExitCode::from(BROKEN_CODE),
    })
}

/// Asks to be ended with the supervisor, whose socket and lock this process uses.
fn follow_supervisor(config: &DeviceConfig) {
    // Without this the device still notices at its next sign of life.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let expected = i32::try_from(config.supervisor)
        .ok()
        .and_then(Pid::from_raw);
    if getppid() != expected {
        std::process::exit(i32::from(BROKEN_CODE));
    }
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
            Ok(socket)
        })
        .map_err(|error| {
            Failure::failed(format!(
                "the device got no socket from its supervisor: {error}"
            ))
        })
}

/// What survived the last run.
pub(crate) struct Kept {
    pub(crate) settings: Settings,
    pub(crate) memory: Memory,
    /// A password for an interface that must be shut and has none.
    pub(crate) made_password: Option<MadePassword>,
    /// What went wrong, in words for people.
    pub(crate) notes: Vec<String>,
}

impl Kept {
    fn read(loaded: Loaded) -> io::Result<Kept> {
        let mut notes = loaded.notes;
        let settings = match loaded.settings {
            Some(stored) => {
                let (settings, found) = store::from_json(&stored);
                notes.extend(found.iter().map(ToString::to_string));
                settings
            }
            None => Settings::default(),
        };
        let memory = loaded
            .memory
            .map_or_else(Memory::default, |stored| Memory::from_json(&stored));
        let made_password = made_password::for_interface(&settings, WhyMade::NoneStored)?;
        if made_password.is_some() {
            notes.push(
                "the interface asks for a password and none is stored: one stands on the glass"
                    .to_string(),
            );
        }
        Ok(Kept {
            settings,
            memory,
            made_password,
            notes,
        })
    }
}

fn start_log(config: &DeviceConfig, settings: &Settings) {
    let word = match &config.run.log {
        Some(word) => word.as_str(),
        None if settings.enable_debug_log => "debug",
        None => "info",
    };
    let level = word
        .parse()
        .unwrap_or(tracing::level_filters::LevelFilter::INFO);
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_writer(io::stderr)
        .init();
}

/// Starts all parts, waits for a reason to end, and ends them: first the clients, then the device.
async fn live(
    config: DeviceConfig,
    listener: TcpListener,
    store: Store,
    kept: Kept,
) -> io::Result<Ending> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let data_dir = config.run.data_dir.clone();
    let parts = Parts::start(config, listener, store, kept).await?;
    let Parts {
        mut front,
        front_stop,
        mut rest,
        rest_stop,
        mut effects,
        bench,
        logos,
        radio,
        pulse,
    } = parts;
    let wiped = Wiped {
        data_dir,
        logos,
        radio,
    };
    Word::Ready.say()?;
    rest.spawn(HEART, heart(pulse));
    let ending = tokio::select! {
        _ = terminate.recv() => Ending::Stopped,
        _ = interrupt.recv() => Ending::Stopped,
        () = restart_asked(&mut effects, &wiped) => Ending::Restart,
        cycle = bench.power_cut() => {
            // No ceremony: what is not on the disk is lost, as it would be on a real board.
            let _ = Word::PowerCut(cycle).say();
            std::process::exit(i32::from(RESTART_CODE));
        }
        ended = front.ended() => broken(ended),
        ended = rest.ended() => broken(ended),
    };
    front_stop.stop();
    for name in front.stop(HTTP_STOP).await {
        tracing::debug!(task = %name, "stopped");
    }
    rest_stop.stop();
    rest.stop(STOP).await;
    Ok(ending)
}

fn broken(ended: Option<Ended>) -> Ending {
    let name = ended.map(|ended| ended.name).unwrap_or_default();
    if name == HEART {
        // The supervisor is gone, and the device goes with it.
        return Ending::Stopped;
    }
    tracing::error!(task = %name, "a part broke off, the device is started again");
    Ending::Broken
}

/// Performs what the device asks for, until it wants to be started again.
async fn restart_asked(effects: &mut mpsc::Receiver<Effect>, wiped: &Wiped) {
    while let Some(effect) = effects.recv().await {
        match effect {
            Effect::Reboot(reason) => {
                tracing::info!(?reason, "restarting");
                return;
            }
            Effect::Wipe => {
                tracing::warn!("everything is being wiped");
                wiped.wipe().await;
            }
            Effect::ClearLogos => wiped.clear_logos().await,
            Effect::ForgetWifi => wiped.forget_network().await,
        }
    }
    std::future::pending().await
}

/// What a factory reset wipes besides the settings.
struct Wiped {
    data_dir: PathBuf,
    logos: LogoCache,
    radio: Radio,
}

impl Wiped {
    async fn wipe(&self) {
        self.forget_network().await;
        self.clear_logos().await;
        if let Err(error) = secrets::wipe(&self.data_dir) {
            tracing::error!(%error, "the password of the access point was not wiped");
        }
    }

    async fn forget_network(&self) {
        match timeout(FORGET, self.radio.forget()).await {
            Ok(Ok(())) => tracing::info!("the network's credentials were forgotten"),
            Ok(Err(error)) => {
                tracing::error!(%error, "the network's credentials may still be there")
            }
            Err(_) => tracing::error!("the radio did not forget its credentials in time"),
        }
    }

    async fn clear_logos(&self) {
        match self.logos.clear().await {
            Ok(deleted) => tracing::info!(deleted, "pool logos were cleared"),
            Err(error) => tracing::warn!(%error, "pool logos were not all cleared"),
        }
    }
}
