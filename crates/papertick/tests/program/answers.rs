//! `ctl` with unusual responses.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    process::Output,
    sync::mpsc::{Receiver, channel},
    thread,
};

use papertick::failure::Code;

use crate::clock::{folder, papertick};

/// Size of a file that exceeds all buffers between client and server, bytes.
const LARGE: usize = 32 * 1024 * 1024;

/// A server that reads the head of each request, but no body, responds and closes; with the received heads.
fn fake_server(answers: &'static [&'static str]) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, heads) = channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                head.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            let _ = send.send(String::from_utf8(head).unwrap());
        }
    });
    (address, heads)
}

fn ctl(address: SocketAddr, line: &str) -> Output {
    let words: Vec<&str> = line.split(' ').collect();
    let host = address.to_string();
    papertick(&words).args(["--host", &host]).output().unwrap()
}

#[test]
fn an_early_refusal_of_an_upload_is_reported() {
    let folder = folder();
    let image = folder.path().join("clock.img");
    fs::write(&image, vec![0; LARGE]).unwrap();
    // One server waits for the file, the other one sends `100 Continue` before the refusal.
    for answer in [
        &[
            "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: 25\r\n\r\n{\"msg\":\"updates are off\"}",
        ],
        &[
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: 25\r\n\r\n{\"msg\":\"updates are off\"}",
        ],
    ] {
        let (address, heads) = fake_server(answer);
        let output = ctl(address, &format!("ctl update firmware {}", image.display()));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(Code::Refused as i32), "{stderr}");
        assert!(stderr.contains("updates are off"), "{stderr}");
        let head = heads.recv().unwrap().to_lowercase();
        assert!(head.contains("expect: 100-continue"), "{head}");
    }
}

#[test]
fn requests_are_retried_during_a_restart() {
    let (address, heads) = fake_server(&[
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    ]);
    let output = ctl(address, "ctl restart");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(heads.iter().count(), 2);
}

#[test]
fn a_refusal_is_json_with_the_flag_json() {
    for (answer, expected) in [
        (
            &[
                "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n{\"error\":\"x\"}",
            ],
            "{\n  \"error\": \"x\"\n}\n",
        ),
        (
            &["HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"],
            "{\n  \"error\": \"the clock failed: status 500\"\n}\n",
        ),
    ] {
        let (address, _) = fake_server(answer);
        let output = ctl(address, "ctl --json identify");
        assert!(!output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}
