//! Measures the memory of the machine, and determines the suffix of the name of the clock.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    time::Duration,
};

use device::{host::HostFacts, input::Input};
use runtime::inbox::Inbox;
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval};

/// Memory statistics of Linux.
const MEMINFO: &str = "/proc/meminfo";

/// Time between two measurements.
const PERIOD: Duration = Duration::from_secs(10);

/// Reports the memory, together with the known facts, until the device is gone.
pub async fn measure(known: HostFacts, inbox: Inbox) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut reported = HostFacts::default();
    loop {
        ticks.tick().await;
        // Without the file the memory is reported as unknown.
        let meminfo = fs::read_to_string(MEMINFO).unwrap_or_default();
        let facts = with_memory(&known, &meminfo);
        if facts == reported {
            continue;
        }
        reported = facts.clone();
        if inbox.send(Input::Host(facts)).await.is_err() {
            return;
        }
    }
}

/// The known facts, with the memory from the text of `/proc/meminfo`.
fn with_memory(known: &HostFacts, meminfo: &str) -> HostFacts {
    HostFacts {
        heap_free: meminfo_bytes(meminfo, "MemAvailable:").map(coarse),
        swap_free: meminfo_bytes(meminfo, "SwapFree:").map(coarse),
        ..known.clone()
    }
}

/// Rounds down to the resolution of the debug view, so that smaller changes wake no task.
fn coarse(bytes: u64) -> u64 {
    const STEP: u64 = 1024 * 1024;
    if bytes < STEP {
        bytes
    } else {
        bytes / STEP * STEP
    }
}

/// A value of `/proc/meminfo`, bytes.
fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

/// File of the data folder with the name suffix.
const SUFFIX_FILE: &str = "name-suffix";

/// Six hex digits in place of the end of a hardware address.
///
/// The first start derives them from the machine and the folder, so that two clocks on one machine differ, and stores
/// them: a container or a system with a read-only root has another machine id at every start. An unwritable folder
/// stores nothing.
pub fn name_suffix(data_dir: &Path) -> String {
    let file = data_dir.join(SUFFIX_FILE);
    if let Some(stored) = fs::read_to_string(&file)
        .ok()
        .filter(|text| is_suffix(text))
    {
        return stored;
    }
    let suffix = derived_suffix(data_dir);
    if let Err(error) = store_suffix(&file, &suffix) {
        tracing::debug!(%error, "the name suffix was not stored");
    }
    suffix
}

fn is_suffix(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 6 && text.bytes().all(is_digit)
}

fn store_suffix(file: &Path, suffix: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)?;
    file.write_all(suffix.as_bytes())?;
    file.sync_all()
}

fn derived_suffix(data_dir: &Path) -> String {
    let machine = ["/etc/machine-id", "/etc/hostname"]
        .iter()
        .find_map(|path| fs::read(path).ok())
        .unwrap_or_default();
    let folder = fs::canonicalize(data_dir).unwrap_or_else(|_| data_dir.to_path_buf());
    suffix_of(&machine, &folder)
}

fn suffix_of(machine: &[u8], folder: &Path) -> String {
    let mut hash = Sha256::new();
    hash.update(machine);
    hash.update(folder.as_os_str().as_encoded_bytes());
    let hash = hash.finalize();
    hex::encode(&hash[..3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_stable_and_differs_between_folders() {
        let one = name_suffix(Path::new("/nowhere/one"));
        assert_eq!(one, name_suffix(Path::new("/nowhere/one")));
        assert_ne!(one, name_suffix(Path::new("/nowhere/two")));
        assert!(one.len() == 6 && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn the_suffix_is_stored_and_a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SUFFIX_FILE);
        let derived = name_suffix(folder.path());
        fs::write(&file, "0a1b2c").unwrap();
        assert_eq!(name_suffix(folder.path()), "0a1b2c");
        fs::write(&file, "0a1b").unwrap();
        assert_eq!(name_suffix(folder.path()), derived);
        assert_eq!(fs::read_to_string(&file).unwrap(), derived);
    }

    #[test]
    fn different_paths_of_a_folder_have_the_same_suffix() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("state");
        fs::create_dir(&real).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for other in [link, real.join("../state")] {
            assert_eq!(
                name_suffix(&other),
                name_suffix(&real),
                "{}",
                other.display()
            );
        }
    }

    #[test]
    fn the_same_folder_has_different_suffixes_on_two_machines() {
        let name = |machine: &str| suffix_of(machine.as_bytes(), Path::new("/var/lib/papertick"));
        assert_ne!(name("one"), name("two"));
        // A fixed value: routers and brokers know the clock by its name, so an update must not change it.
        assert_eq!(name("one"), "2edf6a");
    }

    #[test]
    fn free_memory_is_rounded_down_to_mebibytes() {
        // Most of both is in use.
        let meminfo = "MemTotal: 948232 kB\nMemFree: 81264 kB\nMemAvailable:   614400 kB\n\
                       SwapCached: 0 kB\nSwapTotal: 102396 kB\nSwapFree:   20480 kB\n";
        let facts = with_memory(&HostFacts::default(), meminfo);
        let mebibytes = |free: Option<u64>| free.map(|bytes| bytes / (1024 * 1024));
        assert_eq!(mebibytes(facts.heap_free), Some(600));
        assert_eq!(mebibytes(facts.swap_free), Some(20));
        // Unknown is not zero.
        let known = HostFacts::default();
        assert_eq!(with_memory(&known, ""), known);
        assert_eq!(coarse(3 * 1024 * 1024 + 5), 3 * 1024 * 1024);
        assert_eq!(coarse(1000), 1000);
        let meminfo = fs::read_to_string(MEMINFO).unwrap();
        let now = with_memory(&known, &meminfo);
        assert!(now.heap_free.is_some());
    }
}
