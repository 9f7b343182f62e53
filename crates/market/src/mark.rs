//! The mark beside a doubtful value on the glass.

/// Mark that the glass shows beside a value that is less than good; of several the worst is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// It is not proven, or by a single source only.
    Alone,
    /// Sources contradict each other.
    Disputed,
    /// It is older than it should be.
    Stale,
}

impl Mark {
    /// All marks, the least severe first.
    pub const ALL: [Mark; 3] = [Mark::Alone, Mark::Disputed, Mark::Stale];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Alone => "alone",
            Mark::Disputed => "disputed",
            Mark::Stale => "stale",
        }
    }

    /// Looks up a mark by its name in JSON.
    pub fn named(name: &str) -> Option<Mark> {
        Mark::ALL.into_iter().find(|mark| mark.name() == name)
    }
}
