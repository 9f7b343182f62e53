//! The verdict on a price: what each source quotes, how far they agree, and which quote is shown.
//!
//! What is shown is always somebody's quote, never a mean: that of the *primary*, which the owner has chosen, as long
//! as the *witnesses* do not contradict it. A quote counts while it is *fresh*, by the venue's own time of its newest
//! trade; where a source sends no time, only a quote that changes is news.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::time::Duration;

use super::{
    source_id::SourceId,
    truth::Doubt,
    until::Until,
    values::{Datum, Seen},
};
use crate::{
    limits::{
        AGREED_KEPT, AHEAD_MOST, DOUBT_TIME, JUMP_HELD, JUMP_PERMILLE, OUTLIER_BACK_PERMILLE,
        OUTLIER_PERMILLE, QUOTE_FRESH, STALE_PRICE,
    },
    mark::Mark,
    now::{Now, UtcTime},
    units::Price,
};

/// How good a price or a fee rate is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PriceState {
    /// As many sources as it takes say about the same, and they are more than half of all.
    Agreed,
    /// Fewer do, and none contradicts them.
    Single,
    /// They contradict each other.
    Disputed,
    /// Nobody has said anything for long, or since the start.
    #[default]
    Stale,
}

impl PriceState {
    /// All of them, best first.
    pub const ALL: [PriceState; 4] = [
        PriceState::Agreed,
        PriceState::Single,
        PriceState::Disputed,
        PriceState::Stale,
    ];

    /// Word for it in the status.
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
    /// It is about what most say.
    Agrees,
    /// It is outside the band.
    Apart,
    /// It is so far off that it is not counted until it has come back.
    Out,
    /// It is too old to be counted.
    Old,
}

impl QuoteVerdict {
    /// All of them.
    pub const ALL: [QuoteVerdict; 4] = [
        QuoteVerdict::Agrees,
        QuoteVerdict::Apart,
        QuoteVerdict::Out,
        QuoteVerdict::Old,
    ];

    /// Word for it in the status.
    pub fn name(self) -> &'static str {
        match self {
            QuoteVerdict::Agrees => "agrees",
            QuoteVerdict::Apart => "apart",
            QuoteVerdict::Out => "out",
            QuoteVerdict::Old => "old",
        }
    }
}

/// A quote as the status tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Voice {
    /// The source.
    pub source: SourceId,
    /// The price.
    pub price: Price,
    /// When it was true.
    pub seen: Seen,
    /// What became of it.
    pub standing: QuoteVerdict,
}

/// What is known of how true a price is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTruth {
    /// How good it is.
    pub state: PriceState,
    /// From the lowest to the highest quote that counts, in thousandths of the lowest; none of less than two.
    pub spread_permille: Option<u64>,
    /// All quotes, refused ones included.
    pub voices: Vec<Voice>,
}

/// What the owner asks of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRules {
    /// How far quotes may be apart, thousandths.
    pub band_permille: u64,
    /// How many must agree.
    pub quorum: usize,
    /// A witness is asked that has a market in the currency.
    pub witnessed: bool,
}

/// The newest quote of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SourceQuote {
    price: Price,
    /// When the trade was made, or the newest change came.
    seen: Seen,
    /// Uptime at which it was last told.
    told: Duration,
    /// Its source is away; should it say the same when it is back, that is no news.
    is_silent: bool,
}

/// The quotes in one currency, and what has become of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quotes {
    quotes: BTreeMap<SourceId, SourceQuote>,
    primary: Option<SourceId>,
    course: QuoteHistory,
    /// The moment of the newest judgement, and what had become of the quotes before it: what is said at one moment
    /// counts together, whatever the order.
    before: Option<(Duration, QuoteHistory)>,
}

/// What has become of quotes so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct QuoteHistory {
    /// What is shown.
    shown: Option<Datum<Price>>,
    /// Who was far off, and has not come back.
    out: BTreeSet<SourceId>,
    /// What is shown while sources contradict each other, and until when.
    kept: Option<HeldPrice>,
    /// Since when the only voice has been far from what is shown.
    jumped: Option<Duration>,
    /// Since when a lone quote is shown that had been held back.
    released: Option<Duration>,
    /// Since when the price has been less than agreed.
    weak: Option<Duration>,
    /// Since when sources have contradicted each other.
    disputed: Option<Duration>,
}

/// The last good price before the sources began to contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldPrice {
    price: Datum<Price>,
    /// Until when it may be shown; none as long as it is agreed.
    end: Option<Duration>,
}

