//! Settings as a file: for another clock, or for the day on which this one is lost.
//!
//! The file is JSON that people can read; what is secret is in it only if a passphrase seals it (`sealed`).
//! Page, `papertick backup` and `papertick restore` use the same file.

mod sealed;

use std::fmt;

use api::limits::{IMPORT_BODY_MAX, PASSPHRASE_LEN};
use device::{
    secret::Secret,
    settings::{
        SPECS, Settings,
        reject::Rejection,
        transfer::{self, Apart, Import, SettingChange},
    },
};
use serde_json::{Map, Value, json};

use sealed::Sealed;

/// What the file says it is.
const FORMAT: &str = "papertick settings";

/// Version of the form of the file.
const VERSION: u64 = 1;

/// Largest file that is read from a disk, bytes; with all that is sent beside it, it fits into the body of an import.
pub const FILE_MAX: usize = IMPORT_BODY_MAX - 8 * 1024;

/// The clock that settings were exported from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsOrigin {
    /// Name of the clock.
    pub clock: String,
    /// Word for its board.
    pub board: String,
    /// Version of its program.
    pub firmware: String,
    /// When they were written, as RFC 3339 says it; none if the clock did not know.
    pub time: Option<String>,
}

/// A file of settings.
pub struct SettingsFile {
    /// Where they come from.
    pub origin: SettingsOrigin,
    open: Map<String, Value>,
    sealed: Option<Sealed>,
    left_out: Vec<&'static str>,
}

/// Why a file cannot be written or read; `Display` is the token, and [`Unusable::words`] says it to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// It is no file of settings.
    NoFile,
    /// A newer program wrote it.
    Newer,
    /// The passphrase is too short or too long.
    Passphrase,
    /// The passphrase is wrong, or the secrets are damaged.
    Locked,
    /// The host has no random numbers, or no memory to spare.
    NotSealed,
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Unusable::NoFile => "file:bad_type",
            Unusable::Newer => "file:unknown",
            Unusable::Passphrase => "passphrase:bad_length",
            Unusable::Locked => "passphrase:wrong",
            Unusable::NotSealed => "not sealed",
        })
    }
}

impl Unusable {
    /// What it is, for people.
    pub fn words(self) -> String {
        match self {
            Unusable::NoFile => "this is no file of settings".into(),
            Unusable::Newer => {
                "a newer program wrote this file: update this one before it is read".into()
            }
            Unusable::Passphrase => {
                let (least, most) = (PASSPHRASE_LEN.start(), PASSPHRASE_LEN.end());
                format!("a passphrase has {least} to {most} bytes")
            }
            Unusable::Locked => {
                "the passphrase is not that of the file, or its secrets are damaged".into()
            }
            Unusable::NotSealed => "the secrets could not be sealed".into(),
        }
    }
}

/// What is secret in a file, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// There is nothing secret in it.
    Absent,
    /// Nobody gave the passphrase: they stay as they are on the clock.
    Closed,
    /// They were opened.
    Opened,
}

impl Secrets {
    fn word(self) -> &'static str {
        match self {
            Secrets::Absent => "absent",
            Secrets::Closed => "closed",
            Secrets::Opened => "opened",
        }
    }
}

/// Content of a settings file: the stored form of the settings and whether secrets are included.
pub struct SettingsContent {
    /// The settings.
    pub body: Map<String, Value>,
    /// What became of the secrets.
    pub secrets: Secrets,
}

impl SettingsFile {
    /// The settings of a clock; with a passphrase its secrets are in the file too. That takes a moment then.
    ///
    /// # Errors
    /// The passphrase is of no use, or nothing can be sealed.
    pub fn of(
        settings: &Settings,
        origin: SettingsOrigin,
        passphrase: Option<&Secret>,
    ) -> Result<SettingsFile, Unusable> {
        SettingsFile::without(settings, origin, passphrase, Vec::new())
    }

