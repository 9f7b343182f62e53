//! A little history of the values that were shown without a mark: how they have moved in a day, and prices in a year.
//!
//! A *step* is ten minutes of the wall clock. At the start of each step the device records the values of this moment; a
//! value that is marked or missing then leaves a gap. Without wall-clock time nothing is recorded.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::{num::NonZeroU32, ops::Range, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use market::{
    ChainSpec, lenient,
    now::{Now, UtcTime},
    units::Currency,
};

/// Most currencies with a history: the first of the chosen ones.
pub const HISTORY_CURRENCIES_MAX: usize = 16;

/// Most block times: no day has so many blocks unless the chain is a test.
const BLOCKS_MAX: usize = 400;

/// Length of a step, s.
const STEP_SECS: u32 = 600;

/// Steps of a day.
const DAY: u32 = 144;

/// How far a value of a day ago may be from that moment, steps.
const TOLERANCE: u32 = 6;

/// Least number of values of a line.
const LINE_VALUES_MIN: usize = 12;

/// The wall clock has jumped if it and the uptime differ by at least this, ms.
const JUMP_MS: u64 = 60_000;

/// A value with a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Series {
    /// A price, in millionths of the unit.
    Price(Currency),
    /// The fee rate, in millionths of sat/vB.
    Fee,
}

/// How far back a history goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Span {
    /// A day, every ten minutes.
    Day,
    /// A year, every six hours.
    Year,
}

impl Span {
    /// All spans.
    pub const ALL: [Span; 2] = [Span::Day, Span::Year];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Span::Day => "day",
            Span::Year => "year",
        }
    }

    /// Time from one value to the next, s.
    pub fn step_secs(self) -> u32 {
        STEP_SECS * self.stride()
    }

    /// Steps from one value to the next.
    fn stride(self) -> u32 {
        match self {
            Span::Day => 1,
            Span::Year => 36,
        }
    }

    /// Number of values besides the newest.
    fn values(self) -> u32 {
        match self {
            Span::Day => DAY,
            Span::Year => 365 * 4,
        }
    }
}

impl Series {
    /// The spans that are recorded.
    pub fn spans(self) -> &'static [Span] {
        match self {
            Series::Price(_) => &[Span::Day, Span::Year],
            Series::Fee => &[Span::Day],
        }
    }
}

/// What the screens show without a mark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readings {
    /// The values to record, in the unit of their series. `None` if one is marked or missing.
    pub values: Vec<(Series, Option<u64>)>,
    /// The newest block.
    pub block: Option<BlockReading>,
}

/// A block that is shown without a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockReading {
    /// Its height.
    pub height: u32,
    /// When it was found, s since 1970-01-01 UTC.
    pub at: i64,
    /// The time is that of its header; else that of its report.
    pub is_by_header: bool,
}

/// The recorded values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// By number of the step, divided by the stride of the span.
    tracks: BTreeMap<(Series, Span), BTreeMap<u32, CompactValue>>,
    /// Time of each block, s since 1970-01-01 UTC.
    blocks: BTreeMap<u32, i64>,
    /// `None` while the wall clock is not set.
    clock: Option<StepClock>,
    /// The height that was shown at the newest readings.
    shown: Option<u32>,
    /// The height of the newest block that this run has read.
    read: Option<u32>,
}

/// The current step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepClock {
    /// Steps since 1970-01-01 UTC.
    step: u32,
    /// Start of the device by the wall clock.
    start: UtcTime,
}

/// Six significant digits and a decimal exponent, packed as exponent * 1,000,000 + digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CompactValue(NonZeroU32);

/// The stored form of a [`History`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredHistory {
    market: String,
    #[serde(deserialize_with = "lenient::list")]
    tracks: Vec<StoredTrack>,
    #[serde(deserialize_with = "lenient::list")]
    blocks: Vec<(u32, i64)>,
}

/// The stored form of the values of a series.
#[derive(Serialize, Deserialize)]
struct StoredTrack {
    series: Series,
    span: Span,
    first: u32,
    values: Vec<Option<CompactValue>>,
}

