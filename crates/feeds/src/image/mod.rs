//! Images: firmware or a web page in one signed file.
//!
//! An image has a *header* of fixed size, a *payload* that is the compressed *content*, and any number of *signatures*
//! in the format of minisign over header and payload. The content of firmware is the program; that of a page is a tar
//! archive with a manifest (`page`).
//! `docs/firmware-image.md` specifies the format byte by byte.
//! Start with `head` and `reading`; `writing` is the inverse.

mod head;
pub mod page;
mod reading;
mod signature;
mod tar;
mod writing;

pub use head::{ImageHeader, ImageKind};
pub use reading::Image;
pub use signature::{KeyId, SIGNATURES_MAX, Signature, VerifyingKey};
pub use writing::{ImageFacts, Packed, sign};

use std::io;

/// Largest payload of any image, bytes; a board may allow less.
pub const PAYLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Largest program, unpacked, bytes.
pub const PROGRAM_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Largest page, unpacked, bytes; it is served from memory.
pub const PAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Longest signatures of an image, bytes.
pub const SIGNATURE_BYTES_MAX: u64 = 8 * 1024;

/// Why a file is not a usable image.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// The magic bytes are wrong.
    #[error("it is not a papertick image")]
    Stranger,
    /// A newer image format.
    #[error("its format is {0}, which needs a newer papertick")]
    NewerForm(u16),
    /// A field of the header is invalid.
    #[error("its head is damaged ({0})")]
    Head(&'static str),
    /// It is shorter than its payload.
    #[error("it is cut off: {have} of {wanted} bytes are there")]
    CutOff {
        /// Actual length.
        have: u64,
        /// Length of header and payload.
        wanted: u64,
    },
    /// The bytes after the payload are not signatures.
    #[error("the bytes after its payload are no minisign signature ({0})")]
    Signatures(&'static str),
    /// The payload does not match the header.
    #[error("its payload is damaged ({0})")]
    Payload(&'static str),
    /// The content is not a page.
    #[error("it is not a page ({0})")]
    Page(&'static str),
    /// No signature.
    #[error("it is not signed")]
    Unsigned,
    /// No signature with a trusted key.
    #[error("it is signed by {}, and none of these keys is trusted", list(.0))]
    Untrusted(Vec<KeyId>),
    /// A trusted key signed other bytes.
    #[error("the signature of key {0} is not for this image: it was changed after it was signed")]
    Forged(KeyId),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

fn list(keys: &[KeyId]) -> String {
    let words: Vec<String> = keys.iter().map(KeyId::to_string).collect();
    words.join(", ")
}
