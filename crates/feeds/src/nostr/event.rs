//! Nostr events: unverified ones from a relay, and verified ones.

use std::{fmt, sync::LazyLock};

use device::secret::Secret;
use hex::FromHex;
use secp256k1::{Keypair, Secp256k1, SignOnly, VerifyOnly, XOnlyPublicKey, schnorr::Signature};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::malformed::Malformed;

static CURVE: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

/// A key or id of 32 bytes.
pub type Bytes32 = [u8; 32];

/// Parses a key of 64 hex digits.
pub fn key(digits: &str) -> Option<Bytes32> {
    Bytes32::from_hex(digits).ok()
}

/// An unverified event from a relay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NostrEvent {
    /// Hash of all fields except the signature, 64 hex digits.
    pub id: String,
    /// Key of the author, 64 hex digits.
    pub pubkey: String,
    /// Time according to the author, s since 1970-01-01 UTC.
    pub created_at: u64,
    pub kind: u64,
    /// Names and values.
    pub tags: Vec<Vec<String>>,
    /// Text or payload.
    pub content: String,
    /// Signature of the id, 128 hex digits.
    pub sig: String,
}

/// An event with a valid id and signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedEvent {
    id: Bytes32,
    author: Bytes32,
    created_at: u64,
    kind: u16,
    tags: Vec<Vec<String>>,
    content: String,
}

impl VerifiedEvent {
    /// Verifies an event; the only way to create this type.
    ///
    /// # Errors
    /// Key, id or signature are not hexadecimal, the id is not the hash of the content, or the signature is invalid.
    pub fn verify(claim: NostrEvent) -> Result<VerifiedEvent, Malformed> {
        let author = key(&claim.pubkey).ok_or(Malformed("hex"))?;
        let id = key(&claim.id).ok_or(Malformed("hex"))?;
        let signature = <[u8; 64]>::from_hex(&claim.sig).map_err(|_| Malformed("hex"))?;
        let kind = u16::try_from(claim.kind).map_err(|_| Malformed("kind"))?;
        if claim.tags.iter().any(Vec::is_empty) {
            return Err(Malformed("tags"));
        }
        if id != id_of(&author, claim.created_at, kind, &claim.tags, &claim.content) {
            return Err(Malformed("id"));
        }
        let key = XOnlyPublicKey::from_slice(&author).map_err(|_| Malformed("signature"))?;
        CURVE
            .verify_schnorr(&Signature::from_byte_array(signature), &id, &key)
            .map_err(|_| Malformed("signature"))?;
        Ok(VerifiedEvent {
            id,
            author,
            created_at: claim.created_at,
            kind,
            tags: claim.tags,
            content: claim.content,
        })
    }

    pub fn id(&self) -> &Bytes32 {
        &self.id
    }

    pub fn author(&self) -> &Bytes32 {
        &self.author
    }

    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// Time according to the author, s since 1970-01-01 UTC.
    pub fn created_at(&self) -> u64 {
        self.created_at
    }

    /// Text or payload.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Values of the first tag with this name.
    pub fn tag(&self, name: &str) -> Option<&[String]> {
        self.tags(name).next()
    }

    /// First value of the first tag with this name.
    pub fn tag_value(&self, name: &str) -> Option<&str> {
        self.tag(name)?.first().map(String::as_str)
    }

    /// Values of all tags with this name.
    pub fn tags(&self, name: &str) -> impl Iterator<Item = &[String]> {
        self.tags.iter().filter_map(move |tag| {
            let (first, values) = tag.split_first()?;
            (first == name).then_some(values)
        })
    }
}

/// Hash of the canonical form: a JSON array without whitespace.
fn id_of(
    author: &Bytes32,
    created_at: u64,
    kind: u16,
    tags: &[Vec<String>],
    content: &str,
) -> Bytes32 {
    let author = hex::encode(author);
    let mut canonical = Vec::with_capacity(512 + content.len());
    serde_json::to_writer(
        &mut canonical,
        &(0, &author, created_at, kind, tags, content),
    )
    .expect("texts and numbers always have a JSON form");
    Sha256::digest(&canonical).into()
}

/// Signs events with one key.
pub struct Signer {
    keys: Keypair,
    curve: Secp256k1<SignOnly>,
}

impl Signer {
    /// A signer with a secret key of 64 hex digits. `None` if they are no key.
    pub fn new(secret: &Secret) -> Option<Signer> {
        let curve = Secp256k1::signing_only();
        let keys = Keypair::from_seckey_slice(&curve, &key(secret.expose())?).ok()?;
        Some(Signer { keys, curve })
    }

    /// Key of the author, 64 hex digits.
    pub fn author(&self) -> String {
        hex::encode(self.key())
    }

    fn key(&self) -> Bytes32 {
        self.keys.x_only_public_key().0.serialize()
    }

    /// Creates a signed event; `noise` is 32 random bytes that protect the secret key.
    pub fn sign(
        &self,
        created_at: u64,
        kind: u16,
        tags: &[&[&str]],
        content: String,
        noise: &Bytes32,
    ) -> NostrEvent {
        let tags: Vec<Vec<String>> = tags
            .iter()
            .map(|tag| tag.iter().map(|part| (*part).to_owned()).collect())
            .collect();
        let id = id_of(&self.key(), created_at, kind, &tags, &content);
        let signature = self
            .curve
            .sign_schnorr_with_aux_rand(&id, &self.keys, noise);
        NostrEvent {
            id: hex::encode(id),
            pubkey: self.author(),
            created_at,
            kind: u64::from(kind),
            tags,
            content,
            sig: hex::encode(signature.as_ref()),
        }
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        self.keys.non_secure_erase();
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Signer")
            .field("author", &self.author())
            .finish_non_exhaustive()
    }
}
