//! The password of the access point: generated once, stored in the data folder, deleted by a factory reset.

use std::{
    io,
    path::{Path, PathBuf},
};

use device::secret::Secret;
use passwords::generate;
use storage::disk::{Disk, Folder, named};

const FILE: &str = "access-point";

/// Shortest password of a WPA network.
const LENGTH_MIN: usize = 8;

/// File in which a simulated radio stores its credentials.
pub fn credentials(data_dir: &Path) -> PathBuf {
    data_dir.join("wifi")
}

/// The password of the access point and whether it was stored.
#[derive(Debug)]
pub struct AccessPointPassword {
    pub text: Secret,
    /// Why it was not stored, so that it changes at the next start; `None` if it was stored.
    pub not_stored: Option<io::Error>,
}

/// The password of this data folder. Generates one if none can be read.
///
/// # Errors
/// The host has no random numbers.
pub fn password(data_dir: &Path) -> io::Result<AccessPointPassword> {
    load_or_generate(&mut Folder::new(data_dir))
}

fn load_or_generate(folder: &mut impl Disk) -> io::Result<AccessPointPassword> {
    let stored = folder.read(FILE).map_err(named(FILE));
    let valid = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok()?;
        let is_valid = text.len() >= LENGTH_MIN && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then(|| Secret::new(text))
    };
    let unreadable = match stored.map(|bytes| bytes.and_then(valid)) {
        Ok(Some(text)) => {
            return Ok(AccessPointPassword {
                text,
                not_stored: None,
            });
        }
        Ok(None) => None,
        // Not overwritten, because it may be readable at the next start.
        Err(error) => Some(error),
    };
    let text = generate::password()?;
    let not_stored = unreadable.or_else(|| folder.store(FILE, text.as_bytes()).err());
    Ok(AccessPointPassword {
        text: Secret::new(text),
        not_stored,
    })
}

/// Removes the password.
///
/// # Errors
/// The file cannot be removed.
pub fn wipe(data_dir: &Path) -> io::Result<()> {
    let mut folder = Folder::new(data_dir);
    folder.remove(FILE)?;
    folder.sync_folder()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{fs, os::unix::fs::PermissionsExt};

    use device::portal::PASSWORD_LEN;
    use lab::sim_disk::{SimDisk, Survives};

    use super::*;

    #[test]
    fn the_password_is_generated_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = password(folder.path()).unwrap().text;
        assert_eq!(first.expose().len(), PASSWORD_LEN);
        assert_eq!(password(folder.path()).unwrap().text, first);
        let mode = fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        wipe(folder.path()).unwrap();
        wipe(folder.path()).unwrap();
        assert_ne!(password(folder.path()).unwrap().text, first);
    }

    #[test]
    fn a_stored_password_survives_a_power_cut() {
        let mut disk = SimDisk::default();
        let first = load_or_generate(&mut disk).unwrap();
        assert!(first.not_stored.is_none());
        let certain = [
            Survives::Nothing,
            Survives::Everything,
            Survives::Names,
            Survives::Bytes,
        ];
        let chances = (0..20).map(Survives::Chance);
        for survives in certain.into_iter().chain(chances) {
            let again = load_or_generate(&mut disk.after(survives)).unwrap();
            assert_eq!(again.text, first.text, "{survives:?}");
        }
    }
}
