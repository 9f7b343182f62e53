//! Problems for the status.

use alloc::{format, string::String, vec::Vec};

use crate::limits::NOTES_MAX;

/// Problems, as texts for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    notes: Vec<String>,
    /// Why the newest save failed. `None` if it succeeded.
    save_error: Option<String>,
}

impl Notes {
    /// Adds a problem, once.
    pub fn add(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Records the outcome of the newest save; returns the problem if it is new.
    pub fn stored(&mut self, outcome: Result<(), String>) -> Option<String> {
        let before = core::mem::replace(&mut self.save_error, outcome.err());
        let is_news = before.is_none();
        self.save_problem().filter(|_| is_news)
    }

    /// Number of problems added.
    pub fn count(&self) -> usize {
        self.notes.len()
    }

    /// Problems added after the first `count`.
    pub fn since(&self, count: usize) -> &[String] {
        self.notes.get(count..).unwrap_or_default()
    }

    fn save_problem(&self) -> Option<String> {
        let reason = self.save_error.as_ref()?;
        Some(format!("nothing can be stored: {reason}"))
    }

    /// All problems, including a failing save.
    pub fn all(&self) -> Vec<String> {
        self.notes
            .iter()
            .cloned()
            .chain(self.save_problem())
            .collect()
    }
}