impl History {
    /// Records what is due by now; returns whether there is something new to store. `height` is the shown one: another one
    /// is read at once, and again at the start of each step, because it may be marked at first.
    ///
    /// After a jump of the wall clock, values are due again at the start of the next step.
    pub fn record(
        self: &mut Arc<Self>,
        height: Option<u32>,
        now: Now,
        readings: impl FnOnce() -> Readings,
    ) -> bool {
        let clock = StepClock::at(now);
        let shown = height.filter(|_| clock.is_some());
        let is_same_step = match (self.clock, clock) {
            (Some(last), Some(clock)) => clock.is_steady(last) && clock.step <= last.step,
            (last, clock) => last == clock,
        };
        if is_same_step && shown == self.shown {
            return false;
        }
        let readings = readings();
        let day = clock.map(StepClock::day).unwrap_or_default();
        let newest = self.blocks.last_key_value();
        let newest = newest.filter(|(_, at)| day.contains(at));
        let block = readings.block.filter(|block| {
            let is_new = newest.is_none_or(|(newest, _)| *newest != block.height);
            // The first report of a run does not say when the block was found.
            let is_next = self.read.is_some_and(|last| last != block.height);
            is_new && day.contains(&block.at) && (block.is_by_header || is_next)
        });
        let is_due = |last: StepClock| clock.is_some_and(|clock| clock.is_steady(last));
        let has_values = !is_same_step && self.clock.is_some_and(is_due);
        let history = Arc::make_mut(self);
        history.shown = shown;
        let read = readings.block.map(|block| block.height);
        history.read = read.or(history.read);
        if let Some(BlockReading { height, at, .. }) = block {
            // Higher blocks belong to a chain that was given up.
            let is_kept = |other: &u32, at: &mut i64| *other <= height && day.contains(at);
            history.blocks.retain(is_kept);
            history.blocks.entry(height).or_insert(at);
            if history.blocks.len() > BLOCKS_MAX {
                history.blocks.pop_first();
            }
        }
        if !is_same_step {
            history.clock = clock;
        }
        if has_values {
            history.add(&readings.values);
        }
        let is_known = |(_, value): &(Series, Option<u64>)| value.is_some();
        block.is_some() || has_values && readings.values.iter().any(is_known)
    }

    /// Uptime at which the next values are due. `None` without wall-clock time.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let due_ms = step_start(self.clock?.step + 1) * 1000;
        let left_ms = due_ms.saturating_sub(now.utc?.unix_ms).max(0);
        Some(now.uptime + Duration::from_millis(left_ms.unsigned_abs()))
    }

    /// Change since a day ago, per mille, of a value in the unit of its series. `None` if none of that time is known.
    pub fn day_change(&self, series: Series, newest: u64) -> Option<i32> {
        let day_ago = self.clock?.step.checked_sub(DAY)?;
        let day = self.tracks.get(&(series, Span::Day))?;
        let candidates = day.range(day_ago.saturating_sub(TOLERANCE)..=day_ago + TOLERANCE);
        let (_, value) = candidates.min_by_key(|(step, _)| step.abs_diff(day_ago))?;
        let (value, newest) = (i128::from(value.value()), i128::from(newest));
        let doubled = 2000 * (newest - value) + value * (newest - value).signum();
        let permille = doubled.checked_div(2 * value)?;
        Some(i32::try_from(permille).unwrap_or(i32::MAX))
    }

    /// The values of the last day, oldest first and at equal distances, and the newest one, per mille of the range between
    /// the least and the greatest. `None` if too few are known.
    pub fn day_line(&self, series: Series, newest: u64) -> Option<Arc<[Option<u16>]>> {
        let values = self.window(series, Span::Day);
        let newest = CompactValue::of(newest).map(CompactValue::value);
        let values = values.map(|(_, value)| value).chain([newest]);
        let values: Vec<Option<u64>> = values.collect();
        let known = || values.iter().copied().flatten();
        if known().count() < LINE_VALUES_MIN {
            return None;
        }
        let (least, greatest) = (known().min()?, known().max()?);
        let range = u128::from(greatest - least);
        let place = |value: u64| {
            let above = 1000 * u128::from(value - least);
            above
                .checked_div(range)
                .map_or(500, |place| u16::try_from(place).unwrap_or(1000))
        };
        Some(values.iter().map(|value| value.map(place)).collect())
    }

    /// The recorded values of a span from the first known one on, each with its time, s since 1970-01-01 UTC.
    pub fn values(&self, series: Series, span: Span) -> impl Iterator<Item = (i64, Option<u64>)> {
        let values = self.window(series, span);
        let values = values.map(move |(index, value)| (step_start(index * span.stride()), value));
        values.skip_while(|(_, value)| value.is_none())
    }

    /// The blocks that were seen in the last day, oldest first, each with its time, s since 1970-01-01 UTC.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, i64)> {
        let day = self.clock.map(StepClock::day).unwrap_or_default();
        let blocks = self.blocks.iter().map(|(height, at)| (*height, *at));
        blocks.filter(move |(_, at)| day.contains(at))
    }

    /// The stored form. `chain` is the one of the heights, `None` in a demo.
    pub fn to_json(&self, chain: Option<&ChainSpec>) -> Map<String, Value> {
        let tracks = self.tracks.iter().filter_map(|((series, span), track)| {
            let (first, last) = (*track.keys().next()?, *track.keys().next_back()?);
            Some(StoredTrack {
                series: *series,
                span: *span,
                first,
                values: (first..=last)
                    .map(|index| track.get(&index).copied())
                    .collect(),
            })
        });
        let stored = json!(StoredHistory {
            market: market_name(chain).into(),
            tracks: tracks.collect(),
            blocks: self
                .blocks
                .iter()
                .map(|(height, at)| (*height, *at))
                .collect(),
        });
        stored.as_object().cloned().unwrap_or_default()
    }

    /// Reads the stored form; unusable members are skipped, and all values of another network or of a demo.
    pub fn from_json(map: &Map<String, Value>, chain: Option<&ChainSpec>) -> History {
        let stored = StoredHistory::deserialize(map).unwrap_or_default();
        if stored.market != market_name(chain) {
            return History::default();
        }
        let tracks = stored.tracks.into_iter().map(|track| {
            let last = track.first.saturating_add(track.span.values() + TOLERANCE);
            let values = (track.first..=last).zip(track.values);
            let values = values.filter_map(|(index, value)| Some((index, value?)));
            ((track.series, track.span), values.collect())
        });
        History {
            tracks: tracks.collect(),
            blocks: stored.blocks.into_iter().collect(),
            ..History::default()
        }
    }

    /// Adds the values of the current step, and drops what is too old, or in the future of a clock that was put back.
    fn add(&mut self, values: &[(Series, Option<u64>)]) {
        let Some(clock) = self.clock else { return };
        for (series, value) in values {
            for span in series.spans() {
                let track = self.tracks.entry((*series, *span)).or_default();
                if let Some(value) = value.and_then(CompactValue::of) {
                    track.entry(clock.step / span.stride()).or_insert(value);
                }
            }
        }
        for ((_, span), track) in &mut self.tracks {
            let newest = clock.step / span.stride();
            let oldest = newest.saturating_sub(span.values() + TOLERANCE);
            track.retain(|index, _| (oldest..=newest).contains(index));
        }
        self.tracks.retain(|_, track| !track.is_empty());
        self.drop_surplus(values);
    }

    /// Drops the prices of currencies that are not among the values, those with the oldest newest price first, until few
    /// enough currencies remain.
    fn drop_surplus(&mut self, values: &[(Series, Option<u64>)]) {
        let years = self
            .tracks
            .iter()
            .filter(|((_, span), _)| *span == Span::Year);
        let prices = years.map(|((series, _), track)| {
            let is_recorded = values.iter().any(|(recorded, _)| recorded == series);
            (is_recorded, track.keys().next_back().copied(), *series)
        });
        let mut prices: Vec<_> = prices.collect();
        prices.sort_unstable();
        let surplus = prices.len().saturating_sub(HISTORY_CURRENCIES_MAX);
        for (_, _, dropped) in prices.iter().take(surplus) {
            self.tracks.retain(|(series, _), _| series != dropped);
        }
    }

    /// The values of a span up to the current step, each with its index in the track; nothing without wall-clock time.
    fn window(&self, series: Series, span: Span) -> impl Iterator<Item = (u32, Option<u64>)> {
        let track = self.tracks.get(&(series, span));
        let newest = self.clock.map(|clock| clock.step / span.stride());
        let indices = newest.map(|newest| newest.saturating_sub(span.values())..=newest);
        let value = move |index| track?.get(&index).map(|value| value.value());
        indices
            .into_iter()
            .flatten()
            .map(move |index| (index, value(index)))
    }
}

