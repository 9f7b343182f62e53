//! What was done to chips that their makers forbid.

use std::collections::BTreeSet;

/// Most violations that are kept; the first are the most telling.
pub const VIOLATIONS_MAX: usize = 100;

/// What was done that must not be, each once.
#[derive(Debug, Default)]
pub(super) struct Violations {
    noted: Vec<String>,
    known: BTreeSet<String>,
}

impl Violations {
    pub(super) fn note(&mut self, violation: String) {
        if self.noted.len() < VIOLATIONS_MAX && self.known.insert(violation.clone()) {
            self.noted.push(violation);
        }
    }

    /// All of them, oldest first.
    pub(super) fn all(&self) -> Vec<String> {
        self.noted.clone()
    }
}
