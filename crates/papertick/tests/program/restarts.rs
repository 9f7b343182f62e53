//! Restarts and updates for clients: no connection is refused, and no acknowledged change is lost.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, sleep},
    time::Duration,
};

use crate::{
    clock::{Clock, PATIENCE, eventually, folder, is_alive},
    programs::{firmware, working_program},
    updating::UpdateRig,
};

/// Number of responses to wait for, however slow the machine is.
const ANSWERS_MIN: u32 = 6;

/// A client that keeps its connection as long as possible.
fn send_on_one_connection(clock: &Clock, over: &AtomicBool) {
    let mut answers = 0;
    let connect = || {
        let stream = TcpStream::connect(clock.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let mut stream = connect();
    while answers < ANSWERS_MIN || !over.load(Ordering::Relaxed) {
        let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut head = Vec::new();
        let sent = stream.write_all(request);
        let mut chunk = [0; 4096];
        if let (Ok(()), Ok(read @ 1..)) = (sent, stream.read(&mut chunk)) {
            head.extend_from_slice(&chunk[..read]);
            let text = String::from_utf8_lossy(&head).to_lowercase();
            assert!(text.starts_with("http/1.1 200"), "{text}");
            answers += 1;
            if !text.contains("connection: close") {
                sleep(Duration::from_millis(5));
                continue;
            }
        }
        // The response had `Connection: close`, or the idle connection was closed.
        stream = connect();
    }
}

/// All events of a client until the end of its stream.
fn follow(clock: &Clock) -> impl FnOnce() -> String + Send + use<> {
    let mut stream = clock.follow();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

#[test]
fn a_restart_and_an_update_refuse_no_client() {
    let rig = UpdateRig::new();
    let clock = rig.clock();
    let image = rig.image("4.9.0", &working_program());
    for is_update in [false, true] {
        let before = clock.device();
        let streams: Vec<_> = (0..3).map(|_| thread::spawn(follow(&clock))).collect();
        let over = AtomicBool::new(false);
        let (clock, over) = (&clock, &over);
        let change_count = thread::scope(|scope| {
            let changing = scope.spawn(move || {
                let mut answers = 0;
                while answers < ANSWERS_MIN || !over.load(Ordering::Relaxed) {
                    assert_eq!(clock.get("/api/status").status, 200);
                    // An acknowledged change is stored, by either device.
                    let body = format!(r#"{{"digitFontPx": {}}}"#, 180 + answers % 30);
                    assert_eq!(clock.patch(&body).status, 200);
                    answers += 1;
                }
                answers
            });
            let persistent = scope.spawn(move || send_on_one_connection(clock, over));
            if is_update {
                drop(clock.upload(&image))
            } else {
                drop(clock.send("POST", "/api/restart", "").unwrap())
            }
            eventually("another device runs", || {
                let devices = clock.devices();
                devices.first().is_some_and(|device| *device != before)
            });
            assert_eq!(clock.get("/readyz").status, 200);
            over.store(true, Ordering::Relaxed);
            persistent.join().unwrap();
            changing.join().unwrap()
        });
        let stored = clock.setting("digitFontPx");
        assert_eq!(
            stored,
            180 + (change_count - 1) % 30,
            "what was stored last"
        );
        for stream in streams {
            let events = stream.join().unwrap();
            assert!(events.contains("data: closing"), "{events}");
        }
        assert!(!is_alive(before));
        let status = clock.get("/api/status").json();
        assert_eq!(status["notes"], serde_json::json!([]), "{status}");
    }
    assert_eq!(firmware(&clock)["version"], "4.9.0");
}

#[test]
fn a_clock_shows_the_same_screen_after_a_restart() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    // Before the screen would be saved while the clock runs.
    for screen in [3, 0, 10, 20] {
        let before = clock.device();
        let shown = clock.send("GET", &format!("/api/show/screen/{screen}"), "");
        assert_eq!(shown.unwrap().status, 200);
        clock.send("POST", "/api/restart", "").unwrap();
        eventually("another device runs", || clock.device() != before);
        assert_eq!(clock.get("/api/status").json()["currentScreen"], screen);
    }
}
