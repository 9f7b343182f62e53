//! The relay service: blocks, fees and prices as MessagePack frames over one socket.
//!
//! The client subscribes to *topics*; every frame from the relay is a map, usually with one entry.
//! Values are numbers or texts, depending on the relay software.

use device::sources::RelayEndpoint;
use market::{Observation, units::Currency};
use rmpv::{Value, ValueRef, decode, encode};

use crate::{
    malformed::Malformed,
    scalar::{self, Scalar},
};

pub const PUBLIC_URL: &str = "wss://ws.btclock.dev/api/v2/ws";

const SOCKET_PATH: &str = "/api/v2/ws";

/// Largest frame from a relay, bytes.
pub const FRAME_MAX: usize = 16 * 1024;

/// Largest response with the last block, bytes.
pub const LAST_BLOCK_BODY_MAX: usize = 32;

/// Largest list of currencies, bytes.
pub const CURRENCIES_BODY_MAX: usize = 1024;

/// Limit of nesting, which bounds the stack; `rmpv` counts at least two for each level.
const DEPTH_MAX: usize = 32;

/// URL of the socket; `public` is [`PUBLIC_URL`] unless the command line replaces it.
pub fn socket_url(endpoint: &RelayEndpoint, public: &str) -> String {
    match endpoint {
        RelayEndpoint::Public => public.to_owned(),
        RelayEndpoint::Custom { host, .. } if host.is_empty() => public.to_owned(),
        RelayEndpoint::Custom { host, tls } => {
            let host = host.expose();
            let authority = host
                .strip_prefix("wss://")
                .or_else(|| host.strip_prefix("ws://"))
                .unwrap_or(host);
            let scheme = if *tls { "wss" } else { "ws" };
            format!("{scheme}://{authority}{SOCKET_PATH}")
        }
    }
}

/// URL of the last block on the relay's HTTP interface.
pub fn last_block_url(socket_url: &str) -> Option<String> {
    beside(socket_url, "/api/lastblock")
}

/// URL of the currency list on the relay's HTTP interface.
pub fn currencies_url(socket_url: &str) -> Option<String> {
    beside(socket_url, "/api/v2/currencies")
}

fn beside(socket_url: &str, path: &str) -> Option<String> {
    let (scheme, rest) = match socket_url.split_once("://")? {
        ("wss", rest) => ("https", rest),
        ("ws", rest) => ("http", rest),
        _ => return None,
    };
    let authority = rest
        .split('/')
        .next()
        .filter(|authority| !authority.is_empty())?;
    Some(format!("{scheme}://{authority}{path}"))
}

/// The subscriptions to send on a new connection, in this order.
pub fn subscriptions(blocks: bool, precise_fee: bool, currencies: &[Currency]) -> Vec<Vec<u8>> {
    let fee_topic = if precise_fee { "blockfee2" } else { "blockfee" };
    let topics = if blocks { &["blockheight", fee_topic][..] } else { &[] };
    let topics = topics.iter().map(|topic| subscribe(topic, None));
    let prices = currencies
        .iter()
        .map(|currency| subscribe("price", Some(currency.code())));
    topics.chain(prices).collect()
}

fn subscribe(event_type: &str, currency: Option<&str>) -> Vec<u8> {
    let members = [
        ("type", Some("subscribe")),
        ("eventType", Some(event_type)),
        ("currency", currency),
    ];
    let members = members
        .into_iter()
        .filter_map(|(name, text)| Some((name.into(), text?.into())));
    let mut bytes = Vec::new();
    encode::write_value(&mut bytes, &Value::Map(members.collect())).expect("a Vec takes all bytes");
    bytes
}

/// Parses a binary frame; fees of the topic that was not subscribed are dropped.
///
/// # Errors
/// The bytes are not a single map, or none of its relevant entries can be parsed.
pub fn frame(bytes: &[u8], precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    if bytes.len() > FRAME_MAX {
        return Err(Malformed("too-long"));
    }
    let mut rest = bytes;
    let Ok(ValueRef::Map(members)) = decode::read_value_ref_with_max_depth(&mut rest, DEPTH_MAX)
    else {
        return Err(Malformed("not-a-map"));
    };
    if !rest.is_empty() {
        return Err(Malformed("trailing-bytes"));
    }
    observations(&members, precise_fee)
}

fn observations(
    members: &[(ValueRef<'_>, ValueRef<'_>)],
    precise_fee: bool,
) -> Result<Vec<Observation>, Malformed> {
    let mut observations = Vec::new();
    let mut flaw = None;
    if let Some(height) = scalar_member(members, "blockheight") {
        match height.height() {
            Some(height) => observations.push(Observation::Block(height)),
            None => flaw = Some(Malformed("height")),
        }
    }
    let fee_topic = if precise_fee { "blockfee2" } else { "blockfee" };
    if let Some(fee) = scalar_member(members, fee_topic) {
        match fee.fee_rate() {
            Some(rate) => observations.extend(scalar::fees(rate, precise_fee)),
            None => flaw = Some(Malformed("fee")),
        }
    }
    match member(members, "price") {
        Some(ValueRef::Map(prices)) => {
            for (code, price) in prices {
                let price = Scalar::from(price);
                if price.is_absent() {
                    continue;
                }
                match text(code).and_then(Currency::parse).zip(price.price()) {
                    Some((currency, price)) => {
                        observations.push(Observation::Price(currency, price))
                    }
                    None => flaw = Some(Malformed("price")),
                }
            }
        }
        Some(ValueRef::Nil) | None => {}
        Some(_) => flaw = Some(Malformed("price")),
    }
    match flaw {
        Some(flaw) if observations.is_empty() => Err(flaw),
        _ => Ok(observations),
    }
}

/// The last member of this name, as readers of maps do.
fn member<'a>(members: &'a [(ValueRef<'a>, ValueRef<'a>)], name: &str) -> Option<&'a ValueRef<'a>> {
    let mut members = members.iter().rev();
    members.find_map(|(key, value)| (text(key) == Some(name)).then_some(value))
}

/// The number of this name; `None` if the relay has no value yet.
fn scalar_member<'a>(
    members: &'a [(ValueRef<'a>, ValueRef<'a>)],
    name: &str,
) -> Option<Scalar<'a>> {
    let scalar = Scalar::from(member(members, name)?);
    (!scalar.is_absent()).then_some(scalar)
}

fn text<'a>(value: &'a ValueRef<'a>) -> Option<&'a str> {
    let ValueRef::String(text) = value else {
        return None;
    };
    text.as_str()
}

/// Parses the height of the last block.
///
/// # Errors
/// The body is too long or not a height.
pub fn last_block(body: &[u8]) -> Result<u32, Malformed> {
    scalar::height_body(body, LAST_BLOCK_BODY_MAX)
}

/// Parses the list of currencies: unique codes of three upper-case letters, in the relay's order.
///
/// # Errors
/// The body is too long, not a list, or has no currency.
pub fn currencies(body: &[u8]) -> Result<Vec<Currency>, Malformed> {
    if body.len() > CURRENCIES_BODY_MAX {
        return Err(Malformed("too-long"));
    }
    let entries: Vec<serde_json::Value> =
        serde_json::from_slice(body).map_err(|_| Malformed("not-a-list"))?;
    let mut currencies = Vec::new();
    for currency in entries
        .iter()
        .filter_map(|entry| Currency::parse(entry.as_str()?))
    {
        if !currencies.contains(&currency) {
            currencies.push(currency);
        }
    }
    if currencies.is_empty() {
        return Err(Malformed("no-currency"));
    }
    Ok(currencies)
}
