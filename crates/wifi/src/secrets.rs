//! The access point's password: made once, kept for as long as the data folder, gone with a factory reset.

use std::{
    io,
    path::{Path, PathBuf},
};

use device::secret::Secret;
use passwords::made;
use storage::disk::{Disk, Folder, named};

/// File of the password.
const FILE: &str = "access-point";

/// Shortest password that networks accept.
const SHORTEST: usize = 8;

/// File in which a simulated radio keeps its credentials.
pub fn credentials(data_dir: &Path) -> PathBuf {
    data_dir.join("wifi")
}

/// The password of the access point and whether it was stored.
#[derive(Debug)]
pub struct AccessPointPassword {
    /// The password.
    pub text: Secret,
    /// Why it is another one at the next start; none if it is kept.
    pub unkept: Option<io::Error>,
}

/// The password of this data folder, made if there is none to be had.
///
/// # Errors
/// The host has no random numbers.
pub fn password(data_dir: &Path) -> io::Result<AccessPointPassword> {
    kept_or_made(&mut Folder::new(data_dir))
}

fn kept_or_made(folder: &mut impl Disk) -> io::Result<AccessPointPassword> {
    let kept = folder.read(FILE).map_err(named(FILE));
    let usable = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok()?;
        let usable = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        usable.then(|| Secret::new(text))
    };
    let unkept = match kept.map(|bytes| bytes.and_then(usable)) {
        Ok(Some(text)) => return Ok(AccessPointPassword { text, unkept: None }),
        Ok(None) => None,
        // It may be readable again at the next start.
        Err(error) => Some(error),
    };
    let text = made::text()?;
    let unkept = unkept.or_else(|| keep(folder, &text).err());
    Ok(AccessPointPassword {
        text: Secret::new(text),
        unkept,
    })
}

fn keep(folder: &mut impl Disk, password: &str) -> io::Result<()> {
    folder.write(FILE, password.as_bytes())?;
    folder.sync(FILE)?;
    folder.sync_folder()
}

/// Removes the password.
///
/// # Errors
/// It is still there.
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
    fn the_password_is_made_once() {
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
    fn a_password_that_was_written_down_outlives_a_power_cut() {
        let mut disk = SimDisk::default();
        let told = kept_or_made(&mut disk).unwrap();
        assert!(told.unkept.is_none());
        let certain = [
            Survives::Nothing,
            Survives::Everything,
            Survives::Names,
            Survives::Bytes,
        ];
        let chances = (0..20).map(Survives::Chance);
        for survives in certain.into_iter().chain(chances) {
            let again = kept_or_made(&mut disk.after(survives)).unwrap();
            assert_eq!(again.text, told.text, "{survives:?}");
        }
    }
}
