//! Parses the left side of a line of the tables: a screen, its facts and its settings.

use std::{sync::Arc, time::Duration};

use device::{
    history::{History, Readings, Series},
    screens::{SCREENS, Scene},
    settings::{SPECS, Settings},
};
use market::{
    Datum, Figure, FigureIdentity, HeightState, HeightTruth, MarkReasons, Market, MinerStats,
    PoolStats, Proven, Seen,
    logo::Logo,
    mark::Mark,
    now::{Now, UtcTime, Zone},
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats, decimal_micros},
};

/// A screen with its input.
pub(crate) struct Line {
    pub(crate) screen: u16,
    pub(crate) currency: Currency,
    pub(crate) market: Market,
    pub(crate) mark_reasons: MarkReasons,
    pub(crate) truth: HeightTruth,
    pub(crate) history: Option<History>,
    pub(crate) mark: Option<Mark>,
    pub(crate) settings: Settings,
    pub(crate) now: Now,
    pub(crate) zone: Zone,
}

/// Short names of some screens; the other screens use the names of the catalogue.
const SHORT_WORDS: &[(&str, u16)] = &[
    ("block", 0),
    ("clock", 3),
    ("halving", 4),
    ("fee", 6),
    ("sats", 10),
    ("ticker", 20),
    ("mcap", 30),
    ("supply", 40),
    ("proof", 900),
    ("change", 901),
    ("pool-hash", 70),
    ("pool-earn", 71),
    ("miner-hash", 80),
    ("miner-best", 81),
    ("balance", 90),
];

fn screen_id(word: &str) -> Option<u16> {
    let short = SHORT_WORDS.iter().find(|(short, _)| *short == word);
    let named = SCREENS.iter().find(|screen| screen.word() == word);
    short.map(|(_, id)| *id).or(named.map(|screen| screen.id))
}

impl Line {
    /// Parses words such as `ticker USD price=95432 suffixPrice`.
    pub(crate) fn parse(text: &str) -> Line {
        let mut words = text.split_whitespace();
        let screen = words.next().unwrap();
        let mut line = Line {
            screen: screen_id(screen).unwrap(),
            currency: Currency::USD,
            market: Market::default(),
            mark_reasons: MarkReasons::default(),
            truth: HeightTruth::default(),
            history: None,
            mark: None,
            settings: Settings::default(),
            now: Now {
                uptime: Duration::ZERO,
                utc: None,
            },
            zone: Zone::utc(),
        };
        for word in words {
            match word.split_once('=') {
                Some((name, value)) => line.take(name, value),
                None => match Currency::parse(word) {
                    Some(currency) => line.currency = currency,
                    None => set(&mut line.settings, word, "true"),
                },
            }
        }
        line
    }

