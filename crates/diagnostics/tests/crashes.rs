//! Processes that crash in every way there is, and what is told of them afterwards.
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

/// Tells the other side of a test how to crash.
const WAY: &str = "CRASH";

/// A text that must not be in any dump.
const SECRET: &str = "canary-of-a-secret-that-nobody-may-see";

/// Not a test by itself: the process that crashes.
#[test]
fn victim() {
    let Ok(way) = env::var(WAY) else { return };
    crash::tell(&env::var("SOCKET").unwrap()).unwrap();
    let thread = thread::Builder::new().name("the-thread".to_string());
    let thread = thread.spawn(move || crash_with_a_secret(&way)).unwrap();
    let outcome = thread.join();
    assert!(outcome.is_err(), "nothing crashed");
}

#[inline(never)]
fn crash_with_a_secret(way: &str) {
    // On the stack, and on its way there in the registers by which memory is copied.
    let mut copy = [0; 256];
    copy[..SECRET.len()].copy_from_slice(SECRET.as_bytes());
    let copy = black_box(copy);
    match way {
        "panic" => panic_here(),
        "abort" => std::process::abort(),
        "signal" => kill_process(getpid(), Signal::SEGV).unwrap(),
        "overflow" => {
            black_box(overflow(1));
        }
        way => panic!("no way to crash: {way}"),
    }
    black_box(copy);
    thread::sleep(Duration::from_secs(20));
}

#[inline(never)]
fn panic_here() {
    panic!("as it was told");
}

#[inline(never)]
#[allow(unconditional_recursion, reason = "that is what it is for")]
fn overflow(depth: u64) -> u64 {
    let ballast = black_box([depth; 64]);
    overflow(depth + 1) + ballast[3]
}

/// Lets a process crash; gives how it ended, the bytes of its dump, and what is read in that.
fn crashed(way: &str) -> (ExitStatus, Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("crashes-{}-{way}", std::process::id());
    let place = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&place).unwrap();
    let own = env::current_exe().unwrap();
    let mut victim = Command::new(&own)
        .args(["victim", "--exact", "--nocapture", "--test-threads=1"])
        .env(WAY, way)
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
fn every_crash_leads_to_its_line_and_tells_no_secret() {
    for (way, reason, signal, function) in [
        ("panic", "DUMP_REQUESTED", None, Some("panic_here")),
        ("abort", "SIGABRT", Some(6), Some("crash_with_a_secret")),
        // It reaches any thread, which may be in none of our functions.
        ("signal", "SIGSEGV", Some(11), None),
        ("overflow", "SIGSEGV", Some(6), Some("overflow")),
    ] {
        let (status, bytes, text) = crashed(way);
        assert_eq!(status.signal(), signal, "{way}: {status}");
        assert!(text.contains(reason), "{way}: {text}");
        assert!(text.lines().count() > 3, "{way}: {text}");
        if let Some(function) = function {
            let mut found = text
                .lines()
                .filter(|line| line.contains("tests/crashes.rs:"));
            assert!(found.any(|line| line.contains(function)), "{way}: {text}");
        }
        for part in [&SECRET[..16], &SECRET[16..32]] {
            assert!(!holds(&bytes, part), "{way}: the dump has {part}");
        }
    }
}
