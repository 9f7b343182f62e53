//! How long everything takes, and how much of it there may be: a test that names a constant follows it wherever it goes.

use std::{collections::BTreeSet, env, fs, path::Path};

use crate::{root, sources};

/// Units of time, in microseconds, and of what is counted.
const TIMES: [(u64, &str); 6] = [
    (86_400_000_000, "d"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1000, "ms"),
    (1, "µs"),
];
const COUNTS: [(u64, &str); 3] = [(1 << 20, "Mi"), (1 << 10, "Ki"), (1, "")];

/// Types of what is counted.
const WHOLE: [&str; 8] = ["usize", "u64", "u32", "u16", "u8", "i64", "i32", "i16"];

/// The constants of a source that are written as a number: times, and all that end in `_MAX` or `_MIN`.
fn limits(source: &str) -> impl Iterator<Item = String> {
    let after = source.split("const ").skip(1);
    after.filter_map(|text| {
        let (name, rest) = text.split_once(": ")?;
        let (kind, rest) = rest.split_once(" = ")?;
        let value = rest.split_once(';')?.0;
        let is_limit = name.ends_with("_MAX") || name.ends_with("_MIN");
        let said = match kind {
            "Duration" => time(value)?,
            kind if WHOLE.contains(&kind) && is_limit => in_words(product(value)?, &COUNTS),
            _ => return None,
        };
        Some(format!("{name} {said}"))
    })
}

/// A time that is written as a number; none if it is something else.
fn time(text: &str) -> Option<String> {
    let (unit, number) = text.strip_prefix("Duration::from_")?.split_once('(')?;
    let micros = match unit {
        "secs" => 1_000_000,
        "millis" => 1000,
        "micros" => 1,
        _ => return None,
    };
    let number = number.split_once(')')?.0;
    Some(in_words(product(number)? * micros, &TIMES))
}

/// Times that are written as numbers without a constant of their own, with what stands before them in their line.
fn times(source: &str) -> impl Iterator<Item = String> {
    let program = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = program.lines().map(str::trim_start);
    let told = lines.filter(|line| !line.contains("const ") && !line.starts_with("//"));
    told.filter_map(|line| {
        let at = line.find("Duration::from_")?;
        let (before, rest) = line.split_at(at);
        Some(format!("{before}{}", time(rest)?))
    })
}

/// The number that a product of literals is; none if it is something else.
fn product(text: &str) -> Option<u64> {
    let factor = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
    let number = |text: &str| text.split('*').map(factor).product::<Option<u64>>();
    match text.split_once("<<") {
        Some((text, digits)) => Some(number(text)? << factor(digits)?),
        None => number(text),
    }
}

/// A number in the largest of these units that it is some of and no fraction.
fn in_words(number: u64, units: &[(u64, &str)]) -> String {
    let some = 1..10_000;
    let fits = |(of, _): &&(u64, &str)| number.is_multiple_of(*of) && some.contains(&(number / of));
    let (of, unit) = units.iter().find(fits).unwrap_or(&(1, ""));
    format!("{} {unit}", number / of).trim_end().to_owned()
}

#[test]
fn limits_and_times_are_what_they_were_said_to_be() {
    let crates = root().join("crates");
    let mut rows = BTreeSet::new();
    for (path, source) in sources() {
        let place = path.strip_prefix(&crates).unwrap().display().to_string();
        if place.contains("/src/") {
            let program = Some(&source).filter(|_| !place.ends_with("/tests.rs"));
            let said = limits(&source).chain(program.into_iter().flat_map(|source| times(source)));
            rows.extend(said.map(|limit| format!("{place} {limit}")));
        }
    }
    assert!(rows.len() > 300, "they are not found any more: {rows:?}");
    let fresh = rows.into_iter().map(|row| row + "\n").collect::<String>();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tidy/limits.txt");
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
