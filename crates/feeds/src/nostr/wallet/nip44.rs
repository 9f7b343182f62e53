//! The cipher of NIP-44, version 2: ChaCha20, authenticated with HMAC-SHA256.
//!
//! A *payload* is base64 of its version, a nonce, the encrypted text and a MAC.
//! Before encryption the text gets its length in front and zeros behind, so that a payload does not show the exact length.
//! The *conversation key* belongs to a pair of keys; every message has *message keys*, derived from it and the nonce.

use base64::{Engine, prelude::BASE64_STANDARD};
use chacha20::{
    ChaCha20,
    cipher::{KeyIvInit, StreamCipher},
};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{
    super::event::Bytes32,
    cipher::{PAYLOAD_MAX, TEXT_MAX},
    keys::KeyBytes,
};
use crate::malformed::Malformed;

const VERSION: u8 = 2;

/// Salt of the conversation key.
const SALT: &[u8] = b"nip44-v2";

/// Length of a nonce, bytes.
const NONCE_BYTES: usize = 32;

/// Length of the length of a text, bytes.
const LENGTH_BYTES: usize = 2;

/// Shortest padded text, bytes.
const PADDED_MIN: usize = 32;

/// Length of a MAC, bytes.
const MAC_BYTES: usize = 32;

/// Length of the nonce of ChaCha20, bytes.
const CHACHA_NONCE_BYTES: usize = 12;

/// Length of the keys of a message, bytes.
const MESSAGE_KEYS_BYTES: usize = 32 + CHACHA_NONCE_BYTES + 32;

/// Shortest content of a payload, bytes.
const CONTENT_MIN: usize = content_len(PADDED_MIN);

/// Longest content of a payload, bytes.
const CONTENT_MAX: usize = content_len(padded_len(TEXT_MAX));

const _: () = assert!(CONTENT_MAX.div_ceil(3) * 4 == PAYLOAD_MAX);

/// Length of a text after padding, bytes.
pub const fn padded_len(text: usize) -> usize {
    let chunk = text.next_power_of_two() / 8;
    if text <= PADDED_MIN {
        PADDED_MIN
    } else if chunk <= PADDED_MIN {
        text.next_multiple_of(PADDED_MIN)
    } else {
        text.next_multiple_of(chunk)
    }
}

const fn content_len(padded: usize) -> usize {
    size_of_val(&VERSION) + NONCE_BYTES + LENGTH_BYTES + padded + MAC_BYTES
}

/// NIP-44 for one pair of keys.
#[derive(Debug)]
pub struct Nip44(KeyBytes<32>);

impl Nip44 {
    /// The cipher of a shared secret.
    pub fn new(shared: &KeyBytes<32>) -> Nip44 {
        let (key, _) = Hkdf::<Sha256>::extract(Some(SALT), shared.expose());
        Nip44::with_key(key.into())
    }

    /// The cipher with a conversation key.
    pub fn with_key(conversation: Bytes32) -> Nip44 {
        Nip44(conversation.into())
    }

    pub fn conversation_key(&self) -> &Bytes32 {
        self.0.expose()
    }

    /// Encrypts a text; `noise` is 32 random bytes that are used only here.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn encrypt(&self, text: &str, noise: &Bytes32) -> Result<String, Malformed> {
        let length = match u16::try_from(text.len()) {
            Ok(length) if length > 0 => length,
            Ok(_) | Err(_) => return Err(Malformed("length")),
        };
        let content_bytes = content_len(padded_len(text.len()));
        let mut content = Vec::with_capacity(content_bytes);
        content.push(VERSION);
        content.extend_from_slice(noise);
        let start = content.len();
        content.extend_from_slice(&length.to_be_bytes());
        content.extend_from_slice(text.as_bytes());
        content.resize(content_bytes - MAC_BYTES, 0);
        let keys = self.message_keys(noise);
        keys.cipher().apply_keystream(&mut content[start..]);
        let mac = hmac(keys.mac_key()).chain_update(&content[1..]).finalize();
        content.extend_from_slice(&mac.into_bytes());
        Ok(BASE64_STANDARD.encode(content))
    }

    /// Decrypts a payload.
    ///
    /// # Errors
    /// The payload has another version or form, or was encrypted with another key.
    pub fn decrypt(&self, payload: &str) -> Result<String, Malformed> {
        let content = decoded(payload)?;
        let (signed, mac) = content[1..]
            .split_last_chunk::<MAC_BYTES>()
            .ok_or(Malformed("too-short"))?;
        let (nonce, encrypted) = signed
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(Malformed("too-short"))?;
        let keys = self.message_keys(nonce);
        hmac(keys.mac_key())
            .chain_update(signed)
            .verify_slice(mac)
            .map_err(|_| Malformed("cipher-text"))?;
        let mut padded = encrypted.to_vec();
        keys.cipher().apply_keystream(&mut padded);
        let text = unpadded(&padded).ok_or(Malformed("cipher-text"))?;
        String::from_utf8(text.to_vec()).map_err(|_| Malformed("utf-8"))
    }

    /// Derives the keys of the message with a nonce.
    pub fn message_keys(&self, nonce: &Bytes32) -> MessageKeys {
        let mut keys = Zeroizing::new([0; MESSAGE_KEYS_BYTES]);
        Hkdf::<Sha256>::from_prk(self.0.expose())
            .expect("a conversation key is as long as a hash")
            .expand(nonce, keys.as_mut_slice())
            .expect("the keys are shorter than 255 hashes");
        MessageKeys(KeyBytes(keys))
    }
}

#[derive(Debug)]
pub struct MessageKeys(KeyBytes<MESSAGE_KEYS_BYTES>);

impl MessageKeys {
    /// Key of ChaCha20.
    pub fn chacha_key(&self) -> &[u8] {
        &self.0.expose()[..32]
    }

    /// Nonce of ChaCha20.
    pub fn chacha_nonce(&self) -> &[u8] {
        &self.0.expose()[32..][..CHACHA_NONCE_BYTES]
    }

    /// Key of the MAC.
    pub fn mac_key(&self) -> &[u8] {
        &self.0.expose()[32 + CHACHA_NONCE_BYTES..]
    }

    fn cipher(&self) -> ChaCha20 {
        ChaCha20::new(self.chacha_key().into(), self.chacha_nonce().into())
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of HMAC can have any length")
}

/// Decodes a payload as far as possible without keys; the content is at least [`CONTENT_MIN`] long.
fn decoded(payload: &str) -> Result<Vec<u8>, Malformed> {
    // `#` is reserved for versions that are not base64.
    if payload.starts_with('#') {
        return Err(Malformed("version"));
    }
    if payload.len() > PAYLOAD_MAX {
        return Err(Malformed("too-long"));
    }
    let content = BASE64_STANDARD
        .decode(payload)
        .map_err(|_| Malformed("base64"))?;
    match content.first() {
        Some(&VERSION) if content.len() >= CONTENT_MIN => Ok(content),
        Some(&VERSION) | None => Err(Malformed("too-short")),
        Some(_) => Err(Malformed("version")),
    }
}

/// Removes length and padding of a decrypted text. `None` if they are wrong.
fn unpadded(padded: &[u8]) -> Option<&[u8]> {
    let (length, padded) = padded.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    let text = padded.get(..length)?;
    (length > 0 && padded.len() == padded_len(length)).then_some(text)
}
