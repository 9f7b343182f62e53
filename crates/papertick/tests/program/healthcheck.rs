//! `papertick healthcheck` of clocks that answer, answer with an error, or do not answer.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    thread,
};

use papertick::failure::Code;
use serde_json::Value;

use crate::clock::{Clock, folder, output, papertick};

/// Exit code and standard error of a check.
fn check(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    assert_eq!(output.stdout, b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.lines().count() <= 1, "{stderr}");
    (output.status.code(), stderr)
}

#[test]
fn a_clock_that_answers_is_healthy() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let port = clock.address().port();
    let healthy = (Some(0), String::new());
    // As in a container, where the clock listens on every address.
    let listen = format!("0.0.0.0:{port}");
    assert_eq!(
        check(papertick(&["healthcheck"]).env("PAPERTICK_LISTEN", &listen)),
        healthy
    );
    let url = format!("http://127.0.0.1:{port}");
    assert_eq!(
        check(&mut papertick(&["healthcheck", "--url", &url])),
        healthy
    );
}

#[test]
fn an_address_may_have_a_path() {
    let folder = folder();
    let below = "https://home.example/clock";
    let clock = Clock::start_with(folder.path(), &["--public-url", below]);
    let url = format!("http://{}/clock/", clock.address());
    let healthy = (Some(0), String::new());
    assert_eq!(
        check(&mut papertick(&["healthcheck", "--url", &url])),
        healthy
    );
    let status = output(&["ctl", "--host", &url, "--json", "status"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["numScreens"], 7);
    let watch = |url: &str| output(&["watch", "--host", url, "--once"]).status.code();
    assert_eq!(watch(&url), Some(0));

    let other = format!("http://{}/other", clock.address());
    assert_eq!(watch(&other), Some(Code::Refused as i32));
    let (code, stderr) = check(&mut papertick(&["healthcheck", "--url", &other]));
    assert_eq!(code, Some(Code::Failed as i32), "{stderr}");
    assert_asks_for_the_address(&other);
    // A web server in front of the clock.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let page = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            let response =
                b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(response).unwrap();
        }
    });
    assert_asks_for_the_address(&page);
    server.join().unwrap();
}

/// `papertick ctl` fails, and asks whether the address is right.
fn assert_asks_for_the_address(url: &str) {
    let status = output(&["ctl", "--host", url, "status"]);
    let stderr = String::from_utf8(status.stderr).unwrap();
    let question = format!("is {url} its address?");
    assert!(stderr.contains(&question), "{stderr}");
}

#[test]
fn a_clock_that_does_not_answer_is_unhealthy() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [closed, silent.local_addr().unwrap()] {
        let url = format!("http://{address}");
        let (code, stderr) = check(&mut papertick(&["healthcheck", "--url", &url]));
        assert_eq!(code, Some(Code::Unreachable as i32), "{stderr}");
        assert!(stderr.contains(&url), "{stderr}");
    }
}

#[test]
fn an_error_or_another_server_is_unhealthy() {
    for (answer, part) in [
        (
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
            "502",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nLogin",
            "not as a clock",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // A response before the request would break the connection.
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            stream
        });
        let url = format!("http://{address}");
        let (code, stderr) = check(&mut papertick(&["healthcheck", "--url", &url]));
        assert_eq!(
            (code, stderr.contains(part)),
            (Some(Code::Failed as i32), true),
            "{stderr}"
        );
        server.join().unwrap();
    }
}
