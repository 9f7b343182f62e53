//! The two HTTP interfaces of Bitcoin Core: REST without a password, for headers, and RPC with a password, for headers
//! and fees.

use chain::{BlockHash, HEADER_BYTES, Header, header, network::Network};
use hex::FromHex;
use market::{
    Observation,
    units::{FeeRate, MICRO},
};
use serde_json::{Value, json};

use crate::{
    malformed::Malformed,
    refusal,
    scalar::{self, Scalar},
};

/// Most headers per response.
pub const HEADERS_MAX: usize = 2000;

/// Largest response, bytes.
pub const BODY_MAX: usize = HEADERS_MAX * HEADER_BYTES;

/// RPC requests per batch.
pub const BATCH_MAX: u32 = 100;

/// Confirmation target of fee estimates, blocks.
const FEE_TARGET: u32 = 2;

/// Bytes per unit of the node's fee rate, relative to ours.
const PER_KILOBYTE: u64 = 1000;

/// Decimal places of a bitcoin amount.
const SATOSHI_PLACES: usize = 8;

/// State of a node's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainInfo {
    /// Its network.
    pub network: Network,
    /// Height of its newest block.
    pub height: u32,
    /// Hash of its newest block.
    pub tip: BlockHash,
}

/// An RPC request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcRequest {
    /// State of the chain.
    Chain,
    /// The hash of the block at a height.
    Hash(u32),
    /// The header of a block.
    Header(BlockHash),
    /// Fee estimate.
    Fee,
}

/// The default port.
pub fn port(network: Network) -> u16 {
    match network {
        Network::Main => 8332,
        Network::Testnet4 => 48_332,
        Network::Signet => 38_332,
        Network::Regtest => 18_443,
    }
}

/// REST path of the state of the chain.
pub const INFO_PATH: &str = "/rest/chaininfo.json";

/// REST path of the headers from a block on, including that block.
pub fn headers_path(from: BlockHash) -> String {
    format!("/rest/headers/{from}.bin?count={HEADERS_MAX}")
}

/// Parses the state of the chain.
///
/// # Errors
/// It is too long, or a field is missing.
pub fn info_body(body: &[u8]) -> Result<ChainInfo, Malformed> {
    info(&read(body)?)
}

/// Parses headers. Empty for a block that is not part of the node's chain.
///
/// # Errors
/// They are not a whole number of headers, or too many.
pub fn headers_body(body: &[u8]) -> Result<Vec<Header>, Malformed> {
    let (chunks, rest) = body.as_chunks::<HEADER_BYTES>();
    if chunks.len() > HEADERS_MAX || !rest.is_empty() {
        return Err(Malformed("headers"));
    }
    let headers: Option<_> = chunks.iter().map(|bytes| header(bytes)).collect();
    headers.ok_or(Malformed("headers"))
}

/// The body of a batch of requests.
pub fn encode_request(requests: &[RpcRequest]) -> String {
    let encode = |(number, request): (usize, &RpcRequest)| {
        let (method, params) = match request {
            RpcRequest::Chain => ("getblockchaininfo", json!([])),
            RpcRequest::Hash(height) => ("getblockhash", json!([height])),
            RpcRequest::Header(hash) => ("getblockheader", json!([hash.to_string(), false])),
            RpcRequest::Fee => ("estimatesmartfee", json!([FEE_TARGET])),
        };
        json!({ "jsonrpc": "1.0", "id": number, "method": method, "params": params })
    };
    let calls: Vec<Value> = requests.iter().enumerate().map(encode).collect();
    Value::from(calls).to_string()
}

