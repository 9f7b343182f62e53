//! The bench of a simulated board, and the panels live over a web socket.

use std::sync::Arc;

use board::sim::{self, SimOptions};
use futures_util::{SinkExt, StreamExt};
use render::Bitmap;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Clock, Setup};

async fn on_the_bench() -> (Clock, sim::Bench) {
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
    let (clock, bench) = on_the_bench().await;
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
    assert_eq!((state.lux, state.link), (Some(0.5), "down"));
    assert_eq!(state.panels[3].fault, "busy-stuck");
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
    let (clock, _bench) = on_the_bench().await;
    let seen = clock.get("/sim/panels.png?scale=2").await;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.body, clock.get("/api/panels.png?scale=2").await.body);
    assert_eq!(clock.get("/sim/panels.png?scale=0").await.status, 400);
    let real = Clock::with(Setup::default()).await;
    assert_eq!(real.get("/sim/panels.png").await.status, 404);
}

#[tokio::test]
async fn the_bench_refuses_what_the_board_does_not_have() {
    let (clock, _bench) = on_the_bench().await;
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
        ("POST /sim/panel", r#"{"panel":7,"fault":"none"}"#),
        ("POST /sim/panel", r#"{"panel":0,"fault":"gone"}"#),
        ("POST /sim/panel", "not json"),
    ];
    for (request, body) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.json(method, path, body).await;
        assert_eq!(answer.status, 400, "{path} {body}");
        assert!(answer.json()["error"].is_string(), "{path} {body}");
    }
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

#[tokio::test]
async fn the_panels_can_be_watched_over_a_web_socket() {
    let clock = Clock::start().await;
    let url = format!("ws://{}/api/preview/ws", clock.address);
    let (mut socket, _) = tokio_tungstenite::client_async(url, clock.connect().await)
        .await
        .unwrap();
    socket
        .send(Message::text("{\"action\":\"start\"}"))
        .await
        .unwrap();
    let reply = socket.next().await.unwrap().unwrap();
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

    clock.shutdown.send_replace(true);
    while let Some(Ok(message)) = socket.next().await {
        if message.is_close() {
            return;
        }
    }
    panic!("the socket was not closed in order");
}

#[tokio::test]
async fn a_plain_request_is_told_to_upgrade() {
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
