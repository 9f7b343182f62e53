//! When the height is marked, and why.

use alloc::vec::Vec;
use core::time::Duration;

use super::HeightRules;
use crate::{
    height_verdict::HeightVerdict,
    limits::DOUBT_TIME,
    mark::Mark,
    truth::{HeightState, MarkReason},
};

/// Returns whether the height is weak: neither proven, nor so old that it has a mark for that.
pub fn is_weak(state: HeightState) -> bool {
    match state {
        HeightState::Alone | HeightState::Claimed | HeightState::Disputed => true,
        HeightState::Proven | HeightState::Stale | HeightState::Unknown => false,
    }
}

/// The reasons for marks on the height, which has been weak since `weak_since`.
pub fn reasons(
    verdict: &HeightVerdict,
    weak_since: Option<Duration>,
    rules: &HeightRules,
) -> Vec<MarkReason> {
    let at_once = |mark| MarkReason {
        mark,
        from: Duration::ZERO,
    };
    let is_stale = verdict.state == HeightState::Stale && verdict.is_of_this_run;
    let stale = (is_stale && rules.has_prover).then(|| at_once(Mark::Stale));
    let disputed = verdict.is_contested.then(|| at_once(Mark::Disputed));
    // A proof arrives after the number, so a claim is marked only after a while.
    let alone = weak_since
        .filter(|_| rules.has_prover)
        .map(|since| MarkReason {
            mark: Mark::Alone,
            from: since + DOUBT_TIME,
        });
    let other = disputed.or(alone).filter(|_| rules.marks);
    stale.into_iter().chain(other).collect()
}
