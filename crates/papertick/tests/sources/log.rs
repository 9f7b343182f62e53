//! The log at its default level when a source does not work.

use std::time::Duration;

use device::{
    input::Input,
    secret::Secret,
    sources::{ExplorerConfig, Proxy, ProxyKind, RelayConfig, RelayEndpoint, Route, SourceConfig},
};
use market::{Connection, source_id::SourceId};
use net::dialer::Arrival;
use runtime::{
    clock::Clock,
    inbox::inbox,
    log_lines::LogLines,
    tasks::{Tasks, stop_signal},
};
use sources::time::synchronise;
use tokio::{io::AsyncWriteExt, net::UdpSocket, sync::mpsc, time};
use tracing_subscriber::filter::LevelFilter;

use crate::{logged::Logged, rig::Rig, time::timekeeping};

/// Captures the log at its default level.
fn log() -> Logged {
    Logged::from_now(LevelFilter::INFO, &LogLines::new())
}

/// Sends these bytes to every connection and closes it.
async fn answer(arrivals: &mut mpsc::Receiver<Arrival>, bytes: &[u8]) {
    while let Some(Arrival { mut stream, .. }) = arrivals.recv().await {
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        // Let the rest of the request arrive: closing earlier would be another error.
        time::sleep(Duration::from_millis(1)).await;
    }
}

fn relay() -> SourceConfig {
    SourceConfig::Relay(RelayConfig {
        endpoint: RelayEndpoint::Public,
        currencies: Vec::new(),
        blocks: true,
        precise_fee: false,
    })
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_an_outage_is_logged_once() {
    let log = log();
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Relay, relay());
    for (answers, status) in [
        (&b"HTTP/1.1 503 Busy\r\n\r\n"[..], "503"),
        (b"HTTP/1.1 404 Gone\r\n\r\n", "404"),
        (b"HTTP/1.1 503 Busy\r\n\r\n", "503"),
    ] {
        let failures = async {
            for _ in 0..5 {
                let (reason, _) = rig.down().await;
                assert!(reason.contains(status), "{reason}");
            }
        };
        tokio::select! {
            () = failures => {}
            () = answer(&mut arrivals, answers) => {}
        }
    }
    let log = log.lines();
    let [first, second] = log.as_slice() else {
        panic!("{log:?}");
    };
    for (line, status) in [(first, "503"), (second, "404")] {
        assert!(line.contains("WARN"), "{line}");
        assert!(
            line.contains(status) && line.contains("name=\"relay\""),
            "{line}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_a_time_server_outage_is_logged_once() {
    let log = log();
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let (_stopper, stop) = stop_signal();
    let (inbox, mut inputs) = inbox();
    let mut tasks = Tasks::new();
    let timekeeping = timekeeping(&Clock::unset(), port, inbox);
    tasks.spawn("time", synchronise(timekeeping, stop));
    let mut next_reason = async || {
        let input = inputs.recv().await.unwrap().input;
        let Input::TimeServer(state) = input else {
            panic!("{input:?}");
        };
        if let Connection::Down { reason, .. } = state {
            return reason;
        }
        format!("{state:?}")
    };
    for (stratum, times, reason) in [
        (Some(16), 4, "invalid answer"),
        (None, 4, "no answer"),
        (Some(16), 1, "invalid answer"),
        (Some(2), 1, "Up"),
        (None, 2, "no answer"),
    ] {
        for _ in 0..times {
            let answer = async {
                match stratum {
                    Some(stratum) => crate::time::answer(&server, 0, stratum).await,
                    None => drop(server.recv_from(&mut [0; 48]).await.unwrap()),
                }
            };
            let (next_reason, ()) = tokio::join!(next_reason(), answer);
            assert_eq!(next_reason, reason);
        }
    }
    let log = log.lines();
    let expected = [
        ("WARN", "reason=\"invalid answer\""),
        ("WARN", "reason=\"no answer\""),
        // The end of the outage.
        ("INFO", ""),
        ("WARN", "reason=\"no answer\""),
    ];
    // The line about the step of the clock.
    let log: Vec<&String> = log
        .iter()
        .filter(|line| !line.contains("step_ms="))
        .collect();
    assert_eq!(log.len(), expected.len(), "{log:?}");
    for (line, (level, field)) in log.iter().zip(expected) {
        assert!(line.contains(level) && line.contains(field), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusing_proxy_is_logged_without_secrets() {
    let log = log();
    let (mut rig, mut arrivals) = Rig::in_memory();
    let proxy = Proxy {
        kind: ProxyKind::Socks5,
        host: "proxy".into(),
        port: 1080,
        user: "alice".into(),
        pass: Secret::new("planted"),
        bypass: String::new(),
    };
    rig.plan_through(SourceId::Relay, relay(), Route { proxy: Some(proxy) });
    let reason = tokio::select! {
        (reason, _) = rig.down() => reason,
        () = answer(&mut arrivals, &[5, 2, 1, 1]) => panic!("no connection is left"),
    };
    let log = log.lines().concat();
    assert!(log.contains(&reason), "{log}");
    assert!(!log.contains("planted"), "{log}");
}

/// Passwords that an owner entered in a URL.
#[tokio::test(start_paused = true)]
async fn the_password_in_a_url_is_neither_logged_nor_reported() {
    #[rustfmt::skip]
    let plans = [
        (
            SourceId::Relay,
            SourceConfig::Relay(RelayConfig {
                endpoint: RelayEndpoint::Custom {
                    host: "wss://me:planted@relay".into(),
                    tls: true,
                },
                currencies: Vec::new(),
                blocks: true,
                precise_fee: false,
            }),
        ),
        (SourceId::Explorer, SourceConfig::Explorer(ExplorerConfig { host: "me:planted@explorer".into(), tls: true, precise_fee: false })),
        (SourceId::Nostr, SourceConfig::Nostr { relays: vec!["wss://me:planted@relay".into()], author: "5a".repeat(32) }),
        (SourceId::Miner, SourceConfig::Miner { host: "me:planted@miner".into(), poll_secs: 5 }),
    ];
    let log = log();
    for (id, config) in plans {
        let (mut rig, _arrivals) = Rig::in_memory();
        rig.plan(id, config);
        let (reason, _) = rig.down().await;
        assert!(reason.contains("user name or password"), "{id:?}: {reason}");
    }
    let (mut rig, arrivals) = Rig::in_memory();
    drop(arrivals);
    let proxy = Proxy {
        kind: ProxyKind::Socks5,
        host: "me:planted@proxy".into(),
        port: 1080,
        user: String::new(),
        pass: Secret::default(),
        bypass: String::new(),
    };
    rig.plan_through(SourceId::Relay, relay(), Route { proxy: Some(proxy) });
    let (reason, _) = rig.down().await;
    assert!(reason.contains("me:***@proxy"), "{reason}");
    let log = log.lines().concat();
    assert!(log.contains("me:***@proxy"), "{log}");
    assert!(!log.contains("planted"), "{log}");
}
