//! A clock that a test starts, talks to and ends.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::limit::Limit;

/// Time a slow machine may take for what should take a moment.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Where everybody is who is asked without being chosen: nobody outside hears of a test.
pub(crate) const NOWHERE: [&str; 6] = [
    "relay=ws://127.0.0.1:1",
    "exchange=ws://127.0.0.1:1",
    "coinbase=ws://127.0.0.1:1",
    "bitstamp=ws://127.0.0.1:1",
    "sntp=127.0.0.1:1",
    "seeds=",
];

/// The program with arguments and nothing in its environment.
pub(crate) fn papertick(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_papertick"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent");
    command
}

/// Runs the program to its end.
pub(crate) fn output(arguments: &[&str]) -> Output {
    papertick(arguments).output().unwrap()
}

/// A program that ends with its test, also where the test fails: left alone some would go on for ever.
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

/// An answer of the clock.
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

/// A folder for state.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

impl Clock {
    /// Starts a clock on a folder and waits until it says where its page is.
    pub(crate) fn start(data_dir: &Path) -> Clock {
        Clock::start_with(data_dir, &[])
    }

    /// The same with more arguments.
    pub(crate) fn start_with(data_dir: &Path, arguments: &[&str]) -> Clock {
        let mut command = papertick(&["run"]);
        Clock::start_as(command.args(arguments), data_dir)
    }

    /// The same at an address.
    pub(crate) fn start_at(address: &str, data_dir: &Path) -> Clock {
        Clock::launch(&mut papertick(&["run"]), address, data_dir, Stdio::null())
    }

    /// The same with a command that may have more of everything.
    pub(crate) fn start_as(command: &mut Command, data_dir: &Path) -> Clock {
        Clock::launch(command, "127.0.0.1:0", data_dir, Stdio::null())
    }

    /// The same with what it says of itself going into a file.
    pub(crate) fn start_heard(data_dir: &Path, arguments: &[&str], said: File) -> Clock {
        let mut command = papertick(&["run"]);
        command.args(arguments);
        Clock::launch(&mut command, "127.0.0.1:0", data_dir, said.into())
    }

    /// Starts a clock that may end at once; none if it does.
    pub(crate) fn try_start(data_dir: &Path) -> Option<Clock> {
        let mut command = papertick(&["run"]);
        Clock::try_launch(&mut command, "127.0.0.1:0", data_dir, Stdio::null())
    }

    fn launch(command: &mut Command, address: &str, data_dir: &Path, said: Stdio) -> Clock {
        Clock::try_launch(command, address, data_dir, said).expect("it says where its page is")
    }

    fn try_launch(
        command: &mut Command,
        address: &str,
        data_dir: &Path,
        said: Stdio,
    ) -> Option<Clock> {
        let mut supervisor = command
            .args(["--panel-timing", "instant"])
            .args(["--listen", address])
            .args(NOWHERE.iter().flat_map(|place| ["--upstream", place]))
            .arg("--data-dir")
            .arg(data_dir)
            .stdout(Stdio::piped())
            .stderr(said)
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
        let said = line.trim();
        let address = said
            .strip_prefix("papertick: http://")
            .or_else(|| said.strip_prefix("papertick demo: http://"))
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

    /// The device process.
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

    /// Sends a request; an error means that the connection broke before the whole answer came.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        self.speak(
            method,
            path,
            &format!("Content-Length: {}", body.len()),
            body,
            PATIENCE,
        )
    }

    /// Sends a request without a body but with one more header.
    pub(crate) fn send_with(
        &self,
        method: &str,
        path: &str,
        header: &str,
    ) -> std::io::Result<Answer> {
        self.speak(method, path, header, "", PATIENCE)
    }

    /// Asks with a header of one's own, and waits for the answer in a long line.
    pub(crate) fn queue_with(
        &self,
        method: &str,
        path: &str,
        header: &str,
    ) -> std::io::Result<Answer> {
        self.speak(method, path, header, "", PATIENCE * 5)
    }

    fn speak(
        &self,
        method: &str,
        path: &str,
        header: &str,
        body: &str,
        patience: Duration,
    ) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(patience))?;
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

    /// A client that follows the status.
    pub(crate) fn follow(&self) -> TcpStream {
        self.follow_at("/events")
    }

    /// The same, at a path that may ask for more.
    pub(crate) fn follow_at(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn setting(&self, key: &str) -> Value {
        self.get("/api/settings").json()[key].clone()
    }

    /// Ends both processes in the middle of whatever they do; the first is stopped so that it does not notice.
    pub(crate) fn kill_at_once(&self) {
        let (supervisor, device) = (self.supervisor(), self.device());
        for (pid, signal) in [
            (supervisor, Signal::STOP),
            (device, Signal::KILL),
            (supervisor, Signal::KILL),
        ] {
            kill_process(pid, signal).unwrap();
        }
        eventually("both have ended", || {
            !is_alive(device) && !is_alive(supervisor)
        });
    }

    /// Sends a signal to the supervisor and waits for its end.
    pub(crate) fn end(mut self, signal: Signal) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        kill_process(self.supervisor(), signal).unwrap();
        let status = self.supervisor.wait().unwrap();
        (status, begun.elapsed())
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

/// Time in which a clock ends.
pub(crate) const END_MAX: Duration = Duration::from_secs(2);

/// Runs tries until one takes no longer than a clock may to end: a single one says little on a machine that is busy with
/// other tests.
pub(crate) fn ends_in_time(what: &str, attempt: impl FnMut() -> Duration) {
    const TRIES: usize = 3;
    let late = std::iter::repeat_with(attempt)
        .take(TRIES)
        .take_while(|took| *took >= END_MAX);
    let late: Vec<Duration> = late.collect();
    assert!(late.len() < TRIES, "{what}: took {late:?}");
}

/// Tells whether a process is there and does something.
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

/// Waits until something is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        sleep(Duration::from_millis(5));
    }
}
