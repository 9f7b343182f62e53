//! Guards the height of the chain: it grows, and no faster than time allows, unless a second voice says so.
//!
//! A *claim* is a height ahead of what time allows. The second voice is another source near it, or the same source
//! whose claims go on growing as a chain does; so one absurd report is not believed, and a clock is never silenced
//! for good.

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::{
    source_id::SourceId,
    values::{Datum, Seen},
};
use crate::{
    limits::{CATCH_UP_BLOCKS, CLAIM_STEP_MIN, CLAIMS_BELIEVED, REGRESSIONS_BELIEVED},
    now::{Now, UtcTime},
};

/// The fourth halving: a height whose moment is known.
const ANCHOR_HEIGHT: u32 = 840_000;

/// When the block of the anchor was made.
const ANCHOR_TIME: UtcTime = UtcTime {
    unix_ms: 1_713_571_767_000,
};

/// Time between two blocks as the network aims at it.
const BLOCK_TIME: Duration = Duration::from_secs(600);

/// Time after the anchor in which a clock without the time can find itself.
const LIFETIME: Duration = Duration::from_secs(25 * 365 * 24 * 60 * 60);

/// What a report of the chain's height means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeightNews {
    /// The first height this device has ever seen.
    First,
    /// The height that is known.
    Same,
    /// A new block, or a few.
    Block,
    /// So many blocks that the clock was away: no flash, no stolen focus.
    CatchUp,
    /// Lower than what is known, or zero; not believed.
    Lower,
    /// Ahead of what time allows; not believed without a second voice.
    Ahead,
    /// Lower than what is known, and reported so steadily that what was known must have been wrong.
    Corrected,
}

/// Judges reported heights by what is known and by what time allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeightGate {
    lower: u32,
    lower_reports: u32,
    claims: BTreeMap<SourceId, ImplausibleHeight>,
}

/// The newest height of a source that is ahead of what time allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ImplausibleHeight {
    height: u32,
    /// Heights that were claimed, each greater than the one before, and apart in time.
    steps: u32,
    /// Uptime of the newest of them.
    stepped: Duration,
}

impl HeightGate {
    /// Judges a height that a source reports.
    ///
    /// A height that regresses is refused, but a single absurd report must not silence the clock for good: lower
    /// heights that themselves keep growing are believed after [`REGRESSIONS_BELIEVED`] blocks.
    pub fn judge(
        &mut self,
        known: Option<&Datum<u32>>,
        source: SourceId,
        reported: u32,
        now: Now,
    ) -> HeightNews {
        if reported == 0 {
            return HeightNews::Lower;
        }
        if reported > allowed(known, now) {
            if !is_possible(reported, now.utc) || !self.is_seconded(source, reported, now.uptime) {
                return HeightNews::Ahead;
            }
            *self = HeightGate::default();
            return match known {
                None => HeightNews::First,
                Some(_) => HeightNews::CatchUp,
            };
        }
        self.claims.remove(&source);
        let Some(known) = known else {
            return HeightNews::First;
        };
        if reported >= known.value {
            self.lower_reports = 0;
            return match reported - known.value {
                0 => HeightNews::Same,
                1..=CATCH_UP_BLOCKS => HeightNews::Block,
                _ => HeightNews::CatchUp,
            };
        }
        self.judge_lower(known, reported)
    }

    fn judge_lower(&mut self, known: &Datum<u32>, reported: u32) -> HeightNews {
        let from_earlier_run = matches!(known.seen, Seen::Before(_));
        if from_earlier_run && known.value - reported > CATCH_UP_BLOCKS {
            return HeightNews::Corrected;
        }
        if reported > self.lower || self.lower_reports == 0 {
            self.lower = reported;
            self.lower_reports += 1;
        }
        if self.lower_reports >= REGRESSIONS_BELIEVED {
            *self = HeightGate::default();
            return HeightNews::Corrected;
        }
        HeightNews::Lower
    }

