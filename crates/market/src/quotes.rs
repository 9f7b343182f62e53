//! The price in one currency: what each source quotes, how far the quotes agree, and which one is shown.
//!
//! The shown price is always the quote of one source, never a mean: the quote of the *primary* source, which the owner has
//! chosen, unless the *witnesses* contradict it. A quote counts while it is *fresh*. Its age is that of the newest trade, by
//! the clock of the venue. A source without timestamps is fresh only while its price changes.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::time::Duration;

use crate::{
    limits::{
        AGREED_PRICE_HELD, DOUBT_TIME, JUMP_HELD, JUMP_PERMILLE, OUTLIER_BACK_PERMILLE,
        OUTLIER_PERMILLE, QUOTE_AHEAD_MAX, QUOTE_FRESH, STALE_PRICE,
    },
    mark::Mark,
    next_deadline::NextDeadline,
    now::{Now, UtcTime},
    source_id::SourceId,
    truth::MarkReason,
    units::Price,
    values::{Datum, Seen},
};

/// How good a price or a fee rate is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PriceState {
    /// A quorum of sources, and more than half of all, agree.
    Agreed,
    /// There is no quorum, but no contradiction either.
    Single,
    /// The sources contradict each other.
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
    /// It is an outlier, which does not count until it comes back.
    Outlier,
    /// It is too old to count.
    Old,
}

impl QuoteVerdict {
    /// All verdicts.
    pub const ALL: [QuoteVerdict; 4] = [
        QuoteVerdict::Agrees,
        QuoteVerdict::Apart,
        QuoteVerdict::Outlier,
        QuoteVerdict::Old,
    ];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            QuoteVerdict::Agrees => "agrees",
            QuoteVerdict::Apart => "apart",
            QuoteVerdict::Outlier => "out",
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
    /// Uptime since which the sources have contradicted each other, or else no quorum has agreed; `None` if it is agreed.
    pub doubted: Option<Duration>,
    /// Distance from the lowest to the highest quote that counts, in thousandths of the lowest. `None` for fewer than two.
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
    /// A witness with a market in the currency is planned.
    pub has_witness: bool,
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

/// The quotes in one currency, and the history of the verdicts on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CurrencyQuotes {
    quotes: BTreeMap<SourceId, SourceQuote>,
    primary: Option<SourceId>,
    history: QuoteHistory,
    /// Moment of the newest verdict, and the history before it. Each verdict of the same moment starts from that history,
    /// so that the order of quotes does not matter.
    before: Option<(Duration, QuoteHistory)>,
}

/// What the next verdict must know of the earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct QuoteHistory {
    /// The price that is shown.
    shown: Option<Datum<Price>>,
    /// Sources whose quote was far off and has not come back.
    outliers: BTreeSet<SourceId>,
    /// The price that is shown while sources contradict each other.
    held: Option<HeldPrice>,
    /// Since when the only quote has been far from the shown price.
    jumped: Option<Duration>,
    /// When a quote that had jumped was shown in the end.
    released: Option<Duration>,
    /// Since when the price has not been agreed.
    weak: Option<Duration>,
    /// Since when sources have contradicted each other.
    disputed: Option<Duration>,
}

