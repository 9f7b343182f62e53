//! Types of values, with their stored form.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::Value;

use crate::{
    displays::Display,
    secret::{Endpoint, PasswordHash, Secret},
};
use market::units::Currency;

/// A type of setting, with its stored form.
pub trait Field: Sized {
    /// The stored form, secrets in the clear.
    fn store(&self) -> Value;
    /// Reads the stored form. `None` if it has the wrong type.
    fn load(value: &Value) -> Option<Self>;
}

impl Field for bool {
    fn store(&self) -> Value {
        Value::Bool(*self)
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl Field for u32 {
    fn store(&self) -> Value {
        Value::from(*self)
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Field for Option<i32> {
    fn store(&self) -> Value {
        self.map_or(Value::Null, Value::from)
    }
    fn load(value: &Value) -> Option<Self> {
        if value.is_null() {
            return Some(None);
        }
        value.as_i64()?.try_into().ok().map(Some)
    }
}

impl Field for String {
    fn store(&self) -> Value {
        Value::String(self.clone())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_str().map(ToString::to_string)
    }
}

impl Field for Secret {
    fn store(&self) -> Value {
        Value::String(self.expose().to_string())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_str().map(Secret::new)
    }
}

impl Field for Endpoint {
    fn store(&self) -> Value {
        Value::String(self.expose().to_string())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_str().map(Endpoint::new)
    }
}

impl Field for PasswordHash {
    fn store(&self) -> Value {
        Value::String(self.phc().to_string())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_str().map(PasswordHash::new)
    }
}

impl Field for Vec<Endpoint> {
    fn store(&self) -> Value {
        self.iter().map(Field::store).collect()
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(Field::load).collect()
    }
}

impl Field for Vec<String> {
    fn store(&self) -> Value {
        Value::from(self.clone())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(Field::load).collect()
    }
}

impl Field for Vec<Vec<String>> {
    fn store(&self) -> Value {
        Value::from(self.clone())
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(Field::load).collect()
    }
}

impl Field for Vec<Currency> {
    fn store(&self) -> Value {
        Value::from(
            self.iter()
                .map(|currency| currency.code())
                .collect::<Vec<_>>(),
        )
    }
    fn load(value: &Value) -> Option<Self> {
        value
            .as_array()?
            .iter()
            .map(|code| Currency::parse(code.as_str()?))
            .collect()
    }
}

impl Field for Vec<Display> {
    fn store(&self) -> Value {
        self.iter().map(Display::to_json).collect()
    }
    fn load(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(Display::from_json).collect()
    }
}

impl Field for Vec<u16> {
    fn store(&self) -> Value {
        Value::from(self.clone())
    }
    fn load(value: &Value) -> Option<Self> {
        value
            .as_array()?
            .iter()
            .map(|id| id.as_u64()?.try_into().ok())
            .collect()
    }
}
