//! Files of commands; error messages name the file.

use std::{fs::File, io, path::Path};

use feeds::image::Image;
use storage::disk;

use crate::failure::Failure;

pub(crate) fn open(path: &Path) -> Result<Image<File>, Failure> {
    let file = disk::open_file(path).map_err(|error| cannot_read(path, &error))?;
    Image::open(file).map_err(|fault| Failure::failed(format!("{}: {fault}", path.display())))
}

/// The failure for a file that cannot be read.
pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot read {}: {error}", path.display()))
}

/// The failure for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}

/// Reads a file. Fails if it is larger than `max` bytes.
pub(crate) fn read_at_most(path: &Path, max: u64) -> Result<Vec<u8>, Failure> {
    disk::read_at_most(path, max).map_err(|error| cannot_read(path, &error))
}
