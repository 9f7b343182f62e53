//! Quotients as decimal text, without floats.

use alloc::{
    format,
    string::{String, ToString},
};

/// `value / unit` with a fixed number of decimals, rounded to the nearest, a tie to the even
/// digit; `unit` is not 0.
pub fn rounded(value: u128, unit: u128, decimals: u32) -> String {
    write(value, unit, decimals, |digits, rest| {
        rest > unit - rest || (rest == unit - rest && digits % 2 == 1)
    })
}

/// `value / unit` with a fixed number of decimals, rounded to the nearest, a tie up; `unit` is not 0.
pub fn half_up(value: u128, unit: u128, decimals: u32) -> String {
    write(value, unit, decimals, |_, rest| rest >= unit - rest)
}

/// `value / unit` with a fixed number of decimals, the rest cut off; `unit` is not 0.
pub fn truncated(value: u128, unit: u128, decimals: u32) -> String {
    write(value, unit, decimals, |_, _| false)
}

/// Writes a quotient; `up` tells from the digits so far and the rest of the division whether to
/// count up by one.
fn write(value: u128, unit: u128, decimals: u32, up: impl Fn(u128, u128) -> bool) -> String {
    let places = 10u128.pow(decimals);
    // The whole part stays apart: the product of a large value and the places could overflow.
    let (whole, rest) = (value / unit, value % unit * places);
    let (fraction, rest) = (rest / unit, rest % unit);
    let last_digit = if decimals == 0 { whole } else { fraction };
    let fraction = fraction + u128::from(up(last_digit, rest));
    let (whole, fraction) = (whole + fraction / places, fraction % places);
    match decimals {
        0 => whole.to_string(),
        _ => format!("{whole}.{fraction:0width$}", width = decimals as usize),
    }
}
