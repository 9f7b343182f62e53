//! The consensus rules for one header.

use bitcoin::{BlockHash, CompactTarget, Target, Work, block::Header};

use crate::{
    anchor,
    network::{Network, PERIOD},
};

/// Blocks of the median time past.
pub const MEDIAN_OF: usize = 11;

/// Seconds that a block may be ahead of the clock.
pub const AHEAD_MAX_SECS: u32 = 2 * 60 * 60;

/// Seconds that the first block of a period may be before the last block of the previous one (BIP 94).
const TIMEWARP_MAX_SECS: u32 = 600;

/// Why a header is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum HeaderRefusal {
    /// The block before it is unknown.
    #[error("it follows no known block")]
    Unconnected,
    /// Its hash does not meet its own target.
    #[error("it lacks the work that it claims")]
    NoWork,
    /// Its difficulty is not the one that the blocks before it require.
    #[error("it has the wrong difficulty")]
    WrongBits,
    /// It is not after the median time of the blocks before it.
    #[error("it is older than the blocks before it allow")]
    TooOld,
    /// It is from the future: it may be accepted later.
    #[error("it is from the future")]
    Future,
    /// Its block version is obsolete.
    #[error("its version is obsolete")]
    OldVersion,
}

impl HeaderRefusal {
    /// All refusals.
    pub const ALL: [HeaderRefusal; 6] = [
        HeaderRefusal::Unconnected,
        HeaderRefusal::NoWork,
        HeaderRefusal::WrongBits,
        HeaderRefusal::TooOld,
        HeaderRefusal::Future,
        HeaderRefusal::OldVersion,
    ];

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            HeaderRefusal::Unconnected => "unconnected",
            HeaderRefusal::NoWork => "no-work",
            HeaderRefusal::WrongBits => "wrong-bits",
            HeaderRefusal::TooOld => "too-old",
            HeaderRefusal::Future => "future",
            HeaderRefusal::OldVersion => "old-version",
        }
    }

    /// Returns whether the header is invalid at any time and after any block, so that its sender is at fault.
    pub fn is_fault(self) -> bool {
        match self {
            HeaderRefusal::Unconnected | HeaderRefusal::Future => false,
            HeaderRefusal::NoWork
            | HeaderRefusal::WrongBits
            | HeaderRefusal::TooOld
            | HeaderRefusal::OldVersion => true,
        }
    }
}

/// A difficulty and its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Difficulty {
    bits: CompactTarget,
    target: Target,
    pub(crate) work: Work,
}

impl Difficulty {
    /// The difficulty that a header claims.
    ///
    /// # Errors
    /// It is invalid, or easier than the network allows.
    pub(crate) fn of(network: Network, header: &Header) -> Result<Difficulty, HeaderRefusal> {
        let target = anchor::target(header.bits)
            .filter(|target| *target <= network.limit())
            .ok_or(HeaderRefusal::WrongBits)?;
        Ok(Difficulty {
            bits: header.bits,
            target,
            work: target.to_work(),
        })
    }

    /// Returns whether the header claims this difficulty.
    pub(crate) fn is_of(&self, header: &Header) -> bool {
        self.bits == header.bits
    }

    /// Returns whether a target is harder to meet.
    pub(crate) fn is_easier_than(&self, target: Target) -> bool {
        self.target > target
    }

    /// The hash of a header, if it meets the target.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn hash(&self, header: &Header) -> Result<BlockHash, HeaderRefusal> {
        let hash = crate::hash(header);
        if !self.target.is_met_by(hash) {
            return Err(HeaderRefusal::NoWork);
        }
        Ok(hash)
    }
}

/// Checks the block version required at a height.
pub(crate) fn version(network: Network, height: u32, header: &Header) -> Result<(), HeaderRefusal> {
    if header.version.to_consensus() < network.version_min(height) {
        return Err(HeaderRefusal::OldVersion);
    }
    Ok(())
}

/// Checks that a header is not too far in the future. Passes if the time is unknown.
pub(crate) fn future(header: &Header, now: Option<u32>) -> Result<(), HeaderRefusal> {
    match now {
        Some(now) if header.time > now.saturating_add(AHEAD_MAX_SECS) => Err(HeaderRefusal::Future),
        Some(_) | None => Ok(()),
    }
}

