//! Whole numbers from JSON numbers, which may have a fraction.

use serde_json::Value;

/// Reads a number within bounds; its fraction is dropped after the check. `None` if it is outside.
pub(super) fn bounded(value: &Value, min: i32, max: u32) -> Option<i64> {
    if let Some(whole) = value.as_i64() {
        return (i64::from(min)..=i64::from(max))
            .contains(&whole)
            .then_some(whole);
    }
    let real = value.as_f64()?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "within the bounds of 32-bit integers; cutting the fraction is meant"
    )]
    (real >= f64::from(min) && real <= f64::from(max)).then_some(real as i64)
}

/// Reads a number without a fraction. `None` if it has one or is not a number.
pub(super) fn integral(value: &Value) -> Option<i64> {
    if let Some(whole) = value.as_i64() {
        return Some(whole);
    }
    let whole = bounded(value, i32::MIN, u32::MAX)?;
    // `1.0` is the same number as `1`; `1.5` is not.
    (Some(f64::from(i32::try_from(whole).ok()?)) == value.as_f64()).then_some(whole)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn bounds_hold_before_the_fraction_is_cut() {
        let rows = [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("-1.1", None),
            ("-0.5", Some(0)),
            ("78", Some(78)),
            ("78.0", Some(78)),
            ("77.9", Some(77)),
            ("78.1", None),
            ("79", None),
            ("1e3", None),
            ("18446744073709551615", None),
            ("-9223372036854775808", None),
            ("1e308", None),
            ("\"1\"", None),
            ("null", None),
        ];
        for (text, expected) in rows {
            assert_eq!(bounded(&json(text), -1, 78), expected, "{text}");
        }
    }

    #[test]
    fn integers_have_no_fraction() {
        let rows = [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("3.5", None),
            ("-2.0", Some(-2)),
            ("1e300", None),
            ("true", None),
        ];
        for (text, expected) in rows {
            assert_eq!(integral(&json(text)), expected, "{text}");
        }
    }
}
