//! The access point's password: made once, kept for as long as the data folder, gone with a factory reset.

use std::{
    io,
    path::{Path, PathBuf},
};

use device::secret::Secret;

use crate::{
    made_password,
    storage::disk::{Disk, Folder},
};

/// File of the password.
const FILE: &str = "access-point";

/// Shortest password that networks accept.
const SHORTEST: usize = 8;

/// File in which a simulated radio keeps its credentials.
pub fn credentials(data_dir: &Path) -> PathBuf {
    data_dir.join("wifi")
}

/// The password of this data folder, made if there is none.
///
/// # Errors
/// It could not be made or kept.
pub fn password(data_dir: &Path) -> io::Result<Secret> {
    let mut folder = Folder::new(data_dir);
    let kept = folder.read(FILE)?.and_then(|bytes| {
        let text = String::from_utf8(bytes).ok()?;
        let usable = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        usable.then_some(text)
    });
    if let Some(text) = kept {
        return Ok(Secret::new(text));
    }
    let text = made_password::text()?;
    folder.write(FILE, text.as_bytes())?;
    folder.sync(FILE)?;
    folder.sync_folder()?;
    Ok(Secret::new(text))
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

    use super::*;

    #[test]
    fn the_password_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = password(folder.path()).unwrap();
        assert_eq!(first.expose().len(), PASSWORD_LEN);
        assert_eq!(password(folder.path()).unwrap(), first);
        let mode = fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        wipe(folder.path()).unwrap();
        wipe(folder.path()).unwrap();
        assert_ne!(password(folder.path()).unwrap(), first);
    }

    #[test]
    fn a_damaged_password_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        for damaged in [
            &b"short"[..],
            b"",
            b"with a space",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            fs::write(folder.path().join(FILE), damaged).unwrap();
            assert_eq!(
                password(folder.path()).unwrap().expose().len(),
                PASSWORD_LEN
            );
        }
    }
}
