//! Salted slow hashes of passwords (Argon2). One task makes and checks them one at a time and reuses its memory.
//!
//! A hash needs more memory than the rest of the program, so the memory is freed after a while without hashes.

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

pub mod generate;

/// Most memory of an imported hash, KiB.
const MEMORY_KIB_MAX: u32 = 64 * 1024;

/// Most passes of an imported hash.
const PASSES_MAX: u32 = 16;

/// Memory of a new hash, KiB. Small, because the clock runs on small computers.
const MEMORY_KIB: u32 = 7 * 1024;

/// Passes over that memory.
const PASSES: u32 = 5;

/// Length of a new hash, bytes.
const HASH_LEN: usize = 32;

/// The memory is freed after this time without a hash.
const FREE_MEMORY_AFTER: Duration = Duration::from_secs(10);

/// Most queued jobs.
const JOBS_MAX: usize = 2;

/// The memory of a hash, which is reused.
pub type Blocks = Vec<Block>;

/// Sends jobs to the hashing task.
#[derive(Debug, Clone)]
pub struct Hasher {
    jobs: mpsc::Sender<PasswordJob>,
}

/// Receiver of the jobs, for the hashing task.
pub type Jobs = mpsc::Receiver<PasswordJob>;

/// A password job for the hashing task.
#[derive(Debug)]
pub struct PasswordJob {
    stored: PasswordHash,
    password: Secret,
    task: PasswordTask,
}

/// What to do with a password.
#[derive(Debug)]
enum PasswordTask {
    /// Compare it with the stored hash.
    Match(oneshot::Sender<bool>),
    /// Hash it; return the stored hash if it matches.
    Hash(oneshot::Sender<Option<PasswordHash>>),
}

/// Makes a sender of jobs and their receiver.
pub fn hasher() -> (Hasher, Jobs) {
    let (jobs, queue) = mpsc::channel(JOBS_MAX);
    (Hasher { jobs }, queue)
}

impl Hasher {
    /// Whether a password matches a hash; `None` if the task has stopped.
    pub async fn matches(&self, stored: PasswordHash, password: Secret) -> Option<bool> {
        let (reply, matches) = oneshot::channel();
        self.send(stored, password, PasswordTask::Match(reply))
            .await?;
        matches.await.ok()
    }

    /// Hashes a password. Returns the stored hash if it matches; `None` if hashing fails.
    pub async fn hash(&self, stored: PasswordHash, password: Secret) -> Option<PasswordHash> {
        let (reply, hash) = oneshot::channel();
        self.send(stored, password, PasswordTask::Hash(reply))
            .await?;
        hash.await.ok()?
    }

    async fn send(&self, stored: PasswordHash, password: Secret, task: PasswordTask) -> Option<()> {
        let job = PasswordJob {
            stored,
            password,
            task,
        };
        self.jobs.send(job).await.ok()
    }
}

/// Hashes the passwords in a change of settings. A password that matches its stored hash keeps it, so that the setting
/// counts as unchanged. `None` if hashing fails.
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

/// Performs jobs until all senders are dropped.
pub async fn run(mut jobs: Jobs) {
    let mut memory = Blocks::new();
    loop {
        let job = tokio::select! {
            job = jobs.recv() => job,
            () = sleep(FREE_MEMORY_AFTER), if !memory.is_empty() => {
                memory = Blocks::new();
                continue;
            }
        };
        let Some(job) = job else {
            return;
        };
        let performed = spawn_blocking(move || {
            job.work(&mut memory);
            memory
        });
        memory = match performed.await {
            Ok(memory) => memory,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => return,
            },
        };
    }
}

impl PasswordJob {
    /// Performs the job; takes tens of milliseconds. Does nothing if the caller does not wait any more.
    pub fn work(self, memory: &mut Blocks) {
        let PasswordJob {
            stored,
            password,
            task,
        } = self;
        match task {
            PasswordTask::Match(reply) if reply.is_closed() => {}
            PasswordTask::Hash(reply) if reply.is_closed() => {}
            PasswordTask::Match(reply) => drop(reply.send(matches(&stored, &password, memory))),
            PasswordTask::Hash(reply) => {
                let is_stored = !stored.is_empty() && matches(&stored, &password, memory);
                let hashed = if is_stored { Some(stored) } else { hash(password.expose(), memory) };
                drop(reply.send(hashed));
            }
        }
    }
}

/// Random bytes for keys and salts.
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

/// Hashes a password; takes tens of milliseconds. `None` if the host has no random numbers.
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

/// Whether a text is a valid hash with bounded time and memory.
pub fn is_hash(text: &str) -> bool {
    let parsed = || {
        let phc = Phc::new(text).ok()?;
        Algorithm::try_from(phc.algorithm).ok()?;
        phc.version
            .map_or(Ok(Version::V0x13), Version::try_from)
            .ok()?;
        let params = Params::try_from(&phc).ok()?;
        let is_bounded = params.m_cost() <= MEMORY_KIB_MAX && params.t_cost() <= PASSES_MAX;
        (is_bounded && phc.salt.is_some() && phc.hash.is_some()).then_some(())
    };
    parsed().is_some()
}

/// Whether a password matches a hash; takes tens of milliseconds. An empty or malformed hash matches no password.
pub fn matches(stored: &PasswordHash, password: &Secret, memory: &mut Blocks) -> bool {
    let mut compare = || {
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
    compare().unwrap_or(false)
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

/// Compares two texts in constant time.
pub fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    /// Verifies our hashes with another implementation, and its hashes with ours and reused memory.
    #[test]
    fn hashes_are_compatible_with_other_implementations() {
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
    fn an_invalid_hash_matches_no_password() {
        for stored in [
            "",
            "argon2",
            "$argon2id$v=19$m=8,t=1,p=1$c2l4dGVlbiBieXRlcw",
        ] {
            let stored = PasswordHash::new(stored);
            assert!(!matches(&stored, &Secret::new(""), &mut Blocks::new()));
        }
    }

    #[test]
    fn the_memory_of_a_hash_is_reused() {
        let mut memory = Blocks::new();
        let stored = hash("correct horse", &mut memory).unwrap();
        let (address, blocks) = (memory.as_ptr(), memory.capacity());
        for guess in ["a", "b", "correct horse"] {
            assert_eq!(
                matches(&stored, &Secret::new(guess), &mut memory),
                guess == "correct horse"
            );
        }
        assert_eq!((memory.as_ptr(), memory.capacity()), (address, blocks));
        assert_eq!(memory.len(), 7168);
    }
}
