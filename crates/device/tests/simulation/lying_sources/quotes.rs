//! Reference implementation of the rules for prices, from the newest quote of each source.

use std::collections::{BTreeMap, BTreeSet};

use market::{PriceState, source_id::SourceId};

/// How long a quote is fresh, s.
const FRESH: i64 = 5 * 60;

/// The newest quote of a source.
#[derive(Debug, Clone, Copy)]
struct Quote {
    dollars: u64,
    /// Time of the trade.
    seen: i64,
    /// The source is disconnected.
    disconnected: bool,
}

/// All quotes in dollars.
#[derive(Debug)]
pub struct Quotes {
    pub now: i64,
    pub quorum: usize,
    /// The primary source.
    primary: SourceId,
    quotes: BTreeMap<SourceId, Quote>,
    /// The outliers now, and at the end of the previous second.
    outliers: BTreeSet<SourceId>,
    previous_outliers: BTreeSet<SourceId>,
    /// All quoted prices and the last time of each.
    history: BTreeMap<(SourceId, u64), i64>,
}

impl Quotes {
    pub fn new(primary: SourceId) -> Quotes {
        Quotes {
            now: 0,
            quorum: 2,
            primary,
            quotes: BTreeMap::new(),
            outliers: BTreeSet::new(),
            previous_outliers: BTreeSet::new(),
            history: BTreeMap::new(),
        }
    }

    /// Records a quote of a trade `ago` seconds ago. Without a time, only a different price counts as new.
    pub fn quote(&mut self, source: SourceId, dollars: u64, ago: Option<i64>) {
        self.history.insert((source, dollars), self.now);
        let known = self.quotes.get(&source);
        let seen = self.now - ago.unwrap_or_default();
        let is_new = known.is_none_or(|known| match ago {
            Some(_) => seen >= known.seen,
            None => known.dollars != dollars,
        });
        let disconnected = false;
        let newest = Quote {
            dollars,
            seen,
            disconnected,
        };
        let old = known.map(|known| Quote {
            disconnected,
            ..*known
        });
        self.quotes
            .insert(source, old.filter(|_| !is_new).unwrap_or(newest));
    }

    pub fn disconnect(&mut self, source: SourceId) {
        if let Some(quote) = self.quotes.get_mut(&source) {
            quote.disconnected = true;
        }
    }

    pub fn forget(&mut self, source: SourceId) {
        self.quotes.remove(&source);
        self.outliers.remove(&source);
        self.previous_outliers.remove(&source);
    }

    /// Advances by a second.
    pub fn advance(&mut self) {
        self.previous_outliers = self.outliers.clone();
    }

    /// Time of the source's last quote of this price.
    pub fn last_quoted(&self, source: SourceId, dollars: u64) -> Option<i64> {
        self.history.get(&(source, dollars)).copied()
    }

    /// Whether a source with a fresh quote is an outlier.
    pub fn is_outlier(&self, source: SourceId) -> bool {
        self.outliers.contains(&source)
    }

    /// The state of the price, and the price if enough sources agree. `None` without fresh quotes.
    pub fn verdict(&mut self) -> Option<(PriceState, Option<u64>)> {
        let is_fresh = |quote: &Quote| !quote.disconnected && self.now < quote.seen + FRESH;
        let quotes = self.quotes.iter().filter(|(_, quote)| is_fresh(quote));
        let fresh: BTreeMap<SourceId, u64> =
            quotes.map(|(id, quote)| (*id, quote.dollars)).collect();
        // If most quotes are near the median, a source that is 10 % off is an outlier until it is less than 5 % off.
        let near = fresh
            .values()
            .filter(|price| deviation(**price, median(&fresh)) <= 100);
        let has_consensus = near.count() * 2 > fresh.len();
        for (id, price) in &fresh {
            let off = deviation(*price, median(&fresh));
            let is_out = off > 100 || (self.previous_outliers.contains(id) && off >= 50);
            match has_consensus && is_out {
                true => self.outliers.insert(*id),
                false => self.outliers.remove(id),
            };
        }
        let mut counted = fresh.clone();
        counted.retain(|id, _| !self.outliers.contains(id));
        let mut agreeing = counted.clone();
        agreeing.retain(|_, price| deviation(*price, median(&counted)) <= 20);
        let is_majority = agreeing.len() * 2 > fresh.len();
        let price = agreeing
            .get(&self.primary)
            .copied()
            .unwrap_or(median(&counted));
        match (
            is_majority && agreeing.len() >= self.quorum,
            agreeing.len() == fresh.len(),
        ) {
            _ if counted.is_empty() => None,
            (true, _) => Some((PriceState::Agreed, Some(price))),
            (false, true) => Some((PriceState::Single, None)),
            (false, false) => Some((PriceState::Disputed, None)),
        }
    }
}

/// The median price, the lower one of two; 0 without prices.
fn median(prices: &BTreeMap<SourceId, u64>) -> u64 {
    let mut sorted: Vec<u64> = prices.values().copied().collect();
    sorted.sort_unstable();
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or_default()
}

/// Deviation of a price, per mille, rounded up.
fn deviation(price: u64, from: u64) -> u64 {
    (price.abs_diff(from) * 1000).div_ceil(from.max(1))
}
