//! Coinbase: the ticker, at most every five seconds.

use market::{Observation, now::UtcTime, units::Currency};
use serde_json::{Value, json};

use super::{ChannelCurrencies, REFUSED, currency, quote};
use crate::malformed::Malformed;

/// One message for all currencies; it must be sent within five seconds.
pub(super) fn subscribe(currencies: &[Currency]) -> Vec<String> {
    let products: Vec<String> = currencies
        .iter()
        .map(|code| format!("BTC-{code}"))
        .collect();
    let message = json!({
        "type": "subscribe",
        "product_ids": products,
        "channels": ["ticker_batch"],
    });
    vec![message.to_string()]
}

pub(super) fn frame(
    _: &mut ChannelCurrencies,
    message: &Value,
) -> Result<Vec<Observation>, Malformed> {
    match message["type"].as_str().ok_or(Malformed("type"))? {
        "ticker" => {
            let currency = currency(message["product_id"].as_str(), "BTC-")?;
            let at = message["time"].as_str().and_then(UtcTime::parse);
            quote(currency, &message["price"], at)
        }
        "error" => Err(REFUSED),
        _ => Ok(Vec::new()),
    }
}