/// The last good price before the sources contradicted each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldPrice {
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
    /// The reasons for marks.
    pub mark_reasons: Vec<MarkReason>,
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
        self.restore_history(shown, now);
        let fresh = self.fresh(&mut deadline);
        self.update_outliers(&fresh);
        let counted: Vec<SourceId> = fresh
            .iter()
            .copied()
            .filter(|source| !self.history.outliers.contains(source))
            .collect();
        let median = self.median(&counted);
        let agreeing = self.within(&counted, median, rules.band_permille);
        let is_majority = agreeing.len() * 2 > fresh.len();
        let mut state = if is_majority && agreeing.len() >= rules.quorum {
            PriceState::Agreed
        } else if agreeing.len() == fresh.len() {
            PriceState::Single
        } else {
            PriceState::Disputed
        };
        self.update_held_price(state, now);
        let shown = match state {
            PriceState::Agreed => self.agreed(&agreeing, median),
            PriceState::Disputed => self.contested(&counted, median, rules, &mut deadline),
            PriceState::Single | PriceState::Stale => {
                self.single(&counted, median, rules, &mut deadline)
            }
        };
        let is_old = |shown: &Datum<Price>| {
            let lasts = shown.seen.lasts_until(STALE_PRICE);
            lasts.is_none_or(|end| deadline.has_passed(end))
        };
        if counted.is_empty() && shown.as_ref().is_none_or(is_old) {
            state = PriceState::Stale;
        }
        let mark_reasons = self.mark_reasons(state, rules, now);
        PriceVerdict {
            truth: PriceTruth {
                state,
                doubted: self.history.disputed.or(self.history.weak),
                spread_permille: self.spread(&counted),
                quotes: self.judged_quotes(&fresh, &agreeing),
            },
            shown,
            mark_reasons,
            next_deadline: deadline.first(),
        }
    }

    /// Restores the history before this moment.
    fn restore_history(&mut self, shown: Option<&Datum<Price>>, now: Duration) {
        let before = self.before.take().filter(|(at, _)| *at == now);
        let (_, mut before) = before.unwrap_or_else(|| {
            let history = QuoteHistory {
                shown: shown.cloned(),
                ..core::mem::take(&mut self.history)
            };
            (now, history)
        });
        before
            .outliers
            .retain(|source| self.quotes.contains_key(source));
        self.history.clone_from(&before);
        self.before = Some((now, before));
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

    /// A quote is an outlier if it is far from a median that more than half of the quotes are near to. It stays one until it
    /// is clearly near again.
    fn update_outliers(&mut self, fresh: &[SourceId]) {
        let Some(median) = self.median(fresh) else {
            return;
        };
        let near = self.within(fresh, Some(median), OUTLIER_PERMILLE);
        // Without a majority near the median, no quote is far from it.
        let has_majority = near.len() * 2 > fresh.len();
        let median = self.quotes[&median].price;
        for source in fresh {
            let was_outlier = self.history.outliers.remove(source);
            let off = permille(self.quotes[source].price, median);
            let is_outlier =
                off > OUTLIER_PERMILLE || (was_outlier && off >= OUTLIER_BACK_PERMILLE);
            if has_majority && is_outlier {
                self.history.outliers.insert(*source);
            }
        }
    }

    /// The source with the median quote; of an even number the lower one.
    fn median(&self, among: &[SourceId]) -> Option<SourceId> {
        let mut sorted = among.to_vec();
        sorted.sort_unstable_by_key(|source| (self.quotes[source].price, *source));
        let middle = sorted.len().checked_sub(1)? / 2;
        sorted.get(middle).copied()
    }

    /// Sources within so many thousandths of the quote of one of them.
    fn within(&self, among: &[SourceId], of: Option<SourceId>, band: u64) -> Vec<SourceId> {
        let Some(middle) = of.map(|source| self.quotes[&source].price) else {
            return Vec::new();
        };
        let is_near = |source: &&SourceId| permille(self.quotes[source].price, middle) <= band;
        among.iter().filter(is_near).copied().collect()
    }

    /// Once the sources no longer agree or contradict each other, the last good price is held for a while.
    fn update_held_price(&mut self, state: PriceState, now: Duration) {
        if state == PriceState::Agreed {
            return;
        }
        let history = &mut self.history;
        let is_over = |held: &mut HeldPrice| held.end.is_some_and(|end| end <= now);
        history.held.take_if(is_over);
        if let Some(held) = &mut history.held {
            held.end.get_or_insert(now + AGREED_PRICE_HELD);
            return;
        }
        let is_new = state == PriceState::Disputed && history.disputed.is_none();
        let is_recent = |shown: &&Datum<Price>| {
            let end = shown.seen.lasts_until(QUOTE_FRESH);
            end.is_some_and(|end| now < end)
        };
        if let Some(shown) = history.shown.as_ref().filter(is_recent).filter(|_| is_new) {
            history.held = Some(HeldPrice {
                price: shown.clone(),
                end: Some(now + DOUBT_TIME),
            });
        }
    }

    /// The quote of the primary source if that agrees, else the median.
    fn agreed(&mut self, agreeing: &[SourceId], median: Option<SourceId>) -> Option<Datum<Price>> {
        self.history.jumped = None;
        let primary = self.primary.filter(|primary| agreeing.contains(primary));
        let price = self.datum(primary.or(median)?);
        self.history.held = Some(HeldPrice {
            price: price.clone(),
            end: None,
        });
        Some(price)
    }

    /// The held price, while its time is not over and a source still quotes about the same; then the quote of the primary
    /// source.
    fn contested(
        &mut self,
        counted: &[SourceId],
        median: Option<SourceId>,
        rules: PriceRules,
        deadline: &mut NextDeadline,
    ) -> Option<Datum<Price>> {
        self.history.jumped = None;
        let held = self.history.held.take().filter(|held| {
            let off = |source: &SourceId| permille(self.quotes[source].price, held.price.value);
            let is_quoted = counted
                .iter()
                .any(|source| off(source) <= rules.band_permille);
            is_quoted && !held.end.is_some_and(|end| deadline.has_passed(end))
        });
        self.history.held = held;
        if let Some(held) = &self.history.held {
            return Some(held.price.clone());
        }
        let primary = self.primary.filter(|primary| counted.contains(primary));
        primary.or(median).map(|source| self.datum(source))
    }

    /// The quote of the primary source, else the median. A price that has jumped is held back for a while.
    fn single(
        &mut self,
        counted: &[SourceId],
        median: Option<SourceId>,
        rules: PriceRules,
        deadline: &mut NextDeadline,
    ) -> Option<Datum<Price>> {
        let primary = self.primary.filter(|primary| counted.contains(primary));
        // A source without timestamps may report the same price for long.
        let is_connected = |source: &SourceId| {
            let quote = self.quotes.get(source);
            quote.is_some_and(|quote| !quote.is_disconnected)
        };
        let unchanged = self.primary.filter(is_connected);
        let unchanged = unchanged.filter(|_| counted.is_empty());
        let source = primary.or(median).or(unchanged);
        let Some(source) = source else {
            return self.history.shown.clone();
        };
        let next = self.datum(source);
        let Some(shown) = self.history.shown.as_ref().filter(|_| rules.has_witness) else {
            self.history.jumped = None;
            return Some(next);
        };
        let is_far = permille(next.value, shown.value) > JUMP_PERMILLE;
        let held = shown.seen.lasts_until(JUMP_HELD);
        let was_recent = held.is_some_and(|end| deadline.now() <= end);
        if !is_far || (self.history.jumped.is_none() && !was_recent) {
            self.history.jumped = None;
            return Some(next);
        }
        let since = *self.history.jumped.get_or_insert(deadline.now());
        if deadline.has_passed(since + JUMP_HELD) {
            self.history.jumped = None;
            self.history.released = Some(deadline.now());
            return Some(next);
        }
        Some(shown.clone())
    }

    /// A quote with source and age. The price of the primary source is as old as its newest report.
    fn datum(&self, source: SourceId) -> Datum<Price> {
        let quote = &self.quotes[&source];
        let is_primary = Some(source) == self.primary;
        let seen = match is_primary {
            true => Seen::At(quote.reported),
            false => quote.seen,
        };
        Datum {
            value: quote.price,
            source,
            seen,
        }
    }

    fn mark_reasons(
        &mut self,
        state: PriceState,
        rules: PriceRules,
        now: Duration,
    ) -> Vec<MarkReason> {
        let history = &mut self.history;
        match state {
            PriceState::Agreed | PriceState::Stale => {
                (history.weak, history.disputed, history.released) = (None, None, None);
            }
            PriceState::Single => {
                history.weak.get_or_insert(now);
                history.disputed = None;
            }
            PriceState::Disputed => {
                history.weak.get_or_insert(now);
                history.disputed.get_or_insert(now);
            }
        }
        let disputed = history.disputed.map(|since| MarkReason {
            mark: Mark::Disputed,
            // The held price was agreed, so it has no mark.
            from: history
                .held
                .as_ref()
                .and_then(|held| held.end)
                .unwrap_or(since),
        });
        // If the price was weak before it was disputed, both marks apply; the glass shows the worse one.
        let is_alone = |weak: &Duration| history.disputed.is_none_or(|since| *weak < since);
        let weak = history.weak.filter(|_| rules.has_witness);
        let alone = weak.filter(is_alone).map(|since| MarkReason {
            mark: Mark::Alone,
            from: match history.released {
                Some(released) => released.min(since + DOUBT_TIME),
                None => since + DOUBT_TIME,
            },
        });
        disputed.into_iter().chain(alone).collect()
    }

    fn spread(&self, counted: &[SourceId]) -> Option<u64> {
        let prices = || counted.iter().map(|source| self.quotes[source].price);
        let (low, high) = (prices().min()?, prices().max()?);
        (counted.len() > 1).then(|| permille(high, low))
    }

    /// All quotes of connected sources, with the verdict on each.
    fn judged_quotes(&self, fresh: &[SourceId], agreeing: &[SourceId]) -> Vec<JudgedQuote> {
        let verdict = |source: &SourceId| {
            if !fresh.contains(source) {
                QuoteVerdict::Old
            } else if self.history.outliers.contains(source) {
                QuoteVerdict::Outlier
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
