//! A clock process for tests.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    ops::{Deref, DerefMut},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::limit::Limit;

/// Timeout on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Upstream addresses on loopback, so that tests contact no other host.
pub(crate) const NOWHERE: [&str; 6] = [
    "relay=ws://127.0.0.1:1",
    "exchange=ws://127.0.0.1:1",
    "coinbase=ws://127.0.0.1:1",
    "bitstamp=ws://127.0.0.1:1",
    "sntp=127.0.0.1:1",
    "seeds=",
];

/// The program with arguments and an empty environment.
pub(crate) fn papertick(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_papertick"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent");
    command
}

/// Runs the program until it exits.
pub(crate) fn output(arguments: &[&str]) -> Output {
    papertick(arguments).output().unwrap()
}

/// A process that is killed at the end of the test, also if the test fails.
pub(crate) struct Owned(pub(crate) Child);

impl Deref for Owned {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Owned {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running clock; dropping it kills it.
pub(crate) struct Clock {
    supervisor: Child,
    address: SocketAddr,
    _limit: Limit,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A data folder.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

impl Clock {
    /// Starts a clock on a folder and waits until it prints its address.
    pub(crate) fn start(data_dir: &Path) -> Clock {
        Clock::start_with(data_dir, &[])
    }

    /// As `start`, with more arguments.
    pub(crate) fn start_with(data_dir: &Path, arguments: &[&str]) -> Clock {
        let mut command = papertick(&["run"]);
        Clock::start_as(command.args(arguments), data_dir)
    }

    /// As `start`, at an address.
    pub(crate) fn start_at(address: &str, data_dir: &Path) -> Clock {
        Clock::launch(&mut papertick(&["run"]), address, data_dir, Stdio::null())
    }

    /// As `start`, with a prepared command.
    pub(crate) fn start_as(command: &mut Command, data_dir: &Path) -> Clock {
        Clock::launch(command, "127.0.0.1:0", data_dir, Stdio::null())
    }

    /// As `start_with`, with standard error in a file.
    pub(crate) fn start_with_stderr(data_dir: &Path, arguments: &[&str], stderr: File) -> Clock {
        let mut command = papertick(&["run"]);
        command.args(arguments);
        Clock::launch(&mut command, "127.0.0.1:0", data_dir, stderr.into())
    }

    /// As `start_with`, as a service manager does: the socket is descriptor 3, and the variables have the number of sockets
    /// and the process.
    pub(crate) fn start_as_service(
        listener: TcpListener,
        data_dir: &Path,
        arguments: &[&str],
    ) -> Clock {
        const AS_MANAGER: &str =
            r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" run "$@""#;
        let mut command = Command::new("sh");
        command
            .args(["-c", AS_MANAGER, env!("CARGO_BIN_EXE_papertick")])
            .args(arguments)
            .stdin(OwnedFd::from(listener));
        Clock::start_as(&mut command, data_dir)
    }

    /// Starts a clock. `None` if it exits at once.
    pub(crate) fn try_start(data_dir: &Path) -> Option<Clock> {
        let mut command = papertick(&["run"]);
        Clock::try_launch(&mut command, "127.0.0.1:0", data_dir, Stdio::null())
    }

    fn launch(command: &mut Command, address: &str, data_dir: &Path, stderr: Stdio) -> Clock {
        Clock::try_launch(command, address, data_dir, stderr).expect("it prints its address")
    }