/// Parses the responses to a batch, in the order of the requests; or the node's reason if one was refused.
///
/// # Errors
/// They do not match the batch.
pub fn answers(body: &[u8], count: usize) -> Result<Result<Vec<Value>, String>, Malformed> {
    let Value::Array(list) = read(body)? else {
        return Err(Malformed("not-a-list"));
    };
    if list.len() != count {
        return Err(Malformed("answers"));
    }
    let mut answers = vec![None; count];
    for mut answer in list {
        let error = &answer["error"];
        if !error.is_null() {
            return Ok(Err(refusal::words(error)));
        }
        let number = answer["id"].as_u64();
        let place = number.and_then(|number| answers.get_mut(usize::try_from(number).ok()?));
        let result = answer.get_mut("result").map(Value::take);
        *place.ok_or(Malformed("answers"))? = Some(result.unwrap_or_default());
    }
    let answers: Option<Vec<Value>> = answers.into_iter().collect();
    answers.map(Ok).ok_or(Malformed("answers"))
}

/// Parses the state of the chain.
///
/// # Errors
/// A field is missing.
pub fn info(result: &Value) -> Result<ChainInfo, Malformed> {
    let network = result["chain"].as_str().and_then(Network::named);
    let height = result["blocks"].as_u64();
    Ok(ChainInfo {
        network: network.ok_or(Malformed("chain"))?,
        height: height
            .and_then(|height| u32::try_from(height).ok())
            .ok_or(Malformed("height"))?,
        tip: hash(&result["bestblockhash"])?,
    })
}

/// Parses the hash of a block.
///
/// # Errors
/// It is invalid.
pub fn hash(result: &Value) -> Result<BlockHash, Malformed> {
    let hash = result.as_str().and_then(|text| text.parse().ok());
    hash.ok_or(Malformed("hash"))
}

/// Parses a header.
///
/// # Errors
/// It is invalid.
pub fn header_result(result: &Value) -> Result<Header, Malformed> {
    let text = result.as_str().ok_or(Malformed("header"))?;
    let bytes = <[u8; HEADER_BYTES]>::from_hex(text).map_err(|_| Malformed("header"))?;
    header(&bytes).ok_or(Malformed("header"))
}

/// Parses a fee estimate. Empty if the node has none yet.
///
/// # Errors
/// The rate is invalid.
pub fn fee(result: &Value, precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    let rate = Scalar::from(&result["feerate"]);
    if rate.is_absent() {
        return Ok(Vec::new());
    }
    let satoshis = rate.scaled(SATOSHI_PLACES).ok_or(Malformed("fee"))?;
    let satoshis = u64::try_from(satoshis).map_err(|_| Malformed("fee"))?;
    let micros = satoshis.checked_mul(MICRO / PER_KILOBYTE);
    let rate = micros
        .and_then(FeeRate::of_micros)
        .ok_or(Malformed("fee"))?;
    Ok(scalar::fees(rate, precise_fee).collect())
}

