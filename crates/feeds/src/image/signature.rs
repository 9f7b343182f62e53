//! Keys and signatures in the format of minisign.
//!
//! Only signatures over the hash of a file are supported, which is the default of minisign: others would need the whole
//! file in memory.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{ImageFault, SIGNATURE_BYTES_MAX};

/// Most signatures of one image.
pub const SIGNATURES_MAX: usize = 4;

const SIGNATURE_LINES: usize = 4;

/// Algorithm of a signature over the hash of a file.
const OVER_HASH: &[u8] = b"ED";

/// Prefix of the first line of minisign's files.
const UNTRUSTED: &str = "untrusted comment:";

/// Id of a key, as minisign prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016X}", u64::from_le_bytes(self.0))
    }
}

/// The public key of a trusted signer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    id: KeyId,
    pub(super) key: minisign_verify::PublicKey,
}

impl VerifyingKey {
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Parses a key file, or only its second line. `None` if it is neither.
    pub fn parse(text: &str) -> Option<VerifyingKey> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        let line = if first.starts_with(UNTRUSTED) { lines.next()? } else { first };
        let key = minisign_verify::PublicKey::from_base64(line).ok()?;
        let id = key_id(&BASE64_STANDARD.decode(line).ok()?)?;
        lines.next().is_none().then_some(VerifyingKey { id, key })
    }
}

/// A signature file, as stored after the payload.
#[derive(Clone)]
pub struct Signature {
    id: KeyId,
    text: String,
    pub(super) signature: minisign_verify::Signature,
}

impl fmt::Debug for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Signature({})", self.id)
    }
}

impl Signature {
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The trusted comment, which is signed too.
    pub fn comment(&self) -> &str {
        self.signature.trusted_comment()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses consecutive signature files.
    ///
    /// # Errors
    /// There are other bytes, or too many signatures.
    pub fn parse_all(bytes: &[u8]) -> Result<Vec<Signature>, ImageFault> {
        if bytes.len() as u64 > SIGNATURE_BYTES_MAX {
            return Err(ImageFault::Signatures("too long"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| ImageFault::Signatures("no text"))?;
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > SIGNATURES_MAX * SIGNATURE_LINES {
            return Err(ImageFault::Signatures("too many"));
        }
        lines
            .chunks(SIGNATURE_LINES)
            .map(Signature::parse)
            .collect()
    }

    fn parse(lines: &[&str]) -> Result<Signature, ImageFault> {
        let wrong = || ImageFault::Signatures("not in the format of minisign");
        let [comment, line, _, _] = lines else {
            return Err(wrong());
        };
        let text = format!("{}\n", lines.join("\n"));
        if !comment.starts_with(UNTRUSTED) {
            return Err(wrong());
        }
        let signature = minisign_verify::Signature::decode(&text).map_err(|_| wrong())?;
        let bytes = BASE64_STANDARD.decode(line).map_err(|_| wrong())?;
        if !bytes.starts_with(OVER_HASH) {
            return Err(ImageFault::Signatures("legacy format: sign without -l"));
        }
        let id = key_id(&bytes).ok_or_else(wrong)?;
        Ok(Signature {
            id,
            text,
            signature,
        })
    }
}

/// Key id after the two bytes of the algorithm.
fn key_id(bytes: &[u8]) -> Option<KeyId> {
    let (_, rest) = bytes.split_first_chunk::<2>()?;
    rest.first_chunk().copied().map(KeyId)
}
