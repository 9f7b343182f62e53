//! Passwords as salted slow hashes.

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHash as Phc, PasswordHasher, PasswordVerifier, SaltString},
};
use device::secret::{PasswordHash, Secret};
use rustix::rand::{GetRandomFlags, getrandom};
use subtle::ConstantTimeEq;

/// Memory that one hash takes, KiB; small, because the clock runs on small computers.
const MEMORY_KIB: u32 = 7 * 1024;

/// Passes over that memory.
const PASSES: u32 = 5;

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Bytes that nobody can guess.
///
/// # Errors
/// The host has no source of random numbers.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], rustix::io::Errno> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Hashes a password; takes tens of milliseconds. None if the host has no random numbers or no memory.
pub(crate) fn hash(password: &str) -> Option<PasswordHash> {
    let salt = SaltString::encode_b64(&random::<16>().ok()?).ok()?;
    let hash = argon2().hash_password(password.as_bytes(), &salt).ok()?;
    Some(PasswordHash::new(hash.to_string()))
}

/// Tells whether a password is the hashed one; takes tens of milliseconds. No password is the empty one.
pub(crate) fn matches(stored: &PasswordHash, password: &Secret) -> bool {
    if stored.is_empty() {
        return password.is_empty();
    }
    let verify = |stored: Phc<'_>| {
        argon2()
            .verify_password(password.expose().as_bytes(), &stored)
            .is_ok()
    };
    Phc::new(stored.phc()).is_ok_and(verify)
}

/// Compares two texts in a time that does not tell where they differ.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}
