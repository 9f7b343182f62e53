//! Creates an image. The same content and facts give the same bytes.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use semver::Version;
use sha2::{Digest, Sha256};

use super::{ImageFault, ImageHeader, ImageKind, SIGNATURES_MAX, Signature};

/// Header fields of a new image that do not follow from its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFacts {
    pub kind: ImageKind,
    /// Build time, s since 1970-01-01 UTC; zero if unknown.
    pub build_time: u64,
    /// Board; empty for a page.
    pub board: String,
    /// Panels; empty for a page.
    pub panel: String,
    /// Target; empty for a page.
    pub target: String,
    pub version: Version,
    /// Commit; empty if unknown.
    pub commit: String,
}

/// Compressed content, usable for several images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    payload: Vec<u8>,
    content_bytes: u64,
    content_digest: [u8; 32],
}

impl Packed {
    /// Compresses a content.
    pub fn new(content: &[u8]) -> Packed {
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::default());
        // Writing to a vector cannot fail.
        let _ = encoder.write_all(content);
        Packed {
            payload: encoder.finish().unwrap_or_default(),
            content_bytes: content.len() as u64,
            content_digest: Sha256::digest(content).into(),
        }
    }

    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Creates an unsigned image.
    ///
    /// # Errors
    /// A field is too long or invalid, or the content is empty or too long.
    pub fn image(&self, facts: ImageFacts) -> Result<Vec<u8>, ImageFault> {
        let head = ImageHeader {
            kind: facts.kind,
            payload_bytes: self.payload.len() as u64,
            content_bytes: self.content_bytes,
            build_time: facts.build_time,
            payload_digest: Sha256::digest(&self.payload).into(),
            content_digest: self.content_digest,
            board: facts.board,
            panel: facts.panel,
            target: facts.target,
            version: facts.version,
            commit: facts.commit,
        };
        Ok([&head.encode()?[..], &self.payload].concat())
    }
}

/// The signatures of an image with one added; it replaces one of the same key.
///
/// # Errors
/// There are too many.
pub fn sign(there: &[Signature], added: &Signature) -> Result<String, ImageFault> {
    let others: Vec<&Signature> = there
        .iter()
        .filter(|signature| signature.key_id() != added.key_id())
        .collect();
    if others.len() >= SIGNATURES_MAX {
        return Err(ImageFault::Signatures("too many"));
    }
    let texts = others.into_iter().chain([added]).map(Signature::text);
    Ok(texts.collect())
}
