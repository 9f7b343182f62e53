//! Why the height is marked on the glass.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    heights::HeightRules,
    mark::Mark,
    since::Since,
    truth::{Doubt, HeightState},
    verdict::HeightVerdict,
};
use crate::limits::DOUBT_TIME;

/// Records how good the height is.
pub fn follow_height(weak: &mut Since, state: HeightState, uptime: Duration) {
    match state {
        HeightState::Alone | HeightState::Claimed | HeightState::Disputed => weak.go_on(uptime),
        // An old height has its own mark.
        HeightState::Proven | HeightState::Stale | HeightState::Unknown => weak.end(uptime),
    }
}

/// The reasons for marks on the height.
pub fn of_height(verdict: &HeightVerdict, weak: Since, rules: &HeightRules) -> Vec<Doubt> {
    let at_once = |mark| Doubt {
        mark,
        from: Duration::ZERO,
    };
    let is_old = verdict.state == HeightState::Stale && verdict.is_of_this_run;
    let old = (is_old && rules.proof).then(|| at_once(Mark::Stale));
    let disputed = verdict.is_contested.then(|| at_once(Mark::Disputed));
    // A proof arrives after the number, so a claim is marked only after a while.
    let alone = weak.since().filter(|_| rules.proof).map(|since| Doubt {
        mark: Mark::Alone,
        from: since + DOUBT_TIME,
    });
    let other = disputed.or(alone).filter(|_| rules.marks);
    old.into_iter().chain(other).collect()
}
