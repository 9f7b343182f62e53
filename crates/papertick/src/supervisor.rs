//! The supervisor: a small process that owns the listening socket and keeps a device process running on it.
//!
//! The device gets the socket as its standard input and says on its standard output that it is ready and makes
//! progress; a device that ends, breaks off or makes no progress is started again.
//! Meanwhile the socket stays open, so no connection is refused.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use board::sim::PowerCycle;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    config::{DeviceConfig, Market, RunConfig},
    failure::Failure,
    lifeline::{BEAT_PERIOD, RESTART_CODE, Word},
    storage::lock::{self, Holder, Lock},
};

/// Time in which a device must be ready.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Time without a sign of life after which a device is given up.
const BEAT_LIMIT: Duration = Duration::from_secs(6 * BEAT_PERIOD.as_secs());

/// Time a device has to end when it is told to.
const STOP_LIMIT: Duration = Duration::from_millis(1700);

/// Pauses before a device that broke off is started again; the last one counts from then on.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(60),
];

/// A device that ran for so long starts with the shortest pause again.
const STEADY: Duration = Duration::from_secs(120);

/// Runs the clock until it is told to stop.
///
/// # Errors
/// The folder or the address cannot be used, or the device does not start at all.
pub fn run(config: RunConfig) -> Result<(), Failure> {
    let lock = lock::lock(&config.data_dir, Holder::Clock)?;
    let listener = listen(config.listen)?;
    let place = listener.local_addr().map_err(cannot)?;
    let program = std::env::current_exe().map_err(cannot)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(cannot)?;
    let supervisor = Supervisor {
        _lock: lock,
        listener,
        place,
        program,
        notifier: Notifier::from_environment(),
        announced: false,
        next: DeviceConfig {
            run: config,
            supervisor: std::process::id(),
            crashes: 0,
            note: None,
            held_mask: 0,
            held_ms: 0,
        },
    };
    runtime.block_on(supervisor.run())
}

fn cannot(error: io::Error) -> Failure {
    Failure::failed(format!("the clock cannot start: {error}"))
}

fn listen(place: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(place).map_err(|error| {
        let (address, port) = (place.ip(), place.port());
        let kind = error.kind();
        Failure::failed(if kind == io::ErrorKind::AddrInUse {
            format!("port {port} of {address} is taken by another program: choose another with --listen {address}:PORT")
        } else if kind == io::ErrorKind::PermissionDenied {
            format!("port {port} may not be used by this user: choose one from 1024 up with --listen {address}:PORT")
        } else if kind == io::ErrorKind::AddrNotAvailable {
            format!("this machine has no address {address}: choose another with --listen, such as 0.0.0.0:{port}")
        } else {
            format!("{place} cannot be listened on ({error}): choose another place with --listen")
        })
    })
}

struct Supervisor {
    _lock: Lock,
    listener: TcpListener,
    place: SocketAddr,
    program: PathBuf,
    notifier: Notifier,
    /// The page was announced, so the clock has run.
    announced: bool,
    next: DeviceConfig,
}

/// How a device process ended.
enum End {
    /// The supervisor was told to stop.
    Stopped,
    /// It wants to be started again.
    Restart,
    /// Its power was cut.
    PowerCut(PowerCycle),
    /// It broke off, with the reason in words for people.
    Broken(String),
}

impl Supervisor {
    async fn run(mut self) -> Result<(), Failure> {
        let mut stop = StopSignals::new().map_err(cannot)?;
        let mut pauses = 0;
        loop {
            let begun = Instant::now();
            let child = self.start().map_err(cannot)?;
            let end = self.watch(child, &mut stop).await;
            self.next.note = None;
            self.next.held_mask = 0;
            self.next.held_ms = 0;
            match end {
                End::Stopped => return Ok(()),
                End::Restart => pauses = 0,
                End::PowerCut(cycle) => {
                    pauses = 0;
                    self.next.held_mask = cycle.mask;
                    self.next.held_ms = u64::try_from(cycle.held.as_millis()).unwrap_or_default();
                }
                End::Broken(reason) if !self.announced => {
                    return Err(Failure::failed(format!(
                        "the clock did not start: {reason}"
                    )));
                }
                End::Broken(reason) => {
                    self.next.crashes += 1;
                    pauses = if begun.elapsed() >= STEADY { 0 } else { pauses };
                    let pause = PAUSES[pauses.min(PAUSES.len() - 1)];
                    pauses += 1;
                    say(&format!(
                        "the device broke off ({reason}) and is started again"
                    ));
                    self.next.note = Some(format!("started again after it broke off: {reason}"));
                    tokio::select! {
                        () = stop.given() => return Ok(()),
                        () = sleep(pause) => {}
                    }
                }
            }
        }
    }

