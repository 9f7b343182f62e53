//! The settings file: a backup of the settings, or a copy for another clock.
//!
//! The file is readable JSON. Secrets are included only if a passphrase encrypts them (`encrypted`).
//! The web page, `papertick backup` and `papertick restore` use the same file.

mod encrypted;

use std::fmt;

use api::{
    documents::{
        ErrorBody, object,
        settings_file::{
            ChangedSetting, FORMAT, ImportReport, SecretsState, SettingsFile, SettingsOrigin,
            VERSION,
        },
    },
    limits::{IMPORT_BODY_MAX, PASSPHRASE_LEN},
};
use device::{
    secret::Secret,
    settings::{
        SPECS, Settings,
        reject::Rejection,
        transfer::{self, ExportedSettings, Import},
    },
};
use serde_json::{Map, Value};

use encrypted::EncryptedSecrets;

/// Largest file, bytes. With the other parameters of an import it fits into the body of the request.
pub const FILE_MAX: usize = IMPORT_BODY_MAX - 8 * 1024;

/// A settings file whose encrypted secrets are well-formed.
pub struct Backup {
    /// The file.
    pub file: SettingsFile,
    encrypted: Option<EncryptedSecrets>,
}

/// Why a file cannot be written or read. `Display` is the token; [`SettingsFileError::message`] is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFileError {
    /// The document is not a settings file.
    NotSettings,
    /// A newer program wrote the file.
    NewerVersion,
    /// The passphrase is too short or too long.
    PassphraseLength,
    /// The passphrase is wrong, or the secrets are damaged.
    CannotDecrypt,
    /// The host has no random numbers or not enough memory.
    CannotEncrypt,
}

impl fmt::Display for SettingsFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SettingsFileError::NotSettings => "file:bad_type",
            SettingsFileError::NewerVersion => "file:unknown",
            SettingsFileError::PassphraseLength => "passphrase:bad_length",
            SettingsFileError::CannotDecrypt => "passphrase:wrong",
            SettingsFileError::CannotEncrypt => "not sealed",
        })
    }
}

impl SettingsFileError {
    /// The explanation for people.
    pub fn message(self) -> String {
        match self {
            SettingsFileError::NotSettings => "this is not a settings file".into(),
            SettingsFileError::NewerVersion => {
                "a newer program wrote this file: update this program first".into()
            }
            SettingsFileError::PassphraseLength => {
                let (least, most) = (PASSPHRASE_LEN.start(), PASSPHRASE_LEN.end());
                format!("a passphrase has {least} to {most} bytes")
            }
            SettingsFileError::CannotDecrypt => {
                "the passphrase is wrong, or the secrets in the file are damaged".into()
            }
            SettingsFileError::CannotEncrypt => "the secrets could not be encrypted".into(),
        }
    }
}

/// Content of a settings file: the stored form of the settings and whether secrets are included.
pub struct SettingsContent {
    /// The settings.
    pub body: Map<String, Value>,
    /// Whether `body` includes the secrets.
    pub secrets: SecretsState,
}

impl Backup {
    /// A file with the settings of a clock. With a passphrase it includes the encrypted secrets, which is slow.
    ///
    /// # Errors
    /// The passphrase is too short or too long, or encryption fails.
    pub fn new(
        settings: &Settings,
        origin: SettingsOrigin,
        passphrase: Option<&Secret>,
    ) -> Result<Backup, SettingsFileError> {
        Backup::without(settings, origin, passphrase, Vec::new())
    }

    /// The same without some of the secrets. The file lists the names of these secrets.
    ///
    /// # Errors
    /// As for [`Backup::new`].
    pub fn without(
        settings: &Settings,
        origin: SettingsOrigin,
        passphrase: Option<&Secret>,
        left_out: Vec<&'static str>,
    ) -> Result<Backup, SettingsFileError> {
        let ExportedSettings { open, mut secret } = transfer::split_secrets(settings);
        secret.retain(|name, _| !left_out.contains(&name.as_str()));
        let encrypted = passphrase.map(|passphrase| {
            check_passphrase(passphrase)?;
            let secret = Value::from(secret).to_string().into_bytes();
            EncryptedSecrets::encrypt(secret, passphrase).ok_or(SettingsFileError::CannotEncrypt)
        });
        let encrypted = encrypted.transpose()?;
        let left_out = left_out.into_iter().filter(|_| encrypted.is_some());
        let file = SettingsFile {
            format: FORMAT.into(),
            version: VERSION,
            origin,
            settings: open,
            secrets: encrypted.as_ref().map(EncryptedSecrets::document),
            left_out: left_out.map(String::from).collect(),
        };
        Ok(Backup { file, encrypted })
    }

    /// The file as indented JSON.
    pub fn to_text(&self) -> String {
        // Cannot fail, because the document has string keys only.
        let text = serde_json::to_string_pretty(&self.file).unwrap_or_default();
        format!("{text}\n")
    }

