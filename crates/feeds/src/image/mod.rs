//! Images: firmware and pages as one file with everything that is needed to judge it.
//!
//! An image is a *head* of fixed size, a *payload* that is the compressed *content*, and any number of *signatures*
//! in the form of minisign's signature files, over head and payload.
//! The content of firmware is the program; that of a page is a tar archive with a manifest in it (`page`).
//! `docs/firmware-image.md` tells the form byte by byte.
//! Read on with `head`, then `reading`; `writing` is the way back.

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

/// Largest payload of any image, bytes; a board may take less.
pub const PAYLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Largest program, unpacked, bytes.
pub const PROGRAM_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Largest page, unpacked, bytes; it is served from memory.
pub const PAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Largest part of an image behind the payload, bytes.
pub const SIGNATURE_BYTES_MAX: u64 = 8 * 1024;

/// Why a file is not a usable image.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// It begins as something else.
    #[error("it is no papertick image")]
    Stranger,
    /// It was made for programs that know a later form.
    #[error("its form is {0}, which only a newer papertick can read")]
    NewerForm(u16),
    /// A part of the head says what cannot be.
    #[error("its head is damaged ({0})")]
    Head(&'static str),
    /// It ends before its payload does.
    #[error("it is cut off: {have} of {wanted} bytes are there")]
    CutOff {
        /// Bytes that are there.
        have: u64,
        /// Bytes of head and payload.
        wanted: u64,
    },
    /// What is behind the payload is no signature.
    #[error("what is behind its payload is no signature of minisign ({0})")]
    Signatures(&'static str),
    /// The payload is not the one that the head tells of.
    #[error("its payload is damaged ({0})")]
    Payload(&'static str),
    /// The content is no page.
    #[error("it holds no page ({0})")]
    Page(&'static str),
    /// Nobody signed it.
    #[error("it is not signed")]
    Unsigned,
    /// Nobody who is trusted signed it.
    #[error("it is signed by {}, and none of these keys is trusted", list(.0))]
    Untrusted(Vec<KeyId>),
    /// A key that is trusted signed something else.
    #[error("the signature of key {0} is not for this image: it was changed after it was signed")]
    Forged(KeyId),
    /// It could not be read, or what is in it could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

fn list(keys: &[KeyId]) -> String {
    let words: Vec<String> = keys.iter().map(KeyId::to_string).collect();
    words.join(", ")
}
