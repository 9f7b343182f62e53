//! The page of the access point: served alone, to whoever is sent there.

use device::{
    input::{Input, LinkEvent, LinkFailure},
    secret::Secret,
};
use papertick::http::portal::{Network, Radio, Wish};
use tokio::sync::mpsc;

use crate::support::{Clock, Setup};

/// A clock that is an access point, and a radio that knows one network.
async fn provisioning() -> Clock {
    let (radio, mut wishes) = Radio::new();
    let clock = Clock::with(Setup {
        radio: Some(radio),
        ..Setup::default()
    })
    .await;
    clock.change(|view| view.link.state = "access-point");
    tokio::spawn(async move {
        while let Some(wish) = wishes.recv().await {
            match wish {
                Wish::Scan(answer) => {
                    let network = Network {
                        ssid: "Home \"5\" GHz".into(),
                        rssi: -61,
                        secure: true,
                    };
                    let _ = answer.send(vec![network]);
                }
                Wish::Join {
                    ssid,
                    password,
                    answer,
                } => {
                    let _ = answer.send(match ssid.as_str() {
                        "Home" if password == Secret::new("right") => Ok(()),
                        "Home" => Err(LinkFailure::Auth),
                        _ => Err(LinkFailure::NotFound),
                    });
                }
            }
        }
    });
    clock
}

#[tokio::test]
async fn networks_are_listed() {
    let clock = provisioning().await;
    let network = r#"{"ssid":"Home \"5\" GHz","rssi":-61,"secure":true}"#;
    let rows = [
        ("GET /scan", format!("[{network}]")),
        (
            "GET /api/scan",
            format!("{{\"ready\":true,\"scan\":[{network}]}}"),
        ),
    ];
    for (request, body) in rows {
        let answer = clock.get(request.strip_prefix("GET ").unwrap()).await;
        assert_eq!(
            (answer.status, answer.text()),
            (200, body.as_str()),
            "{request}"
        );
    }
}

#[tokio::test]
async fn credentials_are_tried() {
    let clock = provisioning().await;
    let rows = [
        (
            "POST /save",
            r#"{"ssid":"Home","pw":"right"}"#,
            200,
            r#"{"ok":true}"#,
        ),
        (
            "POST /save",
            r#"{"ssid":"Home","pw":"wrong"}"#,
            401,
            r#"{"ok":false,"code":"auth_fail","reason":202,"error":"the password is wrong"}"#,
        ),
        (
            "POST /save",
            r#"{"ssid":"Cafe"}"#,
            422,
            r#"{"ok":false,"code":"no_ap_found","reason":201,"error":"no network of that name is in reach"}"#,
        ),
        (
            "POST /save",
            r#"{"ssid":""}"#,
            422,
            r#"{"ok":false,"error":"ssid required"}"#,
        ),
        (
            "POST /save",
            r#"{"pw":"x"}"#,
            422,
            r#"{"ok":false,"error":"invalid body"}"#,
        ),
        (
            "POST /api/wifi",
            "ssid=Home&pw=right",
            200,
            r#"{"ok":true}"#,
        ),
        (
            "POST /api/wifi",
            "pw=right",
            422,
            r#"{"ok":false,"error":"invalid body"}"#,
        ),
    ];
    for (request, body, status, answered) in rows {
        let (method, path) = request.split_once(' ').unwrap();
        let answer = clock.json(method, path, body).await;
        assert_eq!(
            (answer.status, answer.text()),
            (status, answered),
            "{request} {body}"
        );
    }
}

#[tokio::test]
async fn joining_is_told_to_the_device() {
    let mut clock = provisioning().await;
    clock
        .json("POST", "/save", r#"{"ssid":"Home","pw":"right"}"#)
        .await;
    let told = clock.told.recv().await.unwrap();
    assert!(
        matches!(told, Input::Linked(LinkEvent::Provisioned)),
        "{told:?}"
    );
    clock
        .json("POST", "/save", r#"{"ssid":"Home","pw":"wrong"}"#)
        .await;
    assert_eq!(
        clock.told.try_recv().unwrap_err(),
        mpsc::error::TryRecvError::Empty
    );
}

#[tokio::test]
async fn nothing_else_is_served_meanwhile() {
    let clock = provisioning().await;
    for path in [
        "/",
        "/generate_204",
        "/hotspot-detect.html",
        "/api/status",
        "/api/settings",
        "/index.html",
    ] {
        let answer = clock
            .send("GET", path, &["User-Agent: Mozilla/5.0"], "")
            .await;
        assert_eq!(
            (answer.status, answer.header("cache-control")),
            (200, Some("no-store")),
            "{path}"
        );
        assert!(answer.text().contains("Set up the clock"), "{path}");
    }
    assert_eq!(clock.json("PATCH", "/api/settings", "{}").await.status, 404);
    assert_eq!(clock.post("/api/restart").await.status, 404);
    let elsewhere = b"GET / HTTP/1.1\r\nHost: captive.example\r\nUser-Agent: Mozilla/5.0\r\nConnection: close\r\n\r\n";
    assert_eq!(clock.raw(elsewhere).await.status, 200);
    let foreign = clock
        .send(
            "POST",
            "/save",
            &["Origin: http://evil.example", "Content-Length: 2"],
            "{}",
        )
        .await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn the_portal_is_closed_otherwise() {
    let clock = Clock::start().await;
    assert_eq!(clock.get("/scan").await.status, 404);
    assert_eq!(
        clock.json("POST", "/save", r#"{"ssid":"x"}"#).await.status,
        404
    );
    assert_eq!(clock.get("/api/scan").await.status, 404);
}
