//! Trusted keys: built in, from the command line, and in the data folder.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use feeds::image::VerifyingKey;
use storage::disk::{Disk, Folder, open_file};

/// Folder of keys in the data folder.
const FOLDER: &str = "update-keys";

const EXTENSION: &str = "pub";

/// Largest key file, bytes.
const FILE_MAX: u64 = 4096;

/// Most keys in the folder.
const KEYS_MAX: usize = 64;

/// Public keys that the program was built with, separated by spaces.
const BUILT_IN: Option<&str> = option_env!("PAPERTICK_BUILT_IN_KEYS");

/// Where the trusted keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRing {
    /// Key files from the command line.
    pub files: Vec<PathBuf>,
    /// The data folder.
    pub data_dir: PathBuf,
}

impl KeyRing {
    /// Folder to which an owner adds keys.
    pub fn folder(&self) -> PathBuf {
        self.data_dir.join(FOLDER)
    }

    /// Loads all keys. Skips and logs files that are not keys.
    pub fn load(&self) -> Vec<VerifyingKey> {
        let loaded = self.read_files().into_iter().filter_map(|(path, key)| {
            if let Err(error) = &key {
                tracing::warn!(file = %path.display(), %error, "key file skipped");
            }
            key.ok()
        });
        built_in().chain(loaded).collect()
    }

    /// Loads all keys without log messages.
    pub fn load_quietly(&self) -> Vec<VerifyingKey> {
        let loaded = self.read_files().into_iter();
        let loaded = loaded.filter_map(|(_, key)| key.ok());
        built_in().chain(loaded).collect()
    }

    fn read_files(&self) -> Vec<(PathBuf, Result<VerifyingKey, String>)> {
        let named = self.files.iter().map(|path| (path.clone(), read(path)));
        let folder = Folder::new(&self.folder());
        let found = self.names_in_folder().into_iter().map(|name| {
            let key = parse(folder.file(&name));
            (self.folder().join(name), key)
        });
        named.chain(found).collect()
    }

    /// Names of the key files in the folder, sorted.
    fn names_in_folder(&self) -> Vec<String> {
        let mut names = Folder::new(&self.folder()).names().unwrap_or_default();
        let is_key = |name: &String| {
            Path::new(name)
                .extension()
                .is_some_and(|it| it == EXTENSION)
        };
        names.retain(is_key);
        names.sort();
        names.truncate(KEYS_MAX);
        names
    }
}

fn built_in() -> impl Iterator<Item = VerifyingKey> {
    let keys = BUILT_IN.unwrap_or_default().split_whitespace();
    keys.filter_map(VerifyingKey::parse)
}

/// Reads a public key.
///
/// # Errors
/// A text for people: the file cannot be read, or is not a public key.
pub fn read(path: &Path) -> Result<VerifyingKey, String> {
    parse(open_file(path))
}

fn parse(file: io::Result<File>) -> Result<VerifyingKey, String> {
    let mut text = String::new();
    file.and_then(|file| file.take(FILE_MAX + 1).read_to_string(&mut text))
        .map_err(|error| error.to_string())?;
    let is_short = text.len() as u64 <= FILE_MAX;
    let key = is_short.then(|| VerifyingKey::parse(&text)).flatten();
    key.ok_or_else(|| "it is not a minisign public key".to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{fs, os::unix::fs::symlink};

    use minisign::KeyPair;

    use super::*;

    fn key_text() -> String {
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        pair.pk.to_box().unwrap().to_string()
    }

    #[test]
    fn keys_in_the_folder_can_be_added_and_removed() {
        let data_dir = tempfile::tempdir().unwrap();
        let named = data_dir.path().join("named");
        fs::write(&named, key_text()).unwrap();
        let ring = KeyRing {
            files: vec![named.clone()],
            data_dir: data_dir.path().to_path_buf(),
        };
        let built_in = BUILT_IN.unwrap_or_default().split_whitespace().count();
        let count = || ring.load().len() - built_in;
        assert_eq!(count(), 1);
        fs::create_dir(ring.folder()).unwrap();
        fs::write(ring.folder().join("a.pub"), key_text()).unwrap();
        assert_eq!(count(), 2);
        fs::write(ring.folder().join("b.pub"), "no key").unwrap();
        fs::write(ring.folder().join("c.txt"), key_text()).unwrap();
        fs::write(ring.folder().join("d.pub"), "x".repeat(5000)).unwrap();
        symlink(&named, ring.folder().join("e.pub")).unwrap();
        assert_eq!(count(), 2);
        fs::remove_file(named).unwrap();
        fs::remove_file(ring.folder().join("a.pub")).unwrap();
        assert_eq!(count(), 0);
    }
}
