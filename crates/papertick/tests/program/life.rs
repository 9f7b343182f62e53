//! Start, restart and exit.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    process::{Signal, kill_process},
};

use crate::clock::{Clock, PATIENCE, assert_ends_in_time, eventually, folder, is_alive, papertick};

#[test]
fn socket_activation() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    // A connection from before the start is answered.
    let early = TcpStream::connect(place).unwrap();
    let clock = Clock::start_as_service(listener, folder.path(), &[]);
    assert_eq!(clock.address(), place);
    (&early)
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    (&early).read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let before = clock.device();
    assert_eq!(clock.send("POST", "/api/restart", "").unwrap().status, 200);
    eventually("another device", || clock.device() != before);
    assert_eq!(clock.get("/api/status").status, 200);
}

#[test]
fn each_board_can_be_chosen() {
    for (board, panels) in [("rev-a", 7), ("rev-b", 7), ("v8", 8)] {
        let folder = folder();
        let clock = Clock::start_with(folder.path(), &["--board", board]);
        assert_eq!(clock.setting("numScreens"), panels, "{board}");
    }
}

#[test]
fn signals_end_both_processes_within_two_seconds() {
    let end_by = |signal| {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let (supervisor, device) = (clock.supervisor(), clock.device());
        // A client of the events, a slow client, and a silent client.
        let follower = clock.follow();
        let mut slow = TcpStream::connect(clock.address()).unwrap();
        slow.write_all(b"PATCH /api/settings HTTP/1.1\r\nHost: loc")
            .unwrap();
        let silent = TcpStream::connect(clock.address()).unwrap();
        // The response shows that the clock has accepted the connections before.
        assert_eq!(clock.get("/api/status").status, 200);
        let (status, took) = clock.end(signal);
        assert!(status.success(), "{signal:?}: {status}");
        assert!(!is_alive(supervisor) && !is_alive(device), "{signal:?}");
        drop((follower, slow, silent));
        took
    };
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        assert_ends_in_time(&format!("{signal:?}"), || end_by(signal));
    }
}

/// Accepted connections are answered; the others wait for the next device.
#[test]
fn restarts_leave_no_request_unanswered() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let stop = AtomicBool::new(false);
    let answered = thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut answered = 0;
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(clock.get("/healthz").status, 200);
                        answered += 1;
                    }
                    answered
                })
            })
            .collect();
        for round in 0..5 {
            let before = clock.device();
            let answer = clock.send("POST", "/api/restart", "").unwrap();
            assert_eq!(answer.status, 200, "{round}");
            eventually("another device runs", || clock.device() != before);
            assert_eq!(clock.get("/readyz").status, 200, "{round}");
        }
        stop.store(true, Ordering::Relaxed);
        let answered = clients.into_iter().map(|client| client.join().unwrap());
        answered.sum::<u32>()
    });
    assert!(answered > 20, "{answered} requests");
}

#[test]
fn a_device_that_crashes_repeatedly_runs_in_safe_mode_until_a_restart() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    for _ in 0..3 {
        let device = clock.device();
        kill_process(device, Signal::KILL).unwrap();
        eventually("another device runs", || clock.device() != device);
    }
    let metrics = clock.get("/metrics").body;
    assert!(metrics.contains("papertick_crashes_total 3\n"), "{metrics}");
    let status = clock.get("/api/status").json();
    assert_eq!(status["mode"], "safe-mode");
    let reason = status["safeMode"].as_str().unwrap();
    assert!(reason.contains("3 times"), "{reason}");
    assert_eq!(status["data"][0], "SAFE/MODE");
    assert_eq!(status["sources"], serde_json::json!({}), "no source runs");
    assert_eq!(
        clock.patch(r#"{"digitFontPx": 190}"#).status,
        200,
        "settings can be changed in safe mode"
    );

    let device = clock.device();
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("another device runs", || clock.device() != device);
    assert_eq!(
        clock.get("/api/status").json()["safeMode"],
        serde_json::Value::Null
    );
}

#[test]
fn a_hanging_device_does_not_prevent_the_exit() {
    assert_ends_in_time("a device that hangs", || {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let device = clock.device();
        kill_process(device, Signal::STOP).unwrap();
        let (status, took) = clock.end(Signal::TERM);
        assert!(status.success(), "{status}");
        assert!(!is_alive(device));
        took
    });
}

