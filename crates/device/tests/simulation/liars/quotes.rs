//! What must be said of a price, in plain rules: the newest quote of everybody, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};

use market::{PriceState, source_id::SourceId};

/// Seconds for which a quote counts.
const FRESH: i64 = 5 * 60;

/// The newest quote of a source.
#[derive(Debug, Clone, Copy)]
struct Quote {
    dollars: u64,
    /// When it was true.
    seen: i64,
    /// Nobody can tell whether it still is.
    silent: bool,
}

/// All that was said of the price in dollars.
#[derive(Debug)]
pub struct Quotes {
    pub now: i64,
    pub quorum: usize,
    /// Who is the owner's choice.
    primary: SourceId,
    quotes: BTreeMap<SourceId, Quote>,
    /// Who is far off, and who was before this second.
    out: BTreeSet<SourceId>,
    was_out: BTreeSet<SourceId>,
    /// Every price that a source has ever told, and when it did last.
    told: BTreeMap<(SourceId, u64), i64>,
}

impl Quotes {
    pub fn new(primary: SourceId) -> Quotes {
        Quotes {
            now: 0,
            quorum: 2,
            primary,
            quotes: BTreeMap::new(),
            out: BTreeSet::new(),
            was_out: BTreeSet::new(),
            told: BTreeMap::new(),
        }
    }

    /// A source tells a price that was paid so many seconds ago; without a time only another price is news.
    pub fn tell(&mut self, source: SourceId, dollars: u64, ago: Option<i64>) {
        self.told.insert((source, dollars), self.now);
        let known = self.quotes.get(&source);
        let seen = self.now - ago.unwrap_or_default();
        let is_news = known.is_none_or(|known| match ago {
            Some(_) => seen >= known.seen,
            None => known.dollars != dollars,
        });
        let silent = false;
        let new = Quote {
            dollars,
            seen,
            silent,
        };
        let old = known.map(|known| Quote { silent, ..*known });
        self.quotes
            .insert(source, old.filter(|_| !is_news).unwrap_or(new));
    }

    pub fn silence(&mut self, source: SourceId) {
        if let Some(quote) = self.quotes.get_mut(&source) {
            quote.silent = true;
        }
    }

    pub fn forget(&mut self, source: SourceId) {
        self.quotes.remove(&source);
        self.out.remove(&source);
        self.was_out.remove(&source);
    }

    /// Another second has come.
    pub fn pass(&mut self) {
        self.was_out = self.out.clone();
    }

    /// When a source has told a price last.
    pub fn told(&self, source: SourceId, dollars: u64) -> Option<i64> {
        self.told.get(&(source, dollars)).copied()
    }

    /// Tells whether somebody whose quote counts is far off, and has not come back.
    pub fn is_out(&self, source: SourceId) -> bool {
        self.out.contains(&source)
    }

    /// How good the price is, and which one is shown where enough agree; none where nobody is heard.
    pub fn verdict(&mut self) -> Option<(PriceState, Option<u64>)> {
        let is_fresh = |quote: &Quote| !quote.silent && self.now < quote.seen + FRESH;
        let quotes = self.quotes.iter().filter(|(_, quote)| is_fresh(quote));
        let fresh: BTreeMap<SourceId, u64> =
            quotes.map(|(id, quote)| (*id, quote.dollars)).collect();
        // Where most are near the middle, who is ten in a hundred off is out until they are less than five off.
        let near = fresh
            .values()
            .filter(|price| off(**price, middle(&fresh)) <= 100);
        let has_middle = near.count() * 2 > fresh.len();
        for (id, price) in &fresh {
            let off = off(*price, middle(&fresh));
            let is_out = off > 100 || (self.was_out.contains(id) && off >= 50);
            match has_middle && is_out {
                true => self.out.insert(*id),
                false => self.out.remove(id),
            };
        }
        let mut counted = fresh.clone();
        counted.retain(|id, _| !self.out.contains(id));
        let mut agreeing = counted.clone();
        agreeing.retain(|_, price| off(*price, middle(&counted)) <= 20);
        let is_most = agreeing.len() * 2 > fresh.len();
        let price = agreeing
            .get(&self.primary)
            .copied()
            .unwrap_or(middle(&counted));
        match (
            is_most && agreeing.len() >= self.quorum,
            agreeing.len() == fresh.len(),
        ) {
            _ if counted.is_empty() => None,
            (true, _) => Some((PriceState::Agreed, Some(price))),
            (false, true) => Some((PriceState::Single, None)),
            (false, false) => Some((PriceState::Disputed, None)),
        }
    }
}

/// The price in the middle, the lower one of two; nought of none.
fn middle(prices: &BTreeMap<SourceId, u64>) -> u64 {
    let mut sorted: Vec<u64> = prices.values().copied().collect();
    sorted.sort_unstable();
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or_default()
}

/// How far a price is from another, in thousandths, rounded up.
fn off(price: u64, from: u64) -> u64 {
    (price.abs_diff(from) * 1000).div_ceil(from.max(1))
}
