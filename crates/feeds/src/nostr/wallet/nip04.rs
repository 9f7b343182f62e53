//! The cipher of NIP-04: AES-256 in CBC mode, without authentication.
//!
//! A *payload* is `TEXT?iv=START`: the encrypted text and the initialization vector, both in base64.

use aes::Aes256;
use base64::{Engine, prelude::BASE64_STANDARD};
use cbc::{
    Decryptor, Encryptor,
    cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit, block_padding::Pkcs7},
};

use super::{
    cipher::{PAYLOAD_MAX, TEXT_MAX},
    keys::KeyBytes,
};
use crate::malformed::Malformed;

/// Length of an initialization vector, bytes.
pub const IV_BYTES: usize = 16;

/// Length of an initialization vector, base64 digits.
const IV_DIGITS: usize = IV_BYTES.div_ceil(3) * 4;

/// Separates the two parts of a payload.
const SEPARATOR: &str = "?iv=";

/// NIP-04 for one pair of keys.
#[derive(Debug)]
pub struct Nip04(KeyBytes<32>);

impl Nip04 {
    /// The cipher of a shared secret, which is the key itself.
    pub fn new(shared: KeyBytes<32>) -> Nip04 {
        Nip04(shared)
    }

    /// Encrypts a text; `iv` is random and used only here.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn encrypt(&self, text: &str, iv: &[u8; IV_BYTES]) -> Result<String, Malformed> {
        if text.is_empty() || text.len() > TEXT_MAX {
            return Err(Malformed("length"));
        }
        let encrypted = Encryptor::<Aes256>::new(self.0.expose().into(), iv.into())
            .encrypt_padded_vec_mut::<Pkcs7>(text.as_bytes());
        let mut payload = BASE64_STANDARD.encode(encrypted);
        payload.push_str(SEPARATOR);
        BASE64_STANDARD.encode_string(iv, &mut payload);
        Ok(payload)
    }

    /// Decrypts a payload.
    ///
    /// # Errors
    /// The payload has another form, or was probably encrypted with another key.
    pub fn decrypt(&self, payload: &str) -> Result<String, Malformed> {
        if payload.len() > PAYLOAD_MAX {
            return Err(Malformed("too-long"));
        }
        let text = self.decrypt_bytes(payload);
        String::from_utf8(text.ok_or(Malformed("cipher-text"))?).map_err(|_| Malformed("utf-8"))
    }

    fn decrypt_bytes(&self, payload: &str) -> Option<Vec<u8>> {
        let (encrypted, iv) = payload.split_once(SEPARATOR)?;
        if iv.len() != IV_DIGITS {
            return None;
        }
        let iv: [u8; IV_BYTES] = BASE64_STANDARD.decode(iv).ok()?.try_into().ok()?;
        let encrypted = BASE64_STANDARD.decode(encrypted).ok()?;
        Decryptor::<Aes256>::new(self.0.expose().into(), &iv.into())
            .decrypt_padded_vec_mut::<Pkcs7>(&encrypted)
            .ok()
    }
}
