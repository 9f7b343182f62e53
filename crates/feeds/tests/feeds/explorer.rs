//! The explorer's messages, as tables.

use feeds::{explorer, malformed::Malformed};
use market::Observation;
use serde_json::{Value, json};

use crate::support::{fee, fixture, precise};

#[test]
fn urls() {
    #[rustfmt::skip]
    let rows = [
        ("mempool.space", true, "wss://mempool.space/api/v1/ws", "https://mempool.space/api/blocks/tip/height"),
        ("10.0.0.2:8999", false, "ws://10.0.0.2:8999/api/v1/ws", "http://10.0.0.2:8999/api/blocks/tip/height"),
        ("https://mempool.space/", true, "wss://mempool.space/api/v1/ws", "https://mempool.space/api/blocks/tip/height"),
    ];
    for (host, tls, socket, tip) in rows {
        assert_eq!(explorer::socket_url(host, tls), socket);
        assert_eq!(explorer::tip_url(host, tls), tip);
    }
    assert_eq!(
        explorer::projected_url("mempool.space", true),
        "https://mempool.space/api/v1/fees/mempool-blocks"
    );
}

#[test]
fn tip_of_a_list() {
    let ascending: Vec<Value> = (960_719..=960_726)
        .map(|height| json!({"height": height}))
        .collect();
    #[rustfmt::skip]
    let rows = [
        (json!(ascending), Some(960_726)),
        (json!([{"height": 960_726}, {"height": 960_725}, {"height": 960_724}]), Some(960_726)),
        (json!([{"height": 870_000}]), Some(870_000)),
        (json!([{"height": 960_719}, {"id": "x"}, {"height": 960_726}, null]), Some(960_726)),
        (json!([{"height": -5}, {"height": 7}, {"height": 4_294_967_296_u64}]), Some(7)),
        (json!([]), None),
        (json!([1, 2, 3]), None),
        (json!([{"id": "abc"}, {"height": "nope"}]), None),
        (json!({"height": 5}), None),
        (json!(null), None),
    ];
    for (blocks, tip) in rows {
        let observations = explorer::frame(json!({"blocks": blocks}).to_string().as_bytes(), true);
        assert_eq!(
            observations,
            Ok(tip.map(Observation::Block).into_iter().collect()),
            "{blocks}"
        );
    }
}