/// The median of the newest times, newest first. `None` without a time.
pub(crate) fn median(newest: impl Iterator<Item = u32>) -> Option<u32> {
    let mut times = [0; MEDIAN_OF];
    let mut known = 0;
    for (place, time) in times.iter_mut().zip(newest) {
        *place = time;
        known += 1;
    }
    let times = &mut times[..known];
    times.sort_unstable();
    times.get(known / 2).copied()
}

/// Returns whether a time is after the median of others, newest first. True if there are none.
pub(crate) fn is_after_median(time: u32, newest: impl ExactSizeIterator<Item = u32>) -> bool {
    let known = newest.len().min(MEDIAN_OF);
    let before = newest.take(MEDIAN_OF).filter(|other| *other < time).count();
    known == 0 || before > known / 2
}

/// The difficulty of the next period, from the first and the last block of this one.
pub(crate) fn retarget(network: Network, first: &Header, last: &Header) -> CompactTarget {
    let from = if network.guards_timewarp() { first.bits } else { last.bits };
    let took = last.time.saturating_sub(first.time);
    CompactTarget::from_next_work_required(from, took.into(), network.params())
}

/// Checks the start time of a period against the end of the previous one, on networks with BIP 94.
pub(crate) fn timewarp(
    network: Network,
    height: u32,
    header: &Header,
    before: Option<&Header>,
) -> Result<(), HeaderRefusal> {
    let guarded = network.guards_timewarp() && height.is_multiple_of(PERIOD);
    match before {
        Some(before) if guarded && header.time < before.time.saturating_sub(TIMEWARP_MAX_SECS) => {
            Err(HeaderRefusal::TooOld)
        }
        Some(_) | None => Ok(()),
    }
}

/// The minimum difficulty, if the network allows it for this block.
pub(crate) fn easy(network: Network, header: &Header, before: &Header) -> Option<CompactTarget> {
    let after = network.easy_after()?;
    (header.time > before.time.saturating_add(after)).then(|| network.limit().to_compact_lossy())
}

/// The easiest target that is possible after a number of periods: each can be at most four times easier than the one
/// before.
pub(crate) fn easiest(network: Network, from: Target, periods: u32) -> Target {
    let mut easiest = from;
    for _ in 0..periods {
        // Heights are unverified claims: stop at the limit instead of looping over billions of periods.
        if easiest >= network.limit() {
            break;
        }
        easiest = easiest.max_transition_threshold(network.params());
    }
    easiest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_easiest_difficulty_is_four_times_easier_a_period_up_to_the_limit() {
        let from = Target::from_compact(CompactTarget::from_consensus(0x1702_40c3));
        for (periods, factor) in [(0, 1.0), (1, 4.0), (3, 64.0)] {
            let after = easiest(Network::Main, from, periods);
            let easier = from.difficulty_float() / after.difficulty_float();
            assert!(
                (easier / factor - 1.0).abs() < 0.02,
                "{periods} periods: {easier}"
            );
        }
        for network in [Network::Main, Network::Signet] {
            let limit = network.limit();
            assert_eq!(easiest(network, from, 30), limit);
            assert_eq!(easiest(network, limit, 1), limit);
            // A huge height must not take a long time.
            assert_eq!(easiest(network, from, u32::MAX), limit);
        }
    }

    #[test]
    fn a_version_is_old_since_the_rules_have_changed() {
        for (height, oldest) in [
            (0, 1),
            (227_930, 1),
            (227_931, 2),
            (363_724, 2),
            (363_725, 3),
            (388_380, 3),
            (388_381, 4),
            (u32::MAX, 4),
        ] {
            assert_eq!(Network::Main.version_min(height), oldest, "{height}");
        }
        for network in [Network::Testnet4, Network::Signet, Network::Regtest] {
            assert_eq!(network.version_min(0), 1, "{network:?}");
            assert_eq!(network.version_min(1), 4, "{network:?}");
        }
    }
}