#[test]
fn a_killed_clock_can_restart_at_once_at_the_same_address() {
    let folder = folder();
    let mut clock = Clock::start(folder.path());
    let address = clock.address().to_string();
    for round in 0..5 {
        let device = clock.device();
        // A client with a persistent connection, like the page.
        let follower = clock.follow();
        kill_process(clock.supervisor(), Signal::KILL).unwrap();
        let started = Instant::now();
        clock = Clock::start_at(&address, folder.path());
        assert_eq!(clock.get("/api/status").status, 200, "{round}");
        assert!(!is_alive(device), "{round}: the old device has exited");
        let took = started.elapsed();
        // It takes less time than an orderly exit with a client of the events.
        assert!(took < PATIENCE, "{round}: {took:?}");
        drop(follower);
    }
}

/// A killed process keeps its locks and its address until it has exited, which takes longer on a busy machine.
#[test]
fn a_clock_waits_for_lock_and_address_of_a_killed_one() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let address = clock.address();
    clock.end(Signal::TERM);
    for held in ["lock", "lock.device", "address"] {
        let lock = File::open(folder.path().join(held)).ok();
        let listener = lock.is_none().then(|| TcpListener::bind(address).unwrap());
        if let Some(lock) = &lock {
            flock(lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        }
        let clock = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(150));
                drop((lock, listener));
            });
            Clock::start_at(&address.to_string(), folder.path())
        });
        assert_eq!(clock.get("/api/status").status, 200, "{held}");
        clock.end(Signal::TERM);
    }
}

#[test]
fn a_power_cut_with_a_button_held() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    clock.patch(r#"{"digitFontPx": 212}"#);
    let device = clock.device();
    let cycle = r#"{"action": "cycle", "hold": [2], "ms": 20000}"#;
    let answer = clock.send("POST", "/sim/power", cycle).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    eventually("another device runs", || clock.device() != device);
    let state = clock.get("/sim/state").json();
    assert_eq!(state["buttons"], serde_json::json!([2]), "{state}");
    assert_eq!(clock.setting("digitFontPx"), 212);
    let notes = clock.get("/api/status").json()["notes"].clone();
    assert_eq!(notes, serde_json::json!([]), "a power cut is no fault");
}

#[test]
fn the_service_manager_is_notified() {
    for is_abstract in [false, true] {
        let folder = folder();
        let path = folder.path().join("notify");
        let path = path.to_str().unwrap();
        let (address, variable) = if is_abstract {
            (SocketAddr::from_abstract_name(path), format!("@{path}"))
        } else {
            (SocketAddr::from_pathname(path), path.to_owned())
        };
        let manager = UnixDatagram::bind_addr(&address.unwrap()).unwrap();
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let receive = || {
            let mut bytes = [0; 256];
            let length = manager.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        let mut command = papertick(&["run"]);
        command.env("NOTIFY_SOCKET", variable);
        let clock = Clock::start_as(&mut command, &folder.path().join("data"));
        // On a busy machine a watchdog message may come first.
        while receive() != "READY=1\nWATCHDOG=1" {}
        clock.end(Signal::TERM);
        while receive() != "STOPPING=1" {}
    }
}

#[test]
fn the_limit_of_open_files_is_raised() {
    let folder = folder();
    let mut command = Command::new("/bin/sh");
    let script = "ulimit -Sn 300 && ulimit -Hn 600 && exec \"$@\"";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_papertick"), "run"]);
    let clock = Clock::start_as(command.env_clear(), folder.path());
    // A response shows that the device is ready.
    assert_eq!(clock.get("/api/status").status, 200);
    let place = format!("/proc/{}/limits", clock.device().as_raw_nonzero());
    let limits = fs::read_to_string(place).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let files: Vec<&str> = files.unwrap().split_whitespace().collect();
    assert_eq!(files[3..5], ["600", "600"]);
}

#[test]
fn a_device_has_short_dns_timeouts_by_default() {
    let options = |clock: &Clock| {
        // The process that answers has executed the program.
        assert_eq!(clock.get("/api/status").status, 200);
        let place = format!("/proc/{}/environ", clock.device().as_raw_nonzero());
        let text = String::from_utf8(fs::read(place).unwrap()).unwrap();
        let value = |name: &str| {
            let mut pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
                .to_owned()
        };
        value("RES_OPTIONS")
    };
    let folder = folder();
    let clock = Clock::start(&folder.path().join("built in"));
    assert_eq!(options(&clock), "timeout:3 attempts:2");
    let mut command = papertick(&["run"]);
    command.env("RES_OPTIONS", "timeout:7");
    let clock = Clock::start_as(&mut command, &folder.path().join("own"));
    assert_eq!(options(&clock), "timeout:7");
}
