//! Pools and miner: polls that succeed, fail, or request a delay.

use std::{sync::Arc, time::Duration};

use device::{
    secret::Secret,
    sources::{PoolConfig, SourceConfig},
};
use market::{
    Connection, MinerStats, Observation, Polled, PoolStats,
    source_id::SourceId,
    units::{Hashrate, Sats},
};
use net::{backoff, dialer::Arrival};
use sources::poll::FIRST_POLL_AFTER;
use tokio::{sync::mpsc, time::Instant};

use crate::{
    peers::{answer, answer_on, first_line},
    rig::{Rig, identity},
};

const KEY: &str = "planted-secret-key";

fn pool(id: &str) -> SourceConfig {
    SourceConfig::Pool(PoolConfig {
        pool: id.to_owned(),
        user: Secret::new(KEY),
        worker: "farm".to_owned(),
        global: false,
        local_host: "umbrel:2019".into(),
        poll_secs: 60,
        logos_url: "".into(),
        logo_fetches: 0,
    })
}

fn miner() -> SourceConfig {
    SourceConfig::Miner {
        host: "miner1".into(),
        poll_secs: 10,
    }
}

async fn arrival(arrivals: &mut mpsc::Receiver<Arrival>) -> Arrival {
    arrivals.recv().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_pool_is_polled_and_keeps_its_values_when_it_fails() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Pool, pool("local_public_pool"));
    let began = Instant::now();
    let first = arrival(&mut arrivals).await;
    assert_eq!(began.elapsed(), FIRST_POLL_AFTER);
    assert_eq!(first.place, "umbrel:2019");
    let body =
        br#"{"workers":[{"hashRate":500e9},{"hashRate":"300000000000"},{"hashRate":200e9}]}"#;
    let head = answer_on(first.stream, "200 OK", body).await;
    assert_eq!(first_line(&head), format!("GET /api/client/{KEY} HTTP/1.1"));
    assert!(head.contains("accept: application/json\r\n"), "{head}");
    rig.next().await;
    let reported = |value| {
        let identity = identity(SourceId::Pool);
        let up = Observation::Connection(Connection::Up);
        [up, Observation::Pool(Polled { identity, value })]
    };
    let stats = PoolStats {
        hashrate: Some(Hashrate(1_000_000_000_000)),
        workers: Some(3),
        ..PoolStats::default()
    };
    assert_eq!(rig.next().await.1, reported(stats));

    let up = [Observation::Connection(Connection::Up)];
    let refusals = [
        // The first two in a row may be a moment's failure of the pool.
        ("200 OK", r#"{"error":"internal error"}"#, None),
        ("404 Not Found", "", None),
        ("404 Not Found", "", Some("404 Not Found")),
        (
            "404 Not Found",
            r#"{"error":"No such user"}"#,
            Some("No such user"),
        ),
        (
            "400 Bad Request",
            r#"{"message":"Invalid address"}"#,
            Some("Invalid address"),
        ),
    ];
    for (status, body, words) in refusals {
        let answered_at = Instant::now();
        answer(&mut arrivals, status, body).await;
        assert_eq!(answered_at.elapsed().as_secs(), 60);
        match words {
            None => assert_eq!(rig.next().await.1, up, "{status} {body}"),
            Some(words) => {
                let refused = PoolStats::refused(words.to_owned());
                assert_eq!(rig.next().await.1, reported(refused));
            }
        }
    }
    answer(&mut arrivals, "200 OK", "<html>").await;
    assert_eq!(rig.down().await.0, "invalid answer (json)");
    answer(&mut arrivals, "502 Bad Gateway", "").await;
    assert_eq!(rig.down().await.0, "the server answers with status 502");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_requested_delay_of_a_pool_is_obeyed() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Pool, pool("local_public_pool"));
    answer(&mut arrivals, "429 Slow Down\r\nRetry-After: 600", "").await;
    let (_, retry_in) = rig.down().await;
    assert!((600..=720).contains(&retry_in.as_secs()), "{retry_in:?}");
    let reported_at = Instant::now();
    arrival(&mut arrivals).await;
    assert_eq!(reported_at.elapsed().as_secs(), retry_in.as_secs());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn missing_and_unknown_settings_are_reported() {
    let (mut rig, _arrivals) = Rig::in_memory();
    rig.plan(SourceId::Pool, pool("long_gone_pool"));
    assert_eq!(rig.down().await.0, "there is no such pool");
    let mut config = pool("foundry_usa");
    if let SourceConfig::Pool(PoolConfig { worker, .. }) = &mut config {
        worker.clear();
    }
    rig.plan(SourceId::Pool, config);
    let (reason, retry_in) = rig.down().await;
    assert_eq!(reason, "no worker is set for the pool");
    assert!(retry_in >= Duration::from_secs(60));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_miner_is_polled_often_and_less_often_while_it_is_off() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Miner, miner());
    let head = answer(
        &mut arrivals,
        "200 OK",
        r#"{"hashRate":1235.4,"bestDiff":"15.6M","sharesAccepted":4200,"temp":62.5}"#,
    )
    .await;
    assert_eq!(first_line(&head), "GET /api/system/info HTTP/1.1");
    let stats = MinerStats {
        hashrate: Some(Hashrate(1_235_400_000_000)),
        best_difficulty: Some("15.6M".to_owned()),
    };
    let seen = rig
        .until(|seen| matches!(seen, Observation::Miner(_)))
        .await;
    let polled = Polled {
        identity: identity(SourceId::Miner),
        value: stats,
    };
    assert_eq!(seen.last(), Some(&Observation::Miner(polled)));
    let mut waits = Vec::new();
    for _ in 0..6 {
        drop(arrival(&mut arrivals).await);
        let (reason, retry_in) = rig.down().await;
        assert_eq!(reason, "the answer is incomplete or not HTTP");
        waits.push(retry_in.as_secs());
    }
    assert_eq!(waits[0], 10, "one failed poll changes nothing");
    let cap = backoff::RETRY_CAP.as_secs();
    assert!(waits[5] > cap / 2 && waits[5] <= cap * 6 / 5, "{waits:?}");
    rig.stop().await;
}

