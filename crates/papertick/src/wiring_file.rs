//! Loads wiring files, and the wirings of known boards by their names.

use std::{io, path::Path};

use board::wiring::{self, BASES, FILE_MAX, Mistake, WiringFile};
use storage::disk::read_text;

use crate::failure::Failure;

/// Loads a wiring file; returns its text too.
///
/// # Errors
/// It cannot be read, or has mistakes.
pub(crate) fn load(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// Loads a wiring file for this host; returns its text too.
///
/// # Errors
/// It cannot be read, has mistakes, or names parts that the host does not have.
pub(crate) fn load_for_host(path: &Path) -> Result<(String, WiringFile), Failure> {
    let text = text_of(path)?;
    let file = wiring::read_for_host(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok((text, file))
}

/// The failure for a file with mistakes, one line per mistake.
pub(crate) fn failure(path: &Path, mistakes: &[Mistake]) -> Failure {
    let lines: String = mistakes
        .iter()
        .map(|mistake| format!("\n  {mistake}"))
        .collect();
    Failure::usage(format!("{} cannot be used:{lines}", path.display()))
}

/// The name of a known board that stands in place of a path.
pub(crate) fn base(path: &Path) -> Option<&'static str> {
    let name = path.to_str()?;
    let mut names = BASES.iter().map(|(known, _)| *known);
    names.find(|known| known.eq_ignore_ascii_case(name))
}

/// The text of a wiring file; of a known board if its name stands in place of the path.
///
/// # Errors
/// It cannot be read.
pub(crate) fn text_of(path: &Path) -> Result<String, Failure> {
    if let Some(base) = base(path) {
        return Ok(format!("base = {base:?}\n"));
    }
    let cannot = |error: io::Error| {
        let names = BASES.iter().map(|(name, _)| *name);
        let known = match path.extension().is_some_and(|end| end == "toml") {
            true => String::new(),
            false => format!("; known boards are {}", Vec::from_iter(names).join(", ")),
        };
        Failure::usage(format!(
            "the wiring file {} cannot be read: {error}{known}",
            path.display()
        ))
    };
    read_text(path, FILE_MAX as u64).map_err(cannot)
}
