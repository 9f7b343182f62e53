//! `papertick healthcheck` of clocks that answer, answer with an error, or do not answer.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    thread,
};

use papertick::failure::Code;

use crate::clock::{Clock, folder, papertick};

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
