//! Memory: what clients take of it, and that it is given back.

use std::{
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
const IDLE_MAX: u64 = 10 * 1024;

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
