//! The clock as an app of Home Assistant, with a Supervisor and a broker on this machine.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::json;

use crate::clock::{Clock, PATIENCE, folder, papertick};

fn head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

#[test]
fn the_broker_and_the_ingress_of_home_assistant_are_used_automatically() {
    let broker = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = broker.local_addr().unwrap().port();
    let supervisor = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", supervisor.local_addr().unwrap());
    let supervisor_thread = thread::spawn(move || {
        let (mut stream, _) = supervisor.accept().unwrap();
        let head = head(&mut stream);
        let data = json!({
            "host": "127.0.0.1", "port": port.to_string(), "ssl": false,
            "username": "addons", "password": "planted-password", "protocol": "3.1.1",
        });
        let body = json!({ "result": "ok", "data": data }).to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
        head
    });
    let folder = folder();
    let mut command = papertick(&["run", "--trusted-proxy", "127.0.0.1"]);
    command
        .env("SUPERVISOR_TOKEN", "planted-token")
        .env("PAPERTICK_SUPERVISOR", address);
    let clock = Clock::start_as(&mut command, folder.path());
    let head = supervisor_thread.join().unwrap();
    assert!(
        head.starts_with("get /services/mqtt http/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("authorization: bearer planted-token\r\n"),
        "{head}"
    );
    let (mut stream, _) = broker.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut connect = Vec::new();
    let mut piece = [0; 512];
    while !contains(&connect, b"planted-password") {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "{connect:?}");
        connect.extend_from_slice(&piece[..length]);
    }
    assert!(contains(&connect, b"addons"));
    let settings = clock.get("/api/settings").json();
    assert_eq!(settings["mqttHost"], "127.0.0.1");

    let browser = "User-Agent: Mozilla/5.0\r\nX-Forwarded-Host: my.duckdns.org";
    let ingress = format!("{browser}\r\nX-Ingress-Path: /api/hassio_ingress/TOKEN");
    for (header, status) in [(browser, 403), (&ingress, 200)] {
        let answer = clock.send_with("GET", "/api/status", header).unwrap();
        assert_eq!(answer.status, status, "{header}");
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
