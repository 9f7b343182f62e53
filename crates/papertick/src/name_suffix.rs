//! The suffix of the name of the clock on the network.

use std::{fs, path::Path};

use sha2::{Digest, Sha256};
use storage::disk::{Disk, Folder};

/// File of the suffix in the data folder. A factory reset keeps it.
const FILE: &str = "name-suffix";

/// Six hex digits in place of the end of a hardware address.
///
/// The first start derives them from the machine and the folder, so that two clocks on one machine differ, and stores
/// them, because a container and a system with a read-only root can have another machine id at every start.
pub fn name_suffix(data_dir: &Path) -> String {
    let mut folder = Folder::new(data_dir);
    let stored = folder.read(FILE);
    if let Ok(Some(suffix)) = &stored
        && let Some(suffix) = valid(suffix)
    {
        return suffix;
    }
    let suffix = derived_suffix(data_dir);
    // A file that cannot be read is not overwritten, because it may be readable at the next start.
    if let Err(error) = stored.and_then(|_| folder.store(FILE, suffix.as_bytes())) {
        tracing::warn!(%error, "the suffix of the host name was not stored; the name may change at the next start");
    }
    suffix
}

fn valid(bytes: &[u8]) -> Option<String> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_valid = bytes.len() == 6 && bytes.iter().all(is_digit);
    is_valid.then(|| String::from_utf8_lossy(bytes).into_owned())
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
}
