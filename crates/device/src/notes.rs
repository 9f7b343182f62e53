//! What went wrong, for the status.

use alloc::{format, string::String, vec::Vec};

use crate::limits::NOTES_MAX;

/// What went wrong, in words fit for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    notes: Vec<String>,
    /// Why the newest save failed; none if it did not.
    unstored: Option<String>,
}

impl Notes {
    /// Notes something, once.
    pub fn add(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Notes how the newest save has ended.
    pub fn stored(&mut self, outcome: Result<(), String>) {
        self.unstored = outcome.err();
    }

    /// What went wrong, and what still does.
    pub fn told(&self) -> Vec<String> {
        let unstored = self.unstored.as_ref();
        let unstored = unstored.map(|reason| format!("nothing can be stored: {reason}"));
        self.notes.iter().cloned().chain(unstored).collect()
    }
}
