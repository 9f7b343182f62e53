//! The settings: the schemas of GET and PATCH follow from the table of settings.

use alloc::{borrow::Cow, format};

use device::settings::schema::{document_schema, json_schema as change_schema};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

/// All settings.
#[derive(Debug)]
pub enum Settings {}

impl JsonSchema for Settings {
    fn schema_name() -> Cow<'static, str> {
        "Settings".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        Schema::try_from(document_schema()).unwrap_or_default()
    }
}

/// A change of settings. Members of older clients are accepted, too.
#[derive(Debug)]
pub enum SettingsChange {}

impl JsonSchema for SettingsChange {
    fn schema_name() -> Cow<'static, str> {
        "SettingsChange".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let mut schema = change_schema();
        let mut add = |name: &str, member| schema["properties"][name] = member;
        add("fetchEurPrice", json!({ "type": "boolean" }));
        for place in 0..6 {
            add(&format!("screen[{place}]"), json!({ "type": "boolean" }));
        }
        let in_text =
            json!({ "type": "string", "pattern": "^((0x|#)[0-9A-Fa-f]{1,6}|[0-9]{1,8})$" });
        let colour = json!({
            "anyOf": [in_text, { "enum": [0, 0xFFFF] }],
            "description": "A text of at most 24 bits sets `invertedColor`; a number, as in GET, changes nothing.",
        });
        add("fgColor", colour.clone());
        add("bgColor", colour);
        add("tzOffset", json!({ "type": "integer" }));
        Schema::try_from(schema).unwrap_or_default()
    }
}

/// A change of settings was accepted, and part of it takes effect at the next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartRequired {
    /// Always true.
    pub reboot_required: bool,
}
