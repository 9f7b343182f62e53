//! Passwords that the clock makes for itself: short enough to be typed from the glass, too many to be guessed.

use std::io;

use device::{
    portal::{self, PASSWORD_LEN},
    secret::{MadePassword, Secret, WhyMade},
    settings::Settings,
};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::Blocks;

/// Makes a password.
///
/// # Errors
/// The host has no random numbers.
pub fn text() -> io::Result<String> {
    let mut text = String::new();
    while text.len() < PASSWORD_LEN {
        let mut bytes = [0; 2 * PASSWORD_LEN];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
        let random = bytes.into_iter().take(filled);
        text.push_str(&portal::password(random, PASSWORD_LEN - text.len()));
    }
    Ok(text)
}

/// Makes the password of a control interface that asks for one although none is stored; none where all is well.
///
/// # Errors
/// The host has no random numbers, or no memory for a hash: nobody may come in, so the clock must not start.
pub fn for_interface(settings: &Settings, why: WhyMade) -> io::Result<Option<MadePassword>> {
    if !settings.http_auth_enabled || !settings.http_auth_pass.is_empty() {
        return Ok(None);
    }
    let text = text()?;
    let hash = crate::hash(&text, &mut Blocks::new())
        .ok_or_else(|| io::Error::other("the password of the interface cannot be hashed"))?;
    Ok(Some(MadePassword {
        password: Secret::new(text),
        hash,
        why,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use device::secret::PasswordHash;

    use super::*;

    #[test]
    fn only_an_interface_that_asks_for_a_password_it_has_not_gets_one() {
        for (enabled, stored, makes) in [
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
            let made = for_interface(&settings, WhyMade::NoneStored).unwrap();
            assert_eq!(made.is_some(), makes, "{enabled} {stored:?}");
            if let Some(made) = made {
                assert_eq!(made.password.expose().len(), PASSWORD_LEN);
                let matches = |given| crate::matches(&made.hash, given, &mut Blocks::new());
                assert!(matches(&made.password));
                assert!(!matches(&Secret::new("")));
            }
        }
    }

    #[test]
    fn no_two_passwords_are_the_same() {
        assert_ne!(text().unwrap(), text().unwrap());
    }
}
