//! Memory: what clients take of it, and that it is given back.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::process::Pid;

use crate::clock::{Clock, eventually, folder, resident};

/// Clients at once; not more than any limit on open files allows.
const CLIENTS: u64 = 500;

/// What they may take each while they say nothing, bytes.
const SILENT_MAX: u64 = 4 * 1024;

/// What they may take each while they follow or could ask again, bytes; this build is not optimised.
const IDLE_MAX: u64 = 16 * 1024;

/// Time without a change after which memory is at rest.
const REST: Duration = Duration::from_secs(1);

/// How much more than before may be left when they have gone, percent.
const LEFT_MAX: u64 = 20;

/// Connects, asks, and waits for the beginning of an answer if there was a question.
fn client(clock: &Clock, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(clock.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    if !request.is_empty() {
        assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0);
    }
    stream
}

/// Resident memory of a process once it has not changed for a while, bytes.
fn at_rest(device: Pid) -> u64 {
    let mut found = (resident(device), Instant::now());
    eventually("memory comes to rest", || {
        let now = resident(device);
        if now != found.0 {
            found = (now, Instant::now());
        }
        found.1.elapsed() >= REST
    });
    found.0
}

#[test]
fn clients_that_do_nothing_take_little_and_leave_nothing_behind() {
    let status = "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let events = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (request, most) in [("", SILENT_MAX), (status, IDLE_MAX), (events, IDLE_MAX)] {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let device = clock.device();
        // What is made once for all clients is not theirs.
        drop((client(&clock, status), client(&clock, events)));
        let before = at_rest(device);
        let clients: Vec<_> = (0..CLIENTS).map(|_| client(&clock, request)).collect();
        // Whoever comes later is answered later: the clock knows all of them.
        assert_eq!(clock.get("/api/status").status, 200);
        let taken = resident(device).saturating_sub(before);
        let each = taken / CLIENTS;
        assert!(each < most, "{request:?}: {each} bytes each");
        drop(clients);
        eventually("what they took is given back", || {
            resident(device) < before + before * LEFT_MAX / 100
        });
    }
}

/// What the program tells of its memory are figures of its allocator and its host.
#[test]
fn memory_by_kind_is_counted() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let read = || {
        let told = clock.get("/api/diag/heap").json();
        ["internal", "internal_dma", "default"].map(|kind| {
            let figure = |name: &str| told["caps"][kind][name].as_u64().unwrap();
            assert_eq!(
                figure("allocated_blocks") + figure("free_blocks"),
                figure("total_blocks")
            );
            assert!(figure("minimum_free_bytes") <= figure("total_free_bytes"));
            assert_eq!(figure("largest_free_block"), figure("total_free_bytes"));
            (
                figure("total_allocated_bytes"),
                figure("allocated_blocks"),
                figure("free_blocks"),
            )
        })[0]
    };
    // What a start takes for a moment counts for neither side.
    at_rest(clock.device());
    let (bytes, blocks, ready) = read();
    let whole = resident(clock.device());
    assert!(bytes > 100_000 && bytes < whole, "{bytes} of {whole}");
    assert!(blocks > 500 && blocks < bytes / 8, "{blocks} in {bytes}");
    assert!(ready > 0);

    // Clients that follow take blocks; some of theirs were taken before, for threads have a few ready.
    let events = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let clients: Vec<TcpStream> = (0..300).map(|_| client(&clock, events)).collect();
    let (_, with_clients, _) = read();
    assert!(
        with_clients > blocks + 500,
        "{blocks}, then {with_clients} blocks"
    );
    drop(clients);
}

/// Two figures of the same host, with whatever else runs there in between.
#[test]
fn the_metrics_tell_the_memory_that_can_be_had() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let info = fs::read_to_string("/proc/meminfo").unwrap();
    let available = |line: &str| {
        line.strip_prefix("MemAvailable:")?
            .trim()
            .strip_suffix(" kB")?
            .parse::<f64>()
            .ok()
    };
    let expected = info.lines().find_map(available).unwrap() * 1024.0;
    let metrics = clock.get("/metrics").body;
    let told = metrics
        .lines()
        .find_map(|line| line.strip_prefix("papertick_memory_free_bytes "));
    let told: f64 = told.unwrap().parse().unwrap();
    assert!(
        (0.5..2.0).contains(&(told / expected)),
        "{told} of {expected}"
    );
}

/// In a build that traces.
#[cfg(feature = "heap-trace")]
#[test]
fn a_trace_tells_what_was_taken_and_not_given_back() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let post = |path: &str, body: &str| clock.send("POST", path, body).unwrap();
    let stopped = post("/api/diag/heap_trace/stop", "");
    assert_eq!(
        (stopped.status, stopped.body.as_str()),
        (409, r#"{"error":"no trace running"}"#)
    );
    for (path, body, capacity) in [
        ("/api/diag/heap_trace/start", "", 256),
        ("/api/diag/heap_trace/start", r#"{"cap":4097}"#, 256),
        ("/api/diag/heap_trace/start?cap=7", "", 7),
        ("/api/diag/heap_trace/start?cap=7", r#"{"cap":4096}"#, 4096),
    ] {
        let started = post(path, body);
        let told = format!(r#"{{"started":true,"capacity":{capacity},"depth":4}}"#);
        assert_eq!((started.status, started.body), (200, told), "{path} {body}");
    }
    let follower = clock.follow();
    assert_eq!(clock.get("/api/status").status, 200);
    let trace = post("/api/diag/heap_trace/stop", "").json();
    drop(follower);
    let leaks = trace["leaks"].as_array().unwrap();
    assert_eq!(trace["capacity"], 4096);
    assert_eq!(trace["count"], leaks.len());
    assert!(!leaks.is_empty());
    let hex = |text: &serde_json::Value| {
        let digits = text.as_str().unwrap().strip_prefix("0x").unwrap();
        u64::from_str_radix(digits, 16).unwrap()
    };
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_papertick")).unwrap();
    for leak in leaks {
        assert!(leak["sz"].as_u64().unwrap() > 0 && hex(&leak["addr"]) > 0);
        assert!(leak["cc"].is_u64());
        let places = leak["pcs"].as_array().unwrap();
        assert!(places.len() <= 4, "{leak}");
        assert!(
            places.iter().any(|place| hex(place) < program.len()),
            "{leak}"
        );
    }
}
