//! Crashes of every kind, and the backtraces of their dumps.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{
    env, fs,
    hint::black_box,
    io::Write,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            net::{SocketAddr, UnixListener},
            process::ExitStatusExt,
        },
    },
    process::{Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use diagnostics::{backtrace, crash, dump};
use rustix::process::{Signal, getpid, kill_process};

/// Environment variable with the kind of the crash.
const CRASH_KIND: &str = "CRASH";

/// A text that must not be in any dump.
const SECRET: &str = "canary-of-a-secret-that-must-not-leak!";

/// Not a test: the process that crashes.
#[test]
fn victim() {
    let Ok(kind) = env::var(CRASH_KIND) else {
        return;
    };
    crash::report_crashes(&env::var("SOCKET").unwrap()).unwrap();
    let thread = thread::Builder::new().name("the-thread".to_string());
    let thread = thread.spawn(move || crash_with_a_secret(&kind)).unwrap();
    let outcome = thread.join();
    assert!(outcome.is_err(), "the thread did not crash");
}

#[inline(never)]
fn crash_with_a_secret(kind: &str) {
    // The copy puts the secret on the stack, and into the vector registers that copy memory.
    let mut copy = [0; 256];
    copy[..SECRET.len()].copy_from_slice(SECRET.as_bytes());
    let copy = black_box(copy);
    match kind {
        "panic" => panic_here(),
        "abort" => std::process::abort(),
        "signal" => kill_process(getpid(), Signal::SEGV).unwrap(),
        "overflow" => {
            black_box(overflow(1));
        }
        kind => panic!("unknown crash: {kind}"),
    }
    black_box(copy);
    thread::sleep(Duration::from_secs(20));
}

#[inline(never)]
fn panic_here() {
    panic!("a test panic");
}

#[inline(never)]
#[allow(unconditional_recursion, reason = "overflows the stack")]
fn overflow(depth: u64) -> u64 {
    let ballast = black_box([depth; 64]);
    overflow(depth + 1) + ballast[3]
}

/// Runs a process that crashes. Returns its exit status, its dump, and the backtrace.
fn crashed(kind: &str) -> (ExitStatus, Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("crashes-{}-{kind}", std::process::id());
    let place = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&place).unwrap();
    let own = env::current_exe().unwrap();
    let mut victim = Command::new(&own)
        .args(["victim", "--exact", "--nocapture", "--test-threads=1"])
        .env(CRASH_KIND, kind)
        .env("SOCKET", &name)
        .env("ENVIRONMENT_SECRET", SECRET)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut socket, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    dump::take(victim.id(), &mut socket, &mut bytes).unwrap();
    socket.write_all(&[0]).unwrap();
    let status = victim.wait().unwrap();
    let file = folder.path().join("dump");
    fs::write(&file, &bytes).unwrap();
    let text = backtrace::of(&file, &own).unwrap();
    (status, bytes, text)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[test]
fn every_crash_has_a_backtrace_without_secrets() {
    for (kind, reason, signal, function) in [
        ("panic", "DUMP_REQUESTED", None, Some("panic_here")),
        ("abort", "SIGABRT", Some(6), Some("crash_with_a_secret")),
        // The signal may interrupt any thread, also outside of our functions.
        ("signal", "SIGSEGV", Some(11), None),
        ("overflow", "SIGSEGV", Some(6), Some("overflow")),
    ] {
        let (status, bytes, text) = crashed(kind);
        assert_eq!(status.signal(), signal, "{kind}: {status}");
        assert!(text.contains(reason), "{kind}: {text}");
        assert!(text.lines().count() > 3, "{kind}: {text}");
        if let Some(function) = function {
            let mut found = text
                .lines()
                .filter(|line| line.contains("tests/crashes.rs:"));
            assert!(found.any(|line| line.contains(function)), "{kind}: {text}");
        }
        for part in [&SECRET[..16], &SECRET[16..32]] {
            assert!(!holds(&bytes, part), "{kind}: the dump has {part}");
        }
    }
}
