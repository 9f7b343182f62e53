//! The relay service: blocks, fees and prices as MessagePack frames over one socket.
//!
//! The device subscribes to *topics*; every frame from the relay is a map, mostly of one member.
//! Values come as numbers or as texts, depending on which relay software answers.

use std::{borrow::Cow, fmt};

use device::sources::RelayEndpoint;
use market::{Observation, units::Currency};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use crate::{
    malformed::Malformed,
    scalar::{self, Scalar},
};

/// Socket of the public relay.
pub const PUBLIC_URL: &str = "wss://ws.btclock.dev/api/v2/ws";

/// Path of the socket on any relay.
pub const SOCKET_PATH: &str = "/api/v2/ws";

/// Largest frame that a relay may send, bytes.
pub const FRAME_MAX: usize = 16 * 1024;

/// Largest answer to the question for the last block, bytes.
pub const LAST_BLOCK_BODY_MAX: usize = 32;

/// Largest list of currencies, bytes.
pub const CURRENCIES_BODY_MAX: usize = 1024;

/// Nesting that no honest frame reaches; it bounds the stack.
const DEPTH_MAX: usize = 16;

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

/// URL where the relay tells the last block, beside its socket.
pub fn last_block_url(socket_url: &str) -> Option<String> {
    beside(socket_url, "/api/lastblock")
}

/// URL where the relay lists its currencies, beside its socket.
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

/// What the device says first on every connection: one frame per topic, in this order.
pub fn subscriptions(blocks: bool, precise_fee: bool, currencies: &[Currency]) -> Vec<Vec<u8>> {
    let fee_topic = if precise_fee { "blockfee2" } else { "blockfee" };
    let topics = if blocks {
        &["blockheight", fee_topic][..]
    } else {
        &[]
    };
    let topics = topics.iter().map(|topic| subscribe(topic, None));
    let prices = currencies
        .iter()
        .map(|currency| subscribe("price", Some(currency.code())));
    topics.chain(prices).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Subscribe<'a> {
    r#type: &'static str,
    event_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
}

fn subscribe(event_type: &str, currency: Option<&str>) -> Vec<u8> {
    let message = Subscribe {
        r#type: "subscribe",
        event_type,
        currency,
    };
    rmp_serde::to_vec_named(&message).expect("texts always have a MessagePack form")
}

/// Reads one binary frame; fees of the topic that was not asked for are dropped.
///
/// # Errors
/// The bytes are no single map, or it has members of use and none of them can be read.
pub fn frame(bytes: &[u8], precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
    if bytes.len() > FRAME_MAX {
        return Err(Malformed("too-long"));
    }
    let mut decoder = rmp_serde::Deserializer::new(bytes);
    decoder.set_max_depth(DEPTH_MAX);
    let members = decoder
        .deserialize_any(MembersVisitor)
        .map_err(|_| Malformed("not-a-map"))?;
    if !decoder.get_ref().is_empty() {
        return Err(Malformed("trailing-bytes"));
    }
    members.observations(precise_fee)
}

/// The members of a frame that matter.
#[derive(Debug, Default)]
struct Members<'a> {
    height: Option<Scalar<'a>>,
    whole_fee: Option<Scalar<'a>>,
    precise_fee: Option<Scalar<'a>>,
    prices: Option<RelayPrices<'a>>,
}

impl Members<'_> {
    fn observations(&self, precise_fee: bool) -> Result<Vec<Observation>, Malformed> {
        let mut heard = Vec::new();
        let mut flaw = None;
        if let Some(height) = present(&self.height) {
            match height.height() {
                Some(height) => heard.push(Observation::Block(height)),
                None => flaw = Some(Malformed("height")),
            }
        }
        let fee = if precise_fee {
            &self.precise_fee
        } else {
            &self.whole_fee
        };
        if let Some(fee) = present(fee) {
            match fee.fee_rate() {
                Some(rate) => {
                    heard.push(Observation::Fee(scalar::whole_fee(rate)));
                    heard.extend(precise_fee.then_some(Observation::PreciseFee(rate)));
                }
                None => flaw = Some(Malformed("fee")),
            }
        }
        match &self.prices {
            Some(RelayPrices::Map(prices)) => {
                for (code, price) in prices.iter().filter(|(_, price)| !price.is_absent()) {
                    match Currency::parse(code).zip(price.price()) {
                        Some((currency, price)) => heard.push(Observation::Price(currency, price)),
                        None => flaw = Some(Malformed("price")),
                    }
                }
            }
            Some(RelayPrices::Odd) => flaw = Some(Malformed("price")),
            Some(RelayPrices::Nil) | None => {}
        }
        match flaw {
            Some(flaw) if heard.is_empty() => Err(flaw),
            _ => Ok(heard),
        }
    }
}

fn present<'a, 'b>(scalar: &'b Option<Scalar<'a>>) -> Option<&'b Scalar<'a>> {
    scalar.as_ref().filter(|scalar| !scalar.is_absent())
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(RelayText(name)) = entries.next_key()? {
            match name.as_ref() {
                "blockheight" => members.height = Some(entries.next_value()?),
                "blockfee" => members.whole_fee = Some(entries.next_value()?),
                "blockfee2" => members.precise_fee = Some(entries.next_value()?),
                "price" => members.prices = Some(entries.next_value()?),
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(members)
    }
}

/// A text that is borrowed where the format allows it.
#[derive(Deserialize)]
struct RelayText<'a>(#[serde(borrow)] Cow<'a, str>);

/// The prices of a message.
#[derive(Debug)]
enum RelayPrices<'a> {
    Map(Vec<(Cow<'a, str>, Scalar<'a>)>),
    Nil,
    Odd,
}

impl<'de: 'a, 'a> Deserialize<'de> for RelayPrices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RelayPrices<'a>, D::Error> {
        deserializer.deserialize_any(PricesVisitor)
    }
}

struct PricesVisitor;

impl<'de> Visitor<'de> for PricesVisitor {
    type Value = RelayPrices<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of prices")
    }

    fn visit_unit<E>(self) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Nil)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RelayPrices<'de>, A::Error> {
        let mut prices = Vec::new();
        while let Some((RelayText(code), price)) = entries.next_entry()? {
            prices.push((code, price));
        }
        Ok(RelayPrices::Map(prices))
    }

    fn visit_bool<E>(self, _: bool) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Odd)
    }

    fn visit_u64<E>(self, _: u64) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Odd)
    }

    fn visit_i64<E>(self, _: i64) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Odd)
    }

    fn visit_f64<E>(self, _: f64) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Odd)
    }

    fn visit_str<E>(self, _: &str) -> Result<RelayPrices<'de>, E> {
        Ok(RelayPrices::Odd)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RelayPrices<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RelayPrices::Odd)
    }
}

/// Reads the answer to the question for the last block.
///
/// # Errors
/// The body is too long or no height.
pub fn last_block(body: &[u8]) -> Result<u32, Malformed> {
    scalar::height_body(body, LAST_BLOCK_BODY_MAX)
}

/// Reads the list of currencies: codes of three upper-case letters, each once, in the relay's order.
///
/// # Errors
/// The body is too long, no list, or names no currency.
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
