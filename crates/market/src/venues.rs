//! The venues that can be witnesses of prices, and the currencies in which they trade bitcoin.

use alloc::vec::Vec;

use crate::{source_id::SourceId, units::Currency};

/// A venue.
#[derive(Debug)]
pub struct VenueSpec {
    /// Its source. The settings use the name of the source.
    pub source: SourceId,
    /// Name for people.
    pub name: &'static str,
    /// Codes of the currencies in which it trades bitcoin.
    pub currencies: &'static [&'static str],
}

/// All venues.
pub const VENUES: &[VenueSpec] = &[
    VenueSpec {
        source: SourceId::Coinbase,
        name: "Coinbase",
        currencies: &["USD", "EUR", "GBP"],
    },
    VenueSpec {
        source: SourceId::Bitstamp,
        name: "Bitstamp",
        currencies: &["USD", "EUR"],
    },
    VenueSpec {
        source: SourceId::Bitfinex,
        name: "Bitfinex",
        currencies: &["USD", "EUR", "GBP", "JPY"],
    },
    VenueSpec {
        source: SourceId::Gemini,
        name: "Gemini",
        currencies: &["USD", "EUR", "GBP", "SGD"],
    },
];

/// Returns whether a source is a venue.
pub fn is_venue(source: SourceId) -> bool {
    VENUES.iter().any(|venue| venue.source == source)
}

/// Looks a venue up by the name of its source.
pub fn named(name: &str) -> Option<&'static VenueSpec> {
    VENUES.iter().find(|venue| venue.source.name() == name)
}

/// Returns whether a source is a venue with a market in a currency.
pub fn serves(source: SourceId, currency: Currency) -> bool {
    let venue = VENUES.iter().find(|venue| venue.source == source);
    venue.is_some_and(|venue| venue.currencies.contains(&currency.code()))
}

/// The currencies in which a venue has a market, out of these.
pub fn served(venue: &VenueSpec, currencies: &[Currency]) -> Vec<Currency> {
    let has = |currency: &Currency| venue.currencies.contains(&currency.code());
    currencies.iter().copied().filter(has).collect()
}
