//! Whole numbers: within bounds, on a slider, one of several, a colour.

use alloc::{format, string::String, vec::Vec};
use core::ops::RangeInclusive;
use serde_json::{Value, json};

use super::{
    super::{number, reject::Rejection},
    SettingKind,
};

/// Whole number within bounds.
#[derive(Debug)]
pub struct Uint {
    range: RangeInclusive<u32>,
    /// The control that a form has for it.
    control: &'static str,
}

/// A number that is typed.
pub const fn uint(range: RangeInclusive<u32>) -> Uint {
    let control = "number";
    Uint { range, control }
}

/// A number that is set with a slider.
pub const fn slider(range: RangeInclusive<u32>) -> Uint {
    let control = "slider";
    Uint { range, control }
}

/// A whole number that is an index into these names.
#[derive(Debug)]
pub struct Numbered(pub &'static [&'static str]);

/// 24-bit colour.
#[derive(Debug)]
pub struct Color;

const RGB_MAX: u32 = 0xFF_FF_FF;

impl SettingKind for Uint {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        within(&self.range, name, value)
    }

    fn normal(&self, value: &Value) -> Value {
        whole(&self.range, value)
    }

    fn schema(&self) -> Value {
        integer(&self.range)
    }

    fn control(&self) -> Value {
        json!({ "control": self.control, "min": self.range.start(), "max": self.range.end() })
    }

    fn words(&self) -> String {
        format!("{} to {}", self.range.start(), self.range.end())
    }
}

impl Numbered {
    fn range(&self) -> RangeInclusive<u32> {
        let last = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        0..=last.saturating_sub(1)
    }
}

impl SettingKind for Numbered {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        within(&self.range(), name, value)
    }

    fn normal(&self, value: &Value) -> Value {
        whole(&self.range(), value)
    }

    fn schema(&self) -> Value {
        integer(&self.range())
    }

    fn control(&self) -> Value {
        let options = self.0.iter().enumerate();
        let options: Vec<Value> = options
            .map(|(value, label)| json!({ "value": value, "label": label }))
            .collect();
        json!({ "control": "select", "options": options })
    }

    fn words(&self) -> String {
        let named = self.0.iter().enumerate();
        named
            .map(|(number, name)| format!("{number} {name}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl SettingKind for Color {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        within(&(0..=RGB_MAX), name, value)
    }

    fn normal(&self, value: &Value) -> Value {
        whole(&(0..=RGB_MAX), value)
    }

    fn schema(&self) -> Value {
        integer(&(0..=RGB_MAX))
    }

    fn control(&self) -> Value {
        json!({ "control": "color" })
    }

    fn words(&self) -> String {
        "a colour as a number, such as 16711680 (`0xFF0000`)".into()
    }

    fn describe_value(&self, shown: &Value) -> String {
        let number = shown.as_u64().unwrap_or_default();
        format!("{number} (`0x{number:06X}`)")
    }
}

fn within(range: &RangeInclusive<u32>, name: &str, value: &Value) -> Result<(), Rejection> {
    if !value.is_number() {
        return Err(Rejection::BadType(name.into()));
    }
    match read(range, value) {
        Some(_) => Ok(()),
        None => Err(Rejection::Range(name.into())),
    }
}

fn whole(range: &RangeInclusive<u32>, value: &Value) -> Value {
    read(range, value).map_or(Value::Null, Value::from)
}

fn read(range: &RangeInclusive<u32>, value: &Value) -> Option<i64> {
    let least = i32::try_from(*range.start()).unwrap_or(i32::MAX);
    number::bounded(value, least, *range.end())
}

fn integer(range: &RangeInclusive<u32>) -> Value {
    json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() })
}