#[test]
fn messages() {
    #[rustfmt::skip]
    let rows = [
        (json!({"block": {"height": 9}, "blocks": [{"height": 8}]}), true, vec![Observation::Block(9)]),
        (json!({"block": {"id": "x"}, "blocks": [{"height": 8}]}), true, vec![Observation::Block(8)]),
        (json!({"fees": {"halfHourFee": 12.5}}), true, vec![fee("13"), precise("12.5")]),
        (json!({"fees": {"halfHourFee": "12.4"}}), false, vec![fee("12")]),
        (json!({"mempool-blocks": [{"medianFee": 2.52}, {"medianFee": 1}]}), true, vec![fee("3"), precise("2.52")]),
        (json!({"mempool-blocks": [{"medianFee": "2.52"}]}), false, vec![fee("3")]),
        (
            json!({"mempool-blocks": [{"medianFee": 4}], "fees": {"halfHourFee": 9}, "blocks": [{"height": 1}]}),
            true,
            vec![Observation::Block(1), fee("4"), precise("4")],
        ),
        (json!({"mempool-blocks": [], "fees": {"halfHourFee": 9}}), false, vec![fee("9")]),
        (json!({"mempool-blocks": [{"medianFee": 0}], "fees": {"halfHourFee": 2}}), true, vec![fee("2"), precise("2")]),
        (json!({"mempool-blocks": [{"medianFee": 0}], "fees": {"halfHourFee": 0.4}}), true, vec![fee("1"), precise("1")]),
        (json!({"mempool-blocks": [{"medianFee": 0.4}]}), true, vec![fee("0.4"), precise("0.4")]),
        (json!({"mempool-blocks": [{"medianFee": 0.5}]}), false, vec![fee("1")]),
        (json!({"block": {"height": -5}, "fees": {"halfHourFee": 9}}), false, vec![fee("9")]),
        (json!({"fees": [], "mempool-blocks": {}, "block": 3}), false, vec![]),
        (json!({"loadingIndicators": {}}), false, vec![]),
    ];
    for (message, precise_fee, observations) in rows {
        let text = message.to_string();
        assert_eq!(
            explorer::frame(text.as_bytes(), precise_fee),
            Ok(observations),
            "{text}"
        );
    }
    for (text, reason) in [
        ("", "json"),
        ("{", "json"),
        ("not json", "json"),
        ("[]", "not-a-map"),
        ("5", "not-a-map"),
        (r#"{"mempool-blocks":[{"medianFee":-1}]}"#, "fee"),
        (r#"{"mempool-blocks":[{"medianFee":"nan"}]}"#, "fee"),
        (r#"{"fees":{"halfHourFee":1e300}}"#, "fee"),
        (r#"{"block":{"height":-5}}"#, "height"),
        (r#"{"block":{"height":4294967296}}"#, "height"),
    ] {
        assert_eq!(
            explorer::frame(text.as_bytes(), true),
            Err(Malformed(reason)),
            "{text}"
        );
    }
    let long = vec![b' '; explorer::FRAME_MAX + 1];
    assert_eq!(explorer::frame(&long, true), Err(Malformed("too-long")));
}

#[test]
fn snapshot() {
    let mut observations = explorer::frame(&fixture("explorer/snapshot.json"), true).unwrap();
    let headers = observations.remove(0);
    assert!(
        matches!(&headers, Observation::Headers { height: 960_726, headers } if headers.len() == 8),
        "{headers:?}"
    );
    assert_eq!(
        observations,
        [Observation::Block(960_726), fee("2"), precise("1.503")]
    );
}

#[test]
fn bootstrap() {
    assert_eq!(
        explorer::tip_body(b"870123"),
        Ok(vec![Observation::Block(870_123)])
    );
    assert_eq!(explorer::tip_body(b"oops"), Err(Malformed("height")));
    let empty = json!([{"medianFee": 0}]).to_string();
    assert_eq!(
        explorer::projected_body(empty.as_bytes(), false),
        Ok(vec![fee("1")])
    );
    let list = json!([{"medianFee": 2.6}]).to_string();
    assert_eq!(
        explorer::projected_body(list.as_bytes(), false),
        Ok(vec![fee("3")])
    );
    assert_eq!(
        explorer::projected_body(list.as_bytes(), true),
        Ok(vec![fee("3"), precise("2.6")])
    );
    for (body, reason) in [
        ("", "json"),
        ("[]", "fee"),
        ("{}", "fee"),
        (r#"[{"medianFee":null}]"#, "fee"),
    ] {
        assert_eq!(
            explorer::projected_body(body.as_bytes(), true),
            Err(Malformed(reason)),
            "{body}"
        );
    }
}

/// Blocks as an explorer lists them: genuine ones, and one that only follows them in height.
fn blocks() -> Vec<serde_json::Value> {
    let listed = include_bytes!("../../../chain/tests/headers/explorer-blocks.json");
    serde_json::from_slice(listed).unwrap()
}

/// Height of the newest header, and the hashes of all.
fn proven(message: &serde_json::Value) -> Option<(u32, Vec<String>)> {
    let observations = explorer::frame(message.to_string().as_bytes(), true).unwrap();
    observations.into_iter().find_map(|observation| {
        let Observation::Headers { height, headers } = observation else {
            return None;
        };
        let ids = headers.iter().map(|header| header.block_hash().to_string());
        Some((height, ids.collect()))
    })
}

#[test]
fn headers_need_all_six_fields() {
    let blocks = blocks();
    let ids: Vec<String> = blocks
        .iter()
        .map(|block| block["id"].as_str().unwrap().to_string())
        .collect();
    let (one, two) = (&blocks[0], &blocks[1]);
    for (message, proof) in [
        (json!({"blocks": [one, two]}), Some((921_745, &ids[..]))),
        (json!({"blocks": [two, one]}), Some((921_745, &ids[..]))),
        (
            json!({"blocks": [one], "block": two}),
            Some((921_745, &ids[..])),
        ),
        (json!({"block": two}), Some((921_745, &ids[1..]))),
        // A block in between is missing.
        (
            json!({"blocks": [{"height": 921_743}, one, two]}),
            Some((921_745, &ids[..])),
        ),
        (json!({"blocks": [one], "block": {"height": 921_746}}), None),
        (json!({"block": {"height": 921_746}}), None),
    ] {
        let proof = proof.map(|(height, ids)| (height, ids.to_vec()));
        assert_eq!(proven(&message), proof, "{message}");
    }
    for field in [
        "version",
        "previousblockhash",
        "merkle_root",
        "timestamp",
        "bits",
        "nonce",
    ] {
        for wrong in [json!(null), json!(-5), json!("x"), json!(1e30)] {
            let mut block = two.clone();
            block[field] = wrong;
            // The highest bit of a version may be set.
            if field == "version" && block[field] == -5 {
                continue;
            }
            let message = json!({ "block": block });
            assert_eq!(proven(&message), None, "{field}");
            let observations = explorer::frame(message.to_string().as_bytes(), true);
            assert_eq!(
                observations,
                Ok(vec![Observation::Block(921_745)]),
                "{field}"
            );
        }
    }
}

#[test]
fn too_many_headers_are_ignored() {
    let listed: Vec<_> = (0..100)
        .map(|at| {
            let mut block = blocks()[1].clone();
            block["height"] = json!(900_000 + at);
            block
        })
        .collect();
    let (height, ids) = proven(&json!({ "blocks": listed })).unwrap();
    assert_eq!((height, ids.len()), (900_099, explorer::HEADERS_MAX));
}
