//! Values that must not leave the device: they cannot be printed or serialised by accident.

use alloc::{format, string::String};
use core::{fmt, ops::Range};

/// A secret text in the clear; `Debug` hides it and only the store serialises it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the secret by [`HIDDEN`] in a text from the server that received it, because an error may repeat the request.
    pub fn hidden_in(&self, text: &str) -> String {
        if self.is_empty() {
            return text.into();
        }
        text.replace(&self.0, HIDDEN)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// A password generated for one run of the device, because one is required and none is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedPassword {
    /// The password; only the panels show it.
    pub password: Secret,
    /// Hash of the password, computed by the caller because this crate has no random numbers.
    pub hash: PasswordHash,
    /// Why the password was generated.
    pub reason: GenerationReason,
}

/// Why a password was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationReason {
    /// The stored settings, perhaps with a password, cannot be read.
    SettingsLost,
    /// The settings require a password, but none was ever stored.
    NoneStored,
}

/// Salted slow hash of a password, as a PHC string; empty if no password is set.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a PHC string.
    pub fn new(phc: impl Into<String>) -> PasswordHash {
        PasswordHash(phc.into())
    }

    /// The PHC string.
    pub fn phc(&self) -> &str {
        &self.0
    }

    /// Returns whether no password is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash(..)")
    }
}

/// Placeholder for a hidden password.
pub const HIDDEN: &str = "***";

/// An address as the owner wrote it: a URL, or a host with or without a port; printed without its password.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Endpoint(String);

impl Endpoint {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Endpoint {
        Endpoint(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with [`HIDDEN`] in place of its password.
    pub fn masked(&self) -> String {
        match password_of(&self.0) {
            Some(place) => replaced(&self.0, place, HIDDEN),
            None => self.0.clone(),
        }
    }

    /// Its password.
    pub fn password(&self) -> Option<&str> {
        password_of(&self.0).map(|place| &self.0[place])
    }

    /// Returns whether its password is the placeholder [`HIDDEN`].
    pub fn is_masked(&self) -> bool {
        self.password() == Some(HIDDEN)
    }

    /// Replaces the placeholder [`HIDDEN`] by the password of `other`, or removes it.
    ///
    /// A password is taken over only for the same user and host, so that it is not sent to another one.
    #[must_use]
    pub fn with_password_of(&self, other: &Endpoint) -> Endpoint {
        let Some(place) = password_of(&self.0).filter(|_| self.is_masked()) else {
            return self.clone();
        };
        let known = password_of(&other.0).filter(|password| {
            around(&self.0, place.clone()) == around(&other.0, password.clone())
        });
        match known {
            Some(password) => Endpoint(replaced(&self.0, place, &other.0[password])),
            // Without a password its colon is removed too.
            None => Endpoint(replaced(&self.0, place.start - 1..place.end, "")),
        }
    }
}

/// The text before the password, and the host after it.
fn around(text: &str, password: Range<usize>) -> (&str, &str) {
    let (before, behind) = (&text[..password.start], &text[password.end..]);
    let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
    (before, &behind[..end])
}

/// Range of the password in `scheme://user:password@host/path`. `None` if it is empty.
fn password_of(text: &str) -> Option<Range<usize>> {
    let start = text.find("://").map_or(0, |at| at + "://".len());
    let rest = &text[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let colon = authority.find(':')?;
    let end = match authority.rfind('@') {
        Some(at) => at,
        // By the RFC a password contains no slash, but the owner may have entered one.
        None if authority[colon + 1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit()) =>
        {
            return None;
        }
        None if authority.starts_with('[') => return None,
        None => rest.rfind('@')?,
    };
    (colon + 1 < end).then_some(start + colon + 1..start + end)
}

fn replaced(text: &str, place: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

impl From<&str> for Endpoint {
    fn from(text: &str) -> Endpoint {
        Endpoint::new(text)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.masked())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.masked(), formatter)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_password_of_an_endpoint_is_masked() {
        let rows = [
            ("https://me:planted@host/x?y#z", "https://me:***@host/x?y#z"),
            ("wss://me:planted@host", "wss://me:***@host"),
            ("me:planted@host:80", "me:***@host:80"),
            (":planted@host", ":***@host"),
            ("https://me:planted@planted@host", "https://me:***@host"),
            ("https://me:planted:planted@host", "https://me:***@host"),
            ("https://me:planted/planted@host", "https://me:***@host"),
            ("https://me:planted?planted@host", "https://me:***@host"),
            ("http://me:planted@[::1]:80/x", "http://me:***@[::1]:80/x"),
        ];
        for (text, expected) in rows {
            let endpoint = Endpoint::new(text);
            assert_eq!(endpoint.to_string(), expected);
            assert_eq!(format!("{endpoint:?}"), format!("{expected:?}"));
            assert_eq!(endpoint.expose(), text);
        }
    }

    #[test]
    fn an_endpoint_without_a_password_is_not_masked() {
        let rows = [
            "",
            "host",
            "host:80",
            "https://host:8080/@someone/x:y@z",
            "https://me@host/",
            "https://me:@host/",
            "http://[::1]:80/a@b",
            "http://[fe80::1]/a@b",
            "://",
            "@",
            ":@",
        ];
        for text in rows {
            assert_eq!(Endpoint::new(text).to_string(), text);
        }
    }

    #[test]
    fn a_masked_password_is_restored_from_the_stored_one() {
        #[rustfmt::skip]
        let rows = [
            ("https://a:***@host/new", "https://a:pw@host/old", "https://a:pw@host/new"),
            ("a:***@host?b", "a:pw@host", "a:pw@host?b"),
            ("https://a:***@new/", "https://a:pw@old/", "https://a@new/"),
            ("https://a:***@host:81/", "https://a:pw@host/", "https://a@host:81/"),
            ("https://b:***@host/", "https://a:pw@host/", "https://b@host/"),
            ("http://a:***@host/", "https://a:pw@host/", "http://a@host/"),
            ("https://a:***@new/", "https://old/", "https://a@new/"),
            ("https://a:***@new/", "", "https://a@new/"),
            ("https://a:other@new/", "https://a:pw@old/", "https://a:other@new/"),
            ("https://new/", "https://a:pw@old/", "https://new/"),
            ("https://a:****@new/", "https://a:pw@old/", "https://a:****@new/"),
        ];
        for (sent, stored, expected) in rows {
            let kept = Endpoint::new(sent).with_password_of(&Endpoint::new(stored));
            assert_eq!(kept.expose(), expected, "{sent} on {stored}");
        }
    }

    proptest! {
        #[test]
        fn a_masked_endpoint_is_restored(text in "(wss?://|https?://)?[a-c:@/?#*\\[\\]é0-9.]{0,24}") {
            let endpoint = Endpoint::new(text);
            let told = Endpoint::new(endpoint.masked());
            prop_assert_eq!(told.masked(), endpoint.masked());
            prop_assert_eq!(told.with_password_of(&endpoint), endpoint);
        }
    }
}
