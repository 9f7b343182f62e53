//! Name and password of the access point; people can type both.

use alloc::{format, string::String};

/// Address of the portal until the radio reports another.
pub const ADDRESS: &str = "192.168.4.1";

/// Length of the access point's password.
pub const PASSWORD_LEN: usize = 10;

/// Letters and digits that cannot be confused.
const ALPHABET: &[u8; 55] = b"abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Random bytes from this value on are skipped, because they would favour the first letters.
const EVEN_BELOW: u8 = (256 / ALPHABET.len() * ALPHABET.len()) as u8;

/// Name of the access point; the suffix is the end of the hardware address.
pub fn ssid(suffix: &str) -> String {
    let digits = suffix
        .char_indices()
        .nth_back(3)
        .map_or(suffix, |(at, _)| &suffix[at..]);
    format!("papertick-{}", digits.to_ascii_uppercase())
}

/// A password made of random bytes; shorter if there are not enough of them.
pub fn password(random: impl IntoIterator<Item = u8>, length: usize) -> String {
    random
        .into_iter()
        .filter(|byte| *byte < EVEN_BELOW)
        .map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]))
        .take(length)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_the_requested_length_and_depends_only_on_its_bytes() {
        let random = || (0..=255).cycle();
        for length in [8, 16, 1] {
            let made = password(random(), length);
            assert_eq!(made.len(), length);
            assert_eq!(made, password(random(), length));
        }
        assert_eq!(password([255, 0, 220, 54, 55], 8), "a9a");
        assert_eq!(password([], 8), "");
    }

    #[test]
    fn every_letter_is_as_likely_as_any_other() {
        let all = password(0..=255, 256);
        for letter in ALPHABET {
            assert_eq!(all.bytes().filter(|byte| byte == letter).count(), 4);
        }
    }
}
