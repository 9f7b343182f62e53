//! Secrets encrypted with a passphrase: a slow hash of the passphrase is the key of an authenticated cipher.

use api::documents::settings_file::SealedSecrets;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use passwords::random;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// Name of the key derivation function.
const KDF: &str = "argon2id";

/// Name of the cipher.
const CIPHER: &str = "chacha20-poly1305";

/// Associated data, so that other data encrypted with the same passphrase is not accepted.
const ASSOCIATED_DATA: &[u8] = b"papertick settings 1";

/// Memory of the key derivation, KiB. More than for the clock's own passwords, because a file can be attacked offline.
const MEMORY_KIB: u32 = 32 * 1024;

/// Passes over that memory.
const PASSES: u32 = 4;

/// Least memory that a file may require; with less the hash is not slow.
const MEMORY_KIB_MIN: u32 = 1024;

/// Most memory that a file may require, because small computers have little.
const MEMORY_KIB_MAX: u32 = MEMORY_KIB;

/// Most passes that a file may require.
const PASSES_MAX: u32 = PASSES;

/// Length of the salt, and the least length in a file, bytes.
const SALT_LEN: usize = 16;

/// Longest salt in a file, bytes.
const SALT_MAX: usize = 64;

/// Length of the key, bytes.
const KEY_LEN: usize = 32;

/// Each file has its own key because of the salt, so the nonce can be constant.
const NONCE: [u8; NONCE_LEN] = [0; NONCE_LEN];

/// Secrets encrypted with a passphrase.
pub(super) struct EncryptedSecrets {
    memory_kib: u32,
    passes: u32,
    salt: Vec<u8>,
    ciphertext: Vec<u8>,
}

impl EncryptedSecrets {
    /// Encrypts secrets. `None` if the host has no random numbers.
    pub(super) fn encrypt(mut secrets: Vec<u8>, passphrase: &Secret) -> Option<EncryptedSecrets> {
        let mut encrypted = EncryptedSecrets {
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            salt: random::<SALT_LEN>().ok()?.to_vec(),
            ciphertext: Vec::new(),
        };
        let key = encrypted.key(passphrase)?;
        let nonce = Nonce::assume_unique_for_key(NONCE);
        key.seal_in_place_append_tag(nonce, Aad::from(ASSOCIATED_DATA), &mut secrets)
            .ok()?;
        encrypted.ciphertext = secrets;
        Some(encrypted)
    }

    /// Decrypts the secrets. `None` if the passphrase is wrong or the ciphertext was changed.
    pub(super) fn decrypt(&self, passphrase: &Secret) -> Option<Vec<u8>> {
        let key = self.key(passphrase)?;
        let nonce = Nonce::assume_unique_for_key(NONCE);
        let mut bytes = self.ciphertext.clone();
        let length = key
            .open_in_place(nonce, Aad::from(ASSOCIATED_DATA), &mut bytes)
            .ok()?
            .len();
        bytes.truncate(length);
        Some(bytes)
    }

    /// The form in the file.
    pub(super) fn document(&self) -> SealedSecrets {
        SealedSecrets {
            kdf: KDF.into(),
            memory_kib: self.memory_kib,
            passes: self.passes,
            salt: BASE64_STANDARD.encode(&self.salt),
            cipher: CIPHER.into(),
            sealed: BASE64_STANDARD.encode(&self.ciphertext),
        }
    }

    /// Parses the form in a file. `None` if it is malformed or its parameters are out of bounds.
    pub(super) fn parse(document: &SealedSecrets) -> Option<EncryptedSecrets> {
        let encrypted = EncryptedSecrets {
            memory_kib: document.memory_kib,
            passes: document.passes,
            salt: BASE64_STANDARD.decode(&document.salt).ok()?,
            ciphertext: BASE64_STANDARD.decode(&document.sealed).ok()?,
        };
        let is_supported = document.kdf == KDF && document.cipher == CIPHER;
        let is_bounded = (MEMORY_KIB_MIN..=MEMORY_KIB_MAX).contains(&encrypted.memory_kib)
            && (1..=PASSES_MAX).contains(&encrypted.passes)
            && (SALT_LEN..=SALT_MAX).contains(&encrypted.salt.len());
        (is_supported && is_bounded).then_some(encrypted)
    }

    fn key(&self, passphrase: &Secret) -> Option<LessSafeKey> {
        let params = Params::new(self.memory_kib, self.passes, 1, Some(KEY_LEN)).ok()?;
        let mut memory = vec![Block::default(); params.block_count()];
        let mut key = [0; KEY_LEN];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into_with_memory(
                passphrase.expose().as_bytes(),
                &self.salt,
                &mut key,
                &mut memory,
            )
            .ok()?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?;
        Some(LessSafeKey::new(key))
    }
}
