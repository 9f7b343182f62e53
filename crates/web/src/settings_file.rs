//! The settings file: a backup of the settings, or a copy for another clock.
//!
//! The web page, `papertick backup` and `papertick restore` use the same readable JSON file.

use std::fmt;

use api::{
    documents::{
        ErrorBody, object,
        settings_file::{
            ChangedSetting, FORMAT, ImportReport, SettingsFile, SettingsOrigin, VERSION,
        },
    },
    limits::IMPORT_BODY_MAX,
};
use device::settings::{
    SPECS, Settings,
    reject::Rejection,
    transfer::{self, Import},
};
use serde_json::{Map, Value};

/// Largest file, bytes. With the other parameters of an import it fits into the body of the request.
pub const FILE_MAX: usize = IMPORT_BODY_MAX - 8 * 1024;

/// Why a file cannot be read. `Display` is the token; [`SettingsFileError::message`] is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFileError {
    /// The document is not a settings file.
    NotSettings,
    /// A newer program wrote the file.
    NewerVersion,
}

impl fmt::Display for SettingsFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SettingsFileError::NotSettings => "file:bad_type",
            SettingsFileError::NewerVersion => "file:unknown",
        })
    }
}

impl SettingsFileError {
    /// The explanation for people.
    pub fn message(self) -> &'static str {
        match self {
            SettingsFileError::NotSettings => "this is not a settings file",
            SettingsFileError::NewerVersion => {
                "a newer program wrote this file: update this program first"
            }
        }
    }
}

/// A file with settings as indented JSON.
pub fn to_text(settings: Map<String, Value>, origin: SettingsOrigin) -> String {
    let file = SettingsFile {
        format: FORMAT.into(),
        version: VERSION,
        origin,
        secrets: None,
        settings,
    };
    // Cannot fail, because the document has string keys only.
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    format!("{text}\n")
}

/// Parses a file.
///
/// # Errors
/// The document is not a settings file, or a newer program wrote it.
pub fn parse(file: &Value) -> Result<SettingsFile, SettingsFileError> {
    if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(SettingsFileError::NotSettings);
    }
    match file.get("version").and_then(Value::as_u64) {
        Some(VERSION) => object(file).ok_or(SettingsFileError::NotSettings),
        Some(newer) if newer > VERSION => Err(SettingsFileError::NewerVersion),
        Some(_) | None => Err(SettingsFileError::NotSettings),
    }
}

/// Removes settings of a file that are not imported.
///
/// # Errors
/// The first name that the file does not have.
pub fn remove<'a>(
    file: &mut SettingsFile,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), &'a str> {
    for name in names {
        file.settings.shift_remove(name).ok_or(name)?;
    }
    Ok(())
}

/// What an import of a file would change.
pub fn import(file: &SettingsFile, stored: &Settings) -> Import {
    let mut import = transfer::import(stored, &file.settings);
    import.refused.extend(plain_passwords(&file.settings));
    import
}

/// The result of an import, or of a dry run.
pub fn import_report(file: &SettingsFile, import: &Import, applied: bool) -> ImportReport {
    let refusal = |rejection: &Rejection| ErrorBody {
        error: rejection.to_string(),
        msg: Some(hint(rejection)),
    };
    let notes = import.notes.iter().map(ToString::to_string);
    let unread = (file.secrets.as_ref()).map(|_| {
        "secrets: an older version has encrypted them, and they are not imported: enter passwords and keys again".into()
    });
    ImportReport {
        from: file.origin.clone(),
        changes: import.changes.iter().map(ChangedSetting::from).collect(),
        unknown: import.unknown.clone(),
        missing: import.missing.clone(),
        notes: notes.chain(unread).collect(),
        refused: import.refused.iter().map(refusal).collect(),
        reboot_required: import.changed.reboot_required,
        applied,
    }
}

/// The explanation of a refused setting for people.
fn hint(rejection: &Rejection) -> String {
    let is_of_password = matches!(rejection, Rejection::BadLength(name) if is_password(name));
    if is_of_password {
        return "the file switches a password on but does not include it: set the password first, or leave this setting out".into();
    }
    rejection.hint()
}

/// Rejects passwords in a file that are not hashes: they would never match a login.
fn plain_passwords(body: &Map<String, Value>) -> impl Iterator<Item = Rejection> {
    let passwords = SPECS.iter().filter(|spec| spec.kind.password().is_some());
    passwords.filter_map(|spec| {
        let text = body.get(spec.name)?.as_str()?;
        let is_usable = text.is_empty() || passwords::is_hash(text);
        (!is_usable).then(|| Rejection::BadType(spec.name.into()))
    })
}

fn is_password(name: &str) -> bool {
    let mut passwords = SPECS.iter().filter(|spec| spec.kind.password().is_some());
    passwords.any(|spec| spec.name == name)
}
