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

    /// Notes how the newest save has ended; gives what is wrong now and was not before.
    pub fn stored(&mut self, outcome: Result<(), String>) -> Option<String> {
        let before = core::mem::replace(&mut self.unstored, outcome.err());
        let is_news = before.is_none();
        self.unstored().filter(|_| is_news)
    }

    /// How many things went wrong.
    pub fn count(&self) -> usize {
        self.notes.len()
    }

    /// Those that went wrong after so many.
    pub fn since(&self, count: usize) -> &[String] {
        self.notes.get(count..).unwrap_or_default()
    }

    fn unstored(&self) -> Option<String> {
        let reason = self.unstored.as_ref()?;
        Some(format!("nothing can be stored: {reason}"))
    }

    /// What went wrong, and what still does.
    pub fn told(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.unstored()).collect()
    }
}
