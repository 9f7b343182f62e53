//! Explorer, exchange and venues: independent sockets.

use std::time::Duration;

use device::sources::{ExplorerConfig, SourceConfig};
use futures_util::{SinkExt, StreamExt};
use market::{
    Connection, Observation,
    source_id::SourceId,
    units::{FeeRate, Price},
};
use sources::{
    freshness::STALE_AFTER,
    venue::{QUOTE_EVERY, REFUSED_MAX, SILENCE_MAX},
};
use tokio::{io::AsyncReadExt, time::Instant};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    peers::{answer, first_line},
    rig::{Rig, TLS_HANDSHAKE, accept, currency, precise_fee, price},
};

fn explorer() -> SourceConfig {
    SourceConfig::Explorer(ExplorerConfig {
        host: "explorer:8999".into(),
        tls: false,
        precise_fee: true,
    })
}

#[tokio::test(start_paused = true)]
async fn an_explorer_is_connected_with_tls_if_configured() {
    let (rig, mut arrivals) = Rig::in_memory();
    rig.plan(
        SourceId::Explorer,
        SourceConfig::Explorer(ExplorerConfig {
            host: "explorer".into(),
            tls: true,
            precise_fee: false,
        }),
    );
    let mut arrival = arrivals.recv().await.unwrap();
    assert_eq!(arrival.place, "explorer:443");
    assert_eq!(arrival.stream.read_u8().await.unwrap(), TLS_HANDSHAKE);
    rig.stop().await;
}

fn exchange(codes: &[&str]) -> SourceConfig {
    let currencies = codes.iter().map(|code| currency(code)).collect();
    SourceConfig::Exchange { currencies }
}