    fn try_launch(
        command: &mut Command,
        address: &str,
        data_dir: &Path,
        stderr: Stdio,
    ) -> Option<Clock> {
        let mut supervisor = command
            .args(["--panel-timing", "instant"])
            .args(["--listen", address])
            .args(NOWHERE.iter().flat_map(|place| ["--upstream", place]))
            .arg("--data-dir")
            .arg(data_dir)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let limit = Limit::new(Some(Pid::from_child(&supervisor)));
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        if line.is_empty() {
            supervisor.wait().unwrap();
            return None;
        }
        let stderr = line.trim();
        let address = stderr
            .strip_prefix("papertick: http://")
            .or_else(|| stderr.strip_prefix("papertick demo: http://"))
            .and_then(|rest| rest.strip_suffix('/'))
            .unwrap_or_else(|| panic!("no page in {line:?}"));
        Some(Clock {
            address: address.parse().unwrap(),
            supervisor,
            _limit: limit,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn supervisor(&self) -> Pid {
        Pid::from_child(&self.supervisor)
    }

    pub(crate) fn device(&self) -> Pid {
        let mut pid = None;
        eventually("the supervisor has a device", || {
            pid = self.devices().first().copied();
            pid.is_some()
        });
        pid.unwrap()
    }

    /// The processes that the supervisor has started, oldest first.
    pub(crate) fn devices(&self) -> Vec<Pid> {
        let own = self.supervisor.id();
        let path = PathBuf::from(format!("/proc/{own}/task/{own}/children"));
        let children = fs::read_to_string(&path).unwrap_or_default();
        children
            .split_whitespace()
            .filter_map(|word| Pid::from_raw(word.parse().ok()?))
            .collect()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "").unwrap()
    }

    pub(crate) fn patch(&self, body: &str) -> Answer {
        self.send("PATCH", "/api/settings", body).unwrap()
    }

    /// Sends a request. Fails if the connection closes before the complete response.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let length = format!("Content-Length: {}", body.len());
        self.exchange(method, path, &length, body)
    }

    /// Sends a request without a body but with one more header.
    pub(crate) fn send_with(
        &self,
        method: &str,
        path: &str,
        header: &str,
    ) -> std::io::Result<Answer> {
        self.exchange(method, path, header, "")
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        header: &str,
        body: &str,
    ) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let broken = || std::io::Error::other("no whole answer");
        let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
        let status = head
            .split_whitespace()
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or_else(broken)?;
        let body = body.to_string();
        Ok(Answer { status, body })
    }

    /// A client of the events.
    pub(crate) fn follow(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(request).unwrap();
        stream
    }

    pub(crate) fn setting(&self, key: &str) -> Value {
        self.get("/api/settings").json()[key].clone()
    }

    /// Kills both processes. The supervisor is stopped first, so that it does not notice the end of the device.
    pub(crate) fn kill_at_once(&self) {
        let (supervisor, device) = (self.supervisor(), self.device());
        for (pid, signal) in [
            (supervisor, Signal::STOP),
            (device, Signal::KILL),
            (supervisor, Signal::KILL),
        ] {
            kill_process(pid, signal).unwrap();
        }
        eventually("both processes have exited", || {
            !is_alive(device) && !is_alive(supervisor)
        });
    }

    /// Waits until the supervisor exits.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.supervisor.wait().unwrap()
    }

    /// Sends a signal to the supervisor and waits until it exits.
    pub(crate) fn end(mut self, signal: Signal) -> (ExitStatus, Duration) {
        let started = Instant::now();
        kill_process(self.supervisor(), signal).unwrap();
        let status = self.supervisor.wait().unwrap();
        (status, started.elapsed())
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

/// Longest time for a clock to exit.
pub(crate) const END_MAX: Duration = Duration::from_secs(2);

/// Repeats an attempt until it takes no longer than the limit, because the machine may be busy with other tests.
pub(crate) fn assert_ends_in_time(what: &str, attempt: impl FnMut() -> Duration) {
    const TRIES: usize = 3;
    let late = std::iter::repeat_with(attempt)
        .take(TRIES)
        .take_while(|took| *took >= END_MAX);
    let late: Vec<Duration> = late.collect();
    assert!(late.len() < TRIES, "{what}: took {late:?}");
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_alive(pid: Pid) -> bool {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let zombie = stat
        .rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('Z'));
    test_kill_process(pid).is_ok() && !zombie
}

/// Resident memory of a process, bytes.
pub(crate) fn resident(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        sleep(Duration::from_millis(5));
    }
}
