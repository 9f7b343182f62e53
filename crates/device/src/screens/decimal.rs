//! Quotients as decimal text, without floats.

use alloc::{
    format,
    string::{String, ToString},
};

/// `value / unit` with a fixed number of decimals, rounded half up; `unit` is not 0.
pub fn rounded(value: u128, unit: u128, decimals: u32) -> String {
    write(value, unit, decimals, |rest| rest >= unit - rest)
}

/// `value / unit` with a fixed number of decimals, truncated; `unit` is not 0.
pub fn truncated(value: u128, unit: u128, decimals: u32) -> String {
    write(value, unit, decimals, |_| false)
}

/// Returns the first text below 1000, else the last one; they are one number in several units, smallest first.
///
/// The texts are rounded already: 999,960 with one decimal is `1.0` of the next unit.
pub fn below_thousand<Unit>(
    texts: impl IntoIterator<Item = (String, Unit)>,
) -> Option<(String, Unit)> {
    let mut chosen = None;
    for (text, unit) in texts {
        let is_below = text.find('.').unwrap_or(text.len()) <= 3;
        chosen = Some((text, unit));
        if is_below {
            break;
        }
    }
    chosen
}

/// `value / unit` with the decimals of the first step whose limit is above the rounded number; `None` if that of no step
/// is. A step is a number of decimals and a limit. A quotient that three decimals round to zero is `<0.001`.
pub fn within(value: u128, unit: u128, steps: &[(u32, u128)]) -> Option<String> {
    let text = steps.iter().find_map(|(decimals, limit)| {
        let text = rounded(value, unit, *decimals);
        let whole: u128 = text.split('.').next()?.parse().ok()?;
        (whole < *limit).then_some(text)
    })?;
    Some(if text == "0.000" { "<0.001".into() } else { text })
}

/// Writes a quotient; `rounds_up` decides from the remainder whether the last digit is increased.
fn write(value: u128, unit: u128, decimals: u32, rounds_up: impl Fn(u128) -> bool) -> String {
    let places = 10u128.pow(decimals);
    // The whole part is kept apart because the product of a large value and the places could overflow.
    let (whole, rest) = (value / unit, value % unit * places);
    let (fraction, rest) = (rest / unit, rest % unit);
    let fraction = fraction + u128::from(rounds_up(rest));
    let (whole, fraction) = (whole + fraction / places, fraction % places);
    match decimals {
        0 => whole.to_string(),
        _ => format!("{whole}.{fraction:0width$}", width = decimals as usize),
    }
}
