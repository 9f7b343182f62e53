//! Crash dumps: a crashed device reports to the supervisor, which starts a third process to write a dump.
//!
//! The supervisor listens on an abstract socket; the device gets its name at the start. A crashed device connects to it
//! and waits until the *dumper*, the third process, has written the dump. The dumper may fail or run out of memory
//! without harm to the supervisor. It runs the same program as the device.
//! Only the last dump is kept. It replaces the previous one when it is complete.

use std::{
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener as StdListener, UnixStream as StdStream},
    },
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use diagnostics::{crash, dump};
use futures_util::{StreamExt, stream::FuturesUnordered};
use runtime::standard_error::print_error;
use rustix::{
    net::sockopt::socket_peercred,
    process::{Pid, Signal, kill_process},
    rand::{GetRandomFlags, getrandom},
};
use storage::{
    crash_dump::{FILE, PART},
    disk::{Disk, Folder},
};
use tokio::{
    net::{UnixListener, UnixStream},
    process::Command,
    time::{sleep, timeout},
};

pub const DUMPER: &str = "crash-dump";

/// Timeout of a dumper, shorter than a crashed device waits.
const DUMPER_TIMEOUT: Duration = Duration::from_secs(crash::DUMP_TIMEOUT.as_secs() - 5);

/// Most dumpers at the same time: for a device that is ending, for the next device, and two spare.
const DEVICES_MAX: usize = 4;

/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_secs(1);

/// The socket on which devices report crashes.
#[derive(Debug)]
pub struct CrashDumps {
    listener: StdListener,
    name: String,
    folder: PathBuf,
}

impl CrashDumps {
    /// Opens a socket with a random name; dumps are written to the folder.
    ///
    /// # Errors
    /// The socket cannot be opened, or the host has no random numbers.
    pub fn open(folder: &Path) -> io::Result<CrashDumps> {
        let name = new_name()?;
        let listener = StdListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        Ok(CrashDumps {
            listener,
            name,
            folder: folder.to_path_buf(),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a dumper for each device that crashes, until the future is dropped.
    pub async fn serve(self) {
        let Ok(listener) = UnixListener::from_std(self.listener) else {
            return;
        };
        let mut devices = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if devices.len() < DEVICES_MAX => match accepted {
                    Ok((socket, _)) => devices.push(report(socket, &self.folder)),
                    Err(_) => sleep(PAUSE).await,
                },
                Some(()) = devices.next(), if !devices.is_empty() => {}
            }
        }
    }
}

fn new_name() -> io::Result<String> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    let random = u64::from_ne_bytes(random);
    Ok(format!("papertick-crashes-{random:016x}"))
}

/// Writes a dump of the device at the other end of a socket, and prints the result.
async fn report(socket: UnixStream, folder: &Path) {
    let Some(process) = device_at(&socket) else {
        return;
    };
    if let Err(error) = run_dumper(process, socket, folder).await {
        print_error(&format!(
            "the device crashed, but its dump could not be written: {error}"
        ));
    }
}

/// The process at the other end of a socket; `None` if it is not a child of this process.
fn device_at(socket: &UnixStream) -> Option<Pid> {
    let process = socket_peercred(socket).ok()?.pid;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    (parent.trim().parse() == Ok(std::process::id())).then_some(process)
}

/// Starts a dumper for a process and waits for it.
async fn run_dumper(process: Pid, socket: UnixStream, folder: &Path) -> io::Result<()> {
    let socket = socket.into_std()?;
    socket.set_nonblocking(false)?;
    // Works even if the file of the program has been replaced.
    let program = format!("/proc/{process}/exe");
    let mut dumper = Command::new(program)
        .arg(DUMPER)
        .arg(process.to_string())
        .arg(folder)
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .kill_on_drop(true)
        .spawn()?;
    let ended = timeout(DUMPER_TIMEOUT, dumper.wait()).await;
    if ended.is_err() {
        dumper.kill().await?;
    }
    let has_dump = matches!(&ended, Ok(Ok(status)) if status.success());
    if !has_dump {
        // A dumper stops the process that it reads, and does not continue it if it is killed.
        let _ = kill_process(process, Signal::CONT);
    }
    let status = ended.map_err(|_| io::Error::other("it took too long"))??;
    if !status.success() {
        return Err(io::Error::other(format!(
            "{status}; a line above may have the reason"
        )));
    }
    print_error(&format!(
        "the device crashed; its dump is {FILE} in the data folder"
    ));
    Ok(())
}

/// Installs the crash handler of this process (the device), which reports a crash on a socket.
pub fn report_crashes(name: &str) {
    if let Err(error) = crash::report_crashes(name) {
        print_error(&format!("crash dumps are not available: {error}"));
    }
}

/// Writes a dump of a crashed process. The standard input is the socket on which the process reported the crash.
///
/// # Errors
/// The dump was not written; the previous one is unchanged.
pub fn take(process: u32, folder: &Path) -> Result<(), dump::DumpError> {
    let mut socket = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut bytes = Vec::new();
    dump::take(process, &mut socket, &mut bytes)?;
    let mut folder = Folder::new(folder);
    let stored = folder
        .write(PART, &bytes)
        .and_then(|()| folder.sync(PART))
        .and_then(|()| folder.rename(PART, FILE))
        .and_then(|()| folder.sync_folder());
    if stored.is_err() {
        // The disk may be full.
        let _ = folder.remove(PART);
    }
    stored?;
    // Fails if the process has ended.
    let _ = socket.write_all(&[0]);
    Ok(())
}

/// Logs that there is a dump, if there is one.
pub fn mention(folder: &Path) {
    if let Ok(facts) = folder.join(FILE).metadata() {
        tracing::info!(bytes = facts.len(), "there is a dump of a crash");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use runtime::tasks::Tasks;
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn other_processes_are_disconnected() {
        let folder = tempfile::tempdir().unwrap();
        let dumps = CrashDumps::open(folder.path()).unwrap();
        let name = dumps.name().to_string();
        let mut tasks = Tasks::new();
        tasks.spawn("crash dumps", dumps.serve());
        for _ in 0..2 * DEVICES_MAX {
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            let stranger = StdStream::connect_addr(&address).unwrap();
            stranger.set_nonblocking(true).unwrap();
            let mut stranger = UnixStream::from_std(stranger).unwrap();
            let read = timeout(DUMPER_TIMEOUT, stranger.read(&mut [0])).await;
            assert_eq!(read.unwrap().unwrap(), 0);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// State of a process, as a letter of `/proc/PID/stat`.
    fn state_of(process: Pid) -> char {
        let path = format!("/proc/{}/stat", process.as_raw_nonzero());
        let stat = std::fs::read_to_string(path).unwrap();
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        rest.chars().next().unwrap()
    }

    async fn wait_for_state(process: Pid, state: char) {
        let waiting = async {
            while state_of(process) != state {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(DUMPER_TIMEOUT, waiting).await.unwrap();
    }

    #[tokio::test]
    async fn a_device_continues_if_its_dumper_fails() {
        let folder = tempfile::tempdir().unwrap();
        // Started as a dumper, `sleep` fails at once because of its arguments.
        let mut device = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Pid::from_raw(device.id().unwrap().cast_signed()).unwrap();
        // A killed dumper leaves the device stopped.
        kill_process(process, Signal::STOP).unwrap();
        wait_for_state(process, 'T').await;
        let (socket, _other) = UnixStream::pair().unwrap();
        let failed = run_dumper(process, socket, folder.path()).await;
        assert!(failed.unwrap_err().to_string().contains("exit status"));
        wait_for_state(process, 'S').await;
        device.kill().await.unwrap();
    }
}
