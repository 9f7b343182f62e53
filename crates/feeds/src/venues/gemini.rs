//! Gemini: candles of one minute; the newest closes with the newest price.

use market::{Observation, now::UtcTime, units::Currency};
use serde_json::{Value, json};

use super::{ChannelCurrencies, REFUSED, currency, quote};
use crate::malformed::Malformed;

/// Length of a candle, ms: its newest trade is not older than its start.
const CANDLE_MS: i64 = 60_000;

pub(super) fn subscribe(currencies: &[Currency]) -> Vec<String> {
    let symbols: Vec<String> = currencies.iter().map(|code| format!("BTC{code}")).collect();
    let message = json!({
        "type": "subscribe",
        "subscriptions": [{ "name": "candles_1m", "symbols": symbols }],
    });
    vec![message.to_string()]
}

pub(super) fn frame(
    _: &mut ChannelCurrencies,
    message: &Value,
) -> Result<Vec<Observation>, Malformed> {
    if message["result"] == "error" {
        return Err(REFUSED);
    }
    match message["type"].as_str().ok_or(Malformed("type"))? {
        "candles_1m_updates" => {
            let currency = currency(message["symbol"].as_str(), "BTC")?;
            let candles = message["changes"].as_array().ok_or(Malformed("candles"))?;
            // The first message has a day of candles, in undocumented order.
            let start = |candle: &&Value| candle[0].as_i64();
            let newest = candles.iter().filter(|candle| start(candle).is_some());
            let newest = newest.max_by_key(start).ok_or(Malformed("candles"))?;
            let end = newest[0].as_i64().and_then(|ms| ms.checked_add(CANDLE_MS));
            quote(currency, &newest[4], end.and_then(UtcTime::plausible))
        }
        _ => Ok(Vec::new()),
    }
}
