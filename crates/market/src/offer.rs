//! Which currencies can be chosen, and which of the chosen ones are shown.
//!
//! The stored choice is permanent: a currency that is not offered at the moment is skipped.

use alloc::{collections::BTreeSet, vec::Vec};

use crate::{limits::CURRENCIES_MAX, units::Currency};

/// Currencies that are offered before a source has reported its own.
const USUAL: &[&str] = &["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"];

/// The currencies on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Never empty.
    currencies: Vec<Currency>,
    /// Currencies of earlier offers of this run; at most [`CURRENCIES_MAX`].
    earlier: BTreeSet<Currency>,
}

impl Offer {
    /// An offer of these currencies; of the usual ones if there are none.
    pub fn new(currencies: Vec<Currency>) -> Offer {
        Offer {
            currencies: or_usual(currencies),
            earlier: BTreeSet::new(),
        }
    }

    /// The currencies on offer.
    pub fn currencies(&self) -> &[Currency] {
        &self.currencies
    }

    /// Currencies that were on offer earlier in this run and are no longer.
    pub fn former(&self) -> Vec<Currency> {
        let former = self.earlier.iter();
        let former = former.filter(|it| !self.currencies.contains(it));
        former.copied().collect()
    }

    /// The chosen currencies that are on offer; if there are none, the US dollar or the first one on offer.
    pub fn among(&self, chosen: &[Currency]) -> Vec<Currency> {
        let chosen = chosen.iter().filter(|it| self.currencies.contains(it));
        let mut shown: Vec<Currency> = chosen.copied().collect();
        if shown.is_empty() {
            let mut dollar = self.currencies.iter().filter(|it| **it == Currency::USD);
            shown.extend(dollar.next().or(self.currencies.first()));
        }
        shown
    }

    /// Replaces the currencies, by the usual ones if there are none; returns whether they differ.
    pub fn replace(&mut self, currencies: Vec<Currency>) -> bool {
        let currencies = or_usual(currencies);
        if currencies == self.currencies {
            return false;
        }
        let before = core::mem::replace(&mut self.currencies, currencies);
        let room = CURRENCIES_MAX.saturating_sub(self.earlier.len());
        self.earlier.extend(before.into_iter().take(room));
        true
    }
}

fn or_usual(mut currencies: Vec<Currency>) -> Vec<Currency> {
    currencies.truncate(CURRENCIES_MAX);
    if currencies.is_empty() {
        let known = USUAL.iter().filter_map(|code| Currency::parse(code));
        currencies.extend(known);
    }
    currencies
}
