//! Bitfinex: its ticker, a list after a channel number, without a time.

use market::{Observation, units::Currency};
use serde_json::{Value, json};

use super::{CHANNELS_MAX, ChannelCurrencies, REFUSED, currency, quote};
use crate::malformed::Malformed;

/// Index of the last price in the list.
const LAST: usize = 6;

pub(super) fn subscribe(currencies: &[Currency]) -> Vec<String> {
    let message = |code: &Currency| {
        let symbol = format!("tBTC{code}");
        json!({ "event": "subscribe", "channel": "ticker", "symbol": symbol }).to_string()
    };
    currencies.iter().map(message).collect()
}

pub(super) fn frame(
    channels: &mut ChannelCurrencies,
    message: &Value,
) -> Result<Vec<Observation>, Malformed> {
    if let Some(list) = message.as_array() {
        let number = list.first().and_then(Value::as_u64);
        let number = number.ok_or(Malformed("channel"))?;
        return match list.get(1) {
            Some(Value::Array(ticker)) => {
                let currency = channels.get(&number).ok_or(Malformed("channel"))?;
                quote(*currency, ticker.get(LAST).ok_or(Malformed("price"))?, None)
            }
            // A heartbeat.
            Some(Value::String(_)) => Ok(Vec::new()),
            Some(_) | None => Err(Malformed("ticker")),
        };
    }
    match message["event"].as_str().ok_or(Malformed("event"))? {
        "subscribed" => {
            let number = message["chanId"].as_u64().ok_or(Malformed("channel"))?;
            let currency = currency(message["symbol"].as_str(), "tBTC")?;
            if channels.len() >= CHANNELS_MAX && !channels.contains_key(&number) {
                return Err(Malformed("channels"));
            }
            channels.insert(number, currency);
            Ok(Vec::new())
        }
        "error" => Err(REFUSED),
        _ => Ok(Vec::new()),
    }
}
