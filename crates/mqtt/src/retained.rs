//! Settings that are retained at the broker for `all`, for a group, or for this clock.
//!
//! All of them are merged into one change, in which the more specific document wins: `all`, then the groups in the order
//! of `mqttGroups`, then the clock's own. Nothing is remembered between connections: the broker sends the documents at each
//! one, and equal settings change nothing.

use std::{collections::BTreeMap, time::Duration};

use interface::mqtt::{
    documents::Report,
    topics::Scope,
    wishes::{InvalidSettings, RetainedSettings},
};
use serde_json::Map;
use tokio::time::Instant;

use super::executor::CommandExecutor;

/// Time to collect documents before they are applied: the broker sends them in any order.
const COLLECT: Duration = Duration::from_millis(500);

/// Name of the clock's own document in reports.
const OWN: &str = "own";

/// A document, or why it cannot be read.
pub(super) type Parsed = Result<RetainedSettings, InvalidSettings>;

/// The documents of one connection, ordered from general to specific.
#[derive(Debug, Default)]
pub(super) struct RetainedDocuments {
    documents: BTreeMap<usize, (String, Parsed)>,
    apply_at: Option<Instant>,
}

impl RetainedDocuments {
    /// Stores a document; `None` removes it. `groups` are those of the clock.
    pub(super) fn receive(
        &mut self,
        scope: Scope<'_>,
        parsed: Option<Parsed>,
        groups: &[String],
        now: Instant,
    ) {
        let (rank, scope) = match scope {
            Scope::Own => (groups.len(), OWN),
            Scope::Group(group) => {
                let rank = groups.iter().position(|known| known == group);
                (rank.unwrap_or(0), group)
            }
        };
        match parsed {
            Some(parsed) => self.documents.insert(rank, (scope.to_owned(), parsed)),
            None => self.documents.remove(&rank),
        };
        // A client that publishes again and again does not delay the others.
        self.apply_at.get_or_insert(now + COLLECT);
    }

    /// When the documents are to be applied.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.apply_at
    }

    /// The documents, if they are to be applied now.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Vec<(String, Parsed)>> {
        self.apply_at.take_if(|at| *at <= now)?;
        Some(self.documents.values().cloned().collect())
    }
}

/// Applies documents, ordered from general to specific, and returns a report for each.
///
/// If the merged change is refused, each document is applied by itself, so that a mistake in one does not stop the others.
pub(super) async fn apply(
    executor: CommandExecutor,
    documents: Vec<(String, Parsed)>,
) -> Vec<Report> {
    let mut merged = Map::new();
    for settings in documents
        .iter()
        .filter_map(|(_, parsed)| parsed.as_ref().ok())
    {
        merged.extend(settings.settings.clone());
    }
    let is_merged = merged.is_empty() || executor.patch(merged).await.is_ok();
    let mut reports = Vec::new();
    for (scope, parsed) in documents {
        let (rev, error) = match parsed {
            Ok(RetainedSettings { rev, .. }) if is_merged => (rev, None),
            Ok(RetainedSettings { rev, settings }) => (rev, executor.patch(settings).await.err()),
            Err(InvalidSettings { rev, reason }) => (rev, Some(reason)),
        };
        reports.push(Report { scope, rev, error });
    }
    reports
}
