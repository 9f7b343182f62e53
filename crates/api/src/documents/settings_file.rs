//! The settings as a file: exporting it, and importing it.

use alloc::{string::String, vec::Vec};

use device::settings::transfer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ErrorBody, or_default, some_object};
use crate::{limits::PASSPHRASE_LEN, schema::plain_words};

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
    /// The settings that are not secret.
    pub settings: Map<String, Value>,
    /// The secrets; absent if the file has none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_object"
    )]
    #[schemars(with = "SealedSecrets")]
    pub secrets: Option<SealedSecrets>,
    /// Names of the secrets that the clock did not export.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub left_out: Vec<String>,
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

/// Secrets that are encrypted with a passphrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealedSecrets {
    /// How the key is derived from the passphrase.
    pub kdf: String,
    /// Memory for the derivation, KiB.
    #[serde(rename = "memoryKiB")]
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Salt of the key, base64.
    pub salt: String,
    /// How the secrets are encrypted.
    pub cipher: String,
    /// The encrypted secrets, base64.
    pub sealed: String,
}

/// What to export.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExportRequest {
    /// Passphrase that encrypts the secrets; without a passphrase the secrets are not exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = *PASSPHRASE_LEN.start(), max = *PASSPHRASE_LEN.end()))]
    pub passphrase: Option<String>,
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
    /// Passphrase of the secrets in the file; without a passphrase the clock keeps its secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = *PASSPHRASE_LEN.start(), max = *PASSPHRASE_LEN.end()))]
    pub passphrase: Option<String>,
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
    /// Result for the secrets.
    pub secrets: SecretsState,
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

/// State of the secrets of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = plain_words)]
pub enum SecretsState {
    /// The file has no secrets.
    #[serde(rename = "absent")]
    Absent,
    /// No passphrase was given; the clock keeps its secrets.
    #[serde(rename = "closed")]
    Encrypted,
    /// The secrets were decrypted.
    #[serde(rename = "opened")]
    Decrypted,
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