fn read(body: &[u8]) -> Result<Value, Malformed> {
    if body.len() > BODY_MAX {
        return Err(Malformed("too-long"));
    }
    serde_json::from_slice(body).map_err(|_| Malformed("json"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use chain::anchor::genesis;

    use super::*;

    #[test]
    fn an_incomplete_chain_state_is_refused() {
        let tip = genesis(Network::Main).block_hash();
        let whole =
            json!({ "chain": "main", "blocks": 7, "headers": 9, "bestblockhash": tip.to_string() });
        let expected = ChainInfo {
            network: Network::Main,
            height: 7,
            tip,
        };
        assert_eq!(info_body(whole.to_string().as_bytes()), Ok(expected));
        for (member, value, reason) in [
            ("chain", json!("test"), "chain"),
            ("blocks", json!(-1), "height"),
            ("blocks", json!(u64::MAX), "height"),
            ("bestblockhash", json!("00"), "hash"),
        ] {
            let mut body = whole.clone();
            body[member] = value;
            let read = info_body(body.to_string().as_bytes());
            assert_eq!(read, Err(Malformed(reason)), "{body}");
        }
        assert_eq!(info_body(b"nothing"), Err(Malformed("json")));
        assert_eq!(
            info_body(&vec![b' '; BODY_MAX + 1]),
            Err(Malformed("too-long"))
        );
    }

    #[test]
    fn headers_are_bytes_one_after_the_other() {
        let header = genesis(Network::Main);
        let bytes = chain::bytes(&header);
        for (count, expected) in [(0, Some(0)), (1, Some(1)), (2000, Some(2000)), (2001, None)] {
            let read = headers_body(&bytes.repeat(count)).ok();
            assert_eq!(read, expected.map(|count| vec![header; count]));
        }
        assert_eq!(headers_body(&bytes[1..]), Err(Malformed("headers")));
        let path = headers_path(header.block_hash());
        assert_eq!(
            path,
            "/rest/headers/000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f.bin?count=2000"
        );
    }

    #[test]
    fn answers_are_in_the_order_of_the_requests() {
        let body = encode_request(&[
            RpcRequest::Chain,
            RpcRequest::Hash(7),
            RpcRequest::Header(genesis(Network::Main).block_hash()),
            RpcRequest::Fee,
        ]);
        let calls: Value = serde_json::from_str(&body).unwrap();
        let methods: Vec<&str> = (0..4)
            .map(|at| calls[at]["method"].as_str().unwrap())
            .collect();
        assert_eq!(
            methods,
            [
                "getblockchaininfo",
                "getblockhash",
                "getblockheader",
                "estimatesmartfee"
            ]
        );
        #[rustfmt::skip]
        let rows = [
            (json!([{ "id": 1, "result": "b", "error": null }, { "id": 0, "result": "a" }]), 2, Ok(Ok(vec![json!("a"), json!("b")]))),
            (json!([{ "id": 0, "result": null, "error": { "code": -28, "message": "Loading\u{7}" } }]), 1, Ok(Err("Loading".to_string()))),
            (json!([{ "id": 0, "error": 7 }]), 1, Ok(Err("it gives no reason".into()))),
            (json!([{ "id": 0, "result": 1 }]), 2, Err(Malformed("answers"))),
            (json!([{ "id": 1, "result": 1 }]), 1, Err(Malformed("answers"))),
            (json!([{ "id": 0, "result": 1 }, { "id": 0, "result": 2 }]), 2, Err(Malformed("answers"))),
            (json!(["[]"]), 1, Err(Malformed("answers"))),
            (json!([7]), 1, Err(Malformed("answers"))),
            (json!([[]]), 1, Err(Malformed("answers"))),
            (json!([{ "id": 0 }]), 1, Ok(Ok(vec![Value::Null]))),
            (json!({ "result": 1 }), 1, Err(Malformed("not-a-list"))),
        ];
        for (body, count, expected) in rows {
            assert_eq!(
                answers(body.to_string().as_bytes(), count),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn headers_and_fees_are_parsed() {
        let header = genesis(Network::Main);
        let digits = json!(hex::encode(chain::bytes(&header)));
        assert_eq!(header_result(&digits), Ok(header));
        assert_eq!(header_result(&json!("00")), Err(Malformed("header")));
        assert_eq!(header_result(&Value::Null), Err(Malformed("header")));
        let rate = |text: &str| FeeRate::parse(text).unwrap();
        for (feerate, whole, precise) in [
            (json!(0.00012345), "12", "12.345"),
            (json!("0.00012500"), "13", "12.5"),
            (json!(0.00001), "1", "1"),
            (json!(1), "100000", "100000"),
            (json!(10_000), "1000000000", "1000000000"),
        ] {
            let fees = fee(&json!({ "feerate": feerate, "blocks": 2 }), true);
            let expected = vec![
                Observation::Fee(rate(whole)),
                Observation::PreciseFee(rate(precise)),
            ];
            assert_eq!(fees, Ok(expected), "{feerate}");
        }
        let unknown = json!({ "errors": ["Insufficient data"], "blocks": 0 });
        assert_eq!(fee(&unknown, true), Ok(vec![]));
        for bad in [
            json!(-1),
            json!("x"),
            json!([1]),
            json!(10_000.1),
            json!(1e30),
        ] {
            assert!(fee(&json!({ "feerate": bad }), true).is_err(), "{bad}");
        }
    }
}
