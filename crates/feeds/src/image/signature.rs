//! Keys and signatures in the forms of minisign's files.
//!
//! Only signatures over the hash of a file are taken, which is what the tool makes unless it is told otherwise:
//! the others would need the whole file in memory.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{ImageFault, SIGNATURE_BYTES_MAX};

/// Most signatures of one image.
pub const SIGNATURES_MAX: usize = 4;

/// Lines of a signature file.
const SIGNATURE_LINES: usize = 4;

/// What a signature over the hash of a file begins with.
const OVER_HASH: &[u8] = b"ED";

/// What the first line of minisign's files begins with.
const UNTRUSTED: &str = "untrusted comment:";

/// Which key it is, as minisign writes it.
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
    /// Which key it is.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Reads a key file, or its second line alone; none if it is neither.
    pub fn parse(text: &str) -> Option<VerifyingKey> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        let line = if first.starts_with(UNTRUSTED) {
            lines.next()?
        } else {
            first
        };
        let key = minisign_verify::PublicKey::from_base64(line).ok()?;
        let id = key_id(&BASE64_STANDARD.decode(line).ok()?)?;
        lines.next().is_none().then_some(VerifyingKey { id, key })
    }
}

/// A signature file, as it stands behind the payload.
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
    /// Which key made it.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The comment that it signs as well.
    pub fn comment(&self) -> &str {
        self.signature.trusted_comment()
    }

    /// The file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads signature files, one behind the other.
    ///
    /// # Errors
    /// There is something else, or there are too many.
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
        let wrong = || ImageFault::Signatures("not as minisign writes them");
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
            return Err(ImageFault::Signatures(
                "made in the old way: sign without -l",
            ));
        }
        let id = key_id(&bytes).ok_or_else(wrong)?;
        Ok(Signature {
            id,
            text,
            signature,
        })
    }
}

/// The number of a key: the bytes after the two that name the algorithm.
fn key_id(bytes: &[u8]) -> Option<KeyId> {
    let (_, rest) = bytes.split_first_chunk::<2>()?;
    rest.first_chunk().copied().map(KeyId)
}
