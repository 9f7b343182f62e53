//! How good the values are, and why the glass marks them.

use alloc::{collections::BTreeSet, vec::Vec};
use core::time::Duration;

use crate::{height_proof::Tip, mark::Mark, now::Now, units::Currency};

/// How good a height is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HeightState {
    /// The work was checked, and two origins or the owner's node have the same block.
    Proven,
    /// The work was checked; one origin has the block.
    Alone,
    /// A source claims it.
    Claimed,
    /// Sources contradict each other, or the claim is below the anchor.
    Disputed,
    /// It is too old, or from an earlier run.
    Stale,
    /// No height is known.
    #[default]
    Unknown,
}

impl HeightState {
    /// All states, best first.
    pub const ALL: [HeightState; 6] = [
        HeightState::Proven,
        HeightState::Alone,
        HeightState::Claimed,
        HeightState::Disputed,
        HeightState::Stale,
        HeightState::Unknown,
    ];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            HeightState::Proven => "proven",
            HeightState::Alone => "alone",
            HeightState::Claimed => "claimed",
            HeightState::Disputed => "disputed",
            HeightState::Stale => "stale",
            HeightState::Unknown => "unknown",
        }
    }
}

/// How a height is proven, as a screen shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeightTruth {
    /// How good it is.
    pub state: HeightState,
    /// The best block that is proven.
    pub proven: Option<Proven>,
}

/// A block that is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    /// Number of origins that have it.
    pub agreeing: usize,
    /// The last four digits of its hash.
    pub hash_end: u16,
    /// Whole minutes of the wall clock since the time in its header; `None` if the time is unknown.
    pub age_mins: Option<u64>,
}

impl Proven {
    /// A block that `agreeing` origins have.
    pub fn new(tip: Tip, agreeing: usize, now: Now) -> Proven {
        let minute = |secs: i64| secs.div_euclid(60);
        // Whole minutes of the wall clock, because all screens turn with them.
        let made = minute(tip.time.into());
        let age = now.utc.map(|utc| minute(utc.unix_secs()) - made);
        let [first, second, ..]: [u8; 32] = *tip.hash.as_ref();
        Proven {
            agreeing,
            // Hashes are written with their last byte first.
            hash_end: u16::from_le_bytes([first, second]),
            // The time of a block may be somewhat ahead.
            age_mins: age.map(|age| u64::try_from(age).unwrap_or_default()),
        }
    }
}

/// A reason for a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkReason {
    /// The mark.
    pub mark: Mark,
    /// Uptime from which the value is marked.
    pub from: Duration,
}

/// The reasons for marks, besides the age of values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkReasons {
    /// Reasons for marks on the height.
    pub height: Vec<MarkReason>,
    /// Currencies with a disputed price.
    pub prices: BTreeSet<Currency>,
}
