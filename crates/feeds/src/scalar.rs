//! A number in any of the forms that upstreams send: integer, float or text.

use std::borrow::Cow;

use market::{
    Observation,
    units::{FeeRate, Price},
};
use rmpv::ValueRef;
use serde_json::Value;

use crate::malformed::Malformed;

/// A value in place of a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// A text, which may be a number.
    Text(Cow<'a, str>),
    Whole(u64),
    /// A number with decimals.
    Float(f64),
    /// An explicit null.
    Nil,
    /// Anything else.
    Odd,
}

impl Scalar<'_> {
    /// Returns whether the value is absent: null, or an empty text.
    pub(crate) fn is_absent(&self) -> bool {
        match self {
            Scalar::Nil => true,
            Scalar::Text(text) => text.is_empty(),
            Scalar::Whole(_) | Scalar::Float(_) | Scalar::Odd => false,
        }
    }

    /// The number as a decimal; for a float, the shortest one that represents it.
    pub(crate) fn decimal(&self) -> Option<Cow<'_, str>> {
        match self {
            Scalar::Text(text) => Some(Cow::Borrowed(text)),
            Scalar::Whole(whole) => Some(Cow::Owned(whole.to_string())),
            Scalar::Float(float) => Some(Cow::Owned(float.to_string())),
            Scalar::Nil | Scalar::Odd => None,
        }
    }

    /// The number as a block height.
    pub(crate) fn height(&self) -> Option<u32> {
        match self {
            Scalar::Whole(whole) => u32::try_from(*whole).ok(),
            Scalar::Text(_) | Scalar::Float(_) | Scalar::Nil | Scalar::Odd => {
                height(&self.decimal()?)
            }
        }
    }

    /// The number as a price. `None` if it is zero.
    pub(crate) fn price(&self) -> Option<Price> {
        Price::parse(&self.decimal()?)
    }

    /// The number as a whole number of `10^-places`, rounded half up.
    pub(crate) fn scaled(&self, places: usize) -> Option<u128> {
        scaled(&self.decimal()?, places)
    }

    pub(crate) fn fee_rate(&self) -> Option<FeeRate> {
        FeeRate::parse(&self.decimal()?)
    }
}

/// Parses a block height: digits only.
pub(crate) fn height(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Parses a decimal, also with an exponent as in `1e+03`, as a multiple of `10^-places`, rounded half up.
pub(crate) fn scaled(text: &str, places: usize) -> Option<u128> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    // Digits before the dot after the shift. `None`: the number is below 0.1 and rounds to 0.
    let dot = (whole.len() + places).checked_add_signed(exponent.into());
    let Some(dot) = dot else { return Some(0) };
    let zeros = std::iter::repeat(b'0');
    let mut digits = whole.bytes().chain(fraction.bytes()).chain(zeros);
    let scaled = digits.by_ref().take(dot).try_fold(0u128, |number, digit| {
        number
            .checked_mul(10)?
            .checked_add(u128::from(digit - b'0'))
    })?;
    let up = digits.next().is_some_and(|digit| digit >= b'5');
    scaled.checked_add(u128::from(up))
}

/// Parses a body that is a block height.
pub(crate) fn height_body(body: &[u8], max_len: usize) -> Result<u32, Malformed> {
    if body.len() > max_len {
        return Err(Malformed("too-long"));
    }
    let text = std::str::from_utf8(body).map_err(|_| Malformed("height"))?;
    height(text.trim_ascii()).ok_or(Malformed("height"))
}

/// The observations of a fee rate: in whole sat/vB, and with decimals if wanted. A rate of 0 has been rounded.
pub(crate) fn fees(rate: FeeRate, precise_fee: bool) -> impl Iterator<Item = Observation> {
    let has_decimals = precise_fee && rate.micros > 0;
    let precise = has_decimals.then_some(Observation::PreciseFee(rate));
    std::iter::once(Observation::Fee(rate.rounded())).chain(precise)
}

impl<'a> From<&'a Value> for Scalar<'a> {
    fn from(value: &'a Value) -> Scalar<'a> {
        match value {
            Value::String(text) => Scalar::Text(Cow::Borrowed(text)),
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(whole), _) => Scalar::Whole(whole),
                (None, Some(float)) => Scalar::Float(float),
                (None, None) => Scalar::Odd,
            },
            Value::Null => Scalar::Nil,
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => Scalar::Odd,
        }
    }
}

impl<'a> From<&'a ValueRef<'a>> for Scalar<'a> {
    fn from(value: &'a ValueRef<'a>) -> Scalar<'a> {
        match value {
            ValueRef::String(text) => {
                let text = text.as_str().map(Cow::Borrowed);
                text.map_or(Scalar::Odd, Scalar::Text)
            }
            ValueRef::Integer(number) => number.as_u64().map_or(Scalar::Odd, Scalar::Whole),
            // Widened to 64 bits, the number would get decimals that the relay did not send.
            ValueRef::F32(float) => Scalar::Text(Cow::Owned(float.to_string())),
            ValueRef::F64(float) => Scalar::Float(*float),
            ValueRef::Nil => Scalar::Nil,
            ValueRef::Boolean(_)
            | ValueRef::Binary(_)
            | ValueRef::Array(_)
            | ValueRef::Map(_)
            | ValueRef::Ext(..) => Scalar::Odd,
        }
    }
}
