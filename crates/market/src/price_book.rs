//! The quotes in all currencies, and what they come to.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use core::time::Duration;

use super::{
    quotes::{PriceRules, PriceTruth, Quotes},
    source_id::SourceId,
    truth::VerdictEffect,
    values::Market,
};
use crate::{
    now::{Now, UtcTime},
    units::{Currency, Price},
};

/// How good prices are, by currency.
pub type PriceTruths = BTreeMap<Currency, PriceTruth>;

/// All quotes, and the verdicts on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceBook {
    quotes: BTreeMap<Currency, Quotes>,
    truths: Arc<PriceTruths>,
    /// Uptime at which a verdict is another one.
    until: BTreeMap<Currency, Duration>,
}

impl PriceBook {
    /// How good the prices are that anybody has quoted in this run.
    pub fn truths(&self) -> &Arc<PriceTruths> {
        &self.truths
    }

    /// Currencies that anybody has quoted a price in.
    pub fn currencies(&self) -> Vec<Currency> {
        self.quotes.keys().copied().collect()
    }

    /// Those of them whose verdict is another one by now.
    pub fn due(&self, uptime: Duration) -> Vec<Currency> {
        let due = self.until.iter().filter(|(_, until)| **until <= uptime);
        due.map(|(currency, _)| *currency).collect()
    }

    /// Uptime at which a verdict is another one by itself.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.until.values().min().copied()
    }

    /// The primary source quotes a price.
    pub fn quote(&mut self, source: SourceId, currency: Currency, price: Price, now: Now) {
        let quotes = self.quotes.entry(currency).or_default();
        quotes.quote(source, price, now);
    }

    /// A witness quotes a price, of a moment of its own clock.
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

    /// Forgets other currencies than these.
    pub fn keep(&mut self, is_wanted: impl Fn(&Currency) -> bool) {
        self.quotes.retain(|currency, _| is_wanted(currency));
        self.until.retain(|currency, _| is_wanted(currency));
        if !self.truths.keys().all(&is_wanted) {
            Arc::make_mut(&mut self.truths).retain(|currency, _| is_wanted(currency));
        }
    }

    /// Counts what a source has quoted no more until it says something again; tells in which currencies it has.
    pub fn silence(&mut self, source: SourceId) -> Vec<Currency> {
        let of_source = self
            .quotes
            .iter_mut()
            .filter(|(_, quotes)| quotes.has(source));
        let silenced = of_source.map(|(currency, quotes)| {
            quotes.silence(source);
            *currency
        });
        silenced.collect()
    }

    /// Forgets what others than these have quoted.
    pub fn keep_sources(&mut self, is_heard: impl Fn(SourceId) -> bool) {
        for quotes in self.quotes.values_mut() {
            quotes.keep(&is_heard);
        }
    }

    /// Shows what the quotes in a currency come to.
    pub fn settle(
        &mut self,
        currency: Currency,
        market: &mut Arc<Market>,
        rules: PriceRules,
        uptime: Duration,
    ) -> VerdictEffect {
        let Some(quotes) = self.quotes.get_mut(&currency) else {
            return VerdictEffect {
                differs: false,
                doubts: Vec::new(),
            };
        };
        let known = market.prices.get(&currency);
        let verdict = quotes.judge(known, rules, uptime);
        match verdict.until {
            Some(until) => self.until.insert(currency, until),
            None => self.until.remove(&currency),
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
        VerdictEffect {
            differs,
            doubts: verdict.doubts,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn a_currency_that_is_forgotten_is_never_due() {
        let [kept, gone] = ["USD", "EUR"].map(|code| Currency::parse(code).unwrap());
        let (mut book, mut market) = (PriceBook::default(), Arc::default());
        let rules = PriceRules {
            band_permille: 10,
            quorum: 1,
            witnessed: false,
        };
        let at = |secs| Now {
            uptime: Duration::from_secs(secs),
            utc: None,
        };
        for (currency, secs) in [(gone, 0), (kept, 60)] {
            let price = Price::parse("60000").unwrap();
            book.quote(SourceId::Relay, currency, price, at(secs));
            book.settle(currency, &mut market, rules, at(secs).uptime);
        }
        let sooner = book.next_deadline().unwrap();
        assert_eq!(book.due(sooner), [gone]);
        book.keep(|currency| *currency == kept);
        // Nobody would ever settle it.
        assert!(book.next_deadline().unwrap() > sooner);
        assert_eq!(book.due(Duration::MAX), [kept]);
    }
}
