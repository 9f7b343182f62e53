//! Secrets under a passphrase: a slow hash of it makes a key that is used once, and that seals them so that no bit of
//! them can be changed.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use passwords::random;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::{Value, json};

/// Word for how the key is made.
const KDF: &str = "argon2id";

/// Word for how the secrets are sealed.
const CIPHER: &str = "chacha20-poly1305";

/// What is sealed with the secrets, so that nothing else that was sealed with the same passphrase is taken for them.
const PURPOSE: &[u8] = b"papertick settings 1";

/// Memory that making a key takes, KiB: more than a password of the clock itself, for a file can be tried at leisure.
const MEMORY_KIB: u32 = 32 * 1024;

/// Passes over that memory.
const PASSES: u32 = 4;

/// The least memory that a file may ask for: less than that is no slow hash.
const MEMORY_KIB_MIN: u32 = 1024;

/// The most memory that a file may ask for; small computers have no more to spare.
const MEMORY_KIB_MAX: u32 = MEMORY_KIB;

/// The most passes that a file may ask for.
const PASSES_MAX: u32 = PASSES;

/// Bytes of the salt, and the least that a file may have.
const SALT_LEN: usize = 16;

/// The most bytes of salt that a file may have.
const SALT_MAX: usize = 64;

/// Bytes of the key.
const KEY_LEN: usize = 32;

/// The key of each file is another one, so that the nonce need not be.
const NONCE: [u8; NONCE_LEN] = [0; NONCE_LEN];

/// Secrets under a passphrase.
pub(super) struct Sealed {
    memory_kib: u32,
    passes: u32,
    salt: Vec<u8>,
    sealed: Vec<u8>,
}

impl Sealed {
    /// Seals secrets; none if the host has no random numbers.
    pub(super) fn seal(mut secrets: Vec<u8>, passphrase: &Secret) -> Option<Sealed> {
        let mut sealed = Sealed {
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            salt: random::<SALT_LEN>().ok()?.to_vec(),
            sealed: Vec::new(),
        };
        let key = sealed.key(passphrase)?;
        let nonce = Nonce::assume_unique_for_key(NONCE);
        key.seal_in_place_append_tag(nonce, Aad::from(PURPOSE), &mut secrets)
            .ok()?;
        sealed.sealed = secrets;
        Some(sealed)
    }

    /// Opens them; none if the passphrase is wrong or a bit of them has changed.
    pub(super) fn open(&self, passphrase: &Secret) -> Option<Vec<u8>> {
        let key = self.key(passphrase)?;
        let nonce = Nonce::assume_unique_for_key(NONCE);
        let mut bytes = self.sealed.clone();
        let length = key
            .open_in_place(nonce, Aad::from(PURPOSE), &mut bytes)
            .ok()?
            .len();
        bytes.truncate(length);
        Some(bytes)
    }

    /// As it stands in a file.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "kdf": KDF,
            "memoryKiB": self.memory_kib,
            "passes": self.passes,
            "salt": BASE64_STANDARD.encode(&self.salt),
            "cipher": CIPHER,
            "sealed": BASE64_STANDARD.encode(&self.sealed),
        })
    }

    /// Reads what stands in a file; none if it is something else, or wants more work than it should.
    pub(super) fn read(value: &Value) -> Option<Sealed> {
        let text = |name: &str| value.get(name)?.as_str();
        let number = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
        let bytes = |name: &str| BASE64_STANDARD.decode(text(name)?).ok();
        let sealed = Sealed {
            memory_kib: number("memoryKiB")?,
            passes: number("passes")?,
            salt: bytes("salt")?,
            sealed: bytes("sealed")?,
        };
        let is_ours = text("kdf") == Some(KDF) && text("cipher") == Some(CIPHER);
        let is_bounded = (MEMORY_KIB_MIN..=MEMORY_KIB_MAX).contains(&sealed.memory_kib)
            && (1..=PASSES_MAX).contains(&sealed.passes)
            && (SALT_LEN..=SALT_MAX).contains(&sealed.salt.len());
        (is_ours && is_bounded).then_some(sealed)
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