/// The chosen currencies with a history.
pub fn recorded(chosen: &[Currency]) -> &[Currency] {
    &chosen[..chosen.len().min(HISTORY_CURRENCIES_MAX)]
}

/// What distinguishes the values of a demo and of each network.
fn market_name(chain: Option<&ChainSpec>) -> &'static str {
    chain.map_or("demo", |chain| chain.network.name())
}

/// Start of a step, s since 1970-01-01 UTC.
fn step_start(step: u32) -> i64 {
    i64::from(step) * i64::from(STEP_SECS)
}

impl StepClock {
    fn at(now: Now) -> Option<StepClock> {
        let step = now.utc?.unix_secs().div_euclid(STEP_SECS.into());
        Some(StepClock {
            // A later time is not plausible, and its steps could overflow.
            step: u32::try_from(step)
                .ok()
                .filter(|step| *step < u32::MAX / 2)?,
            start: now.start()?,
        })
    }

    /// Returns whether the wall clock has not jumped since another step.
    fn is_steady(self, last: StepClock) -> bool {
        self.start.unix_ms.abs_diff(last.start.unix_ms) < JUMP_MS
    }

    /// The last day up to the end of the step, s since 1970-01-01 UTC.
    fn day(self) -> Range<i64> {
        step_start(self.step.saturating_sub(DAY))..step_start(self.step + 1)
    }
}

impl CompactValue {
    const MILLION: u32 = 1_000_000;

    /// `None` for 0.
    fn of(value: u64) -> Option<CompactValue> {
        let (mut digits, mut exponent) = (value, 0);
        while digits >= Self::MILLION.into() {
            digits /= 10;
            exponent += Self::MILLION;
        }
        NonZeroU32::new(exponent + u32::try_from(digits).ok()?).map(CompactValue)
    }

    fn value(self) -> u64 {
        let (exponent, digits) = (self.0.get() / Self::MILLION, self.0.get() % Self::MILLION);
        10_u64
            .saturating_pow(exponent)
            .saturating_mul(digits.into())
    }
}
