//! The settings as a file: exporting it, and importing it.

use alloc::{string::String, vec::Vec};

use device::settings::transfer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ErrorBody, or_default};

/// Name of the format in a file of settings.
pub const FORMAT: &str = "papertick settings";

/// Version of the format.
pub const VERSION: u64 = 1;

/// A file of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsFile {
    /// Name of the format.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format.
    #[schemars(extend("const" = VERSION))]
    pub version: u64,
    /// The clock that exported the file.
    #[serde(flatten)]
    pub origin: SettingsOrigin,
    /// The settings in their stored form. Secrets are only in a file that `papertick backup --data-dir` made.
    pub settings: Map<String, Value>,
    /// The encrypted secrets of a file of an older version, which are not imported.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub secrets: Option<Value>,
}

/// The clock that settings were exported from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsOrigin {
    /// Name of the clock.
    #[serde(default, deserialize_with = "or_default")]
    pub clock: String,
    /// Word for its board.
    #[serde(default, deserialize_with = "or_default")]
    pub board: String,
    /// Version of its program.
    #[serde(default, deserialize_with = "or_default")]
    pub firmware: String,
    /// Time of the export, as in RFC 3339; null if the time was unknown.
    #[serde(default, deserialize_with = "or_default")]
    pub time: Option<String>,
}

/// A file of settings, and how to import it.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportRequest {
    /// The file.
    #[schemars(with = "SettingsFile")]
    pub file: Value,
    /// Dry run: only report the changes.
    #[serde(default)]
    pub dry_run: bool,
    /// Settings of the file that are not imported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

/// What the import of a file changes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// The clock that the file comes from.
    pub from: SettingsOrigin,
    /// The settings that differ.
    pub changes: Vec<ChangedSetting>,
    /// Names in the file that this version does not know.
    pub unknown: Vec<String>,
    /// Settings that are missing in the file; the clock keeps their values.
    pub missing: Vec<&'static str>,
    /// Values that were changed on import, as texts for people.
    pub notes: Vec<String>,
    /// Why the file is refused; empty if it is accepted.
    pub refused: Vec<ErrorBody>,
    /// Whether part of the change takes effect at the next start.
    pub reboot_required: bool,
    /// Whether the settings were changed.
    pub applied: bool,
}

/// A file of settings was refused; with a report if the file could be parsed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportRefusal {
    /// The report.
    #[serde(flatten)]
    pub report: Option<ImportReport>,
    /// The first reason.
    #[serde(flatten)]
    pub error: ErrorBody,
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedSetting {
    /// Name of the setting.
    pub name: &'static str,
    /// Value before the import; absent if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub old: Option<Value>,
    /// Value after the import; absent if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub new: Option<Value>,
    /// Whether the setting is secret.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub secret: bool,
}

impl From<&transfer::SettingChange> for ChangedSetting {
    fn from(change: &transfer::SettingChange) -> ChangedSetting {
        let (old, new) = change.values.clone().unzip();
        ChangedSetting {
            name: change.name,
            secret: old.is_none(),
            old,
            new,
        }
    }
}
