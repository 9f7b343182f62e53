//! The two ciphers of wallet messages, for one pair of keys.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use nostr::{
    key::{PublicKey, SecretKey},
    nips::{
        nip04,
        nip44::v2::{self, ConversationKey},
    },
};

use super::super::event::{Bytes32, key};
use crate::malformed::Malformed;

/// Longest text that can be encrypted, bytes.
pub const TEXT_MAX: usize = 65_535;

/// Longest NIP-44 payload, base64 digits.
const PAYLOAD_MAX: usize = 87_472;

/// Shortest NIP-44 content, bytes: version, nonce, one block and its tag.
const PAYLOAD_MIN: usize = 99;

/// Version byte of NIP-44.
const VERSION: u8 = 2;

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

    /// Finds a cipher by name.
    pub fn named(word: &str) -> Option<Cipher> {
        [Cipher::Nip44, Cipher::Nip04]
            .into_iter()
            .find(|cipher| cipher.word() == word)
    }
}

/// NIP-44 for one pair of keys.
pub struct Nip44(ConversationKey);

impl Nip44 {
    /// The cipher of a secret key and a peer's key. `None` if one is invalid.
    pub fn between(secret: &Secret, peer: &str) -> Option<Nip44> {
        let secret = SecretKey::from_slice(&key(secret.expose())?).ok()?;
        let peer = PublicKey::from_byte_array(key(peer)?);
        ConversationKey::derive(&secret, &peer).ok().map(Nip44)
    }

    /// The cipher with a derived key.
    pub fn with_key(conversation: Bytes32) -> Nip44 {
        Nip44(ConversationKey::new(conversation))
    }

    /// The derived key.
    pub fn conversation_key(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Encrypts a text; `noise` is 32 random bytes that are used only here.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn encrypt(&self, text: &str, noise: &Bytes32) -> Result<String, Malformed> {
        if text.is_empty() || text.len() > TEXT_MAX {
            return Err(Malformed("length"));
        }
        v2::encrypt_to_bytes_with_nonce(&self.0, text.as_bytes(), *noise)
            .map(|payload| BASE64_STANDARD.encode(payload))
            .map_err(|_| Malformed("length"))
    }

    /// Decrypts a payload.
    ///
    /// # Errors
    /// The payload has another version or form, or was encrypted with another key.
    pub fn decrypt(&self, payload: &str) -> Result<String, Malformed> {
        let text = v2::decrypt_to_bytes(&self.0, &decoded(payload)?)
            .map_err(|_| Malformed("cipher-text"))?;
        String::from_utf8(text).map_err(|_| Malformed("utf-8"))
    }
}

impl fmt::Debug for Nip44 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Nip44(..)")
    }
}

/// Encrypts to a peer and decrypts its messages.
pub struct EncryptedChannel {
    secret: SecretKey,
    peer: PublicKey,
    nip44: Nip44,
}

impl EncryptedChannel {
    /// A channel of a secret key and a peer's key, 64 hex digits each. `None` if one is invalid.
    pub fn new(secret: &Secret, peer: &str) -> Option<EncryptedChannel> {
        Some(EncryptedChannel {
            secret: SecretKey::from_slice(&key(secret.expose())?).ok()?,
            peer: PublicKey::from_byte_array(key(peer)?),
            nip44: Nip44::between(secret, peer)?,
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
            Cipher::Nip04 => {
                let start = std::array::from_fn(|at| noise[at]);
                nip04::encrypt_with_iv(&self.secret, &self.peer, text, start)
                    .map_err(|_| Malformed("length"))
            }
        }
    }

    /// Decrypts a payload.
    ///
    /// # Errors
    /// The payload has another version or form, or was encrypted with other keys.
    pub fn decrypt(&self, cipher: Cipher, payload: &str) -> Result<String, Malformed> {
        match cipher {
            Cipher::Nip44 => self.nip44.decrypt(payload),
            Cipher::Nip04 if payload.len() > PAYLOAD_MAX => Err(Malformed("too-long")),
            Cipher::Nip04 => {
                let text = nip04::decrypt_to_bytes(&self.secret, &self.peer, payload);
                String::from_utf8(text.map_err(|_| Malformed("cipher-text"))?)
                    .map_err(|_| Malformed("utf-8"))
            }
        }
    }
}

/// Decodes a NIP-44 payload as far as possible without keys.
fn decoded(payload: &str) -> Result<Vec<u8>, Malformed> {
    // `#` is reserved for versions that are not base64.
    if payload.starts_with('#') {
        return Err(Malformed("version"));
    }
    if payload.len() > PAYLOAD_MAX {
        return Err(Malformed("too-long"));
    }
    let bytes = BASE64_STANDARD
        .decode(payload)
        .map_err(|_| Malformed("base64"))?;
    match bytes.first() {
        Some(&VERSION) if bytes.len() >= PAYLOAD_MIN => Ok(bytes),
        Some(&VERSION) | None => Err(Malformed("too-short")),
        Some(_) => Err(Malformed("version")),
    }
}

impl fmt::Debug for EncryptedChannel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EncryptedChannel")
            .field("peer", &self.peer.to_hex())
            .finish_non_exhaustive()
    }
}
