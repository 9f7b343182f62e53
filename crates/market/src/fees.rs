//! Chooses the fee rate among the sources with a fresh rate: connected sources first, then the primary source before the
//! node. If no source has a fresh rate, the newest rate is shown, marked as stale.
//!
//! A rate is fresh for an hour, because sources send it only when it changes; the rate of an explorer is stale after three
//! failed polls.

use alloc::{collections::BTreeMap, sync::Arc};
use core::time::Duration;

use crate::{
    figures::{Figure, FigureIdentity},
    limits::{FEE_MAX_SAT_VB, STALE_FEE},
    next_deadline::NextDeadline,
    source_id::SourceId,
    units::{FeeRate, MICRO},
    values::{Datum, Market, Seen},
};

/// How many decimals a source gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeePrecision {
    /// None.
    Whole,
    /// All that it has.
    Precise,
}

/// A rate as a source gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeQuote {
    /// The source.
    pub source: SourceId,
    /// The server it was polled from.
    pub identity: FigureIdentity,
    /// The rate.
    pub rate: FeeRate,
    /// How many decimals it has.
    pub precision: FeePrecision,
    /// Uptime at which the source sent it.
    pub at: Duration,
}

impl FeeQuote {
    /// Returns whether the rate is possible. No transaction is confirmed without a fee, and the median of a block has never
    /// reached the maximum.
    pub fn is_possible(&self) -> bool {
        (1..=FEE_MAX_SAT_VB * MICRO).contains(&self.rate.micros)
    }
}

/// The newest rates of one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct FeeRates {
    whole: Option<Figure<FeeRate>>,
    precise: Option<Figure<FeeRate>>,
    /// The connection of the source was lost after that.
    is_down: bool,
}

impl FeeRates {
    fn of(market: &Market) -> FeeRates {
        FeeRates {
            whole: market.fee.clone(),
            precise: market.precise_fee.clone(),
            is_down: false,
        }
    }

    fn newest(&self) -> Option<&Figure<FeeRate>> {
        match (&self.whole, &self.precise) {
            (Some(whole), Some(precise)) if whole.datum.seen.is_after(precise.datum.seen) => {
                Some(whole)
            }
            (whole, precise) => precise.as_ref().or(whole.as_ref()),
        }
    }

    /// Uptime until which the rate is fresh; `None` if it never was in this run.
    fn fresh_until(&self) -> Option<Duration> {
        let newest = self.newest()?;
        newest.datum.seen.lasts_until(newest.lifetime(STALE_FEE))
    }

    fn values(&self) -> [Option<FeeRate>; 2] {
        let value = |figure: &Figure<FeeRate>| figure.datum.value;
        [
            self.whole.as_ref().map(value),
            self.precise.as_ref().map(value),
        ]
    }
}

/// The rates of all sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fees {
    rates: BTreeMap<SourceId, FeeRates>,
    is_fresh: bool,
    /// Uptime at which another rate is shown, or the shown one is stale.
    next_deadline: Option<Duration>,
}

impl Fees {
    /// Returns whether the shown rate is fresh.
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Uptime at which the result of [`Fees::settle`] changes by itself.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.next_deadline
    }

    /// Stores a rate.
    pub fn quote(&mut self, quote: FeeQuote) {
        let rates = self.rates.entry(quote.source).or_default();
        let place = match quote.precision {
            FeePrecision::Whole => &mut rates.whole,
            FeePrecision::Precise => &mut rates.precise,
        };
        *place = Some(Figure {
            datum: Datum {
                value: quote.rate,
                source: quote.source,
                seen: Seen::At(quote.at),
            },
            identity: quote.identity,
            failed_polls: 0,
        });
        rates.is_down = false;
    }

    /// Notes that the connection of a source was lost, or an attempt to connect failed.
    pub fn source_failed(&mut self, source: SourceId) {
        let Some(rates) = self.rates.get_mut(&source) else {
            return;
        };
        rates.is_down = true;
        // Only an explorer answers polls; the others send a rate when it changes.
        if source == SourceId::Explorer {
            for figure in [&mut rates.whole, &mut rates.precise].into_iter().flatten() {
                figure.failed_polls = figure.failed_polls.saturating_add(1);
            }
        }
    }

    /// Removes a source that is not used any more.
    pub fn forget(&mut self, source: SourceId) {
        self.rates.remove(&source);
    }

    /// Shows the rate that is valid now; returns whether its value differs from the one before.
    pub fn settle(&mut self, market: &mut Arc<Market>, uptime: Duration) -> bool {
        let mut deadline = NextDeadline::after(uptime);
        let mut is_fresh = |rates: &FeeRates| {
            rates
                .fresh_until()
                .is_some_and(|end| !deadline.has_passed(end))
        };
        // The order of sources puts the primary source first, then the node.
        let fresh = self.rates.iter().filter(|(_, rates)| is_fresh(rates));
        let best = fresh.min_by_key(|(source, rates)| (rates.is_down, **source));
        let known = FeeRates::of(market);
        let shown = match best {
            Some((_, rates)) => rates.clone(),
            None => self.newest(&known),
        };
        self.is_fresh = best.is_some();
        self.next_deadline = deadline.first();
        if (&shown.whole, &shown.precise) != (&known.whole, &known.precise) {
            let market = Arc::make_mut(market);
            (market.fee, market.precise_fee) = (shown.whole.clone(), shown.precise.clone());
        }
        shown.values() != known.values()
    }

    /// The newest rates: those of a source, or the rates that were shown before.
    fn newest(&self, known: &FeeRates) -> FeeRates {
        let seen = |rates: &FeeRates| rates.newest().map(|figure| figure.datum.seen);
        let mut newest = known;
        for rates in self.rates.values() {
            let is_newer = match (seen(rates), seen(newest)) {
                (Some(one), Some(other)) => !other.is_after(one),
                (Some(_), None) => true,
                (None, _) => false,
            };
            if is_newer {
                newest = rates;
            }
        }
        newest.clone()
    }
}
