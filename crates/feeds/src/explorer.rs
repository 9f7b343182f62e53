//! The block explorer: blocks and fees as JSON over a socket, with two initial HTTP requests.

use chain::{BlockHash, CompactTarget, Header, TxMerkleNode, Version};
use market::{Observation, units::FeeRate};
use serde_json::Value;

use crate::{
    malformed::Malformed,
    scalar::{self, Scalar},
};

/// The only message to the explorer.
pub const WANT: &str = r#"{"action":"want","data":["blocks","mempool-blocks","fees"]}"#;

/// Largest message, bytes; the first one has about 17 KiB.
pub const FRAME_MAX: usize = 256 * 1024;

/// Most headers per message; explorers list eight blocks.
pub const HEADERS_MAX: usize = 16;

/// Largest response with the tip, bytes.
pub const TIP_BODY_MAX: usize = 32;

/// Largest response with the projected blocks, bytes.
pub const PROJECTED_BODY_MAX: usize = 64 * 1024;

pub fn socket_url(host: &str, tls: bool) -> String {
    url(if tls { "wss" } else { "ws" }, host, "/api/v1/ws")
}

pub fn tip_url(host: &str, tls: bool) -> String {
    url(
        if tls { "https" } else { "http" },
        host,
        "/api/blocks/tip/height",
    )
}

/// URL of the projected blocks and their fees.
pub fn projected_url(host: &str, tls: bool) -> String {
    url(
        if tls { "https" } else { "http" },
        host,
        "/api/v1/fees/mempool-blocks",
    )
}

fn url(scheme: &str, host: &str, path: &str) -> String {
    // Owners paste URLs from a browser.
    let host = host.split_once("://").map_or(host, |(_, rest)| rest);
    format!("{scheme}://{}{path}", host.trim_end_matches('/'))
}

/// Parses a text message. Empty for a message about other things.
///
/// # Errors
/// It is not a JSON object, or none of its relevant fields can be parsed.
pub fn frame(text: &[u8], precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    if text.len() > FRAME_MAX {
        return Err(Malformed("too-long"));
    }
    let message: Value = serde_json::from_slice(text).map_err(|_| Malformed("json"))?;
    if !message.is_object() {
        return Err(Malformed("not-a-map"));
    }
    let height = height(&message["block"]).or_else(|| tip(&message["blocks"]));
    let fee = fee(&message["mempool-blocks"], &message["fees"]);

    // Headers first: a proven height is no longer a claim.
    let mut observations: Vec<_> = headers(&message).into_iter().collect();
    observations.extend(height.map(Observation::Block));
    observations.extend(
        fee.into_iter()
            .flat_map(|fee| scalar::fees(fee, precise_fee)),
    );
    match flaw(&message) {
        Some(flaw) if observations.is_empty() => Err(flaw),
        Some(_) | None => Ok(observations),
    }
}

/// The first relevant field that is present but invalid.
fn flaw(message: &Value) -> Option<Malformed> {
    let block = &message["block"]["height"];
    let fees = [
        &message["mempool-blocks"][0]["medianFee"],
        &message["fees"]["halfHourFee"],
    ];
    let is_bad_fee = |fee: &&Value| !fee.is_null() && fee_rate(fee).is_none();
    if !block.is_null() && height(&message["block"]).is_none() {
        Some(Malformed("height"))
    } else if fees.iter().any(is_bad_fee) {
        Some(Malformed("fee"))
    } else {
        None
    }
}

/// Parses the height of the tip.
///
/// # Errors
/// The body is too long or not a height.
pub fn tip_body(body: &[u8]) -> Result<Vec<Observation>, Malformed> {
    scalar::height_body(body, TIP_BODY_MAX).map(|height| vec![Observation::Block(height)])
}

/// Parses the fee of the next block from the projected blocks.
///
/// # Errors
/// The body is too long or not JSON, or its first entry has no fee.
pub fn projected_body(body: &[u8], precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    if body.len() > PROJECTED_BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let list: Value = serde_json::from_slice(body).map_err(|_| Malformed("json"))?;
    let fee = fee(&list, &Value::Null).ok_or(Malformed("fee"))?;
    Ok(scalar::fees(fee, precise_fee).collect())
}

/// The consecutive headers of the newest blocks, as far as they are complete.
fn headers(message: &Value) -> Option<Observation> {
    let listed = message["blocks"].as_array().into_iter().flatten();
    let all = listed.chain([&message["block"]]);
    let mut by_height: Vec<(u32, Option<Header>)> = all
        .filter_map(|block| Some((height(block)?, header(block))))
        .collect();
    by_height.sort_by_key(|(height, _)| std::cmp::Reverse(*height));
    by_height.dedup_by_key(|(height, _)| *height);
    let (newest, _) = *by_height.first()?;
    let mut headers: Vec<Header> = by_height
        .into_iter()
        .zip((0..=newest).rev())
        .take(HEADERS_MAX)
        .map_while(|((height, header), wanted)| header.filter(|_| height == wanted))
        .collect();
    headers.reverse();
    (!headers.is_empty()).then_some(Observation::Headers {
        height: newest,
        headers,
    })
}

/// The header of a block. `None` unless all six fields are valid.
fn header(block: &Value) -> Option<Header> {
    let number = |name: &str| u32::try_from(block[name].as_u64()?).ok();
    let hash = |name: &str| block[name].as_str()?.parse::<BlockHash>().ok();
    let merkle_root = block["merkle_root"]
        .as_str()?
        .parse::<TxMerkleNode>()
        .ok()?;
    Some(Header {
        version: Version::from_consensus(i32::try_from(block["version"].as_i64()?).ok()?),
        prev_blockhash: hash("previousblockhash")?,
        merkle_root,
        time: number("timestamp")?,
        bits: CompactTarget::from_consensus(number("bits")?),
        nonce: number("nonce")?,
    })
}

/// Highest block of a list, which is sorted from the oldest.
fn tip(blocks: &Value) -> Option<u32> {
    blocks.as_array()?.iter().filter_map(height).max()
}

fn height(block: &Value) -> Option<u32> {
    u32::try_from(block.get("height")?.as_u64()?).ok()
}

/// The median of the projected block, because it is the recommendation, earlier. If it is 0, because the block is not full,
/// the recommendation, which is at least 1.
fn fee(projected: &Value, recommended: &Value) -> Option<FeeRate> {
    let recommended = fee_rate(&recommended["halfHourFee"]);
    match fee_rate(&projected[0]["medianFee"]) {
        Some(FeeRate { micros: 0 }) => recommended.max(FeeRate::whole(1)),
        median => median.or(recommended),
    }
}

fn fee_rate(value: &Value) -> Option<FeeRate> {
    Scalar::from(value).fee_rate()
}