    /// The input of the screen on a board with this number of panels.
    pub(crate) fn scene(&self, panels: usize) -> Scene<'_> {
        Scene {
            market: &self.market,
            mark_reasons: &self.mark_reasons,
            truth: self.truth,
            history: self.history.as_ref(),
            mark: self.mark,
            settings: &self.settings,
            now: self.now,
            zone: &self.zone,
            currency: self.currency,
            panels,
        }
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "height" => self.market.height = datum(value.parse().unwrap()),
            // Sources drop values that cannot be parsed.
            "price" => {
                // A screen must handle any number, although a price of zero is refused earlier.
                let micros = decimal_micros(value, Price::MAX_UNITS);
                if let Some(price) = micros.and_then(|micros| datum(Price { micros })) {
                    Arc::make_mut(&mut self.market.prices).insert(self.currency, price);
                }
            }
            "whole-fee" => self.market.fee = FeeRate::parse(value).map(figure),
            "fee" => self.market.precise_fee = FeeRate::parse(value).map(figure),
            "mark" => self.mark = Mark::named(value),
            // The value of the whole day before.
            "yesterday" => {
                let micros = decimal_micros(value, Price::MAX_UNITS).unwrap();
                let is_fee = Some(self.screen) == screen_id("fee");
                let series = if is_fee { Series::Fee } else { Series::Price(self.currency) };
                self.history = Some(history(series, micros));
            }
            "state" => {
                let mut states = HeightState::ALL.into_iter();
                self.truth.state = states.find(|state| state.name() == value).unwrap();
            }
            "agreeing" => self.proven().agreeing = value.parse().unwrap(),
            "hash" => self.proven().hash_end = u16::from_str_radix(value, 16).unwrap(),
            "age" => self.proven().age_mins = Some(value.parse().unwrap()),
            "time" => self.now.utc = Some(time(value)),
            "logo" => self.market.pool_logo = Some(logo(value)),
            "hashrate" => {
                let pool = self.pool();
                // Without a number, the pool answers without the figure.
                pool.hashrate = value.parse().ok().map(Hashrate);
            }
            "refusal" => self.pool().refusal = Some(value.into()),
            "daily" => {
                let pool = self.pool();
                pool.daily = Some(Sats(value.parse().unwrap()));
            }
            "miner" => {
                self.miner().hashrate = value.parse().ok().map(Hashrate);
            }
            "best" => self.miner().best_difficulty = Some(value.into()),
            "sats" => {
                let sats = Sats(value.parse().unwrap());
                self.market.balance = Some(figure(sats.into()));
            }
            "msats" => {
                let balance = Msats(value.parse().unwrap());
                self.market.balance = Some(figure(balance));
            }
            _ => set(&mut self.settings, name, value),
        }
    }

    fn proven(&mut self) -> &mut Proven {
        self.truth.proven.get_or_insert(Proven {
            agreeing: 0,
            hash_end: 0,
            age_mins: None,
        })
    }

    fn pool(&mut self) -> &mut PoolStats {
        let pool = &mut self.market.pool;
        let pool = pool.get_or_insert_with(|| figure(PoolStats::default()));
        &mut pool.datum.value
    }

    fn miner(&mut self) -> &mut MinerStats {
        let nothing = MinerStats {
            hashrate: None,
            best_difficulty: None,
        };
        let miner = &mut self.market.miner;
        &mut miner.get_or_insert_with(|| figure(nothing)).datum.value
    }
}

/// A day with one value.
fn history(series: Series, micros: u64) -> History {
    let mut history = Arc::new(History::default());
    for step in 0..150 {
        let now = Now {
            uptime: Duration::from_secs(600 * step),
            utc: UtcTime::plausible(1_795_860_000_000 + 600_000 * step.cast_signed()),
        };
        history.record(None, now, || Readings {
            values: vec![(series, Some(micros))],
            block: None,
        });
    }
    Arc::unwrap_or_clone(history)
}

/// Parses `07:05-9/5`: hours, minutes, day, month.
fn time(text: &str) -> UtcTime {
    let (time, date) = text.split_once('-').unwrap();
    let (day, month) = date.split_once('/').unwrap();
    UtcTime::parse(&format!("2026-{month:0>2}-{day:0>2}T{time}:00Z")).unwrap()
}

fn logo(name: &str) -> Arc<Logo> {
    Arc::new(Logo {
        name: name.into(),
        width: 8,
        height: 1,
        rows: vec![0],
    })
}

fn datum<T>(value: T) -> Option<Datum<T>> {
    Some(Datum {
        value,
        source: SourceId::Relay,
        seen: Seen::At(Duration::ZERO),
    })
}

fn figure<T>(value: T) -> Figure<T> {
    Figure {
        datum: datum(value).unwrap(),
        identity: FigureIdentity::default(),
        failed_polls: 0,
    }
}

fn set(settings: &mut Settings, name: &str, value: &str) {
    let spec = SPECS
        .iter()
        .find(|spec| spec.name == name)
        .unwrap_or_else(|| panic!("{name}?"));
    let text = || serde_json::Value::from(value);
    let value = serde_json::from_str(value).unwrap_or_else(|_| text());
    assert!(
        settings.set(spec.key, &value),
        "{name} does not take {value}"
    );
}
