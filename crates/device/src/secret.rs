//! Values that must not leave the device: they cannot be printed or serialised by accident.

use alloc::string::String;
use core::fmt;

/// A secret text in the clear; `Debug` hides it and nothing serialises it but the store.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself, for the one who must use it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// A password that was made for one run of the device, because one is asked for and none is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadePassword {
    /// The password; it stands on the glass and nowhere else.
    pub password: Secret,
    /// Its hash: the core makes none, because it has no random numbers.
    pub hash: PasswordHash,
    /// Why it had to be made.
    pub why: WhyMade,
}

/// Why a password had to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyMade {
    /// There are settings, perhaps with a password, and none of them can be read.
    SettingsLost,
    /// The settings ask for a password, and none was ever stored.
    NoneStored,
}

/// Salted slow hash of a password, as a PHC string; empty where no password is set.
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

    /// Tells whether no password is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash(..)")
    }
}