fn fee(rate: u64) -> Observation {
    Observation::Fee(FeeRate::whole(rate).unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_explorer_starts_with_requests_and_continues_by_socket() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Explorer, explorer());
    let mut server = accept(&mut arrivals).await;
    let request = server.next().await.unwrap().unwrap();
    assert_eq!(request, Message::text(feeds::explorer::WANT));
    assert_eq!(
        rig.next().await.1,
        [Observation::Connection(Connection::Connecting)]
    );

    let tip = answer(&mut arrivals, "200 OK", "900000").await;
    assert_eq!(first_line(&tip), "GET /api/blocks/tip/height HTTP/1.1");
    assert!(tip.contains("host: explorer:8999\r\n"), "{tip}");
    assert_eq!(
        rig.next().await.1,
        [Observation::Block(900_000)],
        "not up yet"
    );
    let fees = answer(&mut arrivals, "200 OK", r#"[{"medianFee":4.5}]"#).await;
    assert_eq!(
        first_line(&fees),
        "GET /api/v1/fees/mempool-blocks HTTP/1.1"
    );
    assert_eq!(rig.next().await.1, [fee(5), precise_fee("4.5")]);

    let message =
        r#"{"blocks":[{"height":900001},{"height":900002}],"mempool-blocks":[{"medianFee":3}]}"#;
    server.send(Message::text(message)).await.unwrap();
    let seen = rig.next().await.1;
    assert_eq!(
        seen,
        [
            Observation::Connection(Connection::Up),
            Observation::Block(900_002),
            fee(3),
            precise_fee("3"),
        ]
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_explorer_with_a_stale_feed_is_reconnected() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Explorer, explorer());
    let mut server = accept(&mut arrivals).await;
    answer(&mut arrivals, "500 Broken", "").await;
    answer(&mut arrivals, "500 Broken", "").await;
    server
        .send(Message::text(r#"{"block":{"height":900000}}"#))
        .await
        .unwrap();
    rig.up().await;
    let began = Instant::now();
    let listening = tokio::spawn(async move { while let Some(Ok(_)) = server.next().await {} });
    answer(&mut arrivals, "200 OK", "900004").await;
    assert!(began.elapsed() >= STALE_AFTER);
    assert_eq!(
        rig.down().await.0,
        "the explorer has newer blocks than its feed"
    );
    listening.await.unwrap();
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_exchange_serves_the_currencies_that_are_active() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    rig.plan(SourceId::Exchange, exchange(&["USD", "EUR"]));
    let mut server = accept(&mut arrivals).await;
    let subscription = server.next().await.unwrap().unwrap();
    let expected =
        r#"{"method":"subscribe","params":{"channel":"ticker","symbol":["BTC/USD","BTC/EUR"]}}"#;
    assert_eq!(subscription, Message::text(expected));
    server
        .send(Message::text(r#"{"channel":"heartbeat"}"#))
        .await
        .unwrap();
    rig.up().await;
    let ticker = r#"{"channel":"ticker","data":[{"symbol":"BTC/EUR","last":90000.5}]}"#;
    server.send(Message::text(ticker)).await.unwrap();
    assert_eq!(rig.next().await.1, [price("EUR", "90000.5")]);

    rig.plan(SourceId::Exchange, exchange(&["CHF"]));
    let mut server = accept(&mut arrivals).await;
    let subscription = server.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(
        subscription.contains("BTC/CHF") && !subscription.contains("EUR"),
        "{subscription}"
    );

    rig.plan(SourceId::Exchange, exchange(&[]));
    assert!(server.next().await.is_none_or(|end| end.is_err()));
    let nothing = tokio::time::timeout(Duration::from_secs(3600), arrivals.recv()).await;
    assert!(nothing.is_err(), "without a currency nothing is connected");
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_venue_reports_at_most_one_quote_per_second() {
    let (mut rig, mut arrivals) = Rig::in_memory();
    let currencies = vec![currency("USD"), currency("CHF"), currency("EUR")];
    rig.plan(SourceId::Bitstamp, SourceConfig::Witness { currencies });
    let mut server = accept(&mut arrivals).await;
    for code in ["usd", "eur"] {
        let subscription = server.next().await.unwrap().unwrap();
        let expected =
            format!(r#"{{"event":"bts:subscribe","data":{{"channel":"live_trades_btc{code}"}}}}"#);
        assert_eq!(subscription, Message::text(expected));
    }
    let trade = |code: &str, price: u32| {
        Message::text(format!(
            r#"{{"event":"trade","channel":"live_trades_btc{code}","data":{{"price_str":"{price}"}}}}"#
        ))
    };
    let quote = |code: &str, price: u32| Observation::Quote {
        currency: currency(code),
        price: Price::parse(&price.to_string()).unwrap(),
        at: None,
    };
    server.send(trade("usd", 64_000)).await.unwrap();
    rig.up().await;
    for price in 64_001..64_020 {
        server.send(trade("usd", price)).await.unwrap();
    }
    server.send(trade("eur", 59_000)).await.unwrap();
    assert_eq!(rig.next().await.1, [quote("EUR", 59_000)]);
    // The last quote of a second is not lost, even if no other follows.
    assert_eq!(rig.next().await.1, [quote("USD", 64_019)]);
    tokio::time::sleep(QUOTE_EVERY).await;
    server.send(trade("usd", 65_000)).await.unwrap();
    assert_eq!(rig.next().await.1, [quote("USD", 65_000)]);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_venue_is_reconnected() {
    for (refuses, most) in [(false, SILENCE_MAX), (true, REFUSED_MAX)] {
        let (mut rig, mut arrivals) = Rig::in_memory();
        let currencies = vec![currency("USD")];
        rig.plan(SourceId::Bitstamp, SourceConfig::Witness { currencies });
        let mut server = accept(&mut arrivals).await;
        server.next().await.unwrap().unwrap();
        let trade = r#"{"event":"trade","channel":"live_trades_btcusd","data":{"price_str":"1"}}"#;
        server.send(Message::text(trade)).await.unwrap();
        rig.up().await;
        let start = Instant::now();
        if refuses {
            let rejection = r#"{"event":"bts:error","data":{}}"#;
            server.send(Message::text(rejection)).await.unwrap();
        }
        let reads = tokio::spawn(async move { while let Some(Ok(_)) = server.next().await {} });
        loop {
            if let [Observation::Connection(Connection::Down { reason, .. })] =
                &rig.next().await.1[..]
            {
                assert_eq!(reason, "connected, but no quotes came");
                break;
            }
        }
        assert!(start.elapsed() >= most && start.elapsed() < most + Duration::from_secs(5));
        reads.abort();
        rig.stop().await;
    }
}
