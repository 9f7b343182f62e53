//! Encrypts and decrypts wallet messages with either cipher, for one pair of keys.

use device::secret::Secret;

use super::{super::event::Bytes32, keys::shared_secret, nip04::Nip04, nip44::Nip44};
use crate::malformed::Malformed;

/// Longest text that can be encrypted, bytes.
pub const TEXT_MAX: usize = 65_535;

/// Longest payload, bytes: that of the longest text with NIP-44; with NIP-04 it is shorter.
pub const PAYLOAD_MAX: usize = 87_472;

/// How a message is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// NIP-44, version 2.
    Nip44,
    /// NIP-04, for older wallets.
    Nip04,
}

impl Cipher {
    /// Its name in tags.
    pub fn word(self) -> &'static str {
        match self {
            Cipher::Nip44 => "nip44_v2",
            Cipher::Nip04 => "nip04",
        }
    }

    pub fn named(word: &str) -> Option<Cipher> {
        [Cipher::Nip44, Cipher::Nip04]
            .into_iter()
            .find(|cipher| cipher.word() == word)
    }
}

/// Encrypts to a peer and decrypts its messages.
#[derive(Debug)]
pub struct EncryptedChannel {
    nip44: Nip44,
    nip04: Nip04,
}

impl EncryptedChannel {
    /// A channel of a secret key and a peer's key, 64 hex digits each. `None` if one is invalid.
    pub fn new(secret: &Secret, peer: &str) -> Option<EncryptedChannel> {
        let shared = shared_secret(secret, peer)?;
        Some(EncryptedChannel {
            nip44: Nip44::new(&shared),
            nip04: Nip04::new(shared),
        })
    }

    /// Encrypts a text; `noise` is 32 random bytes that are used only here.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn encrypt(
        &self,
        cipher: Cipher,
        text: &str,
        noise: &Bytes32,
    ) -> Result<String, Malformed> {
        match cipher {
            Cipher::Nip44 => self.nip44.encrypt(text, noise),
            Cipher::Nip04 => self
                .nip04
                .encrypt(text, &std::array::from_fn(|at| noise[at])),
        }
    }

    /// Decrypts a payload.
    ///
    /// # Errors
    /// The payload has another version or form, or was encrypted with other keys.
    pub fn decrypt(&self, cipher: Cipher, payload: &str) -> Result<String, Malformed> {
        match cipher {
            Cipher::Nip44 => self.nip44.decrypt(payload),
            Cipher::Nip04 => self.nip04.decrypt(payload),
        }
    }
}