    /// Tells whether a height ahead of time has a second voice, and remembers it for the next.
    fn is_seconded(&mut self, source: SourceId, reported: u32, uptime: Duration) -> bool {
        let near = |claim: &ImplausibleHeight| claim.height.abs_diff(reported) <= CATCH_UP_BLOCKS;
        let others = self.claims.iter().filter(|(id, _)| **id != source);
        if others.into_iter().any(|(_, claim)| near(claim)) {
            return true;
        }
        let first = ImplausibleHeight {
            height: reported,
            steps: 1,
            stepped: uptime,
        };
        let claim = self.claims.entry(source).or_insert(first);
        if reported < claim.height || !near(claim) {
            *claim = first;
        } else if reported > claim.height {
            claim.height = reported;
            // Numbers that are only counted up grow too, but not over time.
            if uptime.saturating_sub(claim.stepped) >= CLAIM_STEP_MIN {
                claim.stepped = uptime;
                claim.steps += 1;
            }
        }
        claim.steps >= CLAIMS_BELIEVED
    }
}

/// Tells whether the chain can have a height at all.
pub fn is_possible(height: u32, utc: Option<UtcTime>) -> bool {
    height <= ceiling(None).max(ceiling(utc))
}

/// The greatest height that needs no second voice.
fn allowed(known: Option<&Datum<u32>>, now: Now) -> u32 {
    let by_clock = ceiling(now.utc);
    let Some(known) = known else {
        return by_clock;
    };
    let by_age = |blocks: u32| known.value.saturating_add(blocks + CATCH_UP_BLOCKS);
    match known.age(now) {
        // A wrong wall clock must not doubt every block again.
        Some(age) if known.value > by_clock => by_age(blocks_in(age)),
        // Nor may small steps lead anywhere.
        Some(age) => by_age(blocks_in(age)).min(by_clock),
        None => by_clock.max(by_age(0)),
    }
}

/// The greatest height that the wall clock allows.
fn ceiling(utc: Option<UtcTime>) -> u32 {
    // A wall clock from before the anchor is not set.
    let elapsed = utc.map_or(-1, |utc| utc.unix_ms - ANCHOR_TIME.unix_ms);
    let elapsed = u64::try_from(elapsed).map_or(LIFETIME, Duration::from_millis);
    ANCHOR_HEIGHT + blocks_in(elapsed) + CATCH_UP_BLOCKS
}

