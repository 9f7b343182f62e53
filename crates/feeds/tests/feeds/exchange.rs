//! The exchange's messages, as tables.

use feeds::{exchange, malformed::Malformed};
use serde_json::json;

use crate::support::{currency, fixture, price};

#[test]
fn subscription() {
    // According to the exchange's documentation.
    let message =
        r#"{"method":"subscribe","params":{"channel":"ticker","symbol":["BTC/USD","BTC/EUR"]}}"#;
    let currencies = [currency("USD"), currency("EUR")];
    assert_eq!(
        exchange::subscription(&currencies).as_deref(),
        Some(message)
    );
    assert_eq!(exchange::subscription(&[]), None);
}

#[test]
fn messages() {
    let ticker = |data| json!({"channel": "ticker", "type": "update", "data": data});
    #[rustfmt::skip]
    let rows = [
        (ticker(json!([{"symbol": "BTC/USD", "last": 64211.53}])), vec![price("USD", "64211.53")]),
        (ticker(json!([{"symbol": "XBT/EUR", "last": "59000.1"}])), vec![price("EUR", "59000.1")]),
        (
            ticker(
                json!([{"symbol": "BTC/USD", "bid": 10.0, "ask": 11}, {"symbol": "BTC/JPY", "last": 9_800_000}]),
            ),
            vec![price("USD", "10.5"), price("JPY", "9800000")],
        ),
        (ticker(json!([{"symbol": "BTCUSD", "last": 5}, {"symbol": "BTC/GBP", "last": 5}, 7])), vec![price("GBP", "5")]),
        (ticker(json!([])), vec![]),
        (ticker(json!({})), vec![]),
        (json!({"channel": "heartbeat"}), vec![]),
        (json!({"channel": "status", "data": [{"system": "online"}]}), vec![]),
        (json!({"method": "subscribe", "success": true, "result": {"channel": "ticker"}}), vec![]),
        (json!({"channel": 5}), vec![]),
    ];
    for (message, observations) in rows {
        let text = message.to_string();
        assert_eq!(exchange::frame(text.as_bytes()), Ok(observations), "{text}");
    }
    for message in [
        ticker(json!([{"symbol": "BTC/USD", "last": 0}])),
        ticker(json!([{"symbol": "BTC/USD", "last": -5.5}])),
        ticker(json!([{"symbol": "BTC/USD", "last": "abc"}])),
        ticker(json!([{"symbol": "BTC/USD", "bid": 0, "ask": 11}])),
        ticker(json!([{"symbol": "BTC/USD", "bid": 11}])),
        ticker(json!([{"symbol": "BTC/usd", "last": 5}])),
        ticker(json!([{"last": 5}])),
    ] {
        let text = message.to_string();
        assert_eq!(
            exchange::frame(text.as_bytes()),
            Err(Malformed("price")),
            "{text}"
        );
    }
    for (text, reason) in [("", "json"), ("{", "json"), ("[]", "not-a-map")] {
        assert_eq!(
            exchange::frame(text.as_bytes()),
            Err(Malformed(reason)),
            "{text}"
        );
    }
}

#[test]
fn ticker() {
    assert_eq!(
        exchange::frame(&fixture("exchange/ticker.json")),
        Ok(vec![price("USD", "64211.5")])
    );
}
