//! Which program runs: the slots, the state of their programs, and the order in which programs are tried.

mod installed;
mod program;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use market::lenient;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use installed::{
    EXECUTIONS_MAX, Installed, SkipReason, SkippedVersion, TRIAL_STARTS_MAX, TrialState,
};
pub use program::{Factory, Firmware, ImageSlot, Program};

/// Most versions that are not installed automatically; the oldest is forgotten first.
const SKIPPED_MAX: usize = 8;

/// Longest stored text of why an update failed, bytes.
const REASON_MAX: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Slots {
    /// The active slot; `None` for the installed program.
    #[serde(deserialize_with = "lenient::value")]
    pub active: Option<ImageSlot>,
    #[serde(rename = "slots", deserialize_with = "lenient::map")]
    pub programs: BTreeMap<ImageSlot, Installed>,
    /// Why the last update failed, for people; `None` if it succeeded.
    #[serde(deserialize_with = "lenient::value")]
    pub last_failure: Option<String>,
    /// Versions that are not installed automatically, the newest entry last.
    #[serde(rename = "shunned", deserialize_with = "lenient::list")]
    pub skipped: Vec<SkippedVersion>,
}

impl Slots {
    pub fn get(&self, slot: ImageSlot) -> Option<&Installed> {
        self.programs.get(&slot)
    }

    fn trial_state(&self, slot: ImageSlot) -> Option<TrialState> {
        self.get(slot).map(|installed| installed.trial_state)
    }

    fn may_run(&self, slot: ImageSlot, factory: &Factory) -> bool {
        self.get(slot)
            .is_some_and(|installed| installed.may_run(factory))
    }

    /// The programs in the order in which they are tried; the installed program is last.
    pub fn boot_order(&self, factory: &Factory) -> Vec<Program> {
        let active = self.active.filter(|slot| self.may_run(*slot, factory));
        // Only a program that has run before is a fallback.
        let fallback = self.active.map(ImageSlot::other).filter(|slot| {
            self.trial_state(*slot) == Some(TrialState::Proven) && self.may_run(*slot, factory)
        });
        let slots = active.into_iter().chain(fallback);
        slots.map(Program::Slot).chain([Program::Factory]).collect()
    }

    pub fn is_trial(&self, program: Program) -> bool {
        let state = program.slot().and_then(|slot| self.trial_state(slot));
        matches!(state, Some(TrialState::Trial { .. }))
    }

    /// Marks a version, in all its builds, as not to be installed automatically.
    pub fn skip_version(&mut self, version: &Version, why: SkipReason) {
        self.unskip_version(version);
        let version = version.clone();
        self.skipped.push(SkippedVersion { version, why });
        let excess = self.skipped.len().saturating_sub(SKIPPED_MAX);
        self.skipped.drain(..excess);
    }

    fn unskip_version(&mut self, version: &Version) {
        self.skipped
            .retain(|skipped| skipped.version.cmp_precedence(version).is_ne());
    }

    /// The slot for the next image: neither the running one nor an active one that may run.
    pub fn free_slot(&self, running: Program, factory: &Factory) -> ImageSlot {
        if let Program::Slot(slot) = running {
            return slot.other();
        }
        let needed = self.active.filter(|slot| self.may_run(*slot, factory));
        needed.map_or(ImageSlot::A, ImageSlot::other)
    }

    /// Empties a slot before its file is written.
    pub fn clear(&mut self, slot: ImageSlot) {
        self.programs.remove(&slot);
        if self.active == Some(slot) {
            // The fallback becomes the active slot.
            let other = slot.other();
            let is_proven = self.trial_state(other) == Some(TrialState::Proven);
            self.active = is_proven.then_some(other);
        }
    }

    /// Makes a program the active one from the next start on.
    pub fn activate(&mut self, slot: ImageSlot, installed: Installed) {
        self.unskip_version(&installed.version);
        self.programs.insert(slot, installed);
        self.active = Some(slot);
    }

    /// Counts a start of a program on trial.
    pub fn count_start(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.programs.get_mut(&slot)
            && let TrialState::Trial { starts } = &mut installed.trial_state
        {
            *starts += 1;
        }
    }

    /// The active slot if its program has used up all starts of its trial.
    pub fn exhausted_trial(&self) -> Option<ImageSlot> {
        self.active.filter(|slot| {
            let state = self.trial_state(*slot);
            matches!(state, Some(TrialState::Trial { starts }) if starts >= TRIAL_STARTS_MAX)
        })
    }

    /// Counts an execution of a program in place of the installed one.
    pub fn count_execution(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.programs.get_mut(&slot) {
            installed.executions += 1;
        }
    }

    /// Records that a program works in place of the installed one.
    pub fn clear_executions(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.programs.get_mut(&slot) {
            installed.executions = 0;
        }
    }

    /// Records that a program works.
    pub fn mark_proven(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.programs.get_mut(&slot) {
            installed.trial_state = TrialState::Proven;
        }
        self.last_failure = None;
    }

    /// Records that a program does not work, and why.
    pub fn mark_failed(&mut self, slot: ImageSlot, reason: &str) {
        if let Some(installed) = self.programs.get_mut(&slot) {
            installed.trial_state = TrialState::Failed;
            let version = installed.version.clone();
            self.skip_version(&version, SkipReason::Failed);
            self.set_failure(&format!("version {version} failed: {reason}"));
        }
    }

    /// Records why a proven program is not started now. It stays in its slot.
    pub fn set_aside(&mut self, slot: ImageSlot, reason: &str) {
        if let Some(installed) = self.programs.get_mut(&slot) {
            let version = installed.version.clone();
            self.skip_version(&version, SkipReason::Failed);
            self.set_failure(&format!("version {version} was set aside: {reason}"));
        }
    }

    /// Records why an update failed.
    pub fn set_failure(&mut self, failure: &str) {
        let end = failure.floor_char_boundary(REASON_MAX);
        self.last_failure = Some(failure[..end].to_string());
    }

    /// The stored form.
    pub fn to_json(&self) -> Map<String, Value> {
        json!(self).as_object().cloned().unwrap_or_default()
    }

    /// Parses the stored form. A malformed slot counts as empty.
    pub fn from_json(map: &Map<String, Value>) -> Slots {
        let mut slots = Slots::deserialize(map).unwrap_or_default();
        slots.skipped.truncate(SKIPPED_MAX);
        slots
            .active
            .take_if(|active| !slots.programs.contains_key(active));
        slots
    }
}
