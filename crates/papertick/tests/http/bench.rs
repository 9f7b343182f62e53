//! The bench of a simulated board, and the panels live over a web socket.

use std::{sync::Arc, time::Duration};

use api::documents::bench::{BenchLink, SimFault};
use board::sim::{self, SimOptions};
use futures_util::{SinkExt, StreamExt};
use render::Bitmap;
use serde_json::Value;
use sources::{
    demo::market::RelayQuotes,
    demo::{DemoRelay, MarketPace},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Error, Message},
};

use crate::support::{Clock, SOON, Setup};

async fn with_bench() -> (Clock, sim::Bench) {
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    let clock = Clock::with(Setup {
        bench: Some(board.bench.clone()),
        ..Setup::default()
    })
    .await;
    (clock, board.bench)
}

#[tokio::test]
async fn the_bench_acts_on_the_board() {
    let (clock, bench) = with_bench().await;
    let state = clock.get("/sim/state").await.json();
    assert_eq!(state["board"], "rev-b");
    assert_eq!(state["panels"].as_array().unwrap().len(), 7);

    let rows = [
        ("POST /sim/lux", r#"{"lux":0.5}"#),
        ("POST /sim/wifi", r#"{"link":"down"}"#),
        ("POST /sim/panel", r#"{"panel":3,"fault":"busy-stuck"}"#),
        ("POST /sim/buttons", r#"{"press":[1,4],"ms":1}"#),
    ];
    for (request, body) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.json(method, path, body).await;
        assert_eq!((answer.status, answer.text()), (200, ""), "{path} {body}");
    }
    let state = bench.state();
    assert_eq!((state.lux, state.link), (Some(0.5), BenchLink::Down));
    assert_eq!(state.panels[3].fault, SimFault::BusyStuck);
    assert_eq!(
        clock
            .json("POST", "/sim/lux", r#"{"lux":null}"#)
            .await
            .status,
        200
    );
    assert_eq!(bench.state().lux, None);

    let body = r#"{"action":"cycle","hold":[1],"ms":3200}"#;
    assert_eq!(clock.json("POST", "/sim/power", body).await.status, 200);
    assert_eq!(bench.power_cut().await.mask, 1);
}

#[tokio::test]
async fn the_bench_shows_the_glass_and_a_real_board_does_not() {
    let (clock, _bench) = with_bench().await;
    let seen = clock.get("/sim/panels.png?scale=2").await;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.body, clock.get("/api/panels.png?scale=2").await.body);
    assert_eq!(clock.get("/sim/panels.png?scale=0").await.status, 400);
    let real = Clock::with(Setup::default()).await;
    assert_eq!(real.get("/sim/panels.png").await.status, 404);
}

#[tokio::test]
async fn the_bench_refuses_missing_parts() {
    let (clock, _bench) = with_bench().await;
    let rows = [
        ("POST /sim/buttons", r#"{"press":[5],"ms":1}"#),
        ("POST /sim/buttons", r#"{"press":[0]}"#),
        ("POST /sim/buttons", r#"{"press":[1],"ms":3600000}"#),
        ("POST /sim/buttons", r#"{"press":1}"#),
        ("POST /sim/lux", r#"{"lux":-1}"#),
        ("POST /sim/lux", r#"{"lux":"dark"}"#),
        ("POST /sim/lux", "{}"),
        ("POST /sim/wifi", r#"{"link":"sideways"}"#),
        ("POST /sim/power", r#"{"action":"off"}"#),
        ("POST /sim/power", r#"{"action":"cycle","hold":[9]}"#),
        ("POST /sim/panel", r#"{"panel":0,"fault":"gone"}"#),
        ("POST /sim/panel", "not json"),
    ];
    for (request, body) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.json(method, path, body).await;
        assert_eq!(answer.status, 400, "{path} {body}");
        assert!(answer.json()["error"].is_string(), "{path} {body}");
    }
    let body = r#"{"panel":7,"fault":"none"}"#;
    let answer = clock.json("POST", "/sim/panel", body).await;
    assert_eq!(answer.status, 404, "like a request for any missing panel");
}

#[tokio::test]
async fn a_real_board_has_no_bench() {
    let clock = Clock::start().await;
    assert_eq!(clock.get("/sim/state").await.status, 404);
    for path in [
        "/sim/buttons",
        "/sim/lux",
        "/sim/wifi",
        "/sim/power",
        "/sim/panel",
    ] {
        assert_eq!(clock.json("POST", path, "{}").await.status, 404, "{path}");
    }
}

/// Sends an action on the web socket; returns the next message.
async fn send_action(socket: &mut WebSocketStream<TcpStream>, action: &str) -> Message {
    let request = format!("{{\"action\":\"{action}\"}}");
    socket.send(Message::text(request)).await.unwrap();
    socket.next().await.unwrap().unwrap()
}

#[tokio::test]
async fn the_panels_can_be_watched_over_a_web_socket() {
    let clock = Clock::start().await;
    let url = format!("ws://{}/api/preview/ws", clock.address);
    let (mut socket, _) = tokio_tungstenite::client_async(url, clock.connect().await)
        .await
        .unwrap();
    let reply = send_action(&mut socket, "start").await;
    assert_eq!(reply, Message::text("{\"streaming\":true}"));
    for index in 0..7 {
        let frame = socket.next().await.unwrap().unwrap().into_data();
        assert_eq!(
            &frame[..10],
            &[b'B', b'T', b'F', b'B', 1, 1, 0, 1, index, 0]
        );
        assert_eq!(&frame[10..18], &[122, 0, 250, 0, 16, 0, 0, 0]);
        assert_eq!(&frame[18..22], &[1, 0, 0, 0]);
        assert_eq!(frame.len(), 34 + 16 * 250);
    }
    clock.glass.send_modify(|glass| {
        let glass = Arc::make_mut(glass);
        glass.generation = 2;
        glass.panels[0].bitmap = Arc::new(Bitmap::paper(122, 250));
    });
    assert_eq!(socket.next().await.unwrap().unwrap().into_data()[18], 2);
    for _ in 1..7 {
        socket.next().await.unwrap().unwrap();
    }

    // After `stop` nothing is sent until the next `start`.
    let reply = send_action(&mut socket, "stop").await;
    assert_eq!(reply, Message::text("{\"streaming\":false}"));
    clock
        .glass
        .send_modify(|glass| Arc::make_mut(glass).generation = 3);
    let reply = send_action(&mut socket, "start").await;
    assert_eq!(reply, Message::text("{\"streaming\":true}"));

    clock.shutdown.send_replace(true);
    while let Some(Ok(message)) = socket.next().await {
        if message.is_close() {
            return;
        }
    }
    panic!("the socket was not closed in order");
}

#[tokio::test]
async fn the_number_of_watching_clients_is_limited() {
    const WATCHERS_MAX: usize = 32;

    let clock = Clock::start().await;
    let watch = async || {
        let url = format!("ws://{}/api/preview/ws", clock.address);
        tokio_tungstenite::client_async(url, clock.connect().await).await
    };
    let mut watching = Vec::new();
    for _ in 0..WATCHERS_MAX {
        watching.push(watch().await.unwrap().0);
    }
    let refused = watch().await.map(|_| ()).unwrap_err();
    let Error::Http(answer) = refused else {
        panic!("{refused}");
    };
    assert_eq!(answer.status(), 503);
    drop(watching.pop());
    let room = async {
        while watch().await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, room)
        .await
        .expect("a disconnect frees its place");
}

/// A client that requests nothing, or does not answer pings, is disconnected.
#[tokio::test(start_paused = true)]
async fn a_silent_client_is_disconnected() {
    let clock = Clock::start().await;
    for is_streaming in [false, true] {
        let url = format!("ws://{}/api/preview/ws", clock.address);
        let stream = clock.connect().await;
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        if is_streaming {
            send_action(&mut socket, "start").await;
        }
        // Bytes are read and pings are not answered.
        let started = Instant::now();
        let mut bytes = Vec::new();
        let stream = socket.get_mut();
        // The server may reset a connection whose bytes it never read.
        let _ = stream.read_to_end(&mut bytes).await;
        let took = started.elapsed().as_secs();
        assert!(
            (14..=17).contains(&took),
            "{took} s, streaming: {is_streaming}"
        );
    }

    let url = format!("ws://{}/api/preview/ws", clock.address);
    let stream = clock.connect().await;
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    send_action(&mut socket, "start").await;
    let started = Instant::now();
    let mut pictures = 0;
    while started.elapsed() < Duration::from_secs(60) {
        // Reading answers pings.
        pictures += usize::from(socket.next().await.unwrap().unwrap().is_binary());
    }
    assert_eq!(pictures, 7);
}

#[tokio::test]
async fn a_plain_request_gets_upgrade_required() {
    let clock = Clock::start().await;
    let answer = clock.get("/api/preview/ws").await;
    assert_eq!(
        (answer.status, answer.header("upgrade")),
        (426, Some("websocket"))
    );
    let foreign = clock
        .send(
            "GET",
            "/api/preview/ws",
            &["Origin: http://evil.example"],
            "",
        )
        .await;
    assert_eq!(foreign.status, 403);
}

/// Events can be made in the market of a demo, but not in the real one.
#[tokio::test]
async fn events_in_the_market_of_a_demo() {
    let relay = DemoRelay::start(RelayQuotes::at(900_000), MarketPace::Still)
        .await
        .unwrap();
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    let clock = Clock::with(Setup {
        bench: Some(board.bench),
        demo: Some(relay.hand()),
        ..Setup::default()
    })
    .await;
    let event = async |event: &str| {
        let body = format!(r#"{{"event":"{event}"}}"#);
        clock.json("POST", "/sim/market", &body).await.status
    };
    let signal = async || clock.get("/sim/state").await.json()["demo_relay"].clone();
    assert_eq!(event("block").await, 200);
    assert_eq!(relay.quotes().height, 900_001);
    let before = relay.quotes().prices["USD"];
    assert_eq!(event("price").await, 200);
    assert!(relay.quotes().prices["USD"].abs_diff(before) * 25 > before);
    assert_eq!(signal().await, "there");
    assert_eq!(event("relay-gone").await, 200);
    assert_eq!(signal().await, "gone");
    let address = relay.address();
    let mut turned_away = TcpStream::connect(address).await.unwrap();
    assert_eq!(turned_away.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(event("relay-back").await, 200);
    let mut served = TcpStream::connect(address).await.unwrap();
    served
        .write_all(b"GET /api/lastblock HTTP/1.0\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    served.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("900001"), "{answer}");
    assert_eq!(event("payment").await, 200);
    assert_eq!(event("earthquake").await, 400);

    let real = Clock::start().await;
    for body in [r#"{"event":"block"}"#, r#"{"event":"payment"}"#] {
        assert_eq!(real.json("POST", "/sim/market", body).await.status, 404);
    }
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    let plain = Clock::with(Setup {
        bench: Some(board.bench),
        ..Setup::default()
    })
    .await;
    assert_eq!(
        plain
            .json("POST", "/sim/market", r#"{"event":"block"}"#)
            .await
            .status,
        404
    );
    assert_eq!(
        plain.get("/sim/state").await.json()["demo_relay"],
        Value::Null
    );
}
