//! One number, however an upstream writes it: as an integer, a float or a text.

use std::{borrow::Cow, fmt};

use market::{
    Observation,
    units::{FeeRate, MICRO, Price},
};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::malformed::Malformed;

/// A value where a number is expected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// A text, which may hold a number.
    Text(Cow<'a, str>),
    /// A whole number.
    Whole(u64),
    /// A number with decimals.
    Float(f64),
    /// Nothing, said explicitly.
    Nil,
    /// Something that cannot be a number.
    Odd,
}

impl Scalar<'_> {
    /// Tells whether the upstream has no value yet: nothing, or an empty text.
    pub(crate) fn is_absent(&self) -> bool {
        match self {
            Scalar::Nil => true,
            Scalar::Text(text) => text.is_empty(),
            Scalar::Whole(_) | Scalar::Float(_) | Scalar::Odd => false,
        }
    }

    /// The number as a plain decimal; the shortest one that a float stands for.
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

    /// The number as a price; none if it is zero.
    pub(crate) fn price(&self) -> Option<Price> {
        Price::parse(&self.decimal()?)
    }

    /// The number as a whole number of `10^-places`, rounded half up.
    pub(crate) fn scaled(&self, places: usize) -> Option<u128> {
        scaled(&self.decimal()?, places)
    }

    /// The number as a fee rate.
    pub(crate) fn fee_rate(&self) -> Option<FeeRate> {
        FeeRate::parse(&self.decimal()?)
    }
}

/// Reads a block height: digits only.
pub(crate) fn height(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Reads a plain decimal as a whole number of `10^-places`, rounded half up.
pub(crate) fn scaled(text: &str, places: usize) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let fraction = fraction.as_bytes();
    let digits = whole
        .bytes()
        .chain((0..places).map(|place| *fraction.get(place).unwrap_or(&b'0')));
    let scaled = digits.into_iter().try_fold(0u128, |number, digit| {
        number
            .checked_mul(10)?
            .checked_add(u128::from(digit - b'0'))
    })?;
    let up = fraction.get(places).is_some_and(|digit| *digit >= b'5');
    scaled.checked_add(u128::from(up))
}

/// Reads a body that is nothing but a block height.
pub(crate) fn height_body(body: &[u8], max_len: usize) -> Result<u32, Malformed> {
    if body.len() > max_len {
        return Err(Malformed("too-long"));
    }
    let text = std::str::from_utf8(body).map_err(|_| Malformed("height"))?;
    height(text.trim_ascii()).ok_or(Malformed("height"))
}

/// Rounds a fee rate to whole sat/vB, half up.
pub(crate) fn whole_fee(rate: FeeRate) -> FeeRate {
    FeeRate {
        micros: (rate.micros + MICRO / 2) / MICRO * MICRO,
    }
}

/// A fee rate as it is told: in whole sat/vB, and with its decimals where they are wanted.
pub(crate) fn fees(rate: FeeRate, precise_fee: bool) -> impl Iterator<Item = Observation> {
    let precise = precise_fee.then_some(Observation::PreciseFee(rate));
    std::iter::once(Observation::Fee(whole_fee(rate))).chain(precise)
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

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar<'a>, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar<'de>, E> {
        Ok(u64::try_from(value).map_or(Scalar::Odd, Scalar::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Scalar<'de>, E> {
        // Widened to 64 bits, the number would get decimals that nobody sent.
        Ok(Scalar::Text(Cow::Owned(value.to_string())))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Nil)
    }

    fn visit_none<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scalar<'de>, D::Error> {
        Scalar::deserialize(deserializer)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Odd)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Odd)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Scalar<'de>, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Scalar::Odd)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Odd)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Scalar<'de>, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Odd)
    }
}
