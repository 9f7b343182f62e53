//! Which values are recorded, and what is computed of them.

use std::{ops::Range, sync::Arc, time::Duration};

use chain::network::Network;
use device::history::{BlockReading, HISTORY_CURRENCIES_MAX, History, Readings, Series, Span};
use market::{
    ChainSpec,
    now::{Now, UtcTime},
    units::{Currency, MICRO},
};
use serde_json::json;

use crate::world::{World, settings};

/// 2026-02-03 00:00 UTC.
const MIDNIGHT: i64 = 1_770_076_800;

/// Script after 12:01 in Berlin; the history that follows: values of a day, from the first known one to the current step,
/// then blocks and their times.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    // At the start of each step, not when a value comes.
    ("wait 539999", ""),
    ("wait 540000", "USD 12:10 64000 | EUR 12:10 59000 | JPY 12:10 9900000 | fee 12:10 12"),
    ("wait 300000; price USD 65000; price USD 66000; fee 4.21; wait 240000",
        "USD 12:10 66000 | EUR 12:10 59000 | JPY 12:10 9900000 | fee 12:10 4.21"),
    // A stale value leaves a gap.
    ("set actCurrencies=[\"USD\"]; wait 1800000; price USD 65000; wait 540000",
        "USD 12:10 64000 - - 65000 | fee 12:10 12 12 12 12"),
    // The height is marked, because it is below the anchor, unless the proof is off. Then the first one has no time.
    ("set actCurrencies=[\"USD\"]; block 840001; wait 540000", "USD 12:10 64000 | fee 12:10 12"),
    ("set actCurrencies=[\"USD\"] proofMode=0; block 840001; wait 60000; block 840002; wait 480000",
        "USD 12:10 64000 | fee 12:10 12 | 840002@12:02"),
    // Other currencies.
    ("wait 540000; set actCurrencies=[\"EUR\"]; set actCurrencies=[\"USD\"]; wait 600000",
        "USD 12:10 64000 - | EUR 12:10 59000 - | JPY 12:10 9900000 - | fee 12:10 12 12"),
    ("set actCurrencies=[\"USD\"]; wait 540000; currencies EUR; wait 60000; currencies USD",
        "USD 12:10 64000 | fee 12:10 12"),
    ("set actCurrencies=[\"USD\"]; wait 540000; restart; wait 60000",
        "USD 12:10 64000 | fee 12:10 12"),
    // A clock that jumps. It records nothing in the step to which it jumped.
    ("set actCurrencies=[\"USD\"]; wait 600000; clock 2026-02-03T12:30:00+01:00; price USD 1; wait 600000",
        "USD 12:10 64000 - - 1 | fee 12:10 12 - - 12"),
    ("set actCurrencies=[\"USD\"]; wait 600000; clock 2126-02-03T12:30:00+01:00; wait 60000; clock 2026-02-03T12:12:00+01:00; price USD 2; wait 480000",
        "USD 12:10 64000 2 | fee 12:10 12 12"),
    ("set actCurrencies=[\"USD\"]; wait 600000; clock 2026-02-03T11:08:00+01:00; price USD 3; wait 120000",
        "USD 11:10 3 | fee 11:10 12"),
];

