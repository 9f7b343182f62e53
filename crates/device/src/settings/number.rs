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
