//! Words for how good the values are, and what the glass marks of it.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::{mark::Mark, units::Currency};

/// How good a height is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HeightState {
    /// Its work was checked, and two origins or the owner's node have the same block.
    Proven,
    /// Its work was checked; one source has it.
    Alone,
    /// A source says so.
    Claimed,
    /// Sources say different things, or one says what cannot be believed.
    Disputed,
    /// Nobody has said anything for long, or since the start.
    Stale,
    /// There is none.
    #[default]
    Unknown,
}

impl HeightState {
    /// All of them, best first.
    pub const ALL: [HeightState; 6] = [
        HeightState::Proven,
        HeightState::Alone,
        HeightState::Claimed,
        HeightState::Disputed,
        HeightState::Stale,
        HeightState::Unknown,
    ];

    /// Word for it in the status.
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

/// How a height is proven, as far as a screen shows it.
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
    /// Those who have it.
    pub agreeing: usize,
    /// The last four digits of its hash.
    pub hash_end: u16,
    /// Whole minutes of the wall clock since it was made, by its own word; none while the time is not known.
    pub age_mins: Option<u64>,
}

/// A reason for a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    /// The mark.
    pub mark: Mark,
    /// Uptime from which on it counts.
    pub from: Duration,
}

/// The reasons for marks that age alone does not give.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doubts {
    /// Those of the height.
    pub height: Vec<Doubt>,
    /// Those of prices.
    pub prices: BTreeMap<Currency, Vec<Doubt>>,
}

/// What a verdict has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictEffect {
    /// Another value is shown.
    pub differs: bool,
    /// The reasons for marks on it.
    pub doubts: Vec<Doubt>,
}
