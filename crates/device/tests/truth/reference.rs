//! The verdict once more, slowly: heights second by second, and one rule after the other.

use std::collections::BTreeMap;

use market::HeightState;

/// What each source said at each second: claims, and those who prove.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past {
    pub(crate) claims: BTreeMap<&'static str, Vec<Option<u32>>>,
    pub(crate) proofs: BTreeMap<&'static str, Vec<Option<u32>>>,
}

/// What must be said of the height that is shown at the newest second.
///
/// All proofs are of one chain here, so that equal heights are equal blocks; the newest is so old by its own word.
pub(crate) fn state(past: &Past, shown: u32, age_secs: i64) -> HeightState {
    let newest = |voice: &Vec<Option<u32>>| voice.last().copied().flatten();
    let proven = past.proofs.values().filter_map(newest).max();
    let by_proof = proven == Some(shown);
    // Seconds for which a voice has said something else than the best proof without a break.
    let apart = |voice: &Vec<Option<u32>>| {
        let seconds = (0..voice.len()).rev();
        seconds
            .take_while(|at| {
                let best = past.proofs.values().filter_map(|proof| proof[*at]).max();
                voice[*at].is_some() && best.is_some() && voice[*at] != best
            })
            .count()
    };
    let seen = past.proofs.values().map(|proof| {
        let same = proof.iter().rev();
        same.take_while(|height| **height == proven).count()
    });
    if by_proof && (age_secs >= 90 * 60 || seen.max() >= Some(90 * 60)) {
        return HeightState::Stale;
    }
    if by_proof && past.claims.values().any(|claim| apart(claim) >= 120) {
        return HeightState::Disputed;
    }
    let agreeing = past
        .proofs
        .values()
        .filter(|proof| newest(proof) == Some(shown));
    match (by_proof, agreeing.count()) {
        (false, _) => HeightState::Claimed,
        (true, 0 | 1) => HeightState::Alone,
        (true, _) => HeightState::Proven,
    }
}