    /// The same without some of the secrets; it says which.
    ///
    /// # Errors
    /// As above.
    pub fn without(
        settings: &Settings,
        origin: SettingsOrigin,
        passphrase: Option<&Secret>,
        left_out: Vec<&'static str>,
    ) -> Result<SettingsFile, Unusable> {
        let Apart { open, mut secret } = transfer::apart(settings);
        secret.retain(|name, _| !left_out.contains(&name.as_str()));
        let sealed = passphrase.map(|passphrase| {
            fits(passphrase)?;
            let secret = Value::from(secret).to_string().into_bytes();
            Sealed::seal(secret, passphrase).ok_or(Unusable::NotSealed)
        });
        Ok(SettingsFile {
            origin,
            open,
            sealed: sealed.transpose()?,
            left_out,
        })
    }

    /// The file as JSON.
    pub fn to_json(&self) -> Value {
        let mut file = json!({
            "format": FORMAT,
            "version": VERSION,
            "clock": self.origin.clock,
            "board": self.origin.board,
            "firmware": self.origin.firmware,
            "time": self.origin.time,
            "settings": self.open,
        });
        if let Some(sealed) = &self.sealed {
            file["secrets"] = sealed.to_json();
            if !self.left_out.is_empty() {
                file["leftOut"] = self.left_out.clone().into();
            }
        }
        file
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is none, or one of a newer form.
    pub fn read(file: &Value) -> Result<SettingsFile, Unusable> {
        if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(Unusable::NoFile);
        }
        match file.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => return Err(Unusable::Newer),
            Some(_) | None => return Err(Unusable::NoFile),
        }
        let open = file.get("settings").and_then(Value::as_object);
        let sealed = match file.get("secrets") {
            None | Some(Value::Null) => None,
            Some(sealed) => Some(Sealed::read(sealed).ok_or(Unusable::NoFile)?),
        };
        let text = |name: &str| Some(file.get(name)?.as_str()?.to_string());
        Ok(SettingsFile {
            origin: SettingsOrigin {
                clock: text("clock").unwrap_or_default(),
                board: text("board").unwrap_or_default(),
                firmware: text("firmware").unwrap_or_default(),
                time: text("time"),
            },
            open: open.ok_or(Unusable::NoFile)?.clone(),
            sealed,
            left_out: Vec::new(),
        })
    }

    /// Tells whether there are secrets in it.
    pub fn has_secrets(&self) -> bool {
        self.sealed.is_some()
    }

    /// What it says; opening secrets takes a moment.
    ///
    /// # Errors
    /// The passphrase does not open the secrets.
    pub fn said(&self, passphrase: Option<&Secret>) -> Result<SettingsContent, Unusable> {
        let mut body = self.open.clone();
        let secrets = match (&self.sealed, passphrase) {
            (None, _) => Secrets::Absent,
            (Some(_), None) => Secrets::Closed,
            (Some(sealed), Some(passphrase)) => {
                let bytes = sealed.open(passphrase).ok_or(Unusable::Locked)?;
                let secret: Map<String, Value> =
                    serde_json::from_slice(&bytes).map_err(|_| Unusable::Locked)?;
                body.extend(secret);
                Secrets::Opened
            }
        };
        Ok(SettingsContent { body, secrets })
    }
}

impl SettingsContent {
    /// Leaves out settings that are not wanted.
    ///
    /// # Errors
    /// The first of them that the file does not have.
    pub fn leave_out<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), &'a str> {
        for name in names {
            self.body.shift_remove(name).ok_or(name)?;
        }
        Ok(())
    }

    /// What taking it over would change.
    pub fn import(&self, stored: &Settings) -> Import {
        let mut import = transfer::import(stored, &self.body);
        import.refused.extend(no_hashes(&self.body));
        import
    }
}

/// What taking over a file comes to, as clients are told.
pub fn told(file: &SettingsFile, secrets: Secrets, import: &Import) -> Value {
    let change = |change: &SettingChange| match &change.values {
        Some((old, new)) => json!({ "name": change.name, "old": old, "new": new }),
        None => json!({ "name": change.name, "secret": true }),
    };
    let refusal = |rejection: &Rejection| {
        let mut refusal = json!({ "error": rejection.to_string() });
        if let Some(hint) = hint(rejection, secrets) {
            refusal["msg"] = hint.into();
        }
        refusal
    };
    let origin = &file.origin;
    json!({
        "from": {
            "clock": origin.clock,
            "board": origin.board,
            "firmware": origin.firmware,
            "time": origin.time,
        },
        "secrets": secrets.word(),
        "changes": import.changes.iter().map(change).collect::<Vec<_>>(),
        "unknown": import.unknown,
        "missing": import.missing,
        "notes": import.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "refused": import.refused.iter().map(refusal).collect::<Vec<_>>(),
        "rebootRequired": import.changed.reboot_required,
    })
}

