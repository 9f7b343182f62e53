//! Venues whose prices are compared with the primary source: subscriptions and parsers.
//!
//! A *quote* is the price of a venue's newest trade, with the venue's own time if it sends one. Prices are never
//! converted between currencies, and stablecoins do not count as dollars.

mod bitfinex;
mod bitstamp;
mod coinbase;
mod gemini;

use std::collections::BTreeMap;

use market::{Observation, now::UtcTime, source_id::SourceId, units::Currency, venues};
use serde_json::Value;

use crate::{malformed::Malformed, scalar::Scalar};

/// Largest message, bytes: one venue starts with a day of candles.
pub const FRAME_MAX: usize = 256 * 1024;

/// Most channels of a venue.
const CHANNELS_MAX: usize = 16;

struct VenueProtocol {
    source: SourceId,
    url: &'static str,
    subscribe: fn(&[Currency]) -> Vec<String>,
    frame: fn(&mut ChannelCurrencies, &Value) -> Result<Vec<Observation>, Malformed>,
}

/// Currencies by the channel number of the venue.
type ChannelCurrencies = BTreeMap<u64, Currency>;

const PROTOCOLS: &[VenueProtocol] = &[
    VenueProtocol {
        source: SourceId::Coinbase,
        url: "wss://ws-feed.exchange.coinbase.com",
        subscribe: coinbase::subscribe,
        frame: coinbase::frame,
    },
    VenueProtocol {
        source: SourceId::Bitstamp,
        url: "wss://ws.bitstamp.net",
        subscribe: bitstamp::subscribe,
        frame: bitstamp::frame,
    },
    VenueProtocol {
        source: SourceId::Bitfinex,
        url: "wss://api-pub.bitfinex.com/ws/2",
        subscribe: bitfinex::subscribe,
        frame: bitfinex::frame,
    },
    VenueProtocol {
        source: SourceId::Gemini,
        url: "wss://api.gemini.com/v2/marketdata",
        subscribe: gemini::subscribe,
        frame: gemini::frame,
    },
];

/// The venue has rejected a subscription.
pub const REFUSED: Malformed = Malformed("refused");

/// The protocol state of a connection to a venue.
pub struct VenueSession {
    protocol: &'static VenueProtocol,
    channels: ChannelCurrencies,
}

impl VenueSession {
    /// Starts a session. `None` if the source is not a venue.
    pub fn of(source: SourceId) -> Option<VenueSession> {
        let protocol = PROTOCOLS.iter().find(|known| known.source == source)?;
        Some(VenueSession {
            protocol,
            channels: ChannelCurrencies::new(),
        })
    }

    /// Its public socket URL.
    pub fn url(&self) -> &'static str {
        self.protocol.url
    }

    /// The subscriptions for the currencies that it trades.
    pub fn subscriptions(&self, currencies: &[Currency]) -> Vec<String> {
        let served = currencies.iter().copied();
        let served = served.filter(|currency| venues::serves(self.protocol.source, *currency));
        let served: Vec<Currency> = served.collect();
        if served.is_empty() { Vec::new() } else { (self.protocol.subscribe)(&served) }
    }

    /// Parses a text message. Empty for a message without a quote.
    ///
    /// # Errors
    /// The text does not follow the venue's documentation, or rejects a subscription.
    pub fn frame(&mut self, text: &[u8]) -> Result<Vec<Observation>, Malformed> {
        if text.len() > FRAME_MAX {
            return Err(Malformed("too-long"));
        }
        let message: Value = serde_json::from_slice(text).map_err(|_| Malformed("json"))?;
        (self.protocol.frame)(&mut self.channels, &message)
    }
}

/// A quote; zero and less is invalid.
fn quote(
    currency: Currency,
    price: &Value,
    at: Option<UtcTime>,
) -> Result<Vec<Observation>, Malformed> {
    let price = Scalar::from(price).price().ok_or(Malformed("price"))?;
    Ok(vec![Observation::Quote {
        currency,
        price,
        at,
    }])
}

/// The currency of a pair with bitcoin as its base.
fn currency(pair: Option<&str>, bitcoin: &str) -> Result<Currency, Malformed> {
    let code = pair.and_then(|pair| pair.strip_prefix(bitcoin));
    code.and_then(Currency::parse).ok_or(Malformed("pair"))
}