/// What is shown and how good it is, and how long that holds if nobody says anything more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceVerdict {
    /// The quote that is shown; none if nobody quotes anything.
    pub shown: Option<Datum<Price>>,
    /// How good it is.
    pub truth: PriceTruth,
    /// The reasons for marks.
    pub doubts: Vec<Doubt>,
    /// Uptime at which the verdict is another one; none if only quotes change it.
    pub until: Option<Duration>,
}

impl Quotes {
    /// The primary source quotes a price; there is one at a time.
    pub fn quote(&mut self, source: SourceId, price: Price, now: Now) {
        self.make_primary(source);
        self.say(source, price, None, now);
    }

    fn make_primary(&mut self, source: SourceId) {
        let before = self.primary.replace(source);
        if let Some(before) = before.filter(|before| *before != source) {
            self.quotes.remove(&before);
        }
    }

    /// A witness quotes a price, of a moment of its own clock.
    pub fn witness(&mut self, source: SourceId, price: Price, at: Option<UtcTime>, now: Now) {
        self.say(source, price, at, now);
    }

    /// Forgets what others than these have quoted.
    pub fn keep(&mut self, is_heard: impl Fn(SourceId) -> bool) {
        self.quotes.retain(|source, _| is_heard(*source));
    }

    /// Tells whether a source has quoted anything.
    pub fn has(&self, source: SourceId) -> bool {
        self.quotes.contains_key(&source)
    }

    /// Counts what a source has quoted no more until it says something again.
    pub fn silence(&mut self, source: SourceId) {
        if let Some(quote) = self.quotes.get_mut(&source) {
            quote.is_silent = true;
        }
    }

    fn say(&mut self, source: SourceId, price: Price, at: Option<UtcTime>, now: Now) {
        let known = self.quotes.get(&source).copied();
        let age = age(at, now);
        let seen = Seen::ago(age.unwrap_or_default(), now.uptime);
        // Without a time only another price is news, and a trade of before is none.
        let is_news = known.is_none_or(|known| match age {
            Some(_) => !known.seen.is_after(seen),
            None => known.price != price,
        });
        let quote = match known.filter(|_| !is_news) {
            Some(known) => SourceQuote {
                told: now.uptime,
                is_silent: false,
                ..known
            },
            None => SourceQuote {
                price,
                seen,
                told: now.uptime,
                is_silent: false,
            },
        };
        self.quotes.insert(source, quote);
    }

    /// Judges the quotes; `shown` is what is shown by now, from an earlier run perhaps.
    pub fn judge(
        &mut self,
        shown: Option<&Datum<Price>>,
        rules: PriceRules,
        now: Duration,
    ) -> PriceVerdict {
        let mut until = Until::after(now);
        self.begin(shown, now);
        let fresh = self.fresh(&mut until);
        self.cast_out(&fresh);
        let counted: Vec<SourceId> = fresh
            .iter()
            .copied()
            .filter(|source| !self.course.out.contains(source))
            .collect();
        let median = self.median(&counted);
        let agreeing = self.within(&counted, median, rules.band_permille);
        let is_most = agreeing.len() * 2 > fresh.len();
        let mut state = if is_most && agreeing.len() >= rules.quorum {
            PriceState::Agreed
        } else if agreeing.len() == fresh.len() {
            PriceState::Single
        } else {
            PriceState::Disputed
        };
        self.begin_to_keep(state, now);
        let shown = match state {
            PriceState::Agreed => self.agreed(&agreeing, median),
            PriceState::Disputed => self.contested(&counted, median, rules, &mut until),
            PriceState::Single | PriceState::Stale => {
                self.single(&counted, median, rules, &mut until)
            }
        };
        let is_old = |shown: &Datum<Price>| {
            let lasts = shown.seen.lasts_until(STALE_PRICE);
            lasts.is_none_or(|end| until.is_over(end))
        };
        if counted.is_empty() && shown.as_ref().is_none_or(is_old) {
            state = PriceState::Stale;
        }
        let doubts = self.doubts(state, rules, now);
        PriceVerdict {
            truth: PriceTruth {
                state,
                spread_permille: self.spread(&counted),
                voices: self.voices(&fresh, &agreeing),
            },
            shown,
            doubts,
            until: until.first(),
        }
    }

    /// Goes on from what had become of the quotes before this moment.
    fn begin(&mut self, shown: Option<&Datum<Price>>, now: Duration) {
        let before = self.before.take().filter(|(at, _)| *at == now);
        let (_, mut before) = before.unwrap_or_else(|| {
            let course = QuoteHistory {
                shown: shown.cloned(),
                ..core::mem::take(&mut self.course)
            };
            (now, course)
        });
        before.out.retain(|source| self.quotes.contains_key(source));
        self.course.clone_from(&before);
        self.before = Some((now, before));
    }

