//! Passwords as salted slow hashes, made and checked one at a time by one task with one piece of memory.
//!
//! The memory that a hash takes is most of what the program has; it is used again and given back when nobody signs in.

use std::{collections::BTreeMap, panic::resume_unwind, time::Duration};

use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::{Output, ParamsString, PasswordHash as Phc, SaltString},
};
use device::{
    secret::{PasswordHash, Secret},
    settings::{Key, Settings, patch::passwords_in},
};
use rustix::rand::{GetRandomFlags, getrandom};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq;
use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_blocking,
    time::sleep,
};

pub mod made;

/// The most memory that a hash may take which somebody brings along, KiB.
const MEMORY_KIB_MAX: u32 = 64 * 1024;

/// The most passes that such a hash may take.
const PASSES_MAX: u32 = 16;

/// Memory that one hash takes, KiB; small, because the clock runs on small computers.
const MEMORY_KIB: u32 = 7 * 1024;

/// Passes over that memory.
const PASSES: u32 = 5;

/// Bytes of a hash.
const HASH_LEN: usize = 32;

/// Time for which the memory is kept for the next one.
const MEMORY_KEPT: Duration = Duration::from_secs(10);

/// Passwords that wait for the task.
const WAITING_MAX: usize = 2;

/// The memory of a hash; empty between uses far apart.
pub type Blocks = Vec<Block>;

/// The way to the task that makes and checks hashes.
#[derive(Debug, Clone)]
pub struct Hasher {
    jobs: mpsc::Sender<PasswordJob>,
}

/// The queue of that task.
pub type Jobs = mpsc::Receiver<PasswordJob>;

/// A password job for the hashing task.
#[derive(Debug)]
pub struct PasswordJob {
    stored: PasswordHash,
    given: Secret,
    wanted: PasswordTask,
}

/// What to do with a password.
#[derive(Debug)]
enum PasswordTask {
    /// Whether it is the stored one.
    Match(oneshot::Sender<bool>),
    /// Its hash; the stored one if it is of this password.
    Hash(oneshot::Sender<Option<PasswordHash>>),
}

/// Makes the way to the task, and its queue.
pub fn hasher() -> (Hasher, Jobs) {
    let (jobs, queue) = mpsc::channel(WAITING_MAX);
    (Hasher { jobs }, queue)
}

impl Hasher {
    /// Tells whether a password is the hashed one; none if the task is gone.
    pub async fn matches(&self, stored: PasswordHash, given: Secret) -> Option<bool> {
        let (answer, matches) = oneshot::channel();
        let wanted = PasswordTask::Match(answer);
        self.send(stored, given, wanted).await?;
        matches.await.ok()
    }

    /// Hashes a password; one that is stored already keeps its hash. None if that cannot be done.
    pub async fn hash(&self, stored: PasswordHash, given: Secret) -> Option<PasswordHash> {
        let (answer, hash) = oneshot::channel();
        let wanted = PasswordTask::Hash(answer);
        self.send(stored, given, wanted).await?;
        hash.await.ok()?
    }

    async fn send(&self, stored: PasswordHash, given: Secret, wanted: PasswordTask) -> Option<()> {
        let job = PasswordJob {
            stored,
            given,
            wanted,
        };
        self.jobs.send(job).await.ok()
    }
}

/// Hashes the passwords in a change of settings; one that is stored already keeps its hash, so that it counts as
/// unchanged. None if that cannot be done.
pub async fn hashes(
    hasher: &Hasher,
    settings: &Settings,
    body: &Map<String, Value>,
) -> Option<BTreeMap<Key, PasswordHash>> {
    let mut hashes = BTreeMap::new();
    for (key, text) in passwords_in(body) {
        let stored = settings.get(key);
        let stored = stored.as_str().map(PasswordHash::new).unwrap_or_default();
        let hash = hasher.hash(stored, Secret::new(text)).await?;
        hashes.insert(key, hash);
    }
    Some(hashes)
}

/// Makes and checks hashes until nobody can ask any more.
pub async fn run(mut jobs: Jobs) {
    let mut memory = Blocks::new();
    loop {
        let job = tokio::select! {
            job = jobs.recv() => job,
            () = sleep(MEMORY_KEPT), if !memory.is_empty() => {
                memory = Blocks::new();
                continue;
            }
        };
        let Some(job) = job else {
            return;
        };
        let worked = spawn_blocking(move || {
            job.work(&mut memory);
            memory
        });
        memory = match worked.await {
            Ok(memory) => memory,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The program ends.
                Err(_) => return,
            },
        };
    }
}

impl PasswordJob {
    /// Does what is wanted; takes tens of milliseconds.
    pub fn work(self, memory: &mut Blocks) {
        let PasswordJob {
            stored,
            given,
            wanted,
        } = self;
        // Who has gone meanwhile takes no answer.
        match wanted {
            PasswordTask::Match(answer) if answer.is_closed() => {}
            PasswordTask::Hash(answer) if answer.is_closed() => {}
            PasswordTask::Match(answer) => drop(answer.send(matches(&stored, &given, memory))),
            PasswordTask::Hash(answer) => {
                let known = !stored.is_empty() && matches(&stored, &given, memory);
                let hashed = if known {
                    Some(stored)
                } else {
                    hash(given.expose(), memory)
                };
                drop(answer.send(hashed));
            }
        }
    }
}

