//! A crashed device leaves a dump and is restarted.

use std::{
    fs,
    io::Read,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixStream},
        },
    },
    path::Path,
};

use diagnostics::backtrace;
use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Clock, eventually, folder};

/// Secrets of a clock, except its password, which would be required for the requests.
const SECRETS: &str = r#"{"proxyPass":"canary-proxy","otaPass":"canary-upload","nwcUri":"nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss%3A%2F%2Frelay.invalid&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100cafe0","httpAuthUser":"canary-user"}"#;

/// Function in which the main thread of a device waits.
const LINE: &str = "papertick::device_process::run at ";

/// Crashes the device of a clock, and waits for the next one.
fn crash(clock: &Clock, signal: Signal) {
    let before = clock.device();
    kill_process(before, signal).unwrap();
    eventually("another device runs", || clock.device() != before);
    assert_eq!(clock.get("/api/status").status, 200);
}

#[test]
fn a_crash_dump_has_the_source_line() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    assert_eq!(clock.patch(SECRETS).status, 200);
    let mut dumps = Vec::new();
    for (signal, word) in [(Signal::ABORT, "SIGABRT"), (Signal::SEGV, "SIGSEGV")] {
        let file = folder.path().join("coredump.dmp");
        let program = Path::new(env!("CARGO_BIN_EXE_papertick"));
        let mut text = String::new();
        // The signal goes to the main thread unless one is pending there.
        for _ in 0..3 {
            crash(&clock, signal);
            text = backtrace::of(&file, program).unwrap();
            assert!(text.starts_with(word), "{text}");
            if text.contains(LINE) {
                break;
            }
        }
        let found = text.lines().find(|found| found.contains(LINE));
        assert!(
            found.is_some_and(|found| found.contains("src/device_process.rs:")),
            "{text}"
        );
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let dump = fs::read(&file).unwrap();
        assert!(dump.len() < 1024 * 1024, "{} bytes", dump.len());
        for secret in ["canary", "71a8c14c1407c113", "HOME=", "\"data_dir\""] {
            let holds = dump
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!holds, "the dump has {secret}");
        }
        dumps.push(dump);
    }
    assert_ne!(dumps[0], dumps[1], "the newer dump replaces the older one");
    let other = backtrace::of(&folder.path().join("coredump.dmp"), Path::new("/bin/sh"));
    let other = other.unwrap_err().to_string();
    assert_eq!(other, "/bin/sh is not the program that crashed");

    let names = fs::read_dir(folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    let dumps = names.filter(|name| name.to_string_lossy().contains("dump"));
    assert_eq!(dumps.count(), 1);
    let answer = clock.send("DELETE", "/api/coredump", "").unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(clock.get("/api/coredump").status, 404);
}

/// The abstract name of the socket on which devices report crashes.
fn crash_socket(clock: &Clock) -> String {
    let files = fs::read_dir(format!("/proc/{}/fd", clock.supervisor().as_raw_nonzero()));
    let files = files
        .unwrap()
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    let open: Vec<String> = files
        .map(|file| file.to_string_lossy().into_owned())
        .collect();
    let sockets = fs::read_to_string("/proc/net/unix").unwrap();
    let name = sockets.lines().find_map(|line| {
        let (facts, name) = line.split_once(" @papertick-crashes-")?;
        let inode = facts.split_whitespace().next_back()?;
        open.contains(&format!("socket:[{inode}]")).then_some(name)
    });
    format!("papertick-crashes-{}", name.unwrap())
}

/// The children of the supervisor, and the page faults of those that have ended.
fn children(clock: &Clock) -> (Vec<Pid>, String) {
    let running = clock.devices();
    let stat = fs::read_to_string(format!(
        "/proc/{}/stat",
        clock.supervisor().as_raw_nonzero()
    ));
    let stat = stat.unwrap();
    let (_, facts) = stat.rsplit_once(") ").unwrap();
    (running, facts.split(' ').nth(8).unwrap().to_string())
}

#[test]
fn a_foreign_process_at_the_socket_for_dumps_starts_nothing() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let name = SocketAddr::from_abstract_name(crash_socket(&clock)).unwrap();
    let before = children(&clock);
    let mut stranger = UnixStream::connect_addr(&name).unwrap();
    assert_eq!(stranger.read(&mut [0]).unwrap(), 0);
    assert_eq!(children(&clock), before);
}

#[test]
fn a_board_without_dumps_restarts_without_one() {
    let folder = folder();
    let clock = Clock::start_with(folder.path(), &["--board", "rev-a"]);
    crash(&clock, Signal::ABORT);
    assert!(!folder.path().join("coredump.dmp").exists());
}

#[test]
fn a_dump_that_cannot_be_stored_delays_nothing() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    fs::create_dir_all(folder.path().join("coredump.dmp.part/in the way")).unwrap();
    crash(&clock, Signal::ABORT);
    assert!(!folder.path().join("coredump.dmp").exists());
}

#[test]
fn a_killed_device_leaves_no_dump() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    crash(&clock, Signal::KILL);
    assert!(!folder.path().join("coredump.dmp").exists());
}
