//! Slow, greedy or broken clients are limited and do not affect others.
//!
//! Most of these tests run on paused time, which jumps to the next deadline when all tasks wait.

use std::time::Duration;

use device::{secret::PasswordHash, settings::Settings};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};
use updates::policy::Signatures;

use crate::support::{Answer, Clock, SOON, Setup, followers};

/// Reads until the server closes. Without a timeout, because the time jumps.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    // The server may reset a connection whose bytes it never read.
    let _ = stream.read_to_end(&mut received).await;
    received
}

#[tokio::test]
async fn heads_are_bounded() {
    let clock = Clock::start().await;
    let host = clock.address;
    let long_header = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    // Two more are too many.
    let headers = |count| {
        format!(
            "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{}\r\n",
            "X: y\r\n".repeat(count)
        )
    };
    let long_path = format!(
        "GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "x".repeat(70_000)
    );
    let nonsense = "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n".to_string();
    for (request, expected) in [
        (long_header, 431),
        (headers(62), 200),
        (headers(63), 431),
        (long_path, 431),
        (nonsense, 400),
    ] {
        // Most clients send the whole head before they read the response.
        let mut stream = clock.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        assert_eq!(Answer::parse(&received).status, expected);
    }
    assert_eq!(clock.get("/api/status").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn an_endless_head_times_out() {
    let clock = Clock::start().await;
    let started = Instant::now();
    let mut stream = clock.connect().await;
    stream
        .write_all(b"GET /api/status HTTP/1.1\r\nHost: cl")
        .await
        .unwrap();
    rest(&mut stream).await;
    let waited = started.elapsed();
    assert!(
        waited > Duration::from_secs(20) && waited < Duration::from_secs(60),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_endless_body_times_out() {
    let clock = Clock::start().await;
    let mut stream = clock.connect().await;
    let head = format!(
        "PATCH /api/settings HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{",
        clock.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = Answer::parse(&rest(&mut stream).await);
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (400, Some("bad body"))
    );
}

/// A refused body need not be sent.
#[tokio::test]
async fn an_announced_body_above_the_limit_is_refused_before_it_is_read() {
    let clock = Clock::start().await;
    let rows = [
        ("PATCH", "/api/settings", 16 * 1024 + 1, "bad body"),
        ("POST", "/api/settings", 16 * 1024 + 1, "bad body"),
        ("POST", "/api/show/custom", 8 * 1024 + 1, "bad body"),
        ("POST", "/api/lights/set", 1025, "bad body"),
        ("POST", "/api/frontlight/set", 1025, "bad body"),
        ("POST", "/api/wifi_set_tx_power", 1025, "bad body"),
        ("POST", "/api/show/text", 4097, "missing_text"),
        ("POST", "/api/show/screen", 1025, "missing s"),
        ("POST", "/api/factory_reset", 1025, "confirmation required"),
    ];
    for (method, path, length, error) in rows {
        let mut stream = clock.connect().await;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n",
            clock.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let answered = timeout(SOON, async {
            while !answer.ends_with(b"}") {
                assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{path}");
            }
        });
        answered.await.expect("an answer before the body");
        let answer = Answer::parse(&answer);
        assert_eq!(
            (answer.status, answer.json()["error"].as_str()),
            (400, Some(error)),
            "{path}"
        );
        // The connection stays open after the body.
        let next = format!(
            "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            clock.address
        );
        stream.write_all(&vec![b' '; length]).await.unwrap();
        stream.write_all(next.as_bytes()).await.unwrap();
        assert_eq!(
            Answer::parse(&rest(&mut stream).await).status,
            200,
            "{path}"
        );
    }
}

/// A chunked body is refused as soon as it is too long, while it is being sent.
#[tokio::test]
async fn a_body_of_unknown_length_is_refused_at_its_limit() {
    let clock = Clock::start().await;
    let mut stream = clock.connect().await;
    let head = format!(
        "PATCH /api/settings HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n5000\r\n{}\r\n",
        clock.address,
        " ".repeat(0x5000)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let answered = timeout(SOON, async {
        while !answer.ends_with(b"}") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
        }
    });
    answered
        .await
        .expect("an answer before the end of the body");
    assert_eq!(Answer::parse(&answer).json()["error"], "bad body");
}

#[tokio::test]
async fn expect_100_continue_is_answered() {
    let clock = Clock::start().await;
    let mut stream = clock.connect().await;
    let head = format!(
        "POST /api/show/text HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 9\r\nConnection: close\r\n\r\n",
        clock.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go = [0; 25];
    stream.read_exact(&mut go).await.unwrap();
    assert_eq!(&go, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(br#"{"t":"a"}"#).await.unwrap();
    assert_eq!(Answer::parse(&rest(&mut stream).await).status, 200);
}

/// Most clients read the response only after they have sent the whole body.
#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_the_whole_body_first() {
    let settings = Settings {
        ota_pass: PasswordHash::new("none matches"),
        ..Settings::default()
    };
    let guarded = Clock::with(Setup {
        settings,
        ..Setup::default()
    })
    .await;
    let unsigned = Clock::with(Setup {
        signatures: Signatures::NotRequired,
        ..Setup::default()
    })
    .await;
    let rows = [
        // The body is refused during the upload, because it is not an image.
        (&unsigned, "/upload/webui", 500),
        (&Clock::start().await, "/upload/firmware", 503),
        (&Clock::start().await, "/api/nothing", 404),
        (&guarded, "/upload/firmware", 401),
    ];
    for (clock, path, status) in rows {
        let body = vec![0; 8 * 1024 * 1024];
        let mut stream = clock.connect().await;
        for connection in ["keep-alive", "close"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: {connection}\r\nContent-Length: {}\r\n\r\n",
                clock.address,
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.unwrap();
            if connection == "keep-alive" {
                let mut answer = Vec::new();
                while !answer.ends_with(b"}") {
                    assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{path}");
                }
                assert_eq!(Answer::parse(&answer).status, status, "{path}");
            }
        }
        let answer = Answer::parse(&rest(&mut stream).await);
        assert_eq!(answer.status, status, "{path}");
    }
}

/// A client that stalls, or sends endless form parts, does not block other updates.
#[tokio::test(start_paused = true)]
async fn a_stalled_upload_does_not_block_others() {
    let clock = Clock::with(Setup {
        signatures: Signatures::NotRequired,
        ..Setup::default()
    })
    .await;
    let head = |kind: &str| {
        format!(
            "POST /upload/webui HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: 9000\r\nConnection: close\r\n\r\n",
            clock.address
        )
    };
    let mut silent = clock.connect().await;
    let image = head("application/octet-stream");
    silent.write_all(image.as_bytes()).await.unwrap();
    let answer = Answer::parse(&rest(&mut silent).await);
    assert_eq!(answer.json()["error"], "truncated upload");

    let mut trickling = clock.connect().await;
    let form = head("multipart/form-data; boundary=abc");
    trickling.write_all(form.as_bytes()).await.unwrap();
    let (mut answer, mut trickle) = trickling.split();
    let trickles = async {
        while trickle.write_all(b"x").await.is_ok() {
            sleep(Duration::from_secs(8)).await;
        }
    };
    let mut head = [0; 12];
    tokio::select! {
        read = answer.read_exact(&mut head) => drop(read.unwrap()),
        () = trickles => panic!("it was not answered"),
    }
    assert_eq!(&head, b"HTTP/1.1 500");
    let mut next = clock.connect().await;
    next.write_all(image.as_bytes()).await.unwrap();
    next.write_all(&[0; 9000]).await.unwrap();
    let answer = Answer::parse(&rest(&mut next).await);
    assert_eq!(answer.json()["error"], "ESP_ERR_OTA_VALIDATE_FAILED");
}

/// The refusal is sent instead of `100 Continue`.
#[tokio::test]
async fn a_refusal_reaches_a_client_with_expect_100_continue() {
    let clock = Clock::start().await;
    let request = format!(
        "POST /upload/firmware HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n",
        clock.address
    );
    let mut stream = clock.connect().await;
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::parse(&rest(&mut stream).await).status, 503);
}

#[tokio::test(start_paused = true)]
async fn an_event_client_that_does_not_read_is_dropped() {
    let clock = Clock::start().await;
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", clock.address);
    let mut not_reading = clock.connect().await;
    not_reading.write_all(request.as_bytes()).await.unwrap();
    let mut reader = clock.connect().await;
    reader.write_all(request.as_bytes()).await.unwrap();
    let (mut reads, mut writes) = reader.into_split();
    let read = tokio::spawn(async move {
        let mut total = 0_u64;
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = reads.read(&mut buffer).await {
            total += count as u64;
        }
        total
    });

    let filler = "x".repeat(100_000);
    let mut dropped = false;
    for round in 0..400_u32 {
        clock.change(|view| view.notes = vec![format!("{round} {filler}")]);
        sleep(Duration::from_millis(500)).await;
        if round % 20 == 19 && followers(&clock).await == 1 {
            dropped = true;
            break;
        }
    }
    assert!(dropped, "the client that does not read is still connected");
    writes.shutdown().await.unwrap();
    clock.shutdown.send_replace(true);
    assert!(
        read.await.unwrap() > 1_000_000,
        "the reading client received too little"
    );
}

/// Pictures for clients that do not read take at most 32 MiB, for any number of clients.
#[tokio::test]
async fn unsent_pictures_are_bounded() {
    let clock = Clock::real().await;
    // Each has 8.3 MB, and none is equal to another.
    let path = |number: u32| {
        let width = 3840 - 4 * number;
        format!("/api/frame.bmp?depth=8&width={width}&height=2160")
    };
    let mut clients = Vec::new();
    for number in 0..4 {
        let mut stream = clock.connect().await;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
            path(number),
            clock.address
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        clients.push(stream);
    }
    let refused = clock.get(&path(4)).await;
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, Some("20"))
    );
    for small in ["/api/status", "/api/panels.png"] {
        assert_eq!(clock.get(small).await.status, 200, "{small}");
    }
    drop(clients);
    let is_sent = async || {
        while clock.get(&path(4)).await.status != 200 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, is_sent()).await.expect("a picture in time");
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_closed_if_all_are_in_use() {
    let clock = Clock::with(Setup {
        connections: Some(8),
        ..Setup::default()
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..8 {
        idle.push(clock.connect().await);
    }
    let mut stream = clock.connect().await;
    let request = format!(
        "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        clock.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::parse(&rest(&mut stream).await).status, 200);
}

#[tokio::test]
async fn event_clients_leave_connections_for_requests() {
    let clock = Clock::with(Setup {
        connections: Some(8),
        ..Setup::default()
    })
    .await;
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", clock.address);
    let mut following = Vec::new();
    for _ in 0..6 {
        let mut stream = clock.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 15];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        following.push(stream);
    }
    let refused = clock.get("/events").await;
    assert_eq!(
        (refused.status, refused.json()),
        (503, json!({ "error": "max sse clients reached", "max": 6 }))
    );
    assert_eq!(clock.post("/api/screen/next").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn the_server_stops_even_if_a_client_does_not() {
    let clock = Clock::start().await;
    let mut stream = clock.connect().await;
    let head = format!(
        "PATCH /api/settings HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{",
        clock.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    clock.shutdown.send_replace(true);
    clock.server.await.unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

/// Accepted connections whose requests were not read yet are answered, also if the requests arrive a moment later.
#[tokio::test(start_paused = true)]
async fn accepted_connections_are_answered_when_the_server_stops() {
    for (used, late) in [
        (false, Duration::ZERO),
        (false, Duration::from_millis(400)),
        (true, Duration::ZERO),
        (true, Duration::from_millis(30)),
    ] {
        let what = format!("used: {used}, late: {late:?}");
        let clock = Clock::start().await;
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", clock.address);
        let mut stream = clock.connect().await;
        if used {
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"}") {
                assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
            }
        }
        // The time advances when all tasks wait.
        sleep(Duration::from_millis(1)).await;
        clock.shutdown.send_replace(true);
        if !late.is_zero() {
            sleep(late).await;
        }
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = Answer::parse(&rest(&mut stream).await);
        assert_eq!(answer.status, 200, "{what}");
        assert_eq!(answer.header("connection"), Some("close"), "{what}");
        let started = Instant::now();
        clock.server.await.unwrap();
        assert!(started.elapsed() < Duration::from_millis(600), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_is_not_ready() {
    let clock = Clock::start().await;
    assert_eq!(clock.get("/readyz").await.status, 200);
    let mut stream = clock.connect().await;
    sleep(Duration::from_millis(1)).await;
    clock.shutdown.send_replace(true);
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\n\r\n", clock.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = Answer::parse(&rest(&mut stream).await);
    assert_eq!((answer.status, answer.text()), (503, r#"{"ok":false}"#));
}