#[test]
fn values_without_a_mark_are_recorded() {
    let mut wrong = Vec::new();
    for (script, expected) in ROWS {
        let mut world = World::at_noon(settings("timerSeconds=0"));
        world.run_all(script);
        let text = text(world.device.history());
        if text != *expected {
            wrong.push(format!("{script}:\n    {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_recorded_without_a_wall_clock() {
    let mut world = World::new(settings("timerSeconds=0"));
    world.run_all("network host; network up; price USD 64000; block 840000; wait 3600000");
    assert_eq!(**world.device.history(), History::default());
}

/// A history as a text.
fn text(history: &History) -> String {
    let time = |secs: i64| {
        let minutes = (secs - MIDNIGHT) / 60 + 60;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    };
    let series = ["USD", "EUR", "JPY"].map(|code| (code, Series::Price(currency(code))));
    let series = series.into_iter().chain([("fee", Series::Fee)]);
    let mut parts: Vec<String> = Vec::new();
    for (name, series) in series {
        let values: Vec<_> = history.values(series, Span::Day).collect();
        let Some((first, _)) = values.first() else {
            continue;
        };
        let value = |value: Option<u64>| match value {
            Some(value) => (value as f64 / MICRO as f64).to_string(),
            None => "-".into(),
        };
        let values: Vec<String> = values.iter().map(|(_, micros)| value(*micros)).collect();
        parts.push(format!("{name} {} {}", time(*first), values.join(" ")));
    }
    let blocks = history.blocks();
    let blocks: Vec<String> = blocks
        .map(|(height, at)| format!("{height}@{}", time(at)))
        .collect();
    let blocks = blocks.join(" ");
    parts.extend((!blocks.is_empty()).then_some(blocks));
    parts.join(" | ")
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn price(letter: u8) -> Series {
    let letter = char::from(b'A' + letter);
    Series::Price(currency(&format!("XX{letter}")))
}

/// A history with the values of the steps that end with the current one, of some of the currencies from `XXA` on. `stride`
/// is the number of ten-minute steps from one value to the next.
fn recorded(letters: Range<u8>, stride: u64, values: &[Option<u64>], before: History) -> History {
    let mut history = Arc::new(before);
    let end = 2_960_000;
    let first = end - stride * values.len() as u64;
    for (place, value) in values.iter().enumerate() {
        let secs = 600 * (first + stride * (1 + place as u64));
        // At the first moment the wall clock is set; it must be steady since then for a value.
        for secs in [secs - 1, secs] {
            let now = Now {
                uptime: Duration::from_secs(secs - 600 * first),
                utc: UtcTime::plausible(secs as i64 * 1000),
            };
            let series = letters.clone().map(price).chain([Series::Fee]);
            let readings = || Readings {
                values: series.map(|series| (series, *value)).collect(),
                block: Some(BlockReading {
                    height: place as u32,
                    at: secs as i64,
                    is_by_header: true,
                }),
            };
            history.record(Some(place as u32), now, readings);
        }
    }
    Arc::unwrap_or_clone(history)
}

/// Values, repeated to fill more than a day; the newest one; change since a day ago, per mille; the last six points of the
/// line of the day.
type DayRow = (
    &'static [Option<u64>],
    usize,
    u64,
    Option<i32>,
    &'static str,
);

#[rustfmt::skip]
const DAYS: &[DayRow] = &[
    (&[], 0, 100, None, "no line"),
    (&[Some(100)], 10, 100, None, "no line"),
    (&[Some(100)], 11, 100, None, "500 500 500 500 500 500"),
    (&[Some(100)], 160, 112, Some(120), "0 0 0 0 0 1000"),
    (&[Some(64_211_530_000)], 160, 64_211_530_000, Some(0), "500 500 500 500 500 500"),
    (&[Some(u64::MAX)], 160, 1, Some(-1000), "1000 1000 1000 1000 1000 0"),
    (&[Some(1)], 160, u64::MAX, Some(i32::MAX), "0 0 0 0 0 1000"),
    (&[Some(100), None, Some(300)], 160, 200, Some(1000), "1000 0 - 1000 0 500"),
    (&[None], 160, 100, None, "no line"),
    // The value of a day ago may be an hour away.
    (&[Some(3000)], 139, 2001, Some(-333), "1000 1000 1000 1000 1000 0"),
    (&[Some(3000)], 138, 2001, None, "1000 1000 1000 1000 1000 0"),
];

#[test]
fn a_day_has_a_change_and_a_line() {
    for (pattern, count, newest, change, line) in DAYS {
        let values: Vec<_> = pattern.iter().copied().cycle().take(*count).collect();
        let history = recorded(0..0, 1, &values, History::default());
        assert_eq!(
            history.day_change(Series::Fee, *newest),
            *change,
            "{pattern:?} {count}"
        );
        let points = history.day_line(Series::Fee, *newest);
        let text = points.map_or_else(
            || "no line".to_owned(),
            |points| {
                assert_eq!(points.len(), 146);
                let text =
                    |point: &Option<u16>| point.map_or("-".into(), |point| point.to_string());
                points[140..]
                    .iter()
                    .map(text)
                    .collect::<Vec<String>>()
                    .join(" ")
            },
        );
        assert_eq!(text, *line, "{pattern:?} {count}");
    }
}

const CURRENCIES: u8 = HISTORY_CURRENCIES_MAX as u8;

/// Largest file, bytes.
const FILE_MAX: usize = 256 * 1024;

#[test]
fn the_stored_form_is_bounded_and_complete() {
    // The values with the most digits, four for each day of more than a year, then all of more than a day.
    let many = vec![Some(999_999_999_999_999_999); 2000];
    let year = recorded(0..CURRENCIES, 36, &many[..1600], History::default());
    let full = recorded(0..CURRENCIES, 1, &many, year);
    let chain = ChainSpec::built_in(Network::Main);
    let stored = full.to_json(Some(&chain));
    let bytes = serde_json::to_string(&stored).unwrap().len();
    assert!(
        (FILE_MAX - 24_000..FILE_MAX).contains(&bytes),
        "{bytes} bytes"
    );
    let read = History::from_json(&stored, Some(&chain));
    assert_eq!(read.to_json(Some(&chain)), stored);
    // The movement of a demo or of another network is not shown.
    for other in [None, Some(ChainSpec::built_in(Network::Signet))] {
        let read = History::from_json(&stored, other.as_ref());
        assert_eq!(read, History::default());
    }
    assert_eq!(full.values(price(CURRENCIES - 1), Span::Year).count(), 1461);
    assert_eq!(full.values(price(0), Span::Day).count(), 145);
    assert_eq!(full.blocks().count(), 144);
    // A currency that is not chosen any more stays until another one needs its place.
    for (chosen, first) in [(1..CURRENCIES, 0), (1..CURRENCIES + 1, 1)] {
        let history = recorded(chosen, 1, &[Some(1)], full.clone());
        let is_kept = |letter: &u8| history.values(price(*letter), Span::Year).count() > 0;
        let kept: Vec<u8> = (0..=CURRENCIES).filter(is_kept).collect();
        assert_eq!((kept.len(), kept[0]), (HISTORY_CURRENCIES_MAX, first));
    }
}

#[test]
fn a_stored_value_cannot_be_later_than_the_last_step() {
    let stored = json!({
        "market": "demo",
        "tracks": [{"series": "fee", "span": "day", "first": u32::MAX, "values": [1, 2]}],
    });
    let read = History::from_json(stored.as_object().unwrap(), None);
    assert_eq!(read.to_json(None)["tracks"][0]["values"], json!([1]));
}
