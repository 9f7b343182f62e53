//! Memory of clients, and that it is freed.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::process::Pid;

use crate::clock::{Clock, eventually, folder, resident};

/// Number of clients, below the limit of open files.
const CLIENTS: u64 = 500;

/// Most memory of a silent client, bytes.
const SILENT_MAX: u64 = 4 * 1024;

/// Most memory of a client of the events or with a persistent connection, bytes; this build is not optimised.
const IDLE_MAX: u64 = 16 * 1024;

/// Time without a change until the memory is stable.
const REST: Duration = Duration::from_secs(1);

/// Most remaining memory after the clients have disconnected, percent above the start.
const LEFT_MAX: u64 = 20;

/// Connects, sends a request if there is one, and waits for the start of the response.
fn client(clock: &Clock, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(clock.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    if !request.is_empty() {
        assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0);
    }
    stream
}

/// Resident memory of a process once it is stable, bytes.
fn stable_memory(device: Pid) -> u64 {
    let mut found = (resident(device), Instant::now());
    eventually("the memory is stable", || {
        let now = resident(device);
        if now != found.0 {
            found = (now, Instant::now());
        }
        found.1.elapsed() >= REST
    });
    found.0
}

#[test]
fn idle_clients_use_little_memory_and_free_it() {
    let status = "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let events = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (request, most) in [("", SILENT_MAX), (status, IDLE_MAX), (events, IDLE_MAX)] {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let device = clock.device();
        // Memory that is allocated once for all clients is not counted.
        drop((client(&clock, status), client(&clock, events)));
        let before = stable_memory(device);
        let clients: Vec<_> = (0..CLIENTS).map(|_| client(&clock, request)).collect();
        // The response shows that the clock has accepted the connections before.
        assert_eq!(clock.get("/api/status").status, 200);
        let taken = resident(device).saturating_sub(before);
        let each = taken / CLIENTS;
        assert!(each < most, "{request:?}: {each} bytes each");
        drop(clients);
        eventually("the memory is freed", || {
            resident(device) < before + before * LEFT_MAX / 100
        });
    }
}

/// The figures come from the allocator and the host.
#[test]
fn memory_is_counted_by_kind() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let read = || {
        let heap = clock.get("/api/diag/heap").json();
        ["internal", "internal_dma", "default"].map(|kind| {
            let figure = |name: &str| heap["caps"][kind][name].as_u64().unwrap();
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
    // Temporary memory of the start is not counted.
    stable_memory(clock.device());
    let (bytes, blocks, ready) = read();
    let whole = resident(clock.device());
    assert!(bytes > 100_000 && bytes < whole, "{bytes} of {whole}");
    assert!(blocks > 500 && blocks < bytes / 8, "{blocks} in {bytes}");
    assert!(ready > 0);

    // Clients of the events allocate blocks; some were allocated before, because threads cache a few.
    let events = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let clients: Vec<TcpStream> = (0..300).map(|_| client(&clock, events)).collect();
    let (_, with_clients, _) = read();
    assert!(
        with_clients > blocks + 500,
        "{blocks}, then {with_clients} blocks"
    );
    drop(clients);
}

/// Compares two figures of the same host, where other programs run too.
#[test]
fn the_metrics_have_the_available_memory() {
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
    let metric = metrics
        .lines()
        .find_map(|line| line.strip_prefix("papertick_memory_free_bytes "));
    let metric: f64 = metric.unwrap().parse().unwrap();
    assert!(
        (0.5..2.0).contains(&(metric / expected)),
        "{metric} of {expected}"
    );
}

/// Only in a build with tracing.
#[cfg(feature = "heap-trace")]
#[test]
fn a_trace_lists_allocations_that_were_not_freed() {
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
        let expected = format!(r#"{{"started":true,"capacity":{capacity},"depth":4}}"#);
        assert_eq!(
            (started.status, started.body),
            (200, expected),
            "{path} {body}"
        );
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
