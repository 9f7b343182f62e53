//! The relay's frames, URLs and bodies, as tables.

use device::sources::RelayEndpoint;
use feeds::{malformed::Malformed, relay};
use market::{Observation, units::Currency};

use crate::support::{currency, fee, hex, precise, price, unhex};

fn pack(json: serde_json::Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &rmpv::ext::to_value(json).unwrap()).unwrap();
    bytes
}

#[test]
fn urls() {
    let custom = |host: &str, tls| {
        let endpoint = RelayEndpoint::Custom {
            host: host.into(),
            tls,
        };
        relay::socket_url(&endpoint, relay::PUBLIC_URL)
    };
    let public = "wss://ws.btclock.dev/api/v2/ws";
    assert_eq!(
        relay::socket_url(&RelayEndpoint::Public, relay::PUBLIC_URL),
        public
    );
    assert_eq!(
        relay::socket_url(&RelayEndpoint::Public, "ws://127.0.0.1:1/api/v2/ws"),
        "ws://127.0.0.1:1/api/v2/ws"
    );
    #[rustfmt::skip]
    let rows = [
        ("ws-testing.btclock.dev", true, "wss://ws-testing.btclock.dev/api/v2/ws"),
        ("ws-testing.btclock.dev", false, "ws://ws-testing.btclock.dev/api/v2/ws"),
        ("wss://ws-testing.btclock.dev", true, "wss://ws-testing.btclock.dev/api/v2/ws"),
        ("ws://ws-testing.btclock.dev", false, "ws://ws-testing.btclock.dev/api/v2/ws"),
        ("ws://ws-testing.btclock.dev", true, "wss://ws-testing.btclock.dev/api/v2/ws"),
        ("wss://ws-testing.btclock.dev/", true, "wss://ws-testing.btclock.dev//api/v2/ws"),
        ("192.168.1.50:8080", false, "ws://192.168.1.50:8080/api/v2/ws"),
        ("", true, public),
        ("", false, public),
    ];
    for (host, tls, url) in rows {
        assert_eq!(custom(host, tls), url, "{host} {tls}");
    }
}

#[test]
fn companion_urls() {
    #[rustfmt::skip]
    let rows = [
        ("wss://ws.btclock.dev/api/v2/ws", "https://ws.btclock.dev/api/lastblock", "https://ws.btclock.dev/api/v2/currencies"),
        (
            "ws://ws-testing.btclock.dev/api/v2/ws",
            "http://ws-testing.btclock.dev/api/lastblock",
            "http://ws-testing.btclock.dev/api/v2/currencies",
        ),
        ("ws://192.168.1.50:8080/api/v2/ws", "http://192.168.1.50:8080/api/lastblock", "http://192.168.1.50:8080/api/v2/currencies"),
        ("wss://ws.example.com/api/v3/ws", "https://ws.example.com/api/lastblock", "https://ws.example.com/api/v2/currencies"),
    ];
    for (socket, last_block, currencies) in rows {
        assert_eq!(relay::last_block_url(socket).as_deref(), Some(last_block));
        assert_eq!(relay::currencies_url(socket).as_deref(), Some(currencies));
    }
    for socket in [
        "https://ws.btclock.dev/api/v2/ws",
        "",
        "ws.btclock.dev",
        "wss:///api/v2/ws",
        "ws:///",
    ] {
        assert_eq!(relay::last_block_url(socket), None, "{socket}");
        assert_eq!(relay::currencies_url(socket), None, "{socket}");
    }
}

#[test]
fn subscriptions() {
    let height = "82a474797065a9737562736372696265a96576656e7454797065ab626c6f636b686569676874";
    let fee2 = "82a474797065a9737562736372696265a96576656e7454797065a9626c6f636b66656532";
    let fee = "82a474797065a9737562736372696265a96576656e7454797065a8626c6f636b666565";
    let usd = "83a474797065a9737562736372696265a96576656e7454797065a57072696365a863757272656e6379a3555344";
    let eur = "83a474797065a9737562736372696265a96576656e7454797065a57072696365a863757272656e6379a3455552";
    let both = [Currency::USD, currency("EUR")];
    for (blocks, precise_fee, currencies, frames) in [
        (true, true, &both[..], &[height, fee2, usd, eur][..]),
        (true, false, &both[..1], &[height, fee, usd]),
        (true, false, &[], &[height, fee]),
        (false, true, &both[1..], &[eur]),
        (false, false, &[], &[]),
    ] {
        let sent: Vec<String> = relay::subscriptions(blocks, precise_fee, currencies)
            .iter()
            .map(|frame| hex(frame))
            .collect();
        assert_eq!(sent, frames);
    }
}

