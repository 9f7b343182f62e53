//! A host that pretends to be a clock and sends control characters for the terminal.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use api::{operation::Operation, operations::all};
use papertick::cli::{self, Command};

use crate::clock::{folder, papertick};

/// Content of every text of a hostile clock: C0, DEL and C1 as UTF-8.
const HOSTILE: &str = "x\x1b]0;title\x07\u{7f}\u{9b}2J\u{9d}y";

/// Sends the same response to every request, until the process exits.
fn hostile_clock(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, status));
        }
    });
    address
}

fn answer(mut stream: TcpStream, status: &str) {
    // JSON has C0 characters only as escapes; the client decodes them.
    let text = serde_json::to_string(HOSTILE).unwrap();
    let body = format!(
        "{{\"error\":{text},\"msg\":{text},{text}:{text},\"says\":{text},\"changes\":[{{\"name\":{text},\"old\":{text},\"new\":1}}],\
         \"unknown\":[{text}],\"refused\":[{{\"error\":{text},\"msg\":{text}}}],\"lines\":[{{\"time\":{text},\"level\":{text},\"text\":{text}}}]}}"
    );
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let kind = if head.starts_with("get /events") {
        "text/event-stream"
    } else {
        "application/json"
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\npapertick-reason: %1b%5d0;x%07%c2%9b2J\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes());
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Whether the response of an operation is a file, such as a picture or a dump.
fn is_file(operation: &Operation) -> bool {
    let mut answers = operation.answers.iter();
    answers.any(|(status, shape)| {
        let content_type = shape.content_type().unwrap_or_default();
        *status == 200
            && (content_type.starts_with("image/") || content_type == "application/octet-stream")
    })
}

/// The command line of each operation, from the example in its help, and whether its response is a file.
fn lines() -> Vec<(String, bool)> {
    let example = |words: String| {
        let help = format!("papertick ctl {words} --help");
        let help = cli::parse(help.split(' ').map(Into::into));
        let Ok(Command::Print(help)) = help else {
            panic!("{words} has no help")
        };
        let example = help.split("papertick ctl ").last().unwrap();
        let example = example.lines().next().unwrap();
        // Output to a file is not printed.
        let shown = example.split(" -o ").next().unwrap();
        assert!(shown.starts_with(&words), "{words}: {shown}");
        format!("ctl {shown}")
    };
    let mut lines: Vec<(String, bool)> = all()
        .map(|operation| (example(operation.command()), is_file(operation)))
        .collect();
    lines.extend(
        [
            "ctl settings import settings.json",
            "backup",
            "restore settings.json",
            "restore --dry-run settings.json",
            "watch --once",
            "ctl --json status",
            "ctl --json settings",
            "ctl --json log",
            "restore --json settings.json",
        ]
        .map(|line| (line.to_string(), false)),
    );
    lines
}

fn assert_harmless(line: &str, bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec());
    let text = text.unwrap_or_else(|_| panic!("{line}: no UTF-8"));
    let harmful = text
        .chars()
        .find(|&letter| letter.is_control() && !"\n\t".contains(letter));
    assert_eq!(harmful, None, "{line}: {text:?}");
}

#[test]
fn no_control_character_of_a_hostile_clock_reaches_the_terminal() {
    let folder = folder();
    fs::write(
        folder.path().join("settings.json"),
        r#"{"format":"papertick settings","version":1,"settings":{}}"#,
    )
    .unwrap();
    for image in ["clock.img", "page.img"] {
        fs::write(folder.path().join(image), [0; 4096]).unwrap();
    }
    for status in ["200 OK", "400 Bad Request", "500 Internal Server Error"] {
        let address = hostile_clock(status).to_string();
        for (line, is_file) in lines() {
            // Files are printed as they are; only a refusal is text.
            if is_file && status.starts_with('2') {
                continue;
            }
            let words: Vec<&str> = line.split(' ').collect();
            let output = papertick(&words)
                .args(["--host", &address])
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert_harmless(&line, &output.stdout);
            assert_harmless(&line, &output.stderr);
        }
    }
}
