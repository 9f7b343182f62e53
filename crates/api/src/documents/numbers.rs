//! Numbers in bodies.

use alloc::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use crate::parameters::whole_number;

/// A number that is truncated to an integer: 1.9 becomes 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedNumber(pub i64);

impl<'de> Deserialize<'de> for TruncatedNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TruncatedNumber, D::Error> {
        let number = whole_number(&Value::deserialize(deserializer)?);
        number
            .map(TruncatedNumber)
            .ok_or_else(|| D::Error::custom("a number is expected"))
    }
}

/// A number of at least 0 without a fraction, which may be written with one: `100.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber(pub u64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WholeNumber, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let is_whole = value.as_f64().is_some_and(|number| number % 1.0 == 0.0);
        let number = whole_number(&value).filter(|_| is_whole);
        let number = number.and_then(|number| u64::try_from(number).ok());
        number
            .map(WholeNumber)
            .ok_or_else(|| D::Error::custom("a whole number is expected"))
    }
}

impl JsonSchema for WholeNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "WholeNumber".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }
}

/// Schema of a [`TruncatedNumber`] with bounds, which apply without the fraction.
pub(super) fn truncated_number_schema(min: i32, max: i32) -> Schema {
    json_schema!({ "type": "number", "exclusiveMinimum": min - 1, "exclusiveMaximum": max + 1 })
}
