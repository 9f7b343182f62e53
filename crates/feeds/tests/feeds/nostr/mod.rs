//! Nostr: messages, verification, and the meaning of verified events.

use device::secret::Secret;
use feeds::nostr::event::{NostrEvent, Signer, VerifiedEvent};

mod bolt11;
mod data;
mod event;
mod frame;
mod wallet;
mod zap;

/// A published secret key for tests.
pub(crate) const SECRET: &str = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";

/// Its public key.
pub(crate) const AUTHOR: &str = "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659";

/// Signs with the known key.
pub(crate) fn signer() -> Signer {
    Signer::new(&Secret::new(SECRET)).unwrap()
}

/// An event of the known author.
pub(crate) fn signed(created_at: u64, kind: u16, tags: &[&[&str]], content: &str) -> NostrEvent {
    signer().sign(created_at, kind, tags, content.to_owned(), &[7; 32])
}

pub(crate) fn verified(
    created_at: u64,
    kind: u16,
    tags: &[&[&str]],
    content: &str,
) -> VerifiedEvent {
    VerifiedEvent::verify(signed(created_at, kind, tags, content)).unwrap()
}
