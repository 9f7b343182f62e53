//! Hosts and URLs; GET hides their passwords.

use alloc::{format, string::String};
use serde_json::{Value, json};

use super::{super::reject::Rejection, CheckContext, SettingKind, text};
use crate::{limits::TEXT_MAX, secret::Endpoint};

/// Host with or without a port, of at most this many bytes.
#[derive(Debug)]
pub struct Host(pub usize);

/// Empty or a URL with one of these schemes.
#[derive(Debug)]
pub struct UrlKind {
    schemes: Schemes,
    /// Makes the stored form.
    normalize: fn(&str) -> String,
}

/// A URL that is stored unchanged.
pub const fn url(schemes: Schemes) -> UrlKind {
    let normalize = as_written;
    UrlKind { schemes, normalize }
}

/// A base URL: trailing slashes are dropped.
pub const fn base_url(schemes: Schemes) -> UrlKind {
    let normalize = without_end_slashes;
    UrlKind { schemes, normalize }
}

/// Allowed schemes, the secure one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemes {
    /// Web sockets.
    Relay,
    /// HTTP.
    Http,
}

impl Schemes {
    fn words(self) -> [&'static str; 2] {
        match self {
            Schemes::Relay => ["wss", "ws"],
            Schemes::Http => ["https", "http"],
        }
    }

    /// Returns whether a text is empty or such a URL.
    pub(super) fn fit(self, text: &str) -> bool {
        let begins = |scheme| {
            text.strip_prefix(scheme)
                .is_some_and(|rest| rest.starts_with("://"))
        };
        text.is_empty() || self.words().into_iter().any(begins)
    }

    pub(super) fn schema(self) -> Value {
        let [_, plain] = self.words();
        text::schema(
            TEXT_MAX,
            &format!("^({plain}s?://[^\\u0000-\\u001f\\u007f-\\u009f]*)?$"),
        )
    }

    fn check(self, name: &str, value: &Value) -> Result<(), Rejection> {
        if self.fit(value.as_str().unwrap_or_default()) {
            Ok(())
        } else {
            Err(Rejection::BadScheme(name.into()))
        }
    }

    pub(super) fn control(self) -> Value {
        json!({ "control": "url", "schemes": self.words(), "maxBytes": TEXT_MAX })
    }
}

impl SettingKind for Host {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, self.0)
    }

    fn open(&self, stored: &Value) -> Value {
        masked(stored)
    }

    fn unmask(&self, sent: &mut Value, stored: &Value) {
        unmask(sent, stored);
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        text::schema(self.0, text::ANY)
    }

    fn control(&self) -> Value {
        text::control(self.0)
    }

    fn words(&self) -> String {
        "a host".into()
    }
}

impl SettingKind for UrlKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        self.schemes.check(name, value)
    }

    fn normal(&self, value: &Value) -> Value {
        (self.normalize)(value.as_str().unwrap_or_default()).into()
    }

    fn open(&self, stored: &Value) -> Value {
        masked(stored)
    }

    fn unmask(&self, sent: &mut Value, stored: &Value) {
        unmask(sent, stored);
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        self.schemes.schema()
    }

    fn control(&self) -> Value {
        self.schemes.control()
    }

    fn words(&self) -> String {
        "a URL".into()
    }
}

fn masked(stored: &Value) -> Value {
    let address = Endpoint::new(stored.as_str().unwrap_or_default());
    address.masked().into()
}

fn unmask(sent: &mut Value, stored: &Value) {
    if let (Some(address), Some(known)) = (sent.as_str(), stored.as_str()) {
        let meant = Endpoint::new(address).with_password_of(&Endpoint::new(known));
        *sent = meant.expose().into();
    }
}

fn as_written(url: &str) -> String {
    url.into()
}

fn without_end_slashes(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => return url.into(),
    };
    format!("{scheme}://{}", rest.trim_end_matches('/'))
}
