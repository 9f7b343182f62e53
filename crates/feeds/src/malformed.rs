//! The error of all parsers: bytes of an upstream that cannot be parsed, with a one-word reason.

use std::{error::Error, fmt};

/// Bytes of an upstream that cannot be parsed.
///
/// The reason is a constant, so that neither content nor a secret can be part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl Error for Malformed {}