/// Blocks that a time can bring, apart from good luck.
///
/// The network grows while it aims at one block every ten minutes, so that over months there are a few more; an
/// eighth is more than there were in any year since the anchor.
fn blocks_in(time: Duration) -> u32 {
    let aimed = time.as_secs() / BLOCK_TIME.as_secs();
    // Far less than the half of the numbers there are, so that nothing overflows.
    u32::try_from(aimed + aimed / 8).map_or(u32::MAX / 4, |blocks| blocks.min(u32::MAX / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60;
    const DAY: u64 = 24 * 60 * MINUTE;

    /// 2026-01-01.
    const NEW_YEAR: u64 = 1_767_225_600;

    fn at(secs: u64, unix_secs: Option<u64>) -> Now {
        Now {
            uptime: Duration::from_secs(secs),
            utc: unix_secs.and_then(|secs| UtcTime::plausible(i64::try_from(secs).ok()? * 1000)),
        }
    }

    /// A height that was seen as the device started.
    fn known(height: u32) -> Option<Datum<u32>> {
        (height > 0).then_some(Datum {
            value: height,
            source: SourceId::Relay,
            seen: Seen::At(Duration::ZERO),
        })
    }

    fn check(before: u32, secs: u64, reported: u32, news: HeightNews) {
        let mut gate = HeightGate::default();
        let known = known(before);
        let judged = gate.judge(known.as_ref(), SourceId::Relay, reported, at(secs, None));
        assert_eq!(judged, news, "{before} -> {reported} after {secs} s");
    }

    #[test]
    fn heights_are_judged_as_in_the_table() {
        for reported in [1, 900_000, 2_000_000] {
            check(0, 0, reported, HeightNews::First);
        }
        for before in [0, 1, 900_000, 4_000_000_000] {
            check(before, 0, 0, HeightNews::Lower);
        }
        check(900_000, 0, 900_000, HeightNews::Same);
        for reported in [900_001, 900_010, 900_050, 900_100] {
            check(900_000, 0, reported, HeightNews::Block);
        }
        for (secs, reported, news) in [
            (599, 900_101, HeightNews::Ahead),
            (600, 900_101, HeightNews::CatchUp),
            (60 * MINUTE, 900_106, HeightNews::CatchUp),
            (60 * MINUTE, 900_107, HeightNews::Ahead),
            (365 * DAY, 900_000 + 365 * 144, HeightNews::CatchUp),
            (365 * DAY, 960_000, HeightNews::Ahead),
            (0, 4_000_000_000, HeightNews::Ahead),
        ] {
            check(900_000, secs, reported, news);
        }
        for reported in [899_999, 899_994, 800_000, 1] {
            check(900_000, 0, reported, HeightNews::Lower);
        }
    }

    #[test]
    fn the_first_height_is_held_to_the_wall_clock() {
        for (unix_secs, reported, news) in [
            // The chain was at about 930 000.
            (Some(NEW_YEAR), 930_000, HeightNews::First),
            (Some(NEW_YEAR), 950_000, HeightNews::Ahead),
            (Some(NEW_YEAR), u32::MAX, HeightNews::Ahead),
            (None, 950_000, HeightNews::First),
            (None, u32::MAX, HeightNews::Ahead),
            // A wall clock that cannot be right.
            (Some(1_600_000_000), 930_000, HeightNews::First),
        ] {
            let judged =
                HeightGate::default().judge(None, SourceId::Relay, reported, at(0, unix_secs));
            assert_eq!(judged, news, "{reported} at {unix_secs:?}");
        }
    }

    #[test]
    fn a_clock_that_was_off_for_long_catches_up_at_once() {
        let earlier = |unix_secs: Option<u64>| Datum {
            value: 900_000,
            source: SourceId::Relay,
            seen: Seen::Before(at(0, unix_secs).utc),
        };
        let year_ago = Some(NEW_YEAR - 100 * DAY);
        for (seen, now, reported, news) in [
            (year_ago, Some(NEW_YEAR), 914_400, HeightNews::CatchUp),
            (year_ago, Some(NEW_YEAR), 920_000, HeightNews::Ahead),
            // When it was seen is not known, or what time it is.
            (None, Some(NEW_YEAR), 920_000, HeightNews::CatchUp),
            (year_ago, None, 920_000, HeightNews::CatchUp),
            (None, None, 920_000, HeightNews::CatchUp),
            (None, None, 4_000_000_000, HeightNews::Ahead),
        ] {
            let mut gate = HeightGate::default();
            let judged = gate.judge(Some(&earlier(seen)), SourceId::Relay, reported, at(0, now));
            assert_eq!(judged, news, "{reported}, seen {seen:?}, now {now:?}");
        }
    }

    /// Judges reports of (source, height, s), all ahead of what is known; the last one is believed, or not.
    fn check_claims(reports: &[(SourceId, u32, u64)], believed: bool) {
        let mut gate = HeightGate::default();
        let known = known(900_000);
        let judged: alloc::vec::Vec<HeightNews> = reports
            .iter()
            .map(|&(source, height, secs)| {
                gate.judge(known.as_ref(), source, height, at(secs, None))
            })
            .collect();
        let (last, before) = judged.split_last().expect("there is a report");
        assert!(
            before.iter().all(|news| *news == HeightNews::Ahead),
            "{reports:?}: {judged:?}"
        );
        let expected = match believed {
            true => HeightNews::CatchUp,
            false => HeightNews::Ahead,
        };
        assert_eq!(*last, expected, "{reports:?}");
    }

    #[test]
    fn a_claim_is_believed_with_a_second_voice() {
        let (relay, nostr) = (SourceId::Relay, SourceId::Nostr);
        for (reports, believed) in [
            (&[(relay, 901_000, 0)][..], false),
            (&[(relay, 901_000, 0), (nostr, 901_001, 1)], true),
            (&[(relay, 901_000, 0), (nostr, 901_101, 1)], false),
            // Steadily growing over time.
            (
                &[
                    (relay, 901_000, 0),
                    (relay, 901_001, 60),
                    (relay, 901_002, 120),
                ],
                true,
            ),
            (
                &[
                    (relay, 901_000, 0),
                    (relay, 901_000, 60),
                    (relay, 901_000, 120),
                ],
                false,
            ),
            // Only counted up.
            (
                &[
                    (relay, 901_000, 0),
                    (relay, 901_001, 1),
                    (relay, 901_002, 2),
                ],
                false,
            ),
            (
                &[
                    (relay, 901_000, 0),
                    (relay, 901_001, 1),
                    (relay, 901_002, 60),
                    (relay, 901_003, 61),
                    (relay, 901_004, 120),
                ],
                true,
            ),
            // Not as a chain grows.
            (
                &[
                    (relay, 901_000, 0),
                    (relay, 902_000, 60),
                    (relay, 903_000, 120),
                ],
                false,
            ),
            (
                &[
                    (relay, 901_002, 0),
                    (relay, 901_001, 60),
                    (relay, 901_002, 120),
                ],
                false,
            ),
            // Nobody makes the chain higher than it can be.
            (&[(relay, u32::MAX, 0), (nostr, u32::MAX, 1)], false),
        ] {
            check_claims(reports, believed);
        }
    }

    #[test]
    fn a_source_that_comes_back_to_its_senses_begins_anew() {
        let mut gate = HeightGate::default();
        let known = known(900_000);
        let mut judge =
            |height, secs| gate.judge(known.as_ref(), SourceId::Relay, height, at(secs, None));
        assert_eq!(judge(901_000, 0), HeightNews::Ahead);
        assert_eq!(judge(901_001, 60), HeightNews::Ahead);
        assert_eq!(judge(900_001, 61), HeightNews::Block);
        assert_eq!(judge(901_002, 120), HeightNews::Ahead);
    }

    #[test]
    fn small_steps_lead_no_further_than_the_clock_allows() {
        let mut gate = HeightGate::default();
        let mut datum = known(930_000);
        let now = at(0, Some(NEW_YEAR));
        for _ in 0..1000 {
            let next = datum
                .as_ref()
                .map_or(0, |known| known.value + CATCH_UP_BLOCKS);
            if gate.judge(datum.as_ref(), SourceId::Relay, next, now) == HeightNews::Block {
                datum = known(next);
            }
        }
        let reached = datum.map_or(0, |known| known.value);
        assert!((930_000..950_000).contains(&reached), "{reached}");
    }

    #[test]
    fn a_wall_clock_that_is_slow_does_not_doubt_every_block() {
        let mut gate = HeightGate::default();
        // As if it were two years ago.
        let now = |secs| at(secs, Some(1_720_000_000 + secs));
        let mut datum = None;
        let mut believed = 0;
        for block in 0..10 {
            let (secs, height) = (block * 600, 960_000 + u32::try_from(block).unwrap_or(0));
            let news = gate.judge(datum.as_ref(), SourceId::Relay, height, now(secs));
            if news != HeightNews::Ahead {
                believed += 1;
                datum = Some(Datum {
                    value: height,
                    source: SourceId::Relay,
                    seen: Seen::At(Duration::from_secs(secs)),
                });
            }
        }
        assert_eq!(believed, 8, "all but those before the second voice");
    }

    #[test]
    fn one_absurd_height_does_not_silence_the_clock() {
        let mut gate = HeightGate::default();
        let absurd = known(2_000_000);
        let mut judge = |height| gate.judge(absurd.as_ref(), SourceId::Relay, height, at(0, None));
        assert_eq!(judge(900_000), HeightNews::Lower);
        assert_eq!(judge(900_000), HeightNews::Lower);
        assert_eq!(judge(900_001), HeightNews::Lower);
        assert_eq!(judge(900_002), HeightNews::Corrected);
    }

    #[test]
    fn a_height_of_an_earlier_run_gives_way_to_another_chain() {
        let earlier = Datum {
            value: 950_000,
            source: SourceId::Relay,
            seen: Seen::Before(None),
        };
        let judge = |reported| {
            let mut gate = HeightGate::default();
            gate.judge(Some(&earlier), SourceId::Relay, reported, at(0, None))
        };
        assert_eq!(judge(949_999), HeightNews::Lower);
        assert_eq!(judge(800_000), HeightNews::Corrected);
        assert_eq!(judge(950_001), HeightNews::Block);
    }
}
