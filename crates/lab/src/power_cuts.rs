//! Cuts the power at every file operation of a change, and at every file operation of the start after that.
//!
//! The file operations of a change are recorded. Then the change is repeated on an equal disk for each operation, at which the
//! power is cut. Of the unsynced writes none survive, all of them, only names, only bytes, or a random part. Each time the clock
//! starts, and at each operation of that start the power is cut again.
//! Each part that is found in the end must be in the state before the change or after it. If the change was acknowledged, it
//! must be in the state after it.

use std::{collections::BTreeMap, fmt};

use crate::sim_disk::{DiskFault, SharedDisk, SimDisk, Survives};

/// The cases without randomness.
const DETERMINISTIC: [Survives; 4] = [
    Survives::Nothing,
    Survives::Everything,
    Survives::Names,
    Survives::Bytes,
];

/// State that a start finds on the disk, by part, as text.
pub type StartFindings = BTreeMap<&'static str, String>;

/// A change of the files of a clock.
pub trait DiskChange {
    /// Makes the change; returns whether it was acknowledged.
    fn make(&self, disk: SharedDisk) -> bool;

    /// Starts the clock.
    ///
    /// # Errors
    /// Why the clock does not start.
    fn start(&self, disk: SharedDisk) -> Result<StartFindings, String>;
}

/// Numbers of power cuts and their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// File operations of the change.
    pub operations: u64,
    /// Power cuts during or just after the change.
    pub cuts: u64,
    /// Power cuts during a start after those.
    pub cuts_at_start: u64,
    /// Starts that found the state before the change.
    pub old: u64,
    /// Starts that found the state after the change.
    pub new: u64,
    /// Starts that found some parts in the state before and some in the state after the change.
    pub between: u64,
}

/// A start that found an invalid state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct InvalidState {
    /// When the power was cut, and what survived.
    pub when: String,
    pub found: String,
}

impl fmt::Display for InvalidState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.when, self.found)
    }
}

impl Counts {
    /// Adds the counts of another change.
    pub fn add(&mut self, other: Counts) {
        self.operations += other.operations;
        self.cuts += other.cuts;
        self.cuts_at_start += other.cuts_at_start;
        self.old += other.old;
        self.new += other.new;
        self.between += other.between;
    }
}

/// Tests a change of a disk; `chances` is the number of random cases per cut.
///
/// # Errors
/// A start found an invalid state, or the change does nothing.
pub fn test_change(
    initial: &SimDisk,
    change: &impl DiskChange,
    chances: u64,
) -> Result<Counts, InvalidState> {
    let start = |disk: &SimDisk, when: &dyn fmt::Display| {
        change
            .start(SharedDisk::of(disk.clone()))
            .map_err(|found| InvalidState {
                when: when.to_string(),
                found,
            })
    };
    let old = start(initial, &"before the change")?;
    let whole = SharedDisk::of(initial.clone().recording());
    let acknowledged = change.make(whole.clone());
    let operations = whole.look().recorded().to_vec();
    let new = start(&whole.look(), &"after the change")?;
    if !acknowledged || new == old {
        return Err(InvalidState {
            when: "without any power cut".to_string(),
            found: format!("the change was not made: {new:?}"),
        });
    }
    let mut counts = Counts {
        operations: operations.len() as u64,
        ..Counts::default()
    };
    for cut in 1..=operations.len() + 1 {
        let disk = SharedDisk::of(initial.clone());
        disk.arrange(cut, DiskFault::PowerCut);
        let made = change.make(disk.clone());
        let rule = RecoveryRule {
            old: &old,
            new: &new,
            // An acknowledgement without power is not received.
            acknowledged: made && disk.look().is_powered(),
        };
        let place = match operations.get(cut - 1) {
            Some(operation) => format!("cut at {cut} ({operation})"),
            None => "cut after the change".to_string(),
        };
        for survives in DETERMINISTIC
            .into_iter()
            .chain((0..chances).map(Survives::Chance))
        {
            let when = format!("{place}, survives: {survives:?}");
            let left = disk.look().after(survives);
            let starting = SharedDisk::of(left.clone().recording());
            let found = change.start(starting.clone());
            counts.cuts += 1;
            rule.check(found, &when, &mut counts)?;
            for again in 1..=starting.look().recorded().len() {
                let starting = SharedDisk::of(left.clone());
                starting.arrange(again, DiskFault::PowerCut);
                // The result of a start without power does not matter.
                let _ = change.start(starting.clone());
                let survives = DETERMINISTIC[(cut + again) % DETERMINISTIC.len()];
                let when = format!("{when}; cut at {again} of the start, survives: {survives:?}");
                let found = change.start(SharedDisk::of(starting.look().after(survives)));
                counts.cuts_at_start += 1;
                rule.check(found, &when, &mut counts)?;
            }
        }
    }
    Ok(counts)
}

/// States that are allowed after a power cut.
struct RecoveryRule<'a> {
    old: &'a StartFindings,
    new: &'a StartFindings,
    acknowledged: bool,
}

impl RecoveryRule<'_> {
    /// Checks the state that a start has found.
    fn check(
        &self,
        found: Result<StartFindings, String>,
        when: &str,
        counts: &mut Counts,
    ) -> Result<(), InvalidState> {
        let broken = |found: String| InvalidState {
            when: when.to_string(),
            found,
        };
        let found =
            found.map_err(|reason| broken(format!("the clock does not start: {reason}")))?;
        let is_valid = |(part, is): (&&'static str, &String)| {
            let as_in = |state: &StartFindings| state.get(*part) == Some(is);
            as_in(self.new) || !self.acknowledged && as_in(self.old)
        };
        if found.len() != self.new.len() || !found.iter().all(is_valid) {
            let state = if self.acknowledged { "acknowledged" } else { "not acknowledged" };
            return Err(broken(format!(
                "found {found:?}, before {:?}, after {:?}, {state}",
                self.old, self.new
            )));
        }
        if found == *self.new {
            counts.new += 1;
        } else if found == *self.old {
            counts.old += 1;
        } else {
            counts.between += 1;
        }
        Ok(())
    }
}
