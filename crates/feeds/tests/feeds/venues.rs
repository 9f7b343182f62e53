//! The venues' messages, as tables.

use feeds::{malformed::Malformed, venues::VenueSession};
use market::{
    Observation,
    now::UtcTime,
    source_id::SourceId,
    units::{Currency, Price},
    venues::VENUES,
};

use crate::support::{currency, fixture};

fn quote(code: &str, price: &str, at: Option<i64>) -> Observation {
    Observation::Quote {
        currency: currency(code),
        price: Price::parse(price).unwrap(),
        at: at.and_then(UtcTime::plausible),
    }
}

/// The observations of a venue's fixture.
fn observations(source: SourceId) -> Vec<Observation> {
    let mut venue = VenueSession::of(source).unwrap();
    let file = fixture(&format!("venues/{}.jsonl", source.name()));
    let lines = file.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines.flat_map(|line| venue.frame(line).unwrap()).collect()
}

#[test]
fn each_venue_quotes_the_price_and_the_time_of_its_newest_trade() {
    #[rustfmt::skip]
    let rows = [
        (SourceId::Coinbase, quote("USD", "64211.53", Some(1_795_210_445_123))),
        (SourceId::Bitstamp, quote("USD", "64211.5", Some(1_795_210_445_123))),
        (SourceId::Bitfinex, quote("USD", "64211.5", None)),
        // The end of the minute.
        (SourceId::Gemini, quote("USD", "64211.5", Some(1_795_210_500_000))),
    ];
    for (source, expected) in rows {
        assert_eq!(observations(source), [expected], "{source:?}");
    }
    assert!(VenueSession::of(SourceId::Relay).is_none());
}

#[test]
fn each_venue_is_subscribed_for_its_markets() {
    let all = ["USD", "EUR", "GBP", "JPY", "SGD", "CHF"].map(currency);
    for (source, expected) in [
        (
            SourceId::Coinbase,
            &[
                r#"{"type":"subscribe","product_ids":["BTC-USD","BTC-EUR","BTC-GBP"],"channels":["ticker_batch"]}"#,
            ][..],
        ),
        (
            SourceId::Bitstamp,
            &[
                r#"{"event":"bts:subscribe","data":{"channel":"live_trades_btcusd"}}"#,
                r#"{"event":"bts:subscribe","data":{"channel":"live_trades_btceur"}}"#,
            ],
        ),
        (
            SourceId::Bitfinex,
            &[
                r#"{"event":"subscribe","channel":"ticker","symbol":"tBTCUSD"}"#,
                r#"{"event":"subscribe","channel":"ticker","symbol":"tBTCEUR"}"#,
                r#"{"event":"subscribe","channel":"ticker","symbol":"tBTCGBP"}"#,
                r#"{"event":"subscribe","channel":"ticker","symbol":"tBTCJPY"}"#,
            ],
        ),
        (
            SourceId::Gemini,
            &[
                r#"{"type":"subscribe","subscriptions":[{"name":"candles_1m","symbols":["BTCUSD","BTCEUR","BTCGBP","BTCSGD"]}]}"#,
            ],
        ),
    ] {
        let venue = VenueSession::of(source).unwrap();
        assert_eq!(venue.subscriptions(&all), expected, "{source:?}");
        assert!(venue.subscriptions(&[currency("CHF")]).is_empty());
    }
}

#[test]
fn invalid_quotes_are_refused_with_a_reason() {
    let bitfinex = r#"{"event":"subscribed","chanId":1,"symbol":"tBTCUSD"}"#;
    #[rustfmt::skip]
    let rows = [
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"BTC-USD","price":"0"}"#, "price"),
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"BTC-USD","price":"-1"}"#, "price"),
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"BTC-USD","price":"NaN"}"#, "price"),
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"BTC-USD"}"#, "price"),
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"BTC-USDT","price":"1"}"#, "pair"),
        (SourceId::Coinbase, "", r#"{"type":"ticker","product_id":"ETH-USD","price":"1"}"#, "pair"),
        (SourceId::Coinbase, "", r#"{"type":"error","message":"no"}"#, "refused"),
        (SourceId::Coinbase, "", "[]", "type"),
        (SourceId::Bitstamp, "", r#"{"event":"trade","channel":"live_trades_btcusd","data":{}}"#, "price"),
        (SourceId::Bitstamp, "", r#"{"event":"trade","channel":"order_book_btcusd","data":{"price":1}}"#, "pair"),
        (SourceId::Bitstamp, "", r#"{"event":"bts:error"}"#, "refused"),
        (SourceId::Bitfinex, "", r#"{"event":"error","msg":"symbol: invalid","code":10300}"#, "refused"),
        (SourceId::Bitfinex, "", "[1,[1,2,3,4,5,6,7]]", "channel"),
        (SourceId::Bitfinex, bitfinex, "[1,[1,2,3,4,5,6]]", "price"),
        (SourceId::Bitfinex, bitfinex, "[1,5]", "ticker"),
        (SourceId::Bitfinex, "", r#"{"event":"subscribed","chanId":1,"symbol":"tBTCUST:USD"}"#, "pair"),
        (SourceId::Gemini, "", r#"{"type":"candles_1m_updates","symbol":"BTCUSD","changes":[]}"#, "candles"),
        (SourceId::Gemini, "", r#"{"type":"candles_1m_updates","symbol":"BTCUSD","changes":[[1795210380000,1,2]]}"#, "price"),
        (SourceId::Gemini, "", r#"{"result":"error"}"#, "refused"),
        (SourceId::Gemini, "", "{", "json"),
    ];
    for (source, before, message, reason) in rows {
        let mut venue = VenueSession::of(source).unwrap();
        if !before.is_empty() {
            venue.frame(before.as_bytes()).unwrap();
        }
        let observations = venue.frame(message.as_bytes());
        assert_eq!(observations, Err(Malformed(reason)), "{message}");
    }
}

#[test]
fn the_channels_of_a_venue_are_limited() {
    let mut venue = VenueSession::of(SourceId::Bitfinex).unwrap();
    let subscribed =
        |number: u64| format!(r#"{{"event":"subscribed","chanId":{number},"symbol":"tBTCUSD"}}"#);
    let accepted = (0..1000).filter(|number| venue.frame(subscribed(*number).as_bytes()).is_ok());
    assert_eq!(accepted.count(), 16);
}

#[test]
fn every_venue_of_the_table_has_a_protocol() {
    let hosts = [
        (SourceId::Coinbase, "ws-feed.exchange.coinbase.com"),
        (SourceId::Bitstamp, "ws.bitstamp.net"),
        (SourceId::Bitfinex, "api-pub.bitfinex.com"),
        (SourceId::Gemini, "api.gemini.com"),
    ];
    for spec in VENUES {
        let venue = VenueSession::of(spec.source).unwrap();
        let (_, host) = hosts.iter().find(|(id, _)| *id == spec.source).unwrap();
        let place = venue.url().strip_prefix("wss://");
        let there = place.unwrap().split('/').next().unwrap();
        assert_eq!(there, *host, "{:?}", spec.source);
        let currencies: Vec<Currency> = spec.currencies.iter().map(|code| currency(code)).collect();
        assert!(!venue.subscriptions(&currencies).is_empty());
    }
}
