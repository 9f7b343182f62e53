//! Which currencies can be chosen, and which of the chosen ones the clock goes through.
//!
//! What is stored is the owner's choice for good: a currency that is not offered at the moment is only left out.

use alloc::vec::Vec;

use crate::{limits::CURRENCIES_MAX, units::Currency};

/// Currencies offered before a source has said which it can serve.
const SEED: &[&str] = &["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"];

/// The currencies on offer; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer(Vec<Currency>);

impl Default for Offer {
    fn default() -> Offer {
        let known = SEED.iter().filter_map(|code| Currency::parse(code));
        Offer(known.collect())
    }
}

impl Offer {
    /// An offer of these; the usual one if there is none among them.
    pub fn of(mut currencies: Vec<Currency>) -> Offer {
        currencies.truncate(CURRENCIES_MAX);
        match currencies.is_empty() {
            true => Offer::default(),
            false => Offer(currencies),
        }
    }

    /// The currencies on offer.
    pub fn currencies(&self) -> &[Currency] {
        &self.0
    }

    /// Those of the chosen currencies that are on offer; one that is, if there is none.
    pub fn among(&self, chosen: &[Currency]) -> Vec<Currency> {
        let mut shown: Vec<Currency> = chosen
            .iter()
            .copied()
            .filter(|currency| self.0.contains(currency))
            .collect();
        if shown.is_empty() {
            let dollar = self.0.iter().find(|currency| **currency == Currency::USD);
            shown.extend(dollar.or(self.0.first()));
        }
        shown
    }
}
