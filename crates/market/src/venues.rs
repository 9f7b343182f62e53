//! The venues that can be asked for prices as witnesses, and the currencies that they trade bitcoin in.

use alloc::vec::Vec;

use super::source_id::SourceId;
use crate::units::Currency;

/// A venue.
#[derive(Debug)]
pub struct VenueSpec {
    /// Which source it is; its name is the one in the settings.
    pub source: SourceId,
    /// Name for people.
    pub name: &'static str,
    /// Codes of the currencies that it trades bitcoin in.
    pub currencies: &'static [&'static str],
}

/// All of them.
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

/// Tells whether a source is a venue.
pub fn is_venue(source: SourceId) -> bool {
    VENUES.iter().any(|venue| venue.source == source)
}

/// Looks a venue up by the name of its source.
pub fn named(name: &str) -> Option<&'static VenueSpec> {
    VENUES.iter().find(|venue| venue.source.name() == name)
}

/// Tells whether a source is a venue that has a market in a currency.
pub fn serves(source: SourceId, currency: Currency) -> bool {
    let venue = VENUES.iter().find(|venue| venue.source == source);
    venue.is_some_and(|venue| venue.currencies.contains(&currency.code()))
}

/// Those of some currencies that a venue has a market in.
pub fn served(venue: &VenueSpec, currencies: &[Currency]) -> Vec<Currency> {
    let has = |currency: &Currency| venue.currencies.contains(&currency.code());
    currencies.iter().copied().filter(has).collect()
}
