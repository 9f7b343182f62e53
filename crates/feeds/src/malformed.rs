//! The one way in which upstream bytes can be wrong: they are not understood, for a reason of one word.

use std::{error::Error, fmt};

/// Bytes of an upstream that were not understood.
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
