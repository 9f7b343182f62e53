//! What is less than good about the values, as the glass marks it.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    mark::Mark,
    quotes::PriceRules,
    since::Since,
    truth::{Doubt, HeightState},
    verdict::{Admits, HeightVerdict},
};
use crate::limits::DOUBT_TIME;

/// What the owner asks of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demands {
    /// What may be shown as the height.
    pub admits: Admits,
    /// What is less than good is marked.
    pub marks: bool,
    /// What is asked of prices, apart from who is asked.
    pub prices: PriceRules,
    /// Something is asked that can prove a height: only then is a mere claim a blemish.
    pub proof: bool,
}

/// Takes note of how a height is now: since when has it been less than good?
pub fn follow_height(weak: &mut Since, state: HeightState, uptime: Duration) {
    match state {
        HeightState::Alone | HeightState::Claimed | HeightState::Disputed => weak.go_on(uptime),
        // An old height has a mark of its own, and begins anew with the next.
        HeightState::Proven | HeightState::Stale | HeightState::Unknown => weak.end(uptime),
    }
}

/// The reasons for marks on the height of a chain that is not invented.
pub fn of_height(verdict: &HeightVerdict, weak: Since, demands: Demands) -> Vec<Doubt> {
    let at_once = |mark| Doubt {
        mark,
        from: Duration::ZERO,
    };
    let is_old = verdict.state == HeightState::Stale && verdict.is_of_this_run;
    let old = (is_old && demands.proof).then(|| at_once(Mark::Stale));
    let disputed = verdict.is_contested.then(|| at_once(Mark::Disputed));
    // Proof comes after the number; that alone is nothing to be told.
    let alone = weak.since().filter(|_| demands.proof).map(|since| Doubt {
        mark: Mark::Alone,
        from: since + DOUBT_TIME,
    });
    let else_wrong = disputed.or(alone).filter(|_| demands.marks);
    old.into_iter().chain(else_wrong).collect()
}
