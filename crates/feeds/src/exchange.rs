//! The exchange: prices as JSON over a socket, one symbol per currency.

use market::{
    Observation,
    units::{Currency, Price},
};
use serde_json::Value;

use crate::{malformed::Malformed, scalar::Scalar};

pub const URL: &str = "wss://ws.kraken.com/v2";

/// Largest message that the exchange may send, bytes.
pub const FRAME_MAX: usize = 64 * 1024;

/// The subscription for some currencies. `None` without a currency.
pub fn subscription(currencies: &[Currency]) -> Option<String> {
    if currencies.is_empty() {
        return None;
    }
    let symbols: Vec<String> = currencies
        .iter()
        .map(|currency| format!("BTC/{currency}"))
        .collect();
    let message = serde_json::json!({
        "method": "subscribe",
        "params": { "channel": "ticker", "symbol": symbols },
    });
    Some(message.to_string())
}

/// Parses a text message. Empty for a message without prices.
///
/// # Errors
/// It is not a JSON object, or none of its prices can be parsed.
pub fn frame(text: &[u8]) -> Result<Vec<Observation>, Malformed> {
    if text.len() > FRAME_MAX {
        return Err(Malformed("too-long"));
    }
    let message: Value = serde_json::from_slice(text).map_err(|_| Malformed("json"))?;
    if !message.is_object() {
        return Err(Malformed("not-a-map"));
    }
    if message["channel"] != "ticker" {
        return Ok(Vec::new());
    }
    let Some(items) = message["data"].as_array() else {
        return Ok(Vec::new());
    };
    let prices: Vec<Observation> = items.iter().filter_map(ticker).collect();
    if prices.is_empty() && !items.is_empty() {
        return Err(Malformed("price"));
    }
    Ok(prices)
}

fn ticker(item: &Value) -> Option<Observation> {
    let (_, code) = item["symbol"].as_str()?.split_once('/')?;
    let currency = Currency::parse(code)?;
    let price = match item.get("last") {
        Some(last) => Scalar::from(last).price()?,
        None => midpoint(&item["bid"], &item["ask"])?,
    };
    Some(Observation::Price(currency, price))
}

fn midpoint(bid: &Value, ask: &Value) -> Option<Price> {
    let (bid, ask) = (Scalar::from(bid).price()?, Scalar::from(ask).price()?);
    Some(Price {
        micros: bid.micros.midpoint(ask.micros),
    })
}
