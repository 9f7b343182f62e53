//! Bitstamp: its trades, one channel per currency.

use market::{Observation, now::UtcTime, units::Currency};
use serde_json::{Value, json};

use super::{ChannelCurrencies, REFUSED, currency, quote};
use crate::malformed::Malformed;

/// Prefix of the trade channels, before the pair.
const TRADES: &str = "live_trades_";

pub(super) fn subscribe(currencies: &[Currency]) -> Vec<String> {
    let message = |code: &Currency| {
        let channel = format!("{TRADES}btc{}", code.code().to_ascii_lowercase());
        let message = json!({ "event": "bts:subscribe", "data": { "channel": channel } });
        message.to_string()
    };
    currencies.iter().map(message).collect()
}

pub(super) fn frame(
    _: &mut ChannelCurrencies,
    message: &Value,
) -> Result<Vec<Observation>, Malformed> {
    match message["event"].as_str().ok_or(Malformed("event"))? {
        "trade" => {
            let pair = message["channel"].as_str();
            let pair = pair.and_then(|channel| channel.strip_prefix(TRADES));
            let pair = pair.map(str::to_ascii_uppercase);
            let currency = currency(pair.as_deref(), "BTC")?;
            let trade = &message["data"];
            let price = trade.get("price_str").unwrap_or(&trade["price"]);
            quote(currency, price, time(&trade["microtimestamp"]))
        }
        "bts:error" => Err(REFUSED),
        _ => Ok(Vec::new()),
    }
}

/// Microseconds since 1970, as a text.
fn time(value: &Value) -> Option<UtcTime> {
    let micros: i64 = value.as_str()?.parse().ok()?;
    UtcTime::plausible(micros / 1000)
}
