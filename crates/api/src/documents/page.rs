//! The page, and checks for monitoring.

use alloc::string::String;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whether the clock runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// The clock runs.
    pub ok: bool,
}

/// Versions of the page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Manifest {
    /// The oldest program that the page works with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub min_firmware: Option<String>,
    /// Version of the page.
    pub commit: String,
    /// When it was built, s since 1970-01-01 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub build_time: Option<i64>,
    /// Other members of the manifest of the page.
    #[serde(flatten)]
    #[schemars(skip)]
    pub others: Map<String, Value>,
}

/// A description of the interface as OpenAPI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenApiDocument(pub Map<String, Value>);
