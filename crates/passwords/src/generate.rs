//! Generated passwords: short enough to type from the panels, long enough not to be guessed.

use std::io;

use device::{
    portal::{self, PASSWORD_LEN},
    secret::{GeneratedPassword, GenerationReason, Secret},
    settings::Settings,
};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::Blocks;

/// Generates a password.
///
/// # Errors
/// The host has no random numbers.
pub fn password() -> io::Result<String> {
    let mut password = String::new();
    while password.len() < PASSWORD_LEN {
        let mut bytes = [0; 2 * PASSWORD_LEN];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
        let random = bytes.into_iter().take(filled);
        password.push_str(&portal::password(random, PASSWORD_LEN - password.len()));
    }
    Ok(password)
}

/// Generates a password for the control interface if sign-in is on but no password is stored; else `None`.
///
/// # Errors
/// The host has no random numbers, or no memory for a hash. The clock must not start then, because no sign-in would be possible.
pub fn interface_password(
    settings: &Settings,
    reason: GenerationReason,
) -> io::Result<Option<GeneratedPassword>> {
    if !settings.http_auth_enabled || !settings.http_auth_pass.is_empty() {
        return Ok(None);
    }
    let password = password()?;
    let hash = crate::hash(&password, &mut Blocks::new())
        .ok_or_else(|| io::Error::other("the password of the interface cannot be hashed"))?;
    Ok(Some(GeneratedPassword {
        password: Secret::new(password),
        hash,
        reason,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use device::secret::PasswordHash;

    use super::*;

    #[test]
    fn a_password_is_generated_only_if_it_is_missing() {
        for (enabled, stored, generates) in [
            (false, "", false),
            (false, "hash", false),
            (true, "hash", false),
            (true, "", true),
        ] {
            let settings = Settings {
                http_auth_enabled: enabled,
                http_auth_pass: PasswordHash::new(stored),
                ..Settings::default()
            };
            let generated = interface_password(&settings, GenerationReason::NoneStored).unwrap();
            assert_eq!(generated.is_some(), generates, "{enabled} {stored:?}");
            if let Some(generated) = generated {
                assert_eq!(generated.password.expose().len(), PASSWORD_LEN);
                let matches = |given| crate::matches(&generated.hash, given, &mut Blocks::new());
                assert!(matches(&generated.password));
                assert!(!matches(&Secret::new("")));
            }
        }
    }

    #[test]
    fn generated_passwords_differ() {
        assert_ne!(password().unwrap(), password().unwrap());
    }
}