    /// Parses a file.
    ///
    /// # Errors
    /// The document is not a settings file, or a newer program wrote it.
    pub fn parse(file: &Value) -> Result<Backup, SettingsFileError> {
        if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(SettingsFileError::NotSettings);
        }
        match file.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => return Err(SettingsFileError::NewerVersion),
            Some(_) | None => return Err(SettingsFileError::NotSettings),
        }
        let file: SettingsFile = object(file).ok_or(SettingsFileError::NotSettings)?;
        let encrypted = file
            .secrets
            .as_ref()
            .map(|secrets| EncryptedSecrets::parse(secrets).ok_or(SettingsFileError::NotSettings));
        Ok(Backup {
            encrypted: encrypted.transpose()?,
            file,
        })
    }

    /// Whether the file has secrets.
    pub fn has_secrets(&self) -> bool {
        self.encrypted.is_some()
    }

    /// The settings in the file. Decrypting secrets is slow.
    ///
    /// # Errors
    /// The passphrase does not decrypt the secrets.
    pub fn content(
        &self,
        passphrase: Option<&Secret>,
    ) -> Result<SettingsContent, SettingsFileError> {
        let mut body = self.file.settings.clone();
        let secrets = match (&self.encrypted, passphrase) {
            (None, _) => SecretsState::Absent,
            (Some(_), None) => SecretsState::Encrypted,
            (Some(encrypted), Some(passphrase)) => {
                let bytes = encrypted
                    .decrypt(passphrase)
                    .ok_or(SettingsFileError::CannotDecrypt)?;
                let secret: Map<String, Value> =
                    serde_json::from_slice(&bytes).map_err(|_| SettingsFileError::CannotDecrypt)?;
                body.extend(secret);
                SecretsState::Decrypted
            }
        };
        Ok(SettingsContent { body, secrets })
    }
}

impl SettingsContent {
    /// Removes settings.
    ///
    /// # Errors
    /// The first name that the file does not have.
    pub fn remove<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Result<(), &'a str> {
        for name in names {
            self.body.shift_remove(name).ok_or(name)?;
        }
        Ok(())
    }

    /// What an import of these settings would change.
    pub fn import(&self, stored: &Settings) -> Import {
        let mut import = transfer::import(stored, &self.body);
        import.refused.extend(plain_passwords(&self.body));
        import
    }
}

/// The result of an import, or of a dry run.
pub fn import_report(
    backup: &Backup,
    secrets: SecretsState,
    import: &Import,
    applied: bool,
) -> ImportReport {
    let refusal = |rejection: &Rejection| ErrorBody {
        error: rejection.to_string(),
        msg: hint(rejection, secrets),
    };
    ImportReport {
        from: backup.file.origin.clone(),
        secrets,
        changes: import.changes.iter().map(ChangedSetting::from).collect(),
        unknown: import.unknown.clone(),
        missing: import.missing.clone(),
        notes: import.notes.iter().map(ToString::to_string).collect(),
        refused: import.refused.iter().map(refusal).collect(),
        reboot_required: import.changed.reboot_required,
        applied,
    }
}

/// The explanation of a refused setting for people; `None` if the token is clear enough.
fn hint(rejection: &Rejection, secrets: SecretsState) -> Option<String> {
    let of_password = matches!(rejection, Rejection::BadLength(name) if is_password(name));
    if of_password && secrets != SecretsState::Decrypted {
        return Some(
            "the file switches a password on but does not include it: set the password first, or leave this setting out".into(),
        );
    }
    rejection.hint()
}

/// Checks the length of a passphrase.
///
/// # Errors
/// The passphrase is too short or too long.
pub fn check_passphrase(passphrase: &Secret) -> Result<(), SettingsFileError> {
    match PASSPHRASE_LEN.contains(&passphrase.expose().len()) {
        true => Ok(()),
        false => Err(SettingsFileError::PassphraseLength),
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use serde_json::json;

    use super::*;

    fn settings_with_secrets() -> Settings {
        Settings {
            http_auth_enabled: true,
            http_auth_pass: passwords::hash("planted", &mut Vec::new()).unwrap(),
            proxy_pass: Secret::new("planted"),
            git_release_url: "https://me:planted@feed.example".into(),
            led_brightness: 3,
            ..Settings::default()
        }
    }

    fn origin() -> SettingsOrigin {
        SettingsOrigin {
            clock: "papertick-a1b2c3".into(),
            board: "rev-b".into(),
            firmware: "4.0.0".into(),
            time: Some("2026-01-02T03:04:05Z".into()),
        }
    }

    #[test]
    fn each_file_has_its_own_salt() {
        let passphrase = Secret::new("correct horse");
        let make = || Backup::new(&settings_with_secrets(), origin(), Some(&passphrase)).unwrap();
        let (one, other) = (json!(make().file), json!(make().file));
        for member in ["salt", "sealed"] {
            assert_ne!(one["secrets"][member], other["secrets"][member]);
        }
    }

    #[test]
    fn changed_ciphertext_is_refused() {
        let passphrase = Secret::new("correct horse");
        let backup = Backup::new(&settings_with_secrets(), origin(), Some(&passphrase)).unwrap();
        let json = json!(backup.file);
        let ciphertext = json["secrets"]["sealed"].as_str().unwrap().to_string();
        for at in [0, ciphertext.len() / 2, ciphertext.len() - 5] {
            let mut letters: Vec<char> = ciphertext.chars().collect();
            letters[at] = if letters[at] == 'A' { 'B' } else { 'A' };
            let mut changed = json.clone();
            changed["secrets"]["sealed"] = letters.into_iter().collect::<String>().into();
            let parsed = Backup::parse(&changed).unwrap();
            assert_eq!(
                parsed.content(Some(&passphrase)).err(),
                Some(SettingsFileError::CannotDecrypt),
                "{at}"
            );
        }
    }
}
