//! Keys of both ciphers, and the secret that two pairs of keys share.

use std::fmt;

use device::secret::Secret;
use secp256k1::{Parity, SecretKey, XOnlyPublicKey, ecdh::shared_secret_point};
use zeroize::Zeroizing;

use super::super::event::key;

/// Bytes of a key: not printed, and erased when dropped.
pub struct KeyBytes<const N: usize>(pub(super) Zeroizing<[u8; N]>);

impl<const N: usize> KeyBytes<N> {
    /// The bytes themselves.
    pub fn expose(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> From<[u8; N]> for KeyBytes<N> {
    fn from(bytes: [u8; N]) -> KeyBytes<N> {
        KeyBytes(Zeroizing::new(bytes))
    }
}

impl<const N: usize> fmt::Debug for KeyBytes<N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyBytes(..)")
    }
}

/// X coordinate of the product of a secret key and a peer's key, by ECDH on secp256k1. The keys have 64 hex digits each;
/// `None` if one is invalid.
pub fn shared_secret(secret: &Secret, peer: &str) -> Option<KeyBytes<32>> {
    // Both points with the x coordinate of the peer's key give the same result.
    let peer = XOnlyPublicKey::from_slice(&key(peer)?)
        .ok()?
        .public_key(Parity::Even);
    let secret = KeyBytes::from(key(secret.expose())?);
    let mut secret = SecretKey::from_slice(secret.expose()).ok()?;
    let point = Zeroizing::new(shared_secret_point(&peer, &secret));
    secret.non_secure_erase();
    Some(std::array::from_fn(|at| point[at]).into())
}