    fn start(&self) -> io::Result<Child> {
        let socket = OwnedFd::from(self.listener.try_clone()?);
        let config = serde_json::to_string(&self.next).map_err(io::Error::other)?;
        Command::new(&self.program)
            .arg("device")
            .arg(config)
            .stdin(Stdio::from(socket))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// Follows a device process to its end.
    async fn watch(&mut self, mut child: Child, stop: &mut StopSignals) -> End {
        let Some(out) = child.stdout.take() else {
            return End::Broken("it has no pipe".to_string());
        };
        let mut lines = BufReader::new(out).lines();
        let mut deadline = Instant::now() + START_LIMIT;
        let mut cut = None;
        loop {
            tokio::select! {
                () = stop.given() => {
                    self.notifier.tell("STOPPING=1");
                    end(&mut child).await;
                    return End::Stopped;
                }
                word = next_word(&mut lines) => {
                    deadline = Instant::now() + BEAT_LIMIT;
                    self.hear(word, &mut cut);
                }
                status = child.wait() => {
                    // What it said last may still be in the pipe; the pipe ends with the process.
                    while let Ok(word) = timeout(Duration::from_millis(100), next_word(&mut lines)).await {
                        self.hear(word, &mut cut);
                    }
                    return judge(status, cut);
                }
                () = sleep_until(deadline) => {
                    // An error means that it has ended by itself just now.
                    let _ = child.kill().await;
                    return End::Broken("it made no progress".to_string());
                }
            }
        }
    }

    fn hear(&mut self, word: Word, cut: &mut Option<PowerCycle>) {
        match word {
            Word::Ready => {
                self.notifier.tell("READY=1\nWATCHDOG=1");
                if !self.announced {
                    self.announced = true;
                    self.announce();
                }
            }
            Word::Beat => self.notifier.tell("WATCHDOG=1"),
            Word::PowerCut(cycle) => *cut = Some(cycle),
        }
    }

    /// Says in one line where the page is.
    fn announce(&self) {
        let what = match self.next.run.market {
            Market::World => "papertick",
            Market::Demo => "papertick demo",
        };
        let port = self.place.port();
        let line = if self.place.ip().is_unspecified() {
            format!(
                "{what}: http://localhost:{port}/ and port {port} of every other address of this machine"
            )
        } else {
            format!("{what}: http://{}/", self.place)
        };
        let mut out = io::stdout().lock();
        // Nobody may be there to read it, which is no reason to stop.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Waits for the next word; never returns once the pipe has ended.
async fn next_word(lines: &mut Lines<BufReader<ChildStdout>>) -> Word {
    loop {
        match lines.next_line().await {
            Ok(Some(line)) => {
                if let Some(word) = Word::parse(&line) {
                    return word;
                }
            }
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }
}

fn judge(status: io::Result<ExitStatus>, cut: Option<PowerCycle>) -> End {
    let status = match status {
        Ok(status) => status,
        Err(error) => return End::Broken(error.to_string()),
    };
    match (cut, status.code()) {
        (Some(cycle), _) => End::PowerCut(cycle),
        (None, Some(code)) if code == i32::from(RESTART_CODE) => End::Restart,
        (None, _) => End::Broken(status.to_string()),
    }
}

/// Tells a device process to end, and ends it if it does not.
async fn end(child: &mut Child) {
    let number = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    if let Some(pid) = number {
        // An error means that it has ended already.
        let _ = kill_process(pid, Signal::TERM);
    }
    if timeout(STOP_LIMIT, child.wait()).await.is_err() {
        say("the device did not end in time and was killed");
        let _ = child.kill().await;
    }
}

fn say(message: &str) {
    // Nobody may be there to read it, which is no reason to stop.
    let _ = writeln!(io::stderr(), "papertick: {message}");
}

/// The signals that mean stop.
struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

impl StopSignals {
    fn new() -> io::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn given(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// Tells the service manager how the clock is, if there is one that wants to know.
struct Notifier {
    socket: Option<UnixDatagram>,
}

impl Notifier {
    fn from_environment() -> Notifier {
        let socket = std::env::var_os("NOTIFY_SOCKET").and_then(|path| {
            let socket = UnixDatagram::unbound().ok()?;
            match path.to_str().and_then(|path| path.strip_prefix('@')) {
                Some(name) => connect_abstract(&socket, name),
                None => socket.connect(&path),
            }
            .ok()?;
            socket.set_nonblocking(true).ok()?;
            Some(socket)
        });
        Notifier { socket }
    }

    fn tell(&self, state: &str) {
        if let Some(socket) = &self.socket {
            // A manager that does not listen is not helped by an error here.
            let _ = socket.send(state.as_bytes());
        }
    }
}

#[cfg(target_os = "linux")]
fn connect_abstract(socket: &UnixDatagram, name: &str) -> io::Result<()> {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};

    socket.connect_addr(&SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn connect_abstract(_socket: &UnixDatagram, _name: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
