//! Violations of data sheets.

use std::collections::BTreeSet;

/// Largest number of recorded violations; the first ones are the most useful.
pub const VIOLATIONS_MAX: usize = 100;

/// The violations, each once.
#[derive(Debug, Default)]
pub(super) struct Violations {
    list: Vec<String>,
    known: BTreeSet<String>,
}

impl Violations {
    pub(super) fn record(&mut self, violation: String) {
        if self.list.len() < VIOLATIONS_MAX && self.known.insert(violation.clone()) {
            self.list.push(violation);
        }
    }

    /// All violations, oldest first.
    pub(super) fn all(&self) -> Vec<String> {
        self.list.clone()
    }
}
