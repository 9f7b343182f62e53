//! One pair of credentials and the digest of the last accepted login.

use std::sync::{Arc, Mutex, PoisonError};

use device::secret::PasswordHash;
use subtle::ConstantTimeEq;

/// One pair of credentials.
pub(super) struct AuthAccount {
    /// `None` accepts any user name.
    pub(super) user: Option<String>,
    pub(super) password: PasswordHash,
    /// Digest of credentials that were verified, so that later requests need no slow hash.
    accepted: Mutex<Option<[u8; 32]>>,
}

impl AuthAccount {
    /// An account without an accepted login.
    pub(super) fn new(user: Option<String>, password: &PasswordHash) -> Arc<AuthAccount> {
        Arc::new(AuthAccount {
            user,
            password: password.clone(),
            accepted: Mutex::new(None),
        })
    }

    /// Whether the credentials with this digest were verified before.
    pub(super) fn accepts(&self, digest: &[u8; 32]) -> bool {
        let accepted = *self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        accepted.is_some_and(|accepted| accepted.ct_eq(digest).into())
    }

    /// Remembers that the credentials with this digest are right.
    pub(super) fn accept(&self, digest: [u8; 32]) {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
    }
}
