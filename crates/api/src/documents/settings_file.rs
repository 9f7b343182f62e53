//! The settings as a file: exporting it, and importing it.

use alloc::{string::String, vec::Vec};

use device::settings::transfer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ErrorBody, or_default, some_object};
use crate::{limits::PASSPHRASE_LEN, schema::plain_words};

/// The format that a file of settings names.
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
    /// Where the settings come from.
    #[serde(flatten)]
    pub origin: SettingsOrigin,
    /// The settings that are no secret.
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
    /// When they were exported, as in RFC 3339; null if the clock did not know.
    #[serde(default, deserialize_with = "or_default")]
    pub time: Option<String>,
}

/// Secrets that are encrypted with a passphrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealedSecrets {
    /// How the key is derived from the passphrase.
    pub kdf: String,
    /// Memory that this takes, KiB.
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
    /// Encrypts the secrets; without one they are not exported.
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
    /// Only answer what would change.
    #[serde(default)]
    pub dry_run: bool,
    /// Decrypts the secrets of the file; without one they stay as they are.
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
    /// What became of the secrets.
    pub secrets: SecretsState,
    /// The settings that differ.
    pub changes: Vec<ChangedSetting>,
    /// Names of the file that this version does not know.
    pub unknown: Vec<String>,
    /// Settings that the file does not have; they stay as they are.
    pub missing: Vec<&'static str>,
    /// Values that were not used as written, in words for people.
    pub notes: Vec<String>,
    /// Why the file is refused; empty if it is accepted.
    pub refused: Vec<ErrorBody>,
    /// Part of it takes effect at the next start.
    pub reboot_required: bool,
    /// The settings were changed.
    pub applied: bool,
}

/// A file of settings was refused; with a report if it could be read.
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
    /// Its name.
    pub name: &'static str,
    /// Value before the import; absent if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub old: Option<Value>,
    /// Value after the import; absent if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub new: Option<Value>,
    /// It is secret.
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
