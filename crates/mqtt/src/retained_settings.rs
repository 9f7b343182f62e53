//! Settings that are retained at the broker for `all`, for a group, or for this clock.
//!
//! All of them are merged into one change, in which the more specific document wins: `all`, then the groups in the order
//! of `mqttGroups`, then the clock's own. Nothing is kept between connections: the broker sends the documents at each
//! one, and equal settings change nothing.

use std::{collections::BTreeMap, time::Duration};

use api::mqtt::{
    commands::{InvalidSettings, RetainedSettings},
    documents::SettingsReport,
    topics::Scope,
};
use device::settings::patch;
use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::executor::CommandExecutor;

/// Time to collect documents before they are applied: the broker sends them in any order.
const COLLECT: Duration = Duration::from_millis(500);

/// Name of the clock's own document in reports.
const OWN: &str = "own";

/// A document, or why it is invalid.
pub(super) type Parsed = Result<RetainedSettings, InvalidSettings>;

type ScopedDocument = (String, Parsed);

#[derive(Debug)]
pub(super) struct SettingsDocuments<'a> {
    executor: &'a CommandExecutor,
    /// By rank, from general to specific.
    documents: BTreeMap<usize, ScopedDocument>,
    apply_at: Option<Instant>,
    /// Results of the documents. `None` before they are applied on this connection.
    reports: Option<Vec<SettingsReport>>,
}

impl<'a> SettingsDocuments<'a> {
    /// No documents yet.
    pub(super) fn new(executor: &'a CommandExecutor) -> SettingsDocuments<'a> {
        SettingsDocuments {
            executor,
            documents: BTreeMap::new(),
            apply_at: None,
            reports: None,
        }
    }

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

    /// Applies the documents if that is due. The future returns their results.
    pub(super) fn start_due(
        &mut self,
        now: Instant,
    ) -> Option<BoxFuture<'static, Vec<SettingsReport>>> {
        self.apply_at.take_if(|at| *at <= now)?;
        let documents = self.documents.values().cloned().collect();
        Some(apply(self.executor.clone(), documents).boxed())
    }

    /// Stores the results of the documents.
    pub(super) fn set_reports(&mut self, reports: Vec<SettingsReport>) {
        self.reports = Some(reports);
    }

    /// Results of the documents. `None` before they are applied on this connection.
    pub(super) fn reports(&self) -> Option<&[SettingsReport]> {
        self.reports.as_deref()
    }
}

/// Applies documents, ordered from general to specific, and returns a report for each.
///
/// If the merged change is refused, it is tried without one document at a time, and that one is reported as refused: a
/// mistake in one does not stop the others. If several have mistakes, nothing is applied.
async fn apply(executor: CommandExecutor, documents: Vec<ScopedDocument>) -> Vec<SettingsReport> {
    let settings_of = |at: usize| Some(&documents[at].1.as_ref().ok()?.settings);
    let merged = |without: Option<usize>| {
        let used = (0..documents.len()).filter(|at| Some(*at) != without);
        used.filter_map(settings_of).fold(Map::new(), merge)
    };
    let refusal = executor.patch(merged(None)).await.err();
    let mut left_out = None;
    if refusal.is_some() {
        // The most specific first, because the fewest clocks share it.
        for at in (0..documents.len())
            .rev()
            .filter(|at| settings_of(*at).is_some())
        {
            if executor.patch(merged(Some(at))).await.is_ok() {
                left_out = Some(at);
                break;
            }
        }
    }
    let report = |(at, (scope, parsed)): (usize, ScopedDocument)| {
        let (rev, error) = match parsed {
            Ok(RetainedSettings { rev, .. }) => {
                let is_refused = left_out.is_none_or(|left_out| left_out == at);
                (rev, refusal.clone().filter(|_| is_refused))
            }
            Err(InvalidSettings { rev, error }) => (rev, Some(error)),
        };
        SettingsReport { scope, rev, error }
    };
    documents.into_iter().enumerate().map(report).collect()
}

/// Adds a more specific document: its values replace those of the same setting. Objects are merged by member, the list of
/// screens by `id`.
fn merge(mut general: Map<String, Value>, specific: &Map<String, Value>) -> Map<String, Value> {
    for (name, value) in specific {
        let name = patch::canonical(name);
        let merged = match (general.remove(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new).into(),
            (Some(Value::Array(old)), Value::Array(new)) => merge_lists(old, new).into(),
            (_, Value::Object(new)) => merge(Map::new(), new).into(),
            (_, value) => value.clone(),
        };
        general.insert(name.to_owned(), merged);
    }
    general
}

/// Merges lists of objects with an `id`; any other list is replaced as a whole.
fn merge_lists(old: Vec<Value>, new: &[Value]) -> Vec<Value> {
    let has_id = |entry: &Value| entry.get("id").is_some();
    if !old.iter().chain(new).all(has_id) {
        return new.to_vec();
    }
    let is_replaced = |entry: &Value| new.iter().any(|newer| newer["id"] == entry["id"]);
    let remaining = old.into_iter().filter(|entry| !is_replaced(entry));
    remaining.chain(new.iter().cloned()).collect()
}
