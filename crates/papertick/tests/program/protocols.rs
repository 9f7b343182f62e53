//! Compatibility with recorded messages of supervisors and devices of other versions.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::Pid;
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
