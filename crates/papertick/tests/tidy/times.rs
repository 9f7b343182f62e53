//! How long everything takes, waits or lasts: tests in virtual time name a constant, and would wait a minute for an hour.

use std::{collections::BTreeSet, env, fs, path::Path, time::Duration};

use crate::{root, sources};

/// A constant that is written as a number, and the number.
fn constants(source: &str) -> impl Iterator<Item = (&str, Duration)> {
    let after = source.split("const ").skip(1);
    after.filter_map(|text| {
        let (name, value) = text.split_once(": Duration = Duration::from_")?;
        let (unit, factors) = value.split_once('(')?;
        let (factors, _) = factors.split_once(");")?;
        let factor = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
        let number = factors.split('*').map(factor).product::<Option<u64>>()?;
        let time = match unit {
            "secs" => Duration::from_secs(number),
            "millis" => Duration::from_millis(number),
            "micros" => Duration::from_micros(number),
            _ => panic!("{name} is written in {unit}"),
        };
        Some((name, time))
    })
}

/// A time as people would say it.
fn said(time: Duration) -> String {
    let micros = time.as_micros();
    let units = [
        (86_400_000_000, "d"),
        (3_600_000_000, "h"),
        (60_000_000, "min"),
        (1_000_000, "s"),
        (1000, "ms"),
    ];
    let whole = units
        .iter()
        .find(|(of, _)| micros > 0 && micros.is_multiple_of(*of));
    whole.map_or_else(
        || format!("{micros} µs"),
        |(of, unit)| format!("{} {unit}", micros / of),
    )
}

#[test]
fn times_are_what_they_were_said_to_be() {
    let crates = root().join("crates");
    let mut rows = BTreeSet::new();
    for (path, source) in sources() {
        let place = path.strip_prefix(&crates).unwrap().display().to_string();
        if place.contains("/src/") {
            let rows_of = constants(&source);
            rows.extend(rows_of.map(|(name, time)| format!("{place} {name} {}", said(time))));
        }
    }
    assert!(rows.len() > 100, "they are not found any more: {rows:?}");
    let fresh = rows.into_iter().map(|row| row + "\n").collect::<String>();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tidy/times.txt");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &fresh).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    let (known, fresh) = (
        known.lines().collect::<BTreeSet<_>>(),
        fresh.lines().collect(),
    );
    let differ: Vec<_> = known.symmetric_difference(&fresh).collect();
    assert!(
        differ.is_empty(),
        "{differ:#?}\nis it meant? UPDATE_EXPECT=1 cargo test -p papertick --test tidy"
    );
}
