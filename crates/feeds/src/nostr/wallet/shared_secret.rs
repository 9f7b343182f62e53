//! The secret that two owners of keys share: input of both ciphers.

use std::fmt;

use device::secret::Secret;
use secp256k1::{Parity, SecretKey, XOnlyPublicKey, ecdh::shared_secret_point};
use zeroize::Zeroizing;

use super::super::event::{Bytes32, key};

/// X coordinate of the product of a secret key and a peer's key, by ECDH on secp256k1.
pub struct SharedSecret(Zeroizing<Bytes32>);

impl SharedSecret {
    /// The secret of a secret key and a peer's key, 64 hex digits each. `None` if one is invalid.
    pub fn new(secret: &Secret, peer: &str) -> Option<SharedSecret> {
        // Both points with the x coordinate of the peer's key give the same result.
        let peer = XOnlyPublicKey::from_slice(&key(peer)?)
            .ok()?
            .public_key(Parity::Even);
        let secret = Zeroizing::new(key(secret.expose())?);
        let mut secret = SecretKey::from_slice(secret.as_slice()).ok()?;
        let point = Zeroizing::new(shared_secret_point(&peer, &secret));
        secret.non_secure_erase();
        Some(SharedSecret(Zeroizing::new(std::array::from_fn(|at| {
            point[at]
        }))))
    }

    /// The secret itself.
    pub fn expose(&self) -> &Bytes32 {
        &self.0
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedSecret(..)")
    }
}
