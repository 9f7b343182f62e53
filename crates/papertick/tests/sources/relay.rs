//! The relay source with faulty relays.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use market::{Connection, Observation, source_id::SourceId};
use net::backoff::STABLE_AFTER;
use sources::{relay as source, session};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::{self, Instant},
};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use crate::{
    peers::{answer, first_line},
    rig::{Rig, accept, price, relay_config},
};

type Server = WebSocketStream<DuplexStream>;

fn block(height: u32) -> Vec<u8> {
    let mut frame = hex::decode("81ab626c6f636b686569676874ce").unwrap();
    frame.extend(height.to_be_bytes());
    frame
}

async fn push(server: &mut Server, frame: Vec<u8>) {
    server.send(Message::binary(frame)).await.unwrap();
}

/// Reads until the client disconnects; reading also answers pings.
async fn listen(server: &mut Server) {
    while let Some(Ok(_)) = server.next().await {}
}

#[tokio::test(start_paused = true)]
async fn subscriptions_are_sent_in_order() {
    let (rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    let expected = [
        "82a474797065a9737562736372696265a96576656e7454797065ab626c6f636b686569676874",
        "82a474797065a9737562736372696265a96576656e7454797065a9626c6f636b66656532",
        "83a474797065a9737562736372696265a96576656e7454797065a57072696365a863757272656e6379a3555344",
        "83a474797065a9737562736372696265a96576656e7454797065a57072696365a863757272656e6379a3455552",
    ];
    for hex in expected {
        assert_eq!(
            server.next().await.unwrap().unwrap(),
            Message::binary(hex::decode(hex).unwrap())
        );
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_up_with_the_first_valid_frame() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    assert_eq!(
        rig.next().await.1,
        [Observation::Connection(Connection::Connecting)]
    );
    push(&mut server, b"\xc1garbage".to_vec()).await;
    server.send(Message::text("hello")).await.unwrap();
    push(&mut server, block(900_000)[..10].to_vec()).await;
    let problem = Observation::Complaint("1 frame dropped (not-a-map)".to_owned());
    let count = Observation::Dropped("not-a-map", 1);
    assert_eq!(rig.next().await.1, [problem, count]);
    assert!(
        rig.is_quiet(Duration::from_secs(1)).await,
        "no valid frame yet"
    );
    push(&mut server, block(900_000)).await;
    let up = [
        Observation::Connection(Connection::Up),
        Observation::Block(900_000),
    ];
    assert_eq!(rig.next().await.1, up);
    push(
        &mut server,
        hex::decode("81a5707269636581a3555344cdfad4").unwrap(),
    )
    .await;
    assert_eq!(rig.next().await.1, [price("USD", "64212")]);
    time::sleep(session::PROBLEM_EVERY).await;
    push(&mut server, vec![0xc1]).await;
    let problem = Observation::Complaint("2 frames dropped (not-a-map)".to_owned());
    let count = Observation::Dropped("not-a-map", 2);
    assert_eq!(rig.next().await.1, [problem, count]);
    push(&mut server, block(900_001)).await;
    let well = [
        Observation::Connection(Connection::Up),
        Observation::Block(900_001),
    ];
    assert_eq!(
        rig.next().await.1,
        well,
        "the report of the problem is withdrawn"
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_relay_is_reconnected() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    let began = Instant::now();
    listen(&mut server).await;
    assert_eq!(
        began.elapsed().as_secs(),
        session::FIRST_FRAME_TIMEOUT.as_secs()
    );
    let (reason, _) = rig.down().await;
    assert_eq!(reason, "connected, but no valid message came");
    let _again = accept(&mut arrivals).await;
    rig.stop().await;
}

/// A relay that drops every client must not get a connection every few seconds from all clocks.
#[tokio::test(start_paused = true)]
async fn only_a_long_connection_resets_the_retry_delay() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let short = STABLE_AFTER - Duration::from_secs(1);
    // Duration of each connection, and the delay after it without jitter.
    for (number, (lasts, wait)) in [
        (Duration::ZERO, 5),
        (short, 10),
        (short, 20),
        (short, 40),
        (short, 60),
        (STABLE_AFTER, 5),
        (short, 10),
    ]
    .into_iter()
    .enumerate()
    {
        let mut server = loop {
            // The client requests the currency list, which is not available.
            let stream = arrivals.recv().await.unwrap().stream;
            if let Ok(server) = accept_async(stream).await {
                break server;
            }
        };
        push(&mut server, block(900_000)).await;
        rig.up().await;
        let _ = time::timeout(lasts, listen(&mut server)).await;
        drop(server);
        let (_, retry_in) = rig.down().await;
        let spread = Duration::from_secs(wait) / 5;
        let expected = Duration::from_secs(wait) - spread..=Duration::from_secs(wait) + spread;
        assert!(expected.contains(&retry_in), "{number}: {retry_in:?}");
    }
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_handshake_without_a_reply_times_out() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let _held = arrivals.recv().await.unwrap();
    let (reason, _) = rig.down().await;
    assert_eq!(reason, "no answer in time");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_stalls_is_noticed_by_its_missing_pong() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    push(&mut server, block(900_000)).await;
    rig.up().await;
    let began = Instant::now();
    let (reason, _) = rig.down().await;
    assert_eq!(reason, "the server stopped sending");
    let limit = source::POLICY.ping_every + source::POLICY.pong_timeout;
    assert!(began.elapsed() <= limit, "{:?}", began.elapsed());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_frame_is_no_sign_of_life() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    push(&mut server, block(900_000)).await;
    rig.up().await;
    let mut raw = server.into_inner();
    tokio::spawn(async move {
        raw.write_all(&[0x82, 126, 0x10, 0x00]).await.unwrap();
        while raw.write_all(&[0]).await.is_ok() {
            time::sleep(Duration::from_secs(1)).await;
        }
    });
    assert_eq!(rig.down().await.0, "the server stopped sending");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn slow_bytes_are_fine_while_frames_arrive() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    push(&mut server, block(900_000)).await;
    rig.up().await;
    let mut raw = server.into_inner();
    let frame = [&[0x82, 18][..], &block(900_001)].concat();
    for byte in frame {
        raw.write_all(&[byte]).await.unwrap();
        time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(rig.next().await.1, [Observation::Block(900_001)]);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_oversize_frame_ends_the_connection_unread() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let server = accept(&mut arrivals).await;
    let mut raw = server.into_inner();
    raw.write_all(&[0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0])
        .await
        .unwrap();
    rig.until(|seen| *seen == Observation::Dropped("too-long", 1))
        .await;
    let (reason, _) = rig.down().await;
    assert_eq!(
        reason,
        format!("a message is larger than {} bytes", feeds::relay::FRAME_MAX)
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_but_garbage_ends_the_connection() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    for _ in 0..session::BAD_FRAMES_MAX {
        push(&mut server, vec![0xc1]).await;
    }
    let rest = Observation::Dropped("not-a-map", session::BAD_FRAMES_MAX - 1);
    rig.until(|seen| *seen == rest).await;
    let (reason, _) = rig.down().await;
    assert!(reason.starts_with("only invalid frames"), "{reason}");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_always_cuts_causes_no_storm() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let serve = tokio::spawn(async move {
        let mut connections = 0;
        while let Some(arrival) = arrivals.recv().await {
            connections += 1;
            let Ok(mut server) = tokio_tungstenite::accept_async(arrival.stream).await else {
                continue;
            };
            // A short connection does not count as a success.
            let _ = server.send(Message::binary(block(900_000))).await;
        }
        connections
    });
    let until = Instant::now() + Duration::from_secs(3600);
    while Instant::now() < until {
        rig.next().await;
    }
    rig.stop().await;
    let connections = serve.await.unwrap();
    assert!(
        (50..=85).contains(&connections),
        "{connections} connections in an hour"
    );
}

#[tokio::test(start_paused = true)]
async fn a_requested_delay_is_obeyed() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut raw = arrivals.recv().await.unwrap().stream;
    let mut request = [0; 16];
    raw.read_exact(&mut request).await.unwrap();
    raw.write_all(b"HTTP/1.1 503 Busy\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n")
        .await
        .unwrap();
    let (reason, retry_in) = rig.down().await;
    assert_eq!(reason, "the server answers with status 503");
    assert!((300..=360).contains(&retry_in.as_secs()), "{retry_in:?}");
    let reported_at = Instant::now();
    let _again = arrivals.recv().await.unwrap();
    assert_eq!(reported_at.elapsed().as_secs(), retry_in.as_secs());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_height_is_checked_by_http() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    push(&mut server, block(900_000)).await;
    rig.up().await;
    let began = Instant::now();
    let pongs = tokio::spawn(async move {
        // Repeated heights are ignored.
        let mut repeats = time::interval(Duration::from_secs(600));
        loop {
            tokio::select! {
                _ = repeats.tick() => push(&mut server, block(900_000)).await,
                message = server.next() => if !matches!(message, Some(Ok(_))) { return },
            }
        }
    });
    let catalogue = answer(&mut arrivals, "200 OK", "[\"USD\",\"EUR\"]").await;
    assert_eq!(first_line(&catalogue), "GET /api/v2/currencies HTTP/1.1");
    rig.until(|seen| matches!(seen, Observation::Currencies(list) if list.len() == 2))
        .await;

    let drain = async {
        loop {
            rig.next().await;
        }
    };
    let probes = async {
        for (hour, body) in [
            (1, "900000"),
            (2, "nonsense"),
            (2, "900000\n"),
            (3, "900003"),
        ] {
            let probe = answer(&mut arrivals, "200 OK", body).await;
            assert_eq!(first_line(&probe), "GET /api/lastblock HTTP/1.1");
            assert_eq!(began.elapsed().as_secs() / 3600, hour, "{body}");
        }
    };
    tokio::select! {
        () = probes => {}
        () = drain => {}
    }
    assert_eq!(
        rig.down().await.0,
        "the relay has newer blocks than its feed"
    );
    pongs.await.unwrap();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_currency_list_is_fetched_again() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay_config());
    let mut server = accept(&mut arrivals).await;
    let frames = tokio::spawn(async move {
        let mut height = 900_000;
        let mut blocks = time::interval(Duration::from_secs(60));
        loop {
            tokio::select! {
                _ = blocks.tick() => push(&mut server, block(height)).await,
                message = server.next() => if !matches!(message, Some(Ok(_))) { return },
            }
            height += 1;
        }
    });
    let drain = async {
        loop {
            rig.next().await;
        }
    };
    let questions = async {
        let mut times = Vec::new();
        for list in [r#"["USD"]"#, r#"["USD","CHF"]"#, r#"["EUR","USD"]"#] {
            let head = answer(&mut arrivals, "200 OK", list).await;
            assert_eq!(first_line(&head), "GET /api/v2/currencies HTTP/1.1");
            times.push(Instant::now());
        }
        for pair in times.windows(2) {
            let minutes = (pair[1] - pair[0]).as_secs() / 60;
            assert!((15..=16).contains(&minutes), "{minutes} min");
        }
        // The list is complete now.
        let more = time::timeout(Duration::from_secs(2 * 3600), arrivals.recv()).await;
        assert!(more.is_err(), "a complete list was fetched again");
    };
    tokio::select! {
        () = questions => {}
        () = drain => {}
    }
    rig.stop().await;
    frames.await.unwrap();
}
