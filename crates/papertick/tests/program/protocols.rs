//! Compatibility with recorded messages of supervisors and devices of other versions.

use std::{
    fs::File,
    io::{BufRead, BufReader, IoSlice, Read, Write},
    mem::MaybeUninit,
    net::{SocketAddr, TcpListener, TcpStream},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::{
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};

use crate::{
    clock::{NOWHERE, PATIENCE, folder, papertick},
    limit::Limit,
};

/// Configuration from the supervisor of the first version.
fn device_of_protocol_1(data_dir: &Path) -> Value {
    json!({
        "run": {
            "listen": "127.0.0.1:0",
            "data_dir": data_dir,
            "board": "rev-b",
            "allow_origins": [],
            "upstreams": NOWHERE,
            "ca_file": null,
            "parts": "Simulated",
            "instant_panels": true,
            "network": "Host",
            "log": null,
            "market": "World",
        },
        "supervisor": std::process::id(),
        "crashes": 0,
        "note": null,
        "safe_mode": null,
        "carried": null,
        "crash_dumps": null,
    })
}

/// Configuration from a supervisor with slots.
fn device_of_protocol_2(data_dir: &Path) -> Value {
    let mut config = device_of_protocol_1(data_dir);
    config["protocol"] = json!(2);
    config["run"]["update_keys"] = json!([]);
    config["run"]["signatures"] = json!("Required");
    config["run"]["trial_secs"] = json!(null);
    config["firmware"] = json!({
        "running": "factory",
        "version": "4.0.0",
        "factory": { "version": "4.0.0", "build": "4.0.0-abc-7" },
    });
    config
}

/// Configuration from a future supervisor.
fn device_of_a_later_protocol(data_dir: &Path) -> Value {
    let mut config = device_of_protocol_2(data_dir);
    config["protocol"] = json!(99);
    config["run"]["something"] = json!({ "new": true });
    config["something"] = json!(["new"]);
    config["begin"] = json!("AtOnce");
    config
}

fn request(place: SocketAddr, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A process that is killed at the end of the test.
struct Started(
    Child,
    #[allow(dead_code, reason = "it lives as long")] Limit,
);

impl Started {
    fn by(command: &mut Command) -> Started {
        let child = command.spawn().unwrap();
        let limit = Limit::new(Some(Pid::from_child(&child)));
        Started(child, limit)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_device_serves_supervisors_of_every_version() {
    for build in [
        device_of_protocol_1 as fn(&Path) -> Value,
        device_of_protocol_2,
        device_of_a_later_protocol,
    ] {
        let folder = folder();
        let config = build(folder.path());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let mut device = Started::by(
            papertick(&["device", &config.to_string()])
                .stdin(Stdio::from(OwnedFd::from(listener)))
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        );
        let out = device.0.stdout.take().unwrap();
        let mut words = BufReader::new(out).lines().map(Result::unwrap);
        // Older supervisors ignore a number after a word.
        assert!(words.next().unwrap().starts_with("ready"), "{config}");
        for expected in ["painted", "beat"] {
            assert!(words.any(|word| word == expected), "{expected}: {config}");
        }
        assert!(request(place, "GET", "/api/status").starts_with("HTTP/1.1 200"));
        let answer = request(place, "POST", "/api/restart");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(device.0.wait().unwrap().code(), Some(75), "{config}");
    }
}

/// State from the first version with a handover; without a running device.
fn supervisor_of_protocol_1(data_dir: &Path) -> Value {
    json!({
        "protocol": 1,
        "own": { "slot": "a" },
        "installation": {
            "path": env!("CARGO_BIN_EXE_papertick"),
            "factory": { "version": "4.0.0", "build": "4.0.0-abc-7" },
        },
        "next": device_of_protocol_2(data_dir),
        "announced": true,
        "device": null,
    })
}

/// Sends a text and file descriptors on a socket.
fn send(writer: &UnixStream, text: &str, descriptors: &[BorrowedFd<'_>]) {
    let mut space = [const { MaybeUninit::uninit() }; rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
    let text = [IoSlice::new(text.as_bytes())];
    sendmsg(writer, &text, &mut control, SendFlags::empty()).unwrap();
}

#[test]
fn a_supervisor_takes_over_from_the_previous_version() {
    let folder = folder();
    let lock = File::create(folder.path().join("lock")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let (reader, writer) = UnixStream::pair().unwrap();
    let mut supervisor = Started::by(
        papertick(&["take-over"])
            .stdin(Stdio::from(OwnedFd::from(reader)))
            .stderr(Stdio::null()),
    );
    let mut state = supervisor_of_protocol_1(folder.path());
    // The process id is unchanged.
    state["next"]["supervisor"] = json!(supervisor.0.id());
    let descriptors = [listener.as_fd(), lock.as_fd()];
    send(&writer, &state.to_string(), &descriptors);
    drop((writer, listener, lock));
    let status = request(place, "GET", "/api/system/status");
    assert!(status.contains("\"running\":\"factory\""), "{status}");
    kill_process(Pid::from_child(&supervisor.0), Signal::TERM).unwrap();
    assert!(supervisor.0.wait().unwrap().success());
}

#[test]
fn take_over_try_only_reports_whether_it_is_possible() {
    let folder = folder();
    let before = supervisor_of_protocol_1(folder.path());
    let mut with_more = before.clone();
    with_more["own_digest"] = json!("00");
    with_more["something"] = json!({ "new": true });
    let mut with_device = before.clone();
    with_device["device"] = json!({ "number": 8, "program": { "slot": "a" }, "heard": "" });
    let mut later = before.clone();
    later["protocol"] = json!(99);
    for (state, can_take_over) in [
        (before.to_string(), true),
        (with_more.to_string(), true),
        (with_device.to_string(), false),
        (later.to_string(), false),
        ("{}".to_string(), false),
        (String::new(), false),
    ] {
        let mut command = papertick(&["take-over", "--try-only"]);
        let command = command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut process = Started::by(command);
        let mut stdin = process.0.stdin.take().unwrap();
        stdin.write_all(state.as_bytes()).unwrap();
        drop(stdin);
        assert_eq!(
            process.0.wait().unwrap().success(),
            can_take_over,
            "{state}"
        );
    }
}