/// With real sockets, so that a pool's fixed URL can be replaced.
#[tokio::test]
async fn a_pools_key_travels_in_its_header_only() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut rig = Rig::on_loopback(&[format!("braiins=http://{address}")]);
    rig.plan(SourceId::Pool, pool("braiins"));
    let body =
        br#"{"btc":{"hash_rate_5m":250.5,"hash_rate_unit":"Th/s","today_reward":"0.00123456"}}"#;
    let head = answer_on(listener.accept().await.unwrap().0, "200 OK", body).await;
    assert_eq!(
        first_line(&head),
        "GET /accounts/profile/json/btc/ HTTP/1.1"
    );
    assert!(
        head.contains(&format!("pool-auth-token: {KEY}\r\n")),
        "{head}"
    );
    let seen = rig.until(|seen| matches!(seen, Observation::Pool(_))).await;
    let Some(Observation::Pool(Polled { value: stats, .. })) = seen.last() else {
        unreachable!()
    };
    assert_eq!(stats.hashrate, Some(Hashrate(250_500_000_000_000)));
    assert_eq!(stats.daily, Some(Sats(123_456)));
    rig.stop().await;

    // A refusal is shown, and may repeat the key.
    let mut rig = Rig::on_loopback(&[format!("braiins=http://{address}")]);
    rig.plan(SourceId::Pool, pool("braiins"));
    let body = format!(r#"{{"error":"no such token: {KEY}"}}"#);
    answer_on(
        listener.accept().await.unwrap().0,
        "200 OK",
        body.as_bytes(),
    )
    .await;
    let seen = rig.until(|seen| matches!(seen, Observation::Pool(_))).await;
    let Some(Observation::Pool(Polled { value: stats, .. })) = seen.last() else {
        unreachable!()
    };
    let refused = PoolStats::refused("no such token: ***".to_owned());
    assert_eq!(*stats, refused);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_logo_is_fetched_once_kept_and_fetched_again_after_a_clear() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    let config = |logo_fetches| {
        let mut config = pool("ocean");
        if let SourceConfig::Pool(PoolConfig {
            logos_url,
            logo_fetches: fetches,
            ..
        }) = &mut config
        {
            *logos_url = "http://logos/raw".into();
            *fetches = logo_fetches;
        }
        config
    };
    let picture = |fill: u8| vec![fill; 16 * 122];
    let is_logo = |seen: &Observation| matches!(seen, Observation::PoolLogo(_));
    rig.plan(SourceId::Pool, config(0));
    let broken = arrival(&mut arrivals).await;
    assert_eq!(broken.place, "logos:80");
    drop(broken);
    // Five seconds later it is requested again; the pool itself is polled meanwhile.
    let second = loop {
        let next = arrival(&mut arrivals).await;
        if next.place == "logos:80" {
            break next;
        }
    };
    let head = answer_on(second.stream, "200 OK", &picture(0xAA)).await;
    assert_eq!(first_line(&head), "GET /raw/ocean.bin HTTP/1.1");
    let seen = rig.until(is_logo).await;
    let Some(Observation::PoolLogo(logo)) = seen.last() else {
        unreachable!()
    };
    assert_eq!(
        (logo.name.as_str(), logo.width, logo.rows.len()),
        ("ocean", 122, 1952)
    );

    rig.plans.send_replace(Arc::default());
    tokio::time::sleep(Duration::from_secs(1)).await;
    rig.plan(SourceId::Pool, config(0));
    let seen = rig.until(is_logo).await;
    assert!(
        seen.contains(&Observation::PoolLogo(logo.clone())),
        "the cached logo is used"
    );

    rig.plan(SourceId::Pool, config(1));
    let next_logo = async |arrivals: &mut _| loop {
        let next = arrival(arrivals).await;
        if next.place == "logos:80" {
            break next;
        }
    };
    // A fetch before the cache is cleared would be lost with it.
    let early = tokio::time::timeout(Duration::from_secs(60), next_logo(&mut arrivals)).await;
    assert!(early.is_err(), "fetched before the cache was cleared");
    assert_eq!(rig.logos.clear().await.unwrap(), 1);
    // A long outage does not end the retries.
    for _ in 0..10 {
        drop(next_logo(&mut arrivals).await);
    }
    let third = next_logo(&mut arrivals).await;
    answer_on(third.stream, "200 OK", &picture(0x55)).await;
    let seen = rig.until(is_logo).await;
    let Some(Observation::PoolLogo(logo)) = seen.last() else {
        unreachable!()
    };
    assert_eq!(logo.rows, picture(0x55));
    assert_eq!(rig.logos.clear().await.unwrap(), 1);
    assert_eq!(rig.logos.clear().await.unwrap(), 0);
    rig.stop().await;
}
