//! Pseudo-random numbers for jitter and the demo market; never for secrets.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

/// A splitmix64 generator: the same seed gives the same numbers.
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// A generator with a seed.
    pub fn seeded(seed: u64) -> Chance {
        Chance { state: seed }
    }

    /// A generator with a different seed in every process.
    pub fn new() -> Chance {
        Chance::seeded(RandomState::new().build_hasher().finish())
    }

    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound; zero for a bound of zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for left in (1..things.len()).rev() {
            let other = self.below(left as u64 + 1);
            things.swap(left, usize::try_from(other).unwrap_or(left));
        }
    }

    /// A random duration from `low` to `high`.
    pub fn between(&mut self, low: Duration, high: Duration) -> Duration {
        let span = u64::try_from(high.saturating_sub(low).as_millis()).unwrap_or(u64::MAX);
        low + Duration::from_millis(self.below(span.saturating_add(1)))
    }
}

impl Default for Chance {
    fn default() -> Chance {
        Chance::new()
    }
}
