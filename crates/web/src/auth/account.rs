//! One pair of credentials, and what is known to be them.

use std::sync::Arc;

use device::secret::PasswordHash;
use subtle::ConstantTimeEq;
use tokio::sync::watch;

/// One pair of credentials.
pub(super) struct AuthAccount {
    /// None accepts any user name.
    pub(super) user: Option<String>,
    /// Its password.
    pub(super) password: PasswordHash,
    accepted: watch::Sender<Option<[u8; 32]>>,
}

impl AuthAccount {
    /// Credentials that nobody has shown yet.
    pub(super) fn new(user: Option<String>, password: &PasswordHash) -> Arc<AuthAccount> {
        Arc::new(AuthAccount {
            user,
            password: password.clone(),
            accepted: watch::Sender::new(None),
        })
    }

    /// Whether these credentials are known to be right.
    pub(super) fn accepts(&self, digest: &[u8; 32]) -> bool {
        let accepted = *self.accepted.borrow();
        accepted.is_some_and(|accepted| accepted.ct_eq(digest).into())
    }

    /// Remembers that these credentials are right.
    pub(super) fn accept(&self, digest: [u8; 32]) {
        self.accepted.send_replace(Some(digest));
    }
}
