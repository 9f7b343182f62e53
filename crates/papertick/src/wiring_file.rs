//! Wiring files as the owner names them: read, and found to be without mistakes.

use std::{io, path::Path};

use board::wiring::{self, FILE_MAX, Mistake, WiringFile};
use storage::disk::read_text;

use crate::failure::Failure;

/// Reads a wiring file that has no mistakes; with its text.
///
/// # Errors
/// It cannot be read, or has mistakes.
pub(crate) fn load(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// Reads a wiring file that has no mistakes and fits this host; with its text.
///
/// # Errors
/// It cannot be read, has mistakes, or names what the host has not.
pub(crate) fn load_for_host(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read_for_host(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// Says what is wrong, each mistake on a line of its own.
pub(crate) fn failure(path: &Path, mistakes: &[Mistake]) -> Failure {
    let lines: String = mistakes
        .iter()
        .map(|mistake| format!("\n  {mistake}"))
        .collect();
    Failure::usage(format!("{} cannot be used:{lines}", path.display()))
}

/// The text of a wiring file.
///
/// # Errors
/// It cannot be read.
pub(crate) fn text_of(path: &Path) -> Result<String, Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!(
            "the wiring file {} cannot be read: {error}",
            path.display()
        ))
    };
    read_text(path, FILE_MAX as u64).map_err(cannot)
}