#[test]
fn frames() {
    #[rustfmt::skip]
    let rows = [
        ("81a36d7367a757656c636f6d65", vec![]),
        ("81a36d7367b15375627363726962656420746f20555344", vec![]),
        ("81a56572726f72b358585820646f6573206e6f742065786973742e", vec![]),
        ("80", vec![]),
        ("81ab626c6f636b686569676874ce000d46eb", vec![Observation::Block(870_123)]),
        // The same as a signed number, which some encoders send.
        ("81ab626c6f636b686569676874d2000d46eb", vec![Observation::Block(870_123)]),
        ("81a5707269636581a3555344d3000000000000fad4", vec![price("USD", "64212")]),
        ("81a8626c6f636b6665650d", vec![]),
        ("81a9626c6f636b66656532cb4029800000000000", vec![fee("13"), precise("12.75")]),
        ("81a9626c6f636b666565320d", vec![fee("13"), precise("13")]),
        ("81a5707269636581a3555344a836343231312e3533", vec![price("USD", "64211.53")]),
        ("81a5707269636581a3555344cdfad4", vec![price("USD", "64212")]),
        ("81a5707269636581a3555344cb40ef5a70f5c28f5c", vec![price("USD", "64211.53")]),
        // The same price as a 32-bit float, which means 64211.53 and not 64211.53125.
        ("81a5707269636581a3555344ca477ad388", vec![price("USD", "64211.53")]),
    ];
    for (bytes, observations) in rows {
        assert_eq!(
            relay::frame(&unhex(bytes), true),
            Ok(observations),
            "{bytes}"
        );
    }
    assert_eq!(
        relay::frame(&unhex("81a8626c6f636b6665650d"), false),
        Ok(vec![fee("13")])
    );
    assert_eq!(
        relay::frame(&unhex("81a9626c6f636b666565320d"), false),
        Ok(vec![])
    );
}

#[test]
fn frames_with_several_members() {
    #[rustfmt::skip]
    let rows = [
        (
            serde_json::json!({"blockheight": 800_000, "blockfee2": 12.5, "msg": "x", "price": {"USD": 50000, "EUR": "45000"}}),
            vec![
                Observation::Block(800_000),
                fee("13"),
                precise("12.5"),
                price("USD", "50000"),
                price("EUR", "45000"),
            ],
        ),
        (serde_json::json!({"price": {"USD": null, "EUR": "", "GBP": 38000.5}}), vec![price("GBP", "38000.5")]),
        (serde_json::json!({"price": {"USD": null}}), vec![]),
        (serde_json::json!({"price": null, "blockheight": null}), vec![]),
        (serde_json::json!({"price": {"USD": "x", "EUR": 5, "usd": 7}}), vec![price("EUR", "5")]),
        (serde_json::json!({"blockheight": "870123"}), vec![Observation::Block(870_123)]),
        (serde_json::json!({"other": [1, {"x": [2]}], "blockheight": 9}), vec![Observation::Block(9)]),
    ];
    for (json, observations) in rows {
        assert_eq!(
            relay::frame(&pack(json.clone()), true),
            Ok(observations),
            "{json}"
        );
    }
}

