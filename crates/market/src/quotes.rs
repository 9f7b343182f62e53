//! The price in one currency: what each source quotes, how far the quotes agree, and which one is shown.
//!
//! The shown price is always the quote of one source, never a mean: the quote of the *primary* source, which the owner has
//! chosen, unless the *witnesses* contradict it. Without a quote of the primary source, the median quote takes its place. A
//! quote counts while it is *fresh*. Its age is that of the newest trade, by the clock of the venue. A source without
//! timestamps is fresh only while its price changes.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::{
    limits::{AGREED_PRICE_HELD, QUOTE_AHEAD_MAX, QUOTE_FRESH, STALE_PRICE},
    next_deadline::NextDeadline,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::Price,
    values::{Datum, Seen},
};

/// How good a price or a fee rate is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PriceState {
    /// It is near the median, as are the quotes of a quorum of sources.
    Agreed,
    /// It is near the median, without a quorum.
    Single,
    /// The primary source contradicts the median.
    Disputed,
    /// There is no fresh quote.
    #[default]
    Stale,
}

impl PriceState {
    /// All states, best first.
    pub const ALL: [PriceState; 4] = [
        PriceState::Agreed,
        PriceState::Single,
        PriceState::Disputed,
        PriceState::Stale,
    ];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            PriceState::Agreed => "agreed",
            PriceState::Single => "single",
            PriceState::Disputed => "disputed",
            PriceState::Stale => "stale",
        }
    }
}

/// Verdict on a quote or on a fee rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteVerdict {
    /// It is within the band around the median.
    Agrees,
    /// It is outside the band.
    Apart,
    /// It is too old to count.
    Old,
}

impl QuoteVerdict {
    /// All verdicts.
    pub const ALL: [QuoteVerdict; 3] =
        [QuoteVerdict::Agrees, QuoteVerdict::Apart, QuoteVerdict::Old];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            QuoteVerdict::Agrees => "agrees",
            QuoteVerdict::Apart => "apart",
            QuoteVerdict::Old => "old",
        }
    }
}

/// A quote with the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedQuote {
    /// The source.
    pub source: SourceId,
    /// The price.
    pub price: Price,
    /// Time of the trade.
    pub seen: Seen,
    /// The verdict.
    pub verdict: QuoteVerdict,
}

/// How good a price is, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTruth {
    /// How good it is.
    pub state: PriceState,
    /// Uptime since which it has been single or disputed; `None` otherwise.
    pub doubted: Option<Duration>,
    /// Distance from the lowest to the highest fresh quote, in thousandths of the lowest. `None` for fewer than two.
    pub spread_permille: Option<u64>,
    /// All quotes, including those that do not count.
    pub quotes: Vec<JudgedQuote>,
}

/// What the settings demand of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRules {
    /// Largest distance from the median of a quote that agrees, thousandths.
    pub band_permille: u64,
    /// Number of sources that must agree.
    pub quorum: usize,
}

/// The newest quote of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SourceQuote {
    price: Price,
    /// Time of the trade, or of the newest change.
    seen: Seen,
    /// Uptime of the newest report.
    reported: Duration,
    /// Its source is disconnected. If the source reports the same price after that, it does not become fresh again.
    is_disconnected: bool,
}

/// The quotes in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CurrencyQuotes {
    quotes: BTreeMap<SourceId, SourceQuote>,
    primary: Option<SourceId>,
    agreed: Option<AgreedPrice>,
    /// The state, and the uptime since which it has been that.
    state: (PriceState, Duration),
}

/// The last agreed price.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AgreedPrice {
    price: Datum<Price>,
    /// Uptime until which it may be shown; `None` while it is agreed.
    end: Option<Duration>,
}

/// The price that is shown, and how good it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceVerdict {
    /// The quote that is shown; `None` if there has never been one.
    pub shown: Option<Datum<Price>>,
    /// How good it is.
    pub truth: PriceTruth,
    /// It is marked as disputed.
    pub is_marked: bool,
    /// Uptime at which the verdict changes without a report.
    pub next_deadline: Option<Duration>,
}

impl CurrencyQuotes {
    /// Records a quote of the primary source. It replaces that of another primary source.
    pub fn quote(&mut self, source: SourceId, price: Price, now: Now) {
        let before = self.primary.replace(source);
        if let Some(before) = before.filter(|before| *before != source) {
            self.quotes.remove(&before);
        }
        self.record(source, price, None, now);
    }

