//! Certificates and keys in PEM form. GET does not show them: clients would send them back on every save, and a body
//! has no room for that.
//!
//! Line breaks may get lost when pasting, so they are optional, and they are not stored.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Value, json};

use super::{
    super::reject::{Rejection, TextFault},
    CheckContext, SettingKind,
};

/// Longest text, bytes: two certificates with RSA keys of 2048 bits, or one with 4096.
pub const PEM_MAX: usize = 4096;

/// Length of the lines that PEM files have, letters.
const LINE: usize = 64;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// PEM text, or empty.
#[derive(Debug)]
pub struct Pem {
    /// Name for people.
    what: &'static str,
    /// Labels allowed after `BEGIN`.
    labels: &'static [&'static str],
    /// Maximum number of pieces.
    most: usize,
}

/// Certificates.
pub const CERTIFICATES: Pem = Pem {
    what: "certificates",
    labels: &["CERTIFICATE"],
    most: 8,
};

/// A private key without a passphrase.
pub const PRIVATE_KEY: Pem = Pem {
    what: "a private key without a passphrase",
    labels: &["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"],
    most: 1,
};

impl SettingKind for Pem {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        let text = value
            .as_str()
            .ok_or_else(|| Rejection::BadType(name.into()))?;
        if text.len() > PEM_MAX {
            let fault = TextFault::TooLong(PEM_MAX);
            return Err(Rejection::BadText(name.into(), fault));
        }
        Ok(())
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        match self.read(value) {
            Some(_) => Ok(()),
            None => Err(Rejection::BadText(name.into(), TextFault::Pem(self.what))),
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let Some(pieces) = self.read(value) else {
            return value.clone();
        };
        let written = pieces.iter().map(|Piece { label, body }| {
            format!("{BEGIN}{label}{DASHES}{body}{END}{label}{DASHES}")
        });
        written.collect::<String>().into()
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        json!({ "type": "string", "maxLength": PEM_MAX })
    }

    fn control(&self) -> Value {
        json!({ "control": "text", "maxBytes": PEM_MAX })
    }

    fn words(&self) -> String {
        format!("{} in PEM form", self.what)
    }
}

impl Pem {
    /// Parses a value. `None` if it is invalid.
    fn read(&self, value: &Value) -> Option<Vec<Piece>> {
        let pieces = pieces(value.as_str()?)?;
        let fits = pieces
            .iter()
            .all(|piece| self.labels.contains(&piece.label.as_str()));
        (fits && pieces.len() <= self.most).then_some(pieces)
    }
}

/// The text of a PEM file, line by line, from the stored form.
pub fn file(stored: &str) -> String {
    let mut file = String::new();
    for Piece { label, body } in pieces(stored).unwrap_or_default() {
        file.push_str(&format!("{BEGIN}{label}{DASHES}\n"));
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, more) = rest.split_at(rest.len().min(LINE));
            file.push_str(line);
            file.push('\n');
            rest = more;
        }
        file.push_str(&format!("{END}{label}{DASHES}\n"));
    }
    file
}

/// One certificate or key.
struct Piece {
    label: String,
    /// Its base64 without whitespace.
    body: String,
}

/// Parses PEM text; text before and between pieces is ignored. `None` if a piece is broken.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (label, behind) = rest[at + BEGIN.len()..].split_once(DASHES)?;
        let (body, behind) = behind.split_once(END)?;
        let behind = behind.strip_prefix(label)?.strip_prefix(DASHES)?;
        let body: String = body.split_ascii_whitespace().collect();
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        if body.is_empty() || !body.bytes().all(is_base64) {
            return None;
        }
        found.push(Piece {
            label: label.into(),
            body,
        });
        rest = behind;
    }
    (!found.is_empty() || text.trim().is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use alloc::string::ToString;

    use super::*;
    use crate::settings::{Settings, kinds::Catalogue};

    fn check(kind: &Pem, text: &str) -> Result<String, String> {
        let context = CheckContext {
            settings: &Settings::default(),
            available: &Catalogue::default(),
        };
        let value = Value::from(text);
        kind.shape("key", &value)
            .and_then(|()| kind.check("key", &value, &context))
            .map_err(|rejection| rejection.hint())?;
        Ok(kind.normal(&value).as_str().unwrap().into())
    }

    #[test]
    fn line_breaks_may_get_lost_on_the_way() {
        let body = "QUJD".repeat(40);
        let kept = format!("-----BEGIN CERTIFICATE-----{body}-----END CERTIFICATE-----");
        let file = file(&kept);
        assert_eq!(file.lines().map(str::len).max(), Some(64));
        for written in [
            file.clone(),
            file.replace('\n', "\r\n"),
            file.replace('\n', " "),
            file.replace('\n', ""),
            format!("subject=a clock\n{file}"),
        ] {
            assert_eq!(
                check(&CERTIFICATES, &written),
                Ok(kept.clone()),
                "{written}"
            );
        }
        let two = format!("{file}{file}");
        assert_eq!(check(&CERTIFICATES, &two), Ok(format!("{kept}{kept}")));
        assert_eq!(super::file(&format!("{kept}{kept}")), two);
        assert_eq!(check(&CERTIFICATES, ""), Ok(String::new()));
    }

    #[test]
    fn invalid_pem_is_refused_with_a_reason() {
        let key = |label: &str| format!("-----BEGIN {label}-----QUJD-----END {label}-----");
        let certificate = Err("key takes certificates in PEM form".to_string());
        for text in [
            "certificate",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----QUJD",
            "-----BEGIN CERTIFICATE----------END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----Q\u{e9}-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----QUJD-----END KEY-----",
            &key("PRIVATE KEY"),
        ] {
            assert_eq!(check(&CERTIFICATES, text), certificate, "{text}");
        }
        assert!(check(&PRIVATE_KEY, &key("PRIVATE KEY")).is_ok());
        assert!(check(&PRIVATE_KEY, &key("ENCRYPTED PRIVATE KEY")).is_err());
        assert!(check(&PRIVATE_KEY, &key("EC PRIVATE KEY").repeat(2)).is_err());
        let long = "A".repeat(PEM_MAX + 1);
        assert_eq!(
            check(&CERTIFICATES, &long),
            Err("key takes at most 4096 bytes".to_string())
        );
    }
}
