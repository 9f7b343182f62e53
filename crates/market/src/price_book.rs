//! The quotes and prices in all currencies.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    now::{Now, UtcTime},
    quotes::{CurrencyQuotes, PriceRules, PriceTruth},
    source_id::SourceId,
    units::{Currency, Price},
    values::Market,
};

/// How good prices are, by currency.
pub type PriceTruths = BTreeMap<Currency, PriceTruth>;

/// Effect of a new verdict on a price.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceUpdate {
    /// The price that is shown differs.
    pub differs: bool,
    /// It is marked as disputed.
    pub is_marked: bool,
}

/// All quotes, and the verdicts on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceBook {
    quotes: BTreeMap<Currency, CurrencyQuotes>,
    truths: Arc<PriceTruths>,
    /// Uptimes at which a verdict changes without a report.
    deadlines: BTreeMap<Currency, Duration>,
}

impl PriceBook {
    /// How good the prices are, in the currencies with a quote in this run.
    pub fn truths(&self) -> &Arc<PriceTruths> {
        &self.truths
    }

    /// Currencies with a quote.
    pub fn currencies(&self) -> Vec<Currency> {
        self.quotes.keys().copied().collect()
    }

    /// Currencies with a deadline that has passed.
    pub fn due(&self, uptime: Duration) -> Vec<Currency> {
        let due = self.deadlines.iter();
        let due = due.filter(|(_, deadline)| **deadline <= uptime);
        due.map(|(currency, _)| *currency).collect()
    }

    /// Uptime at which a verdict changes without a report.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.values().min().copied()
    }

    /// Records a quote of the primary source.
    pub fn quote(&mut self, source: SourceId, currency: Currency, price: Price, now: Now) {
        let quotes = self.quotes.entry(currency).or_default();
        quotes.quote(source, price, now);
    }

    /// Records a quote of a witness, with the time of the trade by the clock of the venue.
    pub fn witness(
        &mut self,
        source: SourceId,
        currency: Currency,
        price: Price,
        at: Option<UtcTime>,
        now: Now,
    ) {
        let quotes = self.quotes.entry(currency).or_default();
        quotes.witness(source, price, at, now);
    }

    /// Drops the quotes in other currencies.
    pub fn retain_currencies(&mut self, is_wanted: impl Fn(&Currency) -> bool) {
        self.quotes.retain(|currency, _| is_wanted(currency));
        self.deadlines.retain(|currency, _| is_wanted(currency));
        if !self.truths.keys().all(&is_wanted) {
            Arc::make_mut(&mut self.truths).retain(|currency, _| is_wanted(currency));
        }
    }

    /// Stops counting the quotes of a source until the source reports again; returns their currencies.
    pub fn disconnect(&mut self, source: SourceId) -> Vec<Currency> {
        let mut changed = Vec::new();
        for (currency, quotes) in &mut self.quotes {
            if quotes.disconnect(source) {
                changed.push(*currency);
            }
        }
        changed
    }

    /// Drops the quotes of other sources.
    pub fn retain_sources(&mut self, is_kept: impl Fn(SourceId) -> bool) {
        for quotes in self.quotes.values_mut() {
            quotes.retain_sources(&is_kept);
        }
    }

    /// Decides again which price is shown in a currency.
    pub fn update(
        &mut self,
        currency: Currency,
        market: &mut Arc<Market>,
        rules: PriceRules,
        uptime: Duration,
    ) -> PriceUpdate {
        let Some(quotes) = self.quotes.get_mut(&currency) else {
            return PriceUpdate::default();
        };
        let known = market.prices.get(&currency);
        let verdict = quotes.decide(known, rules, uptime);
        match verdict.next_deadline {
            Some(deadline) => self.deadlines.insert(currency, deadline),
            None => self.deadlines.remove(&currency),
        };
        if self.truths.get(&currency) != Some(&verdict.truth) {
            Arc::make_mut(&mut self.truths).insert(currency, verdict.truth);
        }
        let shown = verdict.shown.filter(|shown| known != Some(shown));
        let is_same = |value| known.is_some_and(|known| known.value == value);
        let differs = shown.as_ref().is_some_and(|shown| !is_same(shown.value));
        if let Some(shown) = shown {
            let market = Arc::make_mut(market);
            Arc::make_mut(&mut market.prices).insert(currency, shown);
        }
        PriceUpdate {
            differs,
            is_marked: verdict.is_marked,
        }
    }
}