    /// Records a quote of a witness, with the time of the trade by the clock of the venue.
    pub fn witness(&mut self, source: SourceId, price: Price, at: Option<UtcTime>, now: Now) {
        self.record(source, price, at, now);
    }

    /// Drops the quotes of other sources.
    pub fn retain_sources(&mut self, is_kept: impl Fn(SourceId) -> bool) {
        self.quotes.retain(|source, _| is_kept(*source));
    }

    /// Stops counting the quote of a source until the source reports again. Returns whether there is one.
    pub fn disconnect(&mut self, source: SourceId) -> bool {
        let quote = self.quotes.get_mut(&source);
        quote.map(|quote| quote.is_disconnected = true).is_some()
    }

    fn record(&mut self, source: SourceId, price: Price, at: Option<UtcTime>, now: Now) {
        let known = self.quotes.get(&source).copied();
        let age = age(at, now);
        let seen = Seen::ago(age.unwrap_or_default(), now.uptime);
        // A quote with a timestamp is new unless it is older than the known one, a quote without one if the price differs.
        let is_new = known.is_none_or(|known| match age {
            Some(_) => !known.seen.is_after(seen),
            None => known.price != price,
        });
        let (price, seen) = match known.filter(|_| !is_new) {
            Some(known) => (known.price, known.seen),
            None => (price, seen),
        };
        let quote = SourceQuote {
            price,
            seen,
            reported: now.uptime,
            is_disconnected: false,
        };
        self.quotes.insert(source, quote);
    }

    /// Decides which quote is shown; `shown` is the price so far, which may be from an earlier run.
    pub fn decide(
        &mut self,
        shown: Option<&Datum<Price>>,
        rules: PriceRules,
        now: Duration,
    ) -> PriceVerdict {
        let mut deadline = NextDeadline::after(now);
        let fresh = self.fresh(&mut deadline);
        let median = self.median(&fresh);
        let agreeing = self.within(&fresh, median, rules.band_permille);
        let middle = median.map(|(source, _)| source);
        let leading = self.primary.filter(|primary| fresh.contains(primary));
        let leading = leading.or(middle);
        let mut state = match leading {
            Some(leading) if !agreeing.contains(&leading) => PriceState::Disputed,
            Some(_) if agreeing.len() >= rules.quorum => PriceState::Agreed,
            Some(_) | None => PriceState::Single,
        };
        let agreed = self.last_agreed(state, leading, &mut deadline);
        let is_disputed = state == PriceState::Disputed;
        let is_marked = is_disputed && agreed.is_none();
        let shown = match leading {
            Some(_) if is_disputed => agreed.or_else(|| Some(self.datum(middle?))),
            Some(leading) => Some(self.datum(leading)),
            // A source without timestamps may report the same price for long.
            None => match self.primary.filter(|primary| self.is_connected(*primary)) {
                Some(primary) => Some(self.datum(primary)),
                None => shown.cloned(),
            },
        };
        let is_old = |shown: &Datum<Price>| {
            let lasts = shown.seen.lasts_until(STALE_PRICE);
            lasts.is_none_or(|end| deadline.has_passed(end))
        };
        if fresh.is_empty() && shown.as_ref().is_none_or(is_old) {
            state = PriceState::Stale;
        }
        if self.state.0 != state {
            self.state = (state, now);
        }
        let is_doubted = matches!(state, PriceState::Single | PriceState::Disputed);
        let doubted = is_doubted.then_some(self.state.1);
        PriceVerdict {
            truth: PriceTruth {
                state,
                doubted,
                spread_permille: self.spread(&fresh),
                quotes: self.judged_quotes(&fresh, &agreeing),
            },
            shown,
            is_marked,
            next_deadline: deadline.first(),
        }
    }

    /// Sources with a fresh quote.
    fn fresh(&self, deadline: &mut NextDeadline) -> Vec<SourceId> {
        let mut is_fresh = |quote: &SourceQuote| {
            let end = quote.seen.lasts_until(QUOTE_FRESH);
            !quote.is_disconnected && end.is_some_and(|end| !deadline.has_passed(end))
        };
        let quotes = self.quotes.iter();
        let fresh = quotes.filter(|(_, quote)| is_fresh(quote));
        fresh.map(|(source, _)| *source).collect()
    }