    /// The sources that have a fresh quote.
    fn fresh(&self, until: &mut Until) -> Vec<SourceId> {
        let mut is_fresh = |quote: &SourceQuote| {
            let end = quote.seen.lasts_until(QUOTE_FRESH);
            !quote.is_silent && end.is_some_and(|end| !until.is_over(end))
        };
        let quotes = self.quotes.iter();
        let fresh = quotes.filter(|(_, quote)| is_fresh(quote));
        fresh.map(|(source, _)| *source).collect()
    }

    /// A quote far from where more than half are is out until it has come back.
    fn cast_out(&mut self, fresh: &[SourceId]) {
        let Some(median) = self.median(fresh) else {
            return;
        };
        let near = self.within(fresh, Some(median), OUTLIER_PERMILLE);
        // Where nobody is in the middle, nobody is far from it.
        let has_middle = near.len() * 2 > fresh.len();
        let median = self.quotes[&median].price;
        for source in fresh {
            let was_out = self.course.out.remove(source);
            let off = permille(self.quotes[source].price, median);
            let is_out = off > OUTLIER_PERMILLE || (was_out && off >= OUTLIER_BACK_PERMILLE);
            if has_middle && is_out {
                self.course.out.insert(*source);
            }
        }
    }

    /// Whose quote is in the middle; the lower one of two.
    fn median(&self, among: &[SourceId]) -> Option<SourceId> {
        let mut sorted = among.to_vec();
        sorted.sort_unstable_by_key(|source| (self.quotes[source].price, *source));
        let middle = sorted.len().checked_sub(1)? / 2;
        sorted.get(middle).copied()
    }

    /// Those within so many thousandths of a quote.
    fn within(&self, among: &[SourceId], of: Option<SourceId>, band: u64) -> Vec<SourceId> {
        let Some(middle) = of.map(|source| self.quotes[&source].price) else {
            return Vec::new();
        };
        let is_near = |source: &&SourceId| permille(self.quotes[source].price, middle) <= band;
        among.iter().filter(is_near).copied().collect()
    }

    /// From the moment on at which nobody agrees any more, or somebody contradicts, what was shown is kept for a while.
    fn begin_to_keep(&mut self, state: PriceState, now: Duration) {
        if state == PriceState::Agreed {
            return;
        }
        let course = &mut self.course;
        let is_over = |kept: &HeldPrice| kept.end.is_some_and(|end| end <= now);
        course.kept = course.kept.take().filter(|kept| !is_over(kept));
        if let Some(kept) = &mut course.kept {
            kept.end.get_or_insert(now + AGREED_KEPT);
            return;
        }
        let is_new = state == PriceState::Disputed && course.disputed.is_none();
        let is_recent = |shown: &&Datum<Price>| {
            let end = shown.seen.lasts_until(QUOTE_FRESH);
            end.is_some_and(|end| now < end)
        };
        if let Some(shown) = course.shown.as_ref().filter(is_recent).filter(|_| is_new) {
            course.kept = Some(HeldPrice {
                price: shown.clone(),
                end: Some(now + DOUBT_TIME),
            });
        }
    }

    /// The primary's quote if it is among those that agree, else the one in the middle.
    fn agreed(&mut self, agreeing: &[SourceId], median: Option<SourceId>) -> Option<Datum<Price>> {
        self.course.jumped = None;
        let primary = self.primary.filter(|primary| agreeing.contains(primary));
        let price = self.datum(primary.or(median)?);
        self.course.kept = Some(HeldPrice {
            price: price.clone(),
            end: None,
        });
        Some(price)
    }

    /// What was good before, for a while and as long as somebody still says about that; then the primary's quote,
    /// whatever it is.
    fn contested(
        &mut self,
        counted: &[SourceId],
        median: Option<SourceId>,
        rules: PriceRules,
        until: &mut Until,
    ) -> Option<Datum<Price>> {
        self.course.jumped = None;
        let kept = self.course.kept.take().filter(|kept| {
            let off = |source: &SourceId| permille(self.quotes[source].price, kept.price.value);
            let is_said = counted
                .iter()
                .any(|source| off(source) <= rules.band_permille);
            is_said && !kept.end.is_some_and(|end| until.is_over(end))
        });
        self.course.kept = kept;
        if let Some(kept) = &self.course.kept {
            return Some(kept.price.clone());
        }
        let primary = self.primary.filter(|primary| counted.contains(primary));
        primary.or(median).map(|source| self.datum(source))
    }

