//! The clock as a whole.

use alloc::{borrow::Cow, string::String, vec::Vec};

use device::settings::kinds::{SettingKind, tx_power::TxPower};
use market::source_id::SourceId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{limits::CONFIRMATION, operations::device::BROKER, schema::any_type};

/// Confirms a factory reset.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The confirmation word.
    #[schemars(extend("const" = CONFIRMATION))]
    pub confirm: String,
}

/// Token of [`NotErased`].
pub const NOT_ERASED: &str = "not erased";

/// Not everything could be erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotErased {
    /// Token for programs.
    #[schemars(extend("const" = NOT_ERASED))]
    pub error: &'static str,
}

/// Number of removed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Removed {
    /// Number of files.
    pub removed: usize,
}

/// Choice of a source.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transform = any_type)]
pub struct SourceChoice {
    /// Name of the source; all sources if it is missing.
    #[serde(default)]
    #[schemars(with = "SourceName")]
    pub source: Option<SourceName>,
}

/// Name of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceName(pub String);

impl JsonSchema for SourceName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SourceName".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let sources = SourceId::ALL.iter().map(|id| id.name());
        let names: Vec<&str> = sources.chain([BROKER]).collect();
        json_schema!({ "enum": names })
    }
}

/// Transmit power of the radio.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TxPowerChoice {
    /// The power, quarter-dBm.
    #[schemars(schema_with = "tx_power")]
    pub tx_power: i64,
}

fn tx_power(_generator: &mut SchemaGenerator) -> Schema {
    Schema::try_from(TxPower.schema()).unwrap_or_default()
}

/// The transmit power was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TxPowerSet {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    pub set_tx_power: &'static str,
}