    /// The median price and the source nearest below it. For an even number of quotes the median is the mean of the two in
    /// the middle, and the source is that of the lower one.
    fn median(&self, among: &[SourceId]) -> Option<(SourceId, Price)> {
        let price = |source: &SourceId| self.quotes[source].price;
        let mut sorted = among.to_vec();
        sorted.sort_unstable_by_key(|source| (price(source), *source));
        let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
        let micros = price(&sorted[low])
            .micros
            .midpoint(price(&sorted[high]).micros);
        Some((sorted[low], Price { micros }))
    }

    /// Sources within so many thousandths of the median.
    fn within(
        &self,
        among: &[SourceId],
        median: Option<(SourceId, Price)>,
        band: u64,
    ) -> Vec<SourceId> {
        let is_near = |source: &&SourceId| {
            median.is_some_and(|(_, median)| permille(self.quotes[source].price, median) <= band)
        };
        among.iter().filter(is_near).copied().collect()
    }

    /// The last agreed price, until its time is over.
    fn last_agreed(
        &mut self,
        state: PriceState,
        leading: Option<SourceId>,
        deadline: &mut NextDeadline,
    ) -> Option<Datum<Price>> {
        if let Some(leading) = leading.filter(|_| state == PriceState::Agreed) {
            let price = self.datum(leading);
            self.agreed = Some(AgreedPrice { price, end: None });
        } else if let Some(agreed) = &mut self.agreed {
            let end = *agreed.end.get_or_insert(deadline.now() + AGREED_PRICE_HELD);
            if deadline.has_passed(end) {
                self.agreed = None;
            }
        }
        self.agreed.as_ref().map(|agreed| agreed.price.clone())
    }

    fn is_connected(&self, source: SourceId) -> bool {
        let quote = self.quotes.get(&source);
        quote.is_some_and(|quote| !quote.is_disconnected)
    }

    /// A quote with source and age. The price of the primary source is as old as its newest report.
    fn datum(&self, source: SourceId) -> Datum<Price> {
        let quote = &self.quotes[&source];
        let is_primary = Some(source) == self.primary;
        let seen = if is_primary { Seen::At(quote.reported) } else { quote.seen };
        Datum {
            value: quote.price,
            source,
            seen,
        }
    }

    fn spread(&self, fresh: &[SourceId]) -> Option<u64> {
        let prices = || fresh.iter().map(|source| self.quotes[source].price);
        let (low, high) = (prices().min()?, prices().max()?);
        (fresh.len() > 1).then(|| permille(high, low))
    }

    /// All quotes of connected sources, with the verdict on each.
    fn judged_quotes(&self, fresh: &[SourceId], agreeing: &[SourceId]) -> Vec<JudgedQuote> {
        let verdict = |source: &SourceId| {
            if !fresh.contains(source) {
                QuoteVerdict::Old
            } else if agreeing.contains(source) {
                QuoteVerdict::Agrees
            } else {
                QuoteVerdict::Apart
            }
        };
        let judged = |(source, quote): (&SourceId, &SourceQuote)| JudgedQuote {
            source: *source,
            price: quote.price,
            seen: quote.seen,
            verdict: verdict(source),
        };
        let connected = self.quotes.iter();
        let connected = connected.filter(|(_, quote)| !quote.is_disconnected);
        connected.map(judged).collect()
    }
}

/// Age of a trade; `None` if the time of the trade or our time is unknown, or if the trade is too far in the future.
fn age(at: Option<UtcTime>, now: Now) -> Option<Duration> {
    let age_ms = now.utc?.unix_ms.saturating_sub(at?.unix_ms);
    let ahead = Duration::from_millis(age_ms.min(0).unsigned_abs());
    (ahead <= QUOTE_AHEAD_MAX).then(|| Duration::from_millis(age_ms.max(0).unsigned_abs()))
}

/// Distance of a price from another, in thousandths of that, rounded up.
fn permille(price: Price, from: Price) -> u64 {
    let off = u128::from(price.micros.abs_diff(from.micros)) * 1000;
    u64::try_from(off.div_ceil(u128::from(from.micros).max(1))).unwrap_or(u64::MAX)
}