/// Bytes that nobody can guess.
///
/// # Errors
/// The host has no source of random numbers.
pub fn random<const N: usize>() -> Result<[u8; N], rustix::io::Errno> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Hashes a password; takes tens of milliseconds. None if the host has no random numbers.
pub fn hash(password: &str, memory: &mut Blocks) -> Option<PasswordHash> {
    let salt = random::<16>().ok()?;
    let params = Params::new(MEMORY_KIB, PASSES, 1, Some(HASH_LEN)).ok()?;
    let written = ParamsString::try_from(&params).ok()?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let digest = digest(&argon2, password, &salt, HASH_LEN, memory)?;
    let salt = SaltString::encode_b64(&salt).ok()?;
    let phc = Phc {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: written,
        salt: Some(salt.as_salt()),
        hash: Some(Output::new(&digest).ok()?),
    };
    Some(PasswordHash::new(phc.to_string()))
}

/// Tells whether a text is a hash that passwords can be compared with, in bounded time and memory.
pub fn is_hash(text: &str) -> bool {
    let usable = || {
        let phc = Phc::new(text).ok()?;
        Algorithm::try_from(phc.algorithm).ok()?;
        phc.version
            .map_or(Ok(Version::V0x13), Version::try_from)
            .ok()?;
        let params = Params::try_from(&phc).ok()?;
        let is_bounded = params.m_cost() <= MEMORY_KIB_MAX && params.t_cost() <= PASSES_MAX;
        (is_bounded && phc.salt.is_some() && phc.hash.is_some()).then_some(())
    };
    usable().is_some()
}

/// Tells whether a password is the hashed one; takes tens of milliseconds. Where none is stored, none is right.
pub fn matches(stored: &PasswordHash, password: &Secret, memory: &mut Blocks) -> bool {
    let mut known = || {
        let phc = Phc::new(stored.phc()).ok()?;
        let version = phc.version.map_or(Ok(Version::V0x13), Version::try_from);
        let argon2 = Argon2::new(
            Algorithm::try_from(phc.algorithm).ok()?,
            version.ok()?,
            Params::try_from(&phc).ok()?,
        );
        let mut salt = [0; 64];
        let salt = phc.salt?.decode_b64(&mut salt).ok()?;
        let hash = phc.hash?;
        let digest = digest(&argon2, password.expose(), salt, hash.len(), memory)?;
        Some(digest.ct_eq(hash.as_bytes()).into())
    };
    known().unwrap_or(false)
}

fn digest(
    argon2: &Argon2<'_>,
    password: &str,
    salt: &[u8],
    length: usize,
    memory: &mut Blocks,
) -> Option<Vec<u8>> {
    let blocks = argon2.params().block_count();
    if memory.len() < blocks {
        memory.resize(blocks, Block::default());
    }
    let mut digest = vec![0; length];
    argon2
        .hash_password_into_with_memory(password.as_bytes(), salt, &mut digest, memory)
        .ok()?;
    Some(digest)
}

/// Compares two texts in a time that does not tell where they differ.
pub fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    /// What others make of the standard, and what this module makes of it with memory that was used before.
    #[test]
    fn hashes_are_the_standards() {
        let mut memory = Blocks::new();
        let ours = hash("correct horse", &mut memory).unwrap();
        let phc = Phc::new(ours.phc()).unwrap();
        let verify = |password: &[u8]| Argon2::default().verify_password(password, &phc);
        assert!(verify(b"correct horse").is_ok() && verify(b"wrong").is_err());
        assert!(ours.phc().contains("m=7168,t=5,p=1"), "{}", ours.phc());

        let salt = SaltString::encode_b64(b"sixteen bytes 16").unwrap();
        for (memory_kib, passes, lanes, length) in [(8, 1, 1, 16), (64, 3, 2, 32), (8192, 1, 1, 64)]
        {
            let params = Params::new(memory_kib, passes, lanes, Some(length)).unwrap();
            for algorithm in [Algorithm::Argon2id, Algorithm::Argon2i] {
                let argon2 = Argon2::new(algorithm, Version::V0x13, params.clone());
                let theirs = argon2.hash_password(b"correct horse", &salt).unwrap();
                let theirs = PasswordHash::new(theirs.to_string());
                assert!(matches(&theirs, &Secret::new("correct horse"), &mut memory));
                assert!(!matches(&theirs, &Secret::new("wrong"), &mut memory));
            }
        }
    }

    #[test]
    fn no_password_is_right_where_none_is_stored() {
        for stored in [
            "",
            "argon2",
            "$argon2id$v=19$m=8,t=1,p=1$c2l4dGVlbiBieXRlcw",
        ] {
            let stored = PasswordHash::new(stored);
            assert!(!matches(&stored, &Secret::new(""), &mut Blocks::new()));
        }
    }

    /// Memory is what the kernel says, so this counts what is asked of the allocator: the same piece again and again.
    #[test]
    fn one_piece_of_memory_is_used_again() {
        let mut memory = Blocks::new();
        let stored = hash("correct horse", &mut memory).unwrap();
        let (place, blocks) = (memory.as_ptr(), memory.capacity());
        for guess in ["a", "b", "correct horse"] {
            assert_eq!(
                matches(&stored, &Secret::new(guess), &mut memory),
                guess == "correct horse"
            );
        }
        assert_eq!((memory.as_ptr(), memory.capacity()), (place, blocks));
        assert_eq!(memory.len(), 7168);
    }
}