/// What a refusal does not tell, in words.
pub fn hint(rejection: &Rejection, secrets: Secrets) -> Option<String> {
    let of_password = matches!(rejection, Rejection::BadLength(name) if is_password(name));
    if of_password && secrets != Secrets::Opened {
        return Some(
            "the file asks for a password and brings none along: set one first, or leave this setting out".into(),
        );
    }
    rejection.hint()
}

/// Checks that a passphrase is neither too short to be of use nor too long.
pub fn fits(passphrase: &Secret) -> Result<(), Unusable> {
    match PASSPHRASE_LEN.contains(&passphrase.expose().len()) {
        true => Ok(()),
        false => Err(Unusable::Passphrase),
    }
}

/// The passwords of a file that are no hashes: whoever stored them could never sign in.
fn no_hashes(body: &Map<String, Value>) -> impl Iterator<Item = Rejection> {
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

    use device::secret::PasswordHash;

    use super::*;

    fn phrase(text: &str) -> Secret {
        Secret::new(text)
    }

    fn secretive() -> Settings {
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
    fn a_file_without_a_passphrase_has_no_secret() {
        let file = SettingsFile::of(&secretive(), origin(), None).unwrap();
        let text = file.to_json().to_string();
        assert!(
            !text.contains("planted") && !text.contains("argon2"),
            "{text}"
        );
        let read = SettingsFile::read(&file.to_json()).unwrap();
        assert_eq!(read.origin, origin());
        let said = read.said(Some(&phrase("not needed"))).unwrap();
        assert_eq!(said.secrets, Secrets::Absent);
        let import = said.import(&secretive());
        assert_eq!((import.changes, import.refused), (vec![], vec![]));
    }

    #[test]
    fn secrets_go_under_a_passphrase_and_come_back_with_it_alone() {
        let passphrase = phrase("correct horse");
        let settings = secretive();
        let file = SettingsFile::of(&settings, origin(), Some(&passphrase)).unwrap();
        let json = file.to_json();
        let text = json.to_string();
        for secret in ["planted", "$argon2", "correct horse"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        let read = SettingsFile::read(&json).unwrap();
        let import = read.said(Some(&passphrase)).unwrap();
        assert_eq!(import.secrets, Secrets::Opened);
        assert_eq!(import.import(&Settings::default()).settings, settings);
        assert_eq!(
            read.said(Some(&phrase("correct house"))).err(),
            Some(Unusable::Locked)
        );
        let closed = read.said(None).unwrap();
        assert_eq!(closed.secrets, Secrets::Closed);
        // A door that is to be shut has no key then, which is said.
        let import = closed.import(&Settings::default());
        assert_eq!(import.refused.len(), 1);
        let told = told(&read, closed.secrets, &import);
        assert_eq!(told["refused"][0]["error"], "httpAuthPass:bad_length");
        let words = told["refused"][0]["msg"].as_str().unwrap();
        assert!(words.contains("leave this setting out"), "{words}");
    }

    #[test]
    fn sealed_twice_nothing_is_the_same() {
        let passphrase = phrase("correct horse");
        let seal = || SettingsFile::of(&secretive(), origin(), Some(&passphrase)).unwrap();
        let (one, other) = (seal().to_json(), seal().to_json());
        for member in ["salt", "sealed"] {
            assert_ne!(one["secrets"][member], other["secrets"][member]);
        }
    }

    #[test]
    fn whoever_changes_a_file_cannot_change_its_secrets() {
        let passphrase = phrase("correct horse");
        let file = SettingsFile::of(&secretive(), origin(), Some(&passphrase)).unwrap();
        let json = file.to_json();
        let sealed = json["secrets"]["sealed"].as_str().unwrap().to_string();
        for at in [0, sealed.len() / 2, sealed.len() - 5] {
            let mut letters: Vec<char> = sealed.chars().collect();
            letters[at] = if letters[at] == 'A' { 'B' } else { 'A' };
            let mut changed = json.clone();
            changed["secrets"]["sealed"] = letters.into_iter().collect::<String>().into();
            let read = SettingsFile::read(&changed).unwrap();
            assert_eq!(
                read.said(Some(&passphrase)).err(),
                Some(Unusable::Locked),
                "{at}"
            );
        }
    }

    #[test]
    fn what_is_no_file_of_settings_is_told() {
        let passphrase = phrase("correct horse");
        let file = SettingsFile::of(&secretive(), origin(), Some(&passphrase)).unwrap();
        let whole = file.to_json();
        let with = |path: &str, value: Value| {
            let mut file = whole.clone();
            *file.pointer_mut(path).unwrap() = value;
            file
        };
        for (file, expected) in [
            (json!(null), Unusable::NoFile),
            (json!([]), Unusable::NoFile),
            (json!({}), Unusable::NoFile),
            (with("/format", json!("settings")), Unusable::NoFile),
            (with("/version", json!(0)), Unusable::NoFile),
            (with("/version", json!("1")), Unusable::NoFile),
            (with("/version", json!(2)), Unusable::Newer),
            (with("/settings", json!([])), Unusable::NoFile),
            (with("/secrets", json!("x")), Unusable::NoFile),
            (with("/secrets/kdf", json!("md5")), Unusable::NoFile),
            (with("/secrets/cipher", json!("rot13")), Unusable::NoFile),
            // Whoever opens it is not to be kept busy for ever.
            (with("/secrets/memoryKiB", json!(1 << 30)), Unusable::NoFile),
            (with("/secrets/memoryKiB", json!(1)), Unusable::NoFile),
            (with("/secrets/passes", json!(1000)), Unusable::NoFile),
            (with("/secrets/passes", json!(0)), Unusable::NoFile),
            (with("/secrets/salt", json!("AA==")), Unusable::NoFile),
            (with("/secrets/salt", json!("?")), Unusable::NoFile),
            (with("/secrets/sealed", json!("?")), Unusable::NoFile),
        ] {
            assert_eq!(SettingsFile::read(&file).err(), Some(expected), "{file}");
        }
    }

    #[test]
    fn a_passphrase_is_neither_short_nor_long() {
        for (text, good) in [
            ("", false),
            ("seven 7", false),
            ("eight  8", true),
            (&*"x".repeat(256), true),
            (&*"x".repeat(257), false),
        ] {
            assert_eq!(fits(&phrase(text)).is_ok(), good, "{text}");
        }
        let short = SettingsFile::of(&secretive(), origin(), Some(&phrase("short")));
        assert_eq!(short.err(), Some(Unusable::Passphrase));
    }

    #[test]
    fn a_password_in_the_clear_is_refused() {
        for (text, good) in [
            ("", true),
            ("hunter2", false),
            ("$argon2id$v=19$m=7168,t=5,p=1$c2FsdHNhbHQ", false),
            (
                "$argon2id$v=19$m=4000000,t=5,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA",
                false,
            ),
            (
                "$argon2id$v=19$m=7168,t=5000,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA",
                false,
            ),
            (
                "$argon2id$v=19$m=7168,t=5,p=1$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA",
                true,
            ),
        ] {
            let mut said = SettingsContent {
                body: Map::from_iter([("otaPass".to_string(), json!(text))]),
                secrets: Secrets::Opened,
            };
            let import = said.import(&Settings {
                ota_pass: PasswordHash::new("x"),
                ..Settings::default()
            });
            assert_eq!(import.refused.is_empty(), good, "{text}");
            said.leave_out(["otaPass"]).unwrap();
            assert_eq!(said.import(&Settings::default()).refused, []);
            assert_eq!(said.leave_out(["otaPass"]), Err("otaPass"));
        }
    }
}
