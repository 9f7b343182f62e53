//! Events: as a relay claims them, and as they are once id and signature were checked.

use std::fmt;

use device::secret::Secret;
use nostr::{
    event::{Event, EventId, Kind, Signature, Tag, Tags},
    key::{Keys, PublicKey, SecretKey},
    types::Timestamp,
};
use secp256k1::{Secp256k1, SignOnly};
use serde::{Deserialize, Serialize};

use crate::{hex, malformed::Malformed};

/// A key or id of 32 bytes.
pub type Bytes32 = [u8; 32];

/// Reads a key of 64 hex digits.
pub fn key(digits: &str) -> Option<Bytes32> {
    hex::bytes(digits.as_bytes())
}

/// An event as a relay sent it; nothing in it may be believed yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NostrEvent {
    /// Hash of all members but the signature, 64 hex digits.
    pub id: String,
    /// Key of the author, 64 hex digits.
    pub pubkey: String,
    /// When the author says it was made, s since 1970-01-01 UTC.
    pub created_at: u64,
    /// What it is about.
    pub kind: u64,
    /// Names with their values.
    pub tags: Vec<Vec<String>>,
    /// Text or payload.
    pub content: String,
    /// Signature of the id, 128 hex digits.
    pub sig: String,
}

/// An event whose id is the hash of its content and is signed by its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedEvent(Event);

impl VerifiedEvent {
    /// Checks an event; this is the only way to a value of this type.
    ///
    /// # Errors
    /// Key, id or signature are no hex, the id is not that of the content, or the author did not
    /// sign it.
    pub fn verify(claim: NostrEvent) -> Result<VerifiedEvent, Malformed> {
        let key = hex::bytes(claim.pubkey.as_bytes()).ok_or(Malformed("hex"))?;
        let id = hex::bytes(claim.id.as_bytes()).ok_or(Malformed("hex"))?;
        let signature = hex::bytes(claim.sig.as_bytes()).ok_or(Malformed("hex"))?;
        let kind = u16::try_from(claim.kind).map_err(|_| Malformed("kind"))?;
        let tags: Result<Vec<Tag>, _> = claim.tags.into_iter().map(Tag::parse).collect();
        let event = Event::new(
            EventId::from_byte_array(id),
            PublicKey::from_byte_array(key),
            Timestamp::from_secs(claim.created_at),
            Kind::from_u16(kind),
            tags.map_err(|_| Malformed("tags"))?,
            claim.content,
            Signature::from_byte_array(signature),
        );
        if !event.verify_id() {
            return Err(Malformed("id"));
        }
        if !event.verify_signature() {
            return Err(Malformed("signature"));
        }
        Ok(VerifiedEvent(event))
    }

    /// Id of the event.
    pub fn id(&self) -> &Bytes32 {
        self.0.id.as_bytes()
    }

    /// Key of the author.
    pub fn author(&self) -> &Bytes32 {
        self.0.pubkey.as_bytes()
    }

    /// What it is about.
    pub fn kind(&self) -> u16 {
        self.0.kind.as_u16()
    }

    /// When the author says it was made, s since 1970-01-01 UTC.
    pub fn created_at(&self) -> u64 {
        self.0.created_at.as_secs()
    }

    /// Text or payload.
    pub fn content(&self) -> &str {
        &self.0.content
    }

    /// Values of the first tag of a name.
    pub fn tag(&self, name: &str) -> Option<&[String]> {
        self.tags(name).next()
    }

    /// First value of the first tag of a name.
    pub fn tag_value(&self, name: &str) -> Option<&str> {
        self.tag(name)?.first().map(String::as_str)
    }

    /// Values of all tags of a name.
    pub fn tags(&self, name: &str) -> impl Iterator<Item = &[String]> {
        self.0.tags.iter().filter_map(move |tag| {
            let (first, values) = tag.as_slice().split_first()?;
            (first == name).then_some(values)
        })
    }
}

/// Signs events with one key.
pub struct Signer {
    keys: Keys,
    curve: Secp256k1<SignOnly>,
}

impl Signer {
    /// Signs with a secret key of 64 hex digits; none if it is no key.
    pub fn new(secret: &Secret) -> Option<Signer> {
        let bytes: Bytes32 = hex::bytes(secret.expose().as_bytes())?;
        let curve = Secp256k1::signing_only();
        let keys = Keys::new_with_ctx(&curve, SecretKey::from_slice(&bytes).ok()?);
        Some(Signer { keys, curve })
    }

    /// Key of the author, 64 hex digits.
    pub fn author(&self) -> String {
        self.keys.public_key().to_hex()
    }

    /// Makes a signed event; `noise` is 32 random bytes that protect the secret key.
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
        let id = EventId::compute(
            &self.keys.public_key(),
            &Timestamp::from_secs(created_at),
            &Kind::from_u16(kind),
            &Tags::from_list(tags.iter().filter_map(|tag| Tag::parse(tag).ok()).collect()),
            &content,
        );
        let signature = self
            .keys
            .sign_schnorr_with_aux_rand(&self.curve, id.as_bytes(), noise);
        NostrEvent {
            id: id.to_hex(),
            pubkey: self.author(),
            created_at,
            kind: u64::from(kind),
            tags,
            content,
            sig: signature.to_hex(),
        }
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
