//! The Electrum protocol for headers and fees: one line of JSON per request, response and notification.
//!
//! Headers are one text up to protocol version 1.4, and a list from 1.6 on.

use chain::{HEADER_BYTES, Header, header, network::Network};
use hex::FromHex;
use market::{Observation, units::FeeRate};
use serde_json::{Value, json};

use crate::{
    malformed::Malformed,
    refusal,
    scalar::{self, Scalar},
};

/// Longest line from a server, bytes: three times that of a full headers response.
pub const LINE_MAX: usize = 256 * 1024;

/// Headers per request: a quarter of a period.
pub const HEADERS_AT_ONCE: u32 = 504;

/// Supported protocol versions.
const VERSIONS: [&str; 2] = ["1.4", "1.6"];

/// Size of a block, vB.
const BLOCK_VBYTES: u128 = 1_000_000;

/// Most entries of a fee histogram.
const RATES_MAX: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElectrumRequest {
    /// Negotiate the protocol version.
    Version,
    /// Get the newest block and subscribe to new ones.
    Subscribe,
    /// Get the headers from a height on.
    Headers(u32),
    /// Get the fee histogram of the mempool.
    Fees,
    /// Keep the connection alive.
    Ping,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElectrumMessage {
    /// The result of the request with this id.
    Answer(u64, Value),
    /// The error of the request with this id, in the server's words.
    Refused(u64, String),
    /// The newest block.
    Tip(u32, Header),
    /// Anything else.
    Nothing,
}

/// The default port.
pub fn port(network: Network, tls: bool) -> u16 {
    let plain = match network {
        Network::Main => 50_001,
        Network::Testnet4 => 40_001,
        Network::Signet => 60_601,
        Network::Regtest => 60_401,
    };
    plain + u16::from(tls)
}

/// Encodes a request; `agent` is the name of this client.
pub fn encode_request(request: ElectrumRequest, number: u64, agent: &str) -> String {
    let (method, params) = match request {
        ElectrumRequest::Version => ("server.version", json!([agent, VERSIONS])),
        ElectrumRequest::Subscribe => ("blockchain.headers.subscribe", json!([])),
        ElectrumRequest::Headers(from) => {
            ("blockchain.block.headers", json!([from, HEADERS_AT_ONCE]))
        }
        ElectrumRequest::Fees => ("mempool.get_fee_histogram", json!([])),
        ElectrumRequest::Ping => ("server.ping", json!([])),
    };
    let line = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
    format!("{line}\n")
}

/// Parses a line.
///
/// # Errors
/// It is too long, no JSON object, or a notification that cannot be parsed.
pub fn line(bytes: &[u8]) -> Result<ElectrumMessage, Malformed> {
    if bytes.len() > LINE_MAX {
        return Err(Malformed("too-long"));
    }
    let mut line: Value = serde_json::from_slice(bytes).map_err(|_| Malformed("json"))?;
    if !line.is_object() {
        return Err(Malformed("not-a-map"));
    }
    if let Some(number) = line["id"].as_u64() {
        let error = &line["error"];
        return Ok(if error.is_null() {
            ElectrumMessage::Answer(number, line["result"].take())
        } else {
            ElectrumMessage::Refused(number, refusal::words(error))
        });
    }
    match line["method"].as_str() {
        Some("blockchain.headers.subscribe") => {
            let (height, header) = tip(&line["params"][0])?;
            Ok(ElectrumMessage::Tip(height, header))
        }
        Some(_) | None => Ok(ElectrumMessage::Nothing),
    }
}

/// Parses the newest block.
///
/// # Errors
/// The height or the header is missing.
pub fn tip(result: &Value) -> Result<(u32, Header), Malformed> {
    let height = result["height"].as_u64();
    let height = height.and_then(|height| u32::try_from(height).ok());
    let hex = result["hex"].as_str();
    let bytes = hex.and_then(|hex| <[u8; HEADER_BYTES]>::from_hex(hex).ok());
    Ok((
        height.ok_or(Malformed("height"))?,
        bytes
            .and_then(|bytes| header(&bytes))
            .ok_or(Malformed("header"))?,
    ))
}

/// Parses headers, oldest first. Empty for a height that the server has not reached.
///
/// # Errors
/// They are not all headers, or too many.
pub fn headers(result: &Value) -> Result<Vec<Header>, Malformed> {
    const DIGITS: usize = 2 * HEADER_BYTES;
    let read = |digits: &[u8]| header(&<[u8; HEADER_BYTES]>::from_hex(digits).ok()?);
    let headers: Option<Vec<Header>> = match (result["hex"].as_str(), result["headers"].as_array())
    {
        (Some(text), None) => {
            let (chunks, rest) = text.as_bytes().as_chunks::<DIGITS>();
            match rest {
                [] => chunks.iter().map(|digits| read(digits)).collect(),
                [..] => None,
            }
        }
        (None, Some(list)) => list
            .iter()
            .map(|entry| read(entry.as_str()?.as_bytes()))
            .collect(),
        (Some(_), Some(_)) | (None, None) => None,
    };
    headers
        .filter(|headers| headers.len() <= HEADERS_AT_ONCE as usize)
        .ok_or(Malformed("headers"))
}

/// Derives the fee rate from the histogram: the rate that half of the next block pays at least.
///
/// # Errors
/// It is not a list of rates and sizes.
pub fn fees(result: &Value, precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    let rates = result.as_array().ok_or(Malformed("fee"))?;
    let read = |entry: &Value| {
        let rate = Scalar::from(&entry[0]).fee_rate()?;
        Some((rate, u128::from(entry[1].as_u64()?)))
    };
    let rates = rates.iter().take(RATES_MAX).map(read);
    let mut rates: Vec<(FeeRate, u128)> = rates.collect::<Option<_>>().ok_or(Malformed("fee"))?;
    rates.sort_by_key(|(rate, _)| std::cmp::Reverse(rate.micros));
    let waiting: u128 = rates.iter().map(|(_, vbytes)| vbytes).sum();
    let half = waiting.min(BLOCK_VBYTES).div_ceil(2);
    let mut paid = 0;
    let median = rates.into_iter().find(|(_, vbytes)| {
        paid += vbytes;
        paid >= half && paid > 0
    });
    let Some((rate, _)) = median else {
        return Ok(Vec::new());
    };
    Ok(scalar::fees(rate, precise_fee).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use chain::anchor::genesis;

    use super::*;

    fn digits(header: &Header) -> String {
        hex::encode(chain::bytes(header))
    }

    #[test]
    fn requests_are_lines() {
        #[rustfmt::skip]
        let rows = [
            (ElectrumRequest::Version, r#"{"jsonrpc":"2.0","id":1,"method":"server.version","params":["papertick/4",["1.4","1.6"]]}"#),
            (ElectrumRequest::Subscribe, r#"{"jsonrpc":"2.0","id":1,"method":"blockchain.headers.subscribe","params":[]}"#),
            (ElectrumRequest::Headers(953_568), r#"{"jsonrpc":"2.0","id":1,"method":"blockchain.block.headers","params":[953568,504]}"#),
            (ElectrumRequest::Fees, r#"{"jsonrpc":"2.0","id":1,"method":"mempool.get_fee_histogram","params":[]}"#),
            (ElectrumRequest::Ping, r#"{"jsonrpc":"2.0","id":1,"method":"server.ping","params":[]}"#),
        ];
        for (question, expected) in rows {
            assert_eq!(
                encode_request(question, 1, "papertick/4"),
                format!("{expected}\n")
            );
        }
    }

    #[test]
    fn lines_are_responses_errors_and_notifications() {
        let header = genesis(Network::Main);
        let notification = json!({
            "jsonrpc": "2.0", "method": "blockchain.headers.subscribe",
            "params": [{ "height": 7, "hex": digits(&header) }],
        });
        #[rustfmt::skip]
        let rows = [
            (
                r#"{"id":3,"jsonrpc":"2.0","result":["electrs/0.10","1.4"]}"#.to_string(),
                Ok(ElectrumMessage::Answer(3, json!(["electrs/0.10", "1.4"]))),
            ),
            (
                r#"{"id":3,"result":null,"error":{"code":-32601,"message":"unknown\nmethod"}}"#
                    .into(),
                Ok(ElectrumMessage::Refused(3, "unknownmethod".into())),
            ),
            (r#"{"id":3,"error":"no"}"#.into(), Ok(ElectrumMessage::Refused(3, "no".into()))),
            (r#"{"id":3,"error":{}}"#.into(), Ok(ElectrumMessage::Refused(3, "it gives no reason".into()))),
            (notification.to_string(), Ok(ElectrumMessage::Tip(7, header))),
            (r#"{"method":"blockchain.headers.subscribe","params":[]}"#.into(), Err(Malformed("height"))),
            (r#"{"method":"blockchain.headers.subscribe","params":[{"height":7,"hex":"00"}]}"#.into(), Err(Malformed("header"))),
            (r#"{"method":"server.peers"}"#.into(), Ok(ElectrumMessage::Nothing)),
            ("[]".into(), Err(Malformed("not-a-map"))),
            ("{".into(), Err(Malformed("json"))),
            (" ".repeat(LINE_MAX + 1), Err(Malformed("too-long"))),
        ];
        for (text, expected) in rows {
            assert_eq!(line(text.as_bytes()), expected, "{text}");
        }
        let long = format!(r#"{{"id":1,"error":"{}"}}"#, "x".repeat(9999));
        assert_eq!(
            line(long.as_bytes()),
            Ok(ElectrumMessage::Refused(1, "x".repeat(refusal::WORDS_MAX)))
        );
    }

    #[test]
    fn headers_come_as_one_text_or_as_a_list() {
        let (one, two) = (genesis(Network::Main), genesis(Network::Signet));
        let (first, second) = (digits(&one), digits(&two));
        #[rustfmt::skip]
        let rows = [
            (json!({ "count": 2, "hex": format!("{first}{second}"), "max": 2016 }), Ok(vec![one, two])),
            (json!({ "count": 2, "headers": [first, second], "max": 2016 }), Ok(vec![one, two])),
            (json!({ "count": 0, "hex": "", "max": 2016 }), Ok(vec![])),
            (json!({ "count": 0, "headers": [], "max": 2016 }), Ok(vec![])),
            (json!({ "hex": first[1..].to_string() }), Err(Malformed("headers"))),
            (json!({ "headers": [first, 7] }), Err(Malformed("headers"))),
            (json!({ "hex": first, "headers": [first] }), Err(Malformed("headers"))),
            (json!({ "headers": vec![&first; 505] }), Err(Malformed("headers"))),
            (Value::Null, Err(Malformed("headers"))),
        ];
        for (result, expected) in rows {
            assert_eq!(headers(&result), expected, "{result}");
        }
    }

    #[test]
    fn a_fee_is_paid_by_half_of_the_next_block() {
        let rate = |text: &str| FeeRate::parse(text).unwrap();
        #[rustfmt::skip]
        let rows = [
            (json!([[12, 128_812], [4, 92_524], [2.5, 6_478_638]]), "3", "2.5"),
            (json!([[12, 500_000], [4, 92_524]]), "12", "12"),
            (json!([[12, 499_999], [4, 9_000_000]]), "4", "4"),
            // In any order.
            (json!([[1, 9_000_000], [7, 400_000], [3, 400_000]]), "3", "3"),
            // Less than a block waits.
            (json!([[9, 100], [2, 300]]), "2", "2"),
            (json!([["1.5", 1]]), "2", "1.5"),
            (json!([[5, 0], [3, 10]]), "3", "3"),
        ];
        for (histogram, whole, precise) in rows {
            let (whole, precise) = (rate(whole), rate(precise));
            assert_eq!(
                fees(&histogram, true),
                Ok(vec![
                    Observation::Fee(whole),
                    Observation::PreciseFee(precise)
                ]),
                "{histogram}"
            );
            assert_eq!(
                fees(&histogram, false),
                Ok(vec![Observation::Fee(whole)]),
                "{histogram}"
            );
        }
        // Servers that round to whole satoshis report rates below 1 as 0.
        let one = Ok(vec![Observation::Fee(rate("1"))]);
        assert_eq!(fees(&json!([[0, 9000]]), true), one);
        for nothing in [json!([]), json!([[5, 0]])] {
            assert_eq!(fees(&nothing, true), Ok(vec![]));
        }
        for bad in [
            json!({}),
            json!([1]),
            json!([[1]]),
            json!([[1, -1]]),
            json!([["a", 1]]),
        ] {
            assert_eq!(fees(&bad, true), Err(Malformed("fee")), "{bad}");
        }
    }
}
