//! Several connections that form one source, with one combined state for the device.
//!
//! The source is up while at least one connection is up; faults of the others are reported as a problem.

use std::time::Duration;

use market::{Connection, Observation};
use tokio::time::Instant;

use super::shared_value::SharedValue;

/// Failed connections that are named in a report.
const FAULTS_NAMED: usize = 3;

#[derive(Debug, Clone)]
pub struct GroupMember {
    group: SharedValue<ConnectionGroup>,
    place: usize,
}

/// All connections and the last report.
#[derive(Debug)]
struct ConnectionGroup {
    connections: Vec<(String, MemberState)>,
    reported: Vec<Observation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum MemberState {
    Connecting,
    Up,
    Down { reason: String, retry_at: Instant },
}

impl GroupMember {
    /// Groups connections with these names.
    pub fn of(names: impl Iterator<Item = String>) -> Vec<GroupMember> {
        let connections: Vec<_> = names.map(|name| (name, MemberState::Connecting)).collect();
        let places = 0..connections.len();
        let group = SharedValue::new(ConnectionGroup {
            connections,
            reported: Vec::new(),
        });
        places
            .map(|place| GroupMember {
                group: group.clone(),
                place,
            })
            .collect()
    }

    /// Merges the observations of one connection into those of the source.
    pub fn merge(&self, observations: Vec<Observation>) -> Vec<Observation> {
        self.group.with(|group| {
            observations
                .into_iter()
                .flat_map(|observation| group.apply(self.place, observation))
                .collect()
        })
    }
}

impl ConnectionGroup {
    fn apply(&mut self, place: usize, observation: Observation) -> Vec<Observation> {
        let Some((name, state)) = self.connections.get_mut(place) else {
            return Vec::new();
        };
        match observation {
            Observation::Connection(connection) => {
                *state = match connection {
                    Connection::Connecting => MemberState::Connecting,
                    Connection::Up => MemberState::Up,
                    Connection::Down { reason, retry_in } => MemberState::Down {
                        reason,
                        retry_at: Instant::now() + retry_in,
                    },
                };
                self.report()
            }
            Observation::Complaint(complaint) => {
                // A complaint replaces the faults in the status, so the next report repeats them.
                self.reported.clear();
                vec![Observation::Complaint(format!("{name}: {complaint}"))]
            }
            other => vec![other],
        }
    }

    /// The combined state. Empty if it has not changed.
    fn report(&mut self) -> Vec<Observation> {
        let is = |wanted: &MemberState| self.connections.iter().any(|(_, state)| state == wanted);
        let faults = self.faults();
        let report = if is(&MemberState::Up) || is(&MemberState::Connecting) {
            let connection =
                if is(&MemberState::Up) { Connection::Up } else { Connection::Connecting };
            let fault = (!faults.is_empty()).then_some(Observation::Complaint(faults));
            [Observation::Connection(connection)]
                .into_iter()
                .chain(fault)
                .collect()
        } else {
            vec![Observation::Connection(Connection::Down {
                reason: faults,
                retry_in: self.retry_in(),
            })]
        };
        if report == self.reported {
            return Vec::new();
        }
        self.reported.clone_from(&report);
        report
    }

    /// The faults, with the names of the failed connections.
    fn faults(&self) -> String {
        let down = self
            .connections
            .iter()
            .filter_map(|(name, state)| match state {
                MemberState::Down { reason, .. } => Some(format!("{name}: {reason}")),
                MemberState::Connecting | MemberState::Up => None,
            });
        let mut down: Vec<String> = down.collect();
        let unnamed = down.len().saturating_sub(FAULTS_NAMED);
        down.truncate(FAULTS_NAMED);
        if unnamed > 0 {
            down.push(format!("and {unnamed} more"));
        }
        down.join("; ")
    }

    /// Time until the first reconnection.
    fn retry_in(&self) -> Duration {
        let next = self
            .connections
            .iter()
            .filter_map(|(_, state)| match state {
                MemberState::Down { retry_at, .. } => Some(*retry_at),
                MemberState::Connecting | MemberState::Up => None,
            });
        next.min()
            .unwrap_or_else(Instant::now)
            .saturating_duration_since(Instant::now())
    }
}
