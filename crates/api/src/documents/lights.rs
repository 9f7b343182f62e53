//! The LED strip and the frontlight.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

use device::{
    lights::{StripEffect, frontlight::DUTY_MAX},
    settings::{Key, kinds::SettingKind},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::numbers::truncated_number_schema;
use crate::{schema::Word, status::Led};

/// Colours of the LEDs, leftmost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lights(pub Vec<Led>);

/// One colour for all LEDs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColourChoice {
    /// The colour.
    pub c: ColourName,
}

/// A colour in hex, or `off`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ColourName(#[schemars(regex(pattern = "^(#?[0-9A-Fa-f]{6}|off)$"))] pub String);

/// A colour in hex.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct HexColour(#[schemars(regex(pattern = "^#?[0-9A-Fa-f]{6}$"))] pub String);

/// An effect to play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectChoice {
    /// Name of the effect.
    #[schemars(with = "Word<StripEffect>")]
    pub name: String,
}

/// The effect that will be played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueuedEffect {
    /// Always true.
    pub queued: bool,
    /// Name of the effect.
    pub name: Word<StripEffect>,
}

/// Brightness of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BrightnessChoice {
    /// PWM duty.
    #[schemars(schema_with = "brightness_schema")]
    pub b: u64,
}

fn brightness_schema(_generator: &mut SchemaGenerator) -> Schema {
    truncated_number_schema(0, u16::MAX.into())
}

/// A brightness of the frontlight in a path or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duty(pub u32);

impl Duty {
    /// The setting that takes the same values.
    pub(crate) fn kind() -> &'static dyn SettingKind {
        Key::fl_max_brightness.spec().kind
    }
}

impl JsonSchema for Duty {
    fn schema_name() -> Cow<'static, str> {
        "Duty".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        Schema::try_from(Duty::kind().schema()).unwrap_or_default()
    }
}

/// A duty per channel of the frontlight. Its schema depends on their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyList(pub Vec<u16>);

impl DutyList {
    /// JSON Schema for this number of channels; `None` if it is not known.
    fn schema_for(channels: Option<usize>) -> Value {
        list_schema(
            truncated_number_schema(0, DUTY_MAX.into()).to_value(),
            channels,
        )
    }
}

impl JsonSchema for DutyList {
    fn schema_name() -> Cow<'static, str> {
        "DutyList".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        Schema::try_from(DutyList::schema_for(None)).unwrap_or_default()
    }
}

/// A colour per LED, or one for all. Its schema depends on the number of LEDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedColours;

impl LedColours {
    /// JSON Schema for this number of LEDs; `None` if it is not known.
    fn schema_for(leds: Option<usize>) -> Value {
        let number = json!({ "type": "number", "description": "The low eight bits count." });
        let by_hex = json!({
            "type": "object",
            "properties": { "hex": { "type": "string", "pattern": "^#?[0-9A-Fa-f]{6}$" } },
            "required": ["hex"],
        });
        let by_channels = json!({
            "type": "object",
            "properties": { "red": number, "green": number, "blue": number },
            "required": ["red", "green", "blue"],
            "not": { "required": ["hex"] },
        });
        let colour = json!({ "anyOf": [by_hex, by_channels] });
        let one = json!({ "type": "array", "items": colour, "minItems": 1, "maxItems": 1 });
        json!({ "anyOf": [list_schema(colour, leds), one, by_hex, by_channels] })
    }
}

impl JsonSchema for LedColours {
    fn schema_name() -> Cow<'static, str> {
        "LedColours".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        Schema::try_from(LedColours::schema_for(None)).unwrap_or_default()
    }
}

/// Replaces the schemas of lists with one entry per LED or panel.
pub fn set_lengths(schemas: &mut Value, leds: usize, panels: usize) {
    schemas[&*LedColours::schema_name()] = LedColours::schema_for(Some(leds));
    schemas[&*DutyList::schema_name()] = DutyList::schema_for(Some(panels));
}

/// Schema of a list that is empty or has this number of entries; of any list if the number is not known.
fn list_schema(items: Value, count: Option<usize>) -> Value {
    match count {
        None => json!({ "type": "array", "items": items }),
        Some(count) => json!({ "anyOf": [
            { "type": "array", "items": items, "maxItems": 0 },
            { "type": "array", "items": items, "minItems": count, "maxItems": count },
        ] }),
    }
}
