//! What the panels show.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

use device::{screens::SCREENS, settings::Settings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use super::{TruncatedNumber, displays, numbers::truncated_number_schema, or_default};
use crate::schema::any_type;

/// Choice of a screen.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct ScreenChoice {
    /// Id of the screen, or its place in the rotation.
    #[schemars(schema_with = "screen_schema")]
    pub s: i64,
}

fn screen_schema(_generator: &mut SchemaGenerator) -> Schema {
    id_or(truncated_number_schema(0, last_place()))
}

/// Id of a screen, or its place in the rotation, in a path or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenOrPlace(pub i64);

impl JsonSchema for ScreenOrPlace {
    fn schema_name() -> Cow<'static, str> {
        "ScreenOrPlace".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        id_or(json_schema!({ "type": "integer", "minimum": 0, "maximum": last_place() }))
    }
}

/// Id of a screen.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct ScreenId(#[schemars(schema_with = "screen_id")] pub u16);

fn screen_id(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "description": "Id of a screen.", "enum": ids() })
}

fn ids() -> Vec<u16> {
    SCREENS.iter().map(|screen| screen.id).collect()
}

/// Last place of the shortest rotation: without optional features and in one currency.
fn last_place() -> i32 {
    let screens = Settings::default().available_screens();
    i32::try_from(screens.len()).map_or(0, |count| count - 1)
}

/// The id of a screen, or its place.
fn id_or(mut place: Schema) -> Schema {
    place.insert(
        "description".into(),
        "Place in the rotation, from 0.".into(),
    );
    json_schema!({ "anyOf": [{ "description": "Id of a screen.", "enum": ids() }, place] })
}

/// A text of 1 to 256 bytes.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct QrText(#[schemars(length(min = 1, max = 256))] pub String);

/// Picture pixels per panel pixel.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct Scale(#[schemars(range(min = 1, max = 8))] pub u8);

/// Width of a picture, px.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct FrameWidth(#[schemars(range(min = 200, max = 3840))] pub u32);

/// Height of a picture, px.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct FrameHeight(#[schemars(range(min = 100, max = 2160))] pub u32);

/// Clockwise rotation of a picture, degrees.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct FrameRotation(#[schemars(schema_with = "displays::turns")] pub u32);

/// Greys of a picture, bits per pixel.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct FrameDepth(#[schemars(schema_with = "displays::depths")] pub u32);

/// Layout of a picture.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct FrameLayout(#[schemars(schema_with = "displays::layouts")] pub String);

/// Choice of a currency.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct CurrencyChoice {
    /// ISO 4217 code.
    #[schemars(regex(pattern = "^[A-Za-z]{3}$"))]
    pub c: String,
}

/// A text for all panels.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct PanelText {
    /// The text, one character per panel.
    pub t: String,
}

/// A text per panel.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[serde(untagged)]
pub enum TextPerPanel {
    /// The texts, leftmost first.
    Texts(Vec<String>),
    /// The texts and the size of their glyphs.
    Sized(SizedTexts),
}

/// A text per panel, and the size of the glyphs.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SizedTexts {
    /// The texts, leftmost first.
    pub cells: Vec<String>,
    /// Height of the glyphs, px, from 20 to 220; any other value is ignored.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(with = "Value")]
    pub digit_px: Option<TruncatedNumber>,
}

impl SizedTexts {
    /// Texts with glyphs of the usual size.
    pub fn of(cells: Vec<String>) -> SizedTexts {
        SizedTexts {
            cells,
            digit_px: None,
        }
    }
}

/// A zap to simulate. A member of another type has its default, so that nothing is refused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[schemars(transform = any_type, example = example_zap())]
pub struct ZapRequest {
    /// An integer of at least 0.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(with = "Value")]
    pub amount_sats: Option<TruncatedNumber>,
    /// A string, which is cut after 256 bytes.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(with = "Value")]
    pub message: Option<String>,
}

fn example_zap() -> Value {
    serde_json::json!({ "amount_sats": 21, "message": "hello" })
}