    /// The only quote; one that has jumped is held back for a while.
    fn single(
        &mut self,
        counted: &[SourceId],
        median: Option<SourceId>,
        rules: PriceRules,
        until: &mut Until,
    ) -> Option<Datum<Price>> {
        let primary = self.primary.filter(|primary| counted.contains(primary));
        // A source without a clock may say the same again and again.
        let is_told = |source: &SourceId| {
            let quote = self.quotes.get(source);
            quote.is_some_and(|quote| !quote.is_silent)
        };
        let told = self.primary.filter(is_told);
        let source = primary.or(median).or(told.filter(|_| counted.is_empty()));
        let Some(source) = source else {
            return self.course.shown.clone();
        };
        let next = self.datum(source);
        let Some(shown) = self.course.shown.as_ref().filter(|_| rules.witnessed) else {
            self.course.jumped = None;
            return Some(next);
        };
        let is_far = permille(next.value, shown.value) > JUMP_PERMILLE;
        let held = shown.seen.lasts_until(JUMP_HELD);
        let was_recent = held.is_some_and(|end| until.now() <= end);
        if !is_far || (self.course.jumped.is_none() && !was_recent) {
            self.course.jumped = None;
            return Some(next);
        }
        let since = *self.course.jumped.get_or_insert(until.now());
        if until.is_over(since + JUMP_HELD) {
            self.course.jumped = None;
            self.course.released = Some(until.now());
            return Some(next);
        }
        Some(shown.clone())
    }

    /// A quote as a value; its age is that of the trade, where the source tells it.
    fn datum(&self, source: SourceId) -> Datum<Price> {
        let quote = &self.quotes[&source];
        let is_primary = Some(source) == self.primary;
        let seen = match is_primary {
            true => Seen::At(quote.told),
            false => quote.seen,
        };
        Datum {
            value: quote.price,
            source,
            seen,
        }
    }

    fn doubts(&mut self, state: PriceState, rules: PriceRules, now: Duration) -> Vec<Doubt> {
        let course = &mut self.course;
        match state {
            PriceState::Agreed | PriceState::Stale => {
                (course.weak, course.disputed, course.released) = (None, None, None);
            }
            PriceState::Single => {
                course.weak.get_or_insert(now);
                course.disputed = None;
            }
            PriceState::Disputed => {
                course.weak.get_or_insert(now);
                course.disputed.get_or_insert(now);
            }
        }
        let disputed = course.disputed.map(|since| Doubt {
            mark: Mark::Disputed,
            // While what was good before is shown, it is not what they disagree about.
            from: course
                .kept
                .as_ref()
                .and_then(|kept| kept.end)
                .unwrap_or(since),
        });
        // A ring that is due stays until the graver sign comes.
        let is_alone = |weak: &Duration| course.disputed.is_none_or(|since| *weak < since);
        let weak = course.weak.filter(|_| rules.witnessed);
        let alone = weak.filter(is_alone).map(|since| Doubt {
            mark: Mark::Alone,
            from: match course.released {
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

    fn voices(&self, fresh: &[SourceId], agreeing: &[SourceId]) -> Vec<Voice> {
        let standing = |source: &SourceId| {
            if !fresh.contains(source) {
                QuoteVerdict::Old
            } else if self.course.out.contains(source) {
                QuoteVerdict::Out
            } else if agreeing.contains(source) {
                QuoteVerdict::Agrees
            } else {
                QuoteVerdict::Apart
            }
        };
        let voice = |(source, quote): (&SourceId, &SourceQuote)| Voice {
            source: *source,
            price: quote.price,
            seen: quote.seen,
            standing: standing(source),
        };
        let heard = self.quotes.iter().filter(|(_, quote)| !quote.is_silent);
        heard.map(voice).collect()
    }
}

/// Age of a trade by both clocks; none where one of the two is not known, or is behind.
fn age(at: Option<UtcTime>, now: Now) -> Option<Duration> {
    let age_ms = now.utc?.unix_ms.saturating_sub(at?.unix_ms);
    let ahead = Duration::from_millis(age_ms.min(0).unsigned_abs());
    (ahead <= AHEAD_MOST).then(|| Duration::from_millis(age_ms.max(0).unsigned_abs()))
}

/// How far a price is from another, in thousandths of that, rounded up.
fn permille(price: Price, from: Price) -> u64 {
    let off = u128::from(price.micros.abs_diff(from.micros)) * 1000;
    u64::try_from(off.div_ceil(u128::from(from.micros).max(1))).unwrap_or(u64::MAX)
}
