//! Tries every moment at which the power can go away while something is changed, and while the clock starts after that.
//!
//! All file operations of a change are recorded. Then the change is made again and again on a disk that is like the first
//! one, and the power is cut at each operation; of what was not synced nothing, everything, only names, only bytes or some
//! of it by chance survives. Each time the clock starts, and at each operation of that start the power is cut once more.
//! Whatever is found in the end must be as it was before the change or as it is after it, part by part, and if the change
//! was acknowledged, as it is after it.

use std::{collections::BTreeMap, fmt};

use crate::sim_disk::{DiskFault, SharedDisk, SimDisk, Survives};

/// Cases in which it is not left to chance what survives.
const CERTAIN: [Survives; 4] = [
    Survives::Nothing,
    Survives::Everything,
    Survives::Names,
    Survives::Bytes,
];

/// What a start finds on the disk, by part, as text.
pub type StartFindings = BTreeMap<&'static str, String>;

/// A change of the files of a clock.
pub trait DiskChange {
    /// Does it; tells whether it was acknowledged.
    fn make(&self, disk: SharedDisk) -> bool;

    /// Starts as the clock does.
    ///
    /// # Errors
    /// In words: the clock does not start.
    fn start(&self, disk: SharedDisk) -> Result<StartFindings, String>;
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// File operations of the change.
    pub operations: u64,
    /// Power cuts during the change, or just after it.
    pub cuts: u64,
    /// Power cuts during a start after those.
    pub again: u64,
    /// Starts that found everything as before.
    pub old: u64,
    /// Starts that found everything as after.
    pub new: u64,
    /// Starts that found some parts as before and some as after, where a change has several.
    pub between: u64,
}

/// A start that found what must not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Broken {
    /// When the power was cut, and what survived.
    pub when: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.when, self.found)
    }
}

impl Counts {
    /// Adds what was tried elsewhere.
    pub fn add(&mut self, other: Counts) {
        self.operations += other.operations;
        self.cuts += other.cuts;
        self.again += other.again;
        self.old += other.old;
        self.new += other.new;
        self.between += other.between;
    }
}

/// Tries a change from a disk on; `chances` is how often chance decides what survives a cut.
///
/// # Errors
/// A start found neither the old nor the new, or the change does nothing.
pub fn try_all(
    beginning: &SimDisk,
    change: &impl DiskChange,
    chances: u64,
) -> Result<Counts, Broken> {
    let start = |disk: &SimDisk, when: &dyn fmt::Display| {
        change
            .start(SharedDisk::of(disk.clone()))
            .map_err(|found| Broken {
                when: when.to_string(),
                found,
            })
    };
    let old = start(beginning, &"before the change")?;
    let whole = SharedDisk::of(beginning.clone().recording());
    let acknowledged = change.make(whole.clone());
    let operations = whole.look().recorded().to_vec();
    let new = start(&whole.look(), &"after the change")?;
    if !acknowledged || new == old {
        return Err(Broken {
            when: "without any power cut".to_string(),
            found: format!("the change was not made: {new:?}"),
        });
    }
    let mut counts = Counts {
        operations: operations.len() as u64,
        ..Counts::default()
    };
    for cut in 1..=operations.len() + 1 {
        let disk = SharedDisk::of(beginning.clone());
        disk.arrange(cut, DiskFault::PowerCut);
        let made = change.make(disk.clone());
        let rule = RecoveryRule {
            old: &old,
            new: &new,
            // What is said without power is heard by nobody.
            acknowledged: made && disk.look().is_powered(),
        };
        let place = match operations.get(cut - 1) {
            Some(operation) => format!("cut at {cut} ({operation})"),
            None => "cut after the change".to_string(),
        };
        for survives in CERTAIN
            .into_iter()
            .chain((0..chances).map(Survives::Chance))
        {
            let when = format!("{place}, survives: {survives:?}");
            let left = disk.look().after(survives);
            let starting = SharedDisk::of(left.clone().recording());
            let found = change.start(starting.clone());
            counts.cuts += 1;
            rule.judge(found, &when, &mut counts)?;
            for again in 1..=starting.look().recorded().len() {
                let starting = SharedDisk::of(left.clone());
                starting.arrange(again, DiskFault::PowerCut);
                // What a start without power says is of no interest.
                let _ = change.start(starting.clone());
                let survives = CERTAIN[(cut + again) % CERTAIN.len()];
                let when = format!("{when}; cut at {again} of the start, survives: {survives:?}");
                let found = change.start(SharedDisk::of(starting.look().after(survives)));
                counts.again += 1;
                rule.judge(found, &when, &mut counts)?;
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
    fn judge(
        &self,
        found: Result<StartFindings, String>,
        when: &str,
        counts: &mut Counts,
    ) -> Result<(), Broken> {
        let broken = |found: String| Broken {
            when: when.to_string(),
            found,
        };
        let found =
            found.map_err(|reason| broken(format!("the clock does not start: {reason}")))?;
        let may_be = |(part, is): (&&'static str, &String)| {
            let as_in = |state: &StartFindings| state.get(*part) == Some(is);
            as_in(self.new) || !self.acknowledged && as_in(self.old)
        };
        if found.len() != self.new.len() || !found.iter().all(may_be) {
            let word = if self.acknowledged {
                "acknowledged"
            } else {
                "not acknowledged"
            };
            return Err(broken(format!(
                "found {found:?}, before {:?}, after {:?}, {word}",
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
