//! Which sources should run, and how each of them is.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

use chain::network::Network;
use market::{
    figures::FigureIdentity, source_id::SourceId, source_state::SourceState, units::Currency,
};

use super::plan::{self, ByHand, Plan, Supply};
use crate::settings::{RunningSettings, Settings};

/// Feeds that are down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissingFeeds {
    /// A source of blocks is down.
    pub blocks: bool,
    /// A source of prices is down.
    pub prices: bool,
}

/// What another plan means for the reports of sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanChange {
    /// Sources that are no longer planned. Their reports are void.
    pub removed: Vec<SourceId>,
    /// Sources that start again with another configuration.
    pub restarted: Vec<SourceId>,
}

/// The planned sources and their states.
#[derive(Debug, Clone)]
pub struct Roster {
    /// Network of the chain; `None` if the blocks are invented.
    network: Option<Network>,
    /// Stopped by hand until they are restarted.
    is_stopped: bool,
    by_hand: ByHand,
    /// The sources of the settings, also while all are stopped by hand.
    plan: Arc<Plan>,
    states: BTreeMap<SourceId, SourceState>,
    /// Sources that were removed. Reports of theirs may still be in the queue.
    removed: BTreeSet<SourceId>,
}

impl Roster {
    /// The sources of the settings.
    pub fn new(settings: &Settings, network: Option<Network>) -> Roster {
        let mut roster = Roster {
            network,
            is_stopped: false,
            by_hand: ByHand::default(),
            plan: Arc::default(),
            states: BTreeMap::new(),
            removed: BTreeSet::new(),
        };
        roster.plan = Arc::new(roster.plan_for(settings, &settings.currencies()));
        roster
    }

    /// The sources of the settings, also while all are stopped by hand.
    pub fn planned(&self) -> &Plan {
        &self.plan
    }

    /// The sources that should run while there is a network.
    pub fn running(&self) -> Arc<Plan> {
        if self.is_stopped { Arc::default() } else { Arc::clone(&self.plan) }
    }

    /// Returns whether a source was removed. Reports of its that are still in the queue are dropped.
    pub fn is_removed(&self, source: SourceId) -> bool {
        self.removed.contains(&source)
    }

    /// What a source polls; `None` if it is not planned.
    pub fn identity(&self, source: SourceId) -> Option<FigureIdentity> {
        self.plan.get(&source).map(|plan| plan.identity)
    }

    /// State of a source.
    pub fn state(&mut self, source: SourceId) -> &mut SourceState {
        self.states.entry(source).or_default()
    }

    /// States of the planned sources. One that does not run is not up.
    pub fn states(&self, running: &Plan) -> BTreeMap<SourceId, SourceState> {
        let planned = self
            .states
            .iter()
            .filter(|(id, _)| self.plan.contains_key(id));
        planned
            .map(|(id, state)| {
                let mut state = state.clone();
                if !running.contains_key(id) {
                    state.up = false;
                    state.next_try = None;
                }
                (*id, state)
            })
            .collect()
    }

    /// The last error of a source of blocks or prices; `None` if no such source has failed.
    pub fn feed_error(&self) -> Option<&str> {
        let feeds = self
            .plan
            .iter()
            .filter(|(_, plan)| plan.supplies.iter().any(|it| *it != Supply::Proofs));
        let mut errors = feeds.filter_map(|(id, _)| self.states.get(id)?.last_error.as_deref());
        errors.next()
    }

    /// Feeds with a source that should run and is down.
    pub fn missing(&self) -> MissingFeeds {
        let mut missing = MissingFeeds::default();
        for (id, plan) in &*self.running() {
            if !self.states.get(id).is_some_and(|state| state.up) {
                missing.blocks |= plan.supplies.contains(&Supply::Blocks);
                missing.prices |= plan.supplies.contains(&Supply::Prices);
            }
        }
        missing
    }

    /// Records that there is no network.
    pub fn lose_network(&mut self) {
        self.states.values_mut().for_each(SourceState::lose_network);
    }

    /// Records that there is a network again.
    pub fn regain_network(&mut self) {
        let states = self.states.values_mut();
        states.for_each(SourceState::regain_network);
    }

    /// Stops all sources until they are restarted.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Restarts all sources.
    pub fn restart(&mut self, settings: &RunningSettings) -> PlanChange {
        self.is_stopped = false;
        self.by_hand.restarts += 1;
        self.update(settings)
    }

    /// Restarts a source; `None` if it does not run.
    pub fn restart_one(
        &mut self,
        source: SourceId,
        settings: &RunningSettings,
    ) -> Option<PlanChange> {
        let runs = self.running().contains_key(&source);
        runs.then(|| {
            self.by_hand.restarts_of[source as usize] += 1;
            self.update(settings)
        })
    }

    /// Makes the source of the mining pool fetch its picture again.
    pub fn refetch_logo(&mut self, settings: &RunningSettings) -> PlanChange {
        self.by_hand.logo_fetches += 1;
        self.update(settings)
    }

    /// Plans again after a change of settings.
    pub fn update(&mut self, settings: &RunningSettings) -> PlanChange {
        let before = Arc::clone(&self.plan);
        self.plan = Arc::new(self.plan_of(settings));
        let removed = before.keys().filter(|it| !self.plan.contains_key(it));
        let removed: Vec<SourceId> = removed.copied().collect();
        for source in &removed {
            self.states.remove(source);
            self.removed.insert(*source);
        }
        let back = self.removed.iter().filter(|it| self.plan.contains_key(it));
        let back: Vec<SourceId> = back.copied().collect();
        for source in &back {
            self.removed.remove(source);
            // Removed and planned again without a stop in between: restart it so that it reports again.
            self.by_hand.restarts_of[*source as usize] += 1;
        }
        if !back.is_empty() {
            self.plan = Arc::new(self.plan_of(settings));
        }
        let changed = self.plan.iter().filter(|(source, plan)| {
            let before = before.get(source);
            before.is_some_and(|before| before != *plan)
        });
        PlanChange {
            restarted: changed.map(|(source, _)| *source).collect(),
            removed,
        }
    }

    fn plan_of(&self, settings: &RunningSettings) -> Plan {
        // All chosen currencies are requested, even if they are not offered at the moment.
        self.plan_for(&settings.active, &settings.stored.currencies())
    }

    /// The plan of these settings.
    pub fn plan_for(&self, settings: &Settings, currencies: &[Currency]) -> Plan {
        plan::plan(settings, currencies, self.by_hand, self.network)
    }
}
