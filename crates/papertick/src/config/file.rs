//! The configuration file.

use std::path::Path;

use storage::disk::read_text;

use super::flags::Flags;
use crate::failure::Failure;

/// Largest configuration file, bytes.
const FILE_MAX: u64 = 64 * 1024;

/// Reads the file.
///
/// # Errors
/// It cannot be read or parsed.
pub(super) fn read(path: &Path) -> Result<Flags, Failure> {
    let about =
        |what: String| Failure::usage(format!("configuration file {}: {what}", path.display()));
    let text = read_text(path, FILE_MAX).map_err(|error| about(error.to_string()))?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].matches('\n').count() + 1
        });
        about(format!(
            "line {line}: {}",
            error.message().replace('\n', " ")
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn the_packaged_file_sets_nothing_and_its_examples_parse() {
        const PACKAGED: &str = include_str!("../../../../packaging/papertick.toml");
        let empty: Flags = toml::from_str(PACKAGED).unwrap();
        assert!(empty.board.is_none() && empty.log.is_none());
        let examples = PACKAGED
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.split(' ').nth(1) == Some("="))
            .collect::<Vec<_>>();
        let all: Flags = toml::from_str(&examples.join("\n")).unwrap();
        assert_eq!(examples.len(), 9);
        assert!(all.wiring.is_some() && !all.update_key.is_empty());
    }
}