#[test]
fn malformed_frames() {
    for (json, reason) in [
        (serde_json::json!([870_123]), "not-a-map"),
        (serde_json::json!("blockheight"), "not-a-map"),
        (serde_json::json!(870_123), "not-a-map"),
        (serde_json::json!({"blockheight": -1}), "height"),
        (
            serde_json::json!({"blockheight": 4_294_967_296_u64}),
            "height",
        ),
        (serde_json::json!({"blockheight": 870_123.5}), "height"),
        (serde_json::json!({"blockheight": [1]}), "height"),
        (serde_json::json!({"blockheight": true}), "height"),
        (serde_json::json!({"blockheight": " 1"}), "height"),
        (serde_json::json!({"blockfee2": -0.5}), "fee"),
        (serde_json::json!({"blockfee2": "1e3"}), "fee"),
        (serde_json::json!({"blockfee2": 1e300}), "fee"),
        (serde_json::json!({"price": 5}), "price"),
        (serde_json::json!({"price": [5]}), "price"),
        (serde_json::json!({"price": "5"}), "price"),
        (serde_json::json!({"price": {"USD": 0}}), "price"),
        (serde_json::json!({"price": {"USD": -3}}), "price"),
        (serde_json::json!({"price": {"USD": "NaN"}}), "price"),
        (serde_json::json!({"price": {"USDT": 5}}), "price"),
    ] {
        assert_eq!(
            relay::frame(&pack(json.clone()), true),
            Err(Malformed(reason)),
            "{json}"
        );
    }
    for (bytes, reason) in [
        ("", "not-a-map"),
        ("c1", "not-a-map"),
        ("8105", "not-a-map"),
        ("81a9626c6f636b66656532cb7ff8000000000000", "fee"),
        ("81a9626c6f636b66656532cb7ff0000000000000", "fee"),
        ("81a36d7367a757656c636f6d6500", "trailing-bytes"),
        ("81ab626c6f636b686569676874d40000", "height"),
        // A text with a claimed length of four gigabytes.
        ("81a36d7367dbffffffff", "not-a-map"),
        ("dfffffffff", "not-a-map"),
    ] {
        assert_eq!(
            relay::frame(&unhex(bytes), true),
            Err(Malformed(reason)),
            "{bytes}"
        );
    }
    assert_eq!(
        relay::frame(&vec![0x91; relay::FRAME_MAX], true),
        Err(Malformed("not-a-map"))
    );
    assert_eq!(
        relay::frame(&vec![0x80; relay::FRAME_MAX + 1], true),
        Err(Malformed("too-long"))
    );
    let nested = [&unhex("81a178")[..], &[0x91; 5000], &[0x01]].concat();
    assert_eq!(relay::frame(&nested, true), Err(Malformed("not-a-map")));
}

#[test]
fn last_block() {
    for (body, height) in [
        ("870123", Ok(870_123)),
        ("870123\n", Ok(870_123)),
        (" 800000 \r\n", Ok(800_000)),
        ("4294967296", Err("height")),
        ("-1", Err("height")),
        ("", Err("height")),
        ("\"870123\"", Err("height")),
        ("<!DOCTYPE html>", Err("height")),
        ("870123                           ", Err("too-long")),
    ] {
        assert_eq!(
            relay::last_block(body.as_bytes()),
            height.map_err(Malformed),
            "{body}"
        );
    }
    assert_eq!(relay::last_block(&[0xff]), Err(Malformed("height")));
}

#[test]
fn currencies() {
    for (body, codes) in [
        (
            r#"["USD","AUD","GBP","JPY","EUR","CAD","CHF"]"#,
            "USD AUD GBP JPY EUR CAD CHF",
        ),
        (r#"["JPY","USD","EUR"]"#, "JPY USD EUR"),
        (
            r#"["USD","usd","US","USDD","US1","",null,42,{"x":1},"EUR"]"#,
            "USD EUR",
        ),
        (r#"["USD","EUR","USD","EUR","JPY","USD"]"#, "USD EUR JPY"),
        ("[ \"USD\" ,\n  \"EUR\"\t]", "USD EUR"),
    ] {
        let read: Vec<String> = relay::currencies(body.as_bytes())
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(read.join(" "), codes, "{body}");
    }
    for body in [
        r#"{"USD":1}"#,
        r#""USD""#,
        "42",
        "null",
        "",
        "[",
        "not json",
        "<!DOCTYPE html>",
        "[]",
    ] {
        assert!(relay::currencies(body.as_bytes()).is_err(), "{body}");
    }
    let long = format!("[{}\"USD\"]", " ".repeat(relay::CURRENCIES_BODY_MAX));
    assert_eq!(
        relay::currencies(long.as_bytes()),
        Err(Malformed("too-long"))
    );
}
