//! The verdict on the height: what is shown, and how good it is; made of the voices and of nothing else.
//!
//! A claim never overrules a proof: it may be somewhat ahead of it for a while, because a number travels faster than
//! what proves it. Who says something else for longer makes the height disputed.

use core::time::Duration;

use chain::anchor::Anchor;

use super::{
    source_id::SourceId,
    truth::HeightState,
    until::Until,
    values::{Datum, Seen},
    voices::{ChainPosition, HeightClaim, Proof, ProofOrigin, Tip, Trail, Voices},
};
use crate::{
    limits::{CONTEST_TIME, LEAD_BLOCKS, RIVAL_TIME, TIP_AGE_MAX},
    now::Now,
};

/// The claim that the rules for claims let through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Believed {
    /// The newest one, or that of an earlier run.
    pub datum: Option<Datum<u32>>,
    /// Those of this run.
    pub trail: Trail,
}

impl Believed {
    /// Believes a height from now on.
    pub fn take(&mut self, source: SourceId, height: u32, uptime: Duration) {
        let datum = Datum {
            value: height,
            source,
            seen: Seen::At(uptime),
        };
        self.take_datum(datum, uptime);
    }

    /// The same of a height that was learned at another moment.
    pub fn take_datum(&mut self, datum: Datum<u32>, uptime: Duration) {
        self.trail.say(datum.value, uptime);
        self.datum = Some(datum);
    }
}

/// The height that is shown, how well it is proven, and until when that holds without new data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeightVerdict {
    /// The height that is shown.
    pub shown: Option<Datum<u32>>,
    /// How good it is.
    pub state: HeightState,
    /// Somebody says something else for too long, or it cannot be.
    pub is_contested: bool,
    /// It was said in this run.
    pub is_of_this_run: bool,
    /// Uptime at which the verdict is another one; none if only voices change it.
    pub until: Option<Duration>,
}

/// What may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admits {
    /// Claims as well as proofs.
    Claims,
    /// Proofs alone.
    Proofs,
}

/// The best block that is proven, and who has proven it; no lower than one that an earlier run has proven and that comes
/// after it.
pub fn proof(voices: &Voices, floor: Option<Tip>) -> Option<(SourceId, Proof)> {
    let (source, proof) = voices.best()?;
    Some((source, proof.raised_to(floor)))
}

/// Makes the verdict. A height below an anchor is contested by every chain that has it; none where there is no chain.
pub fn height(
    voices: &Voices,
    floor: Option<Tip>,
    believed: &Believed,
    anchor: Option<&Anchor>,
    admits: Admits,
    now: Now,
) -> HeightVerdict {
    let mut until = Until::after(now.uptime);
    // What is believed without a proof counts only where there is none.
    let proof = proof(voices, floor).filter(|(_, proof)| match admits {
        Admits::Claims => true,
        Admits::Proofs => proof.standing != ChainPosition::Loose,
    });
    let proof = proof.as_ref().map(|(source, proof)| (*source, proof));
    let lead = match admits {
        Admits::Claims => proof.and_then(|(_, proof)| lead(voices, proof, &mut until)),
        Admits::Proofs => None,
    };
    let (shown, trail) = match (lead, proof, admits) {
        (Some(claim), ..) => (claim.datum(), &claim.trail),
        (None, Some((source, proof)), _) => (Some(proof.datum(source)), &proof.trail),
        (None, None, Admits::Claims) => (believed.datum.clone(), &believed.trail),
        (None, None, Admits::Proofs) => (None, &believed.trail),
    };
    let best = proof.map(|(_, proof)| proof);
    let proof = proof.filter(|_| lead.is_none());
    let mut is_contested = false;
    let state = match &shown {
        None => HeightState::Unknown,
        Some(shown) => {
            let made = proof.map(|(_, proof)| proof.time);
            let is_below =
                proof.is_none() && anchor.is_some_and(|anchor| shown.value + 1 < anchor.next);
            is_contested = contested(voices, best, trail, &mut until) || is_below;
            if is_old(shown, trail, made, now, &mut until) {
                HeightState::Stale
            } else if is_contested {
                HeightState::Disputed
            } else {
                match proof {
                    None => HeightState::Claimed,
                    // Without the time a block may be from the future.
                    Some((_, proof)) if now.utc.is_some() && is_agreed(voices, proof) => {
                        HeightState::Proven
                    }
                    Some(_) => HeightState::Alone,
                }
            }
        }
    };
    HeightVerdict {
        shown,
        state,
        is_contested,
        is_of_this_run: trail.since().is_some(),
        until: until.first(),
    }
}

/// The claim that is just ahead of what is proven, the highest one; a number travels faster than what proves it.
fn lead<'a>(voices: &'a Voices, proof: &Proof, until: &mut Until) -> Option<&'a HeightClaim> {
    let ahead = proof.height() + 1..=proof.height().saturating_add(LEAD_BLOCKS);
    let height = |claim: &HeightClaim| claim.trail.height();
    let is_ahead =
        |claim: &&HeightClaim| height(claim).is_some_and(|height| ahead.contains(&height));
    let proven = proof.trail.since().unwrap_or_default();
    let mut best: Option<&HeightClaim> = None;
    for claim in voices.claims().filter(is_ahead) {
        // Who falls back in between does not begin anew.
        let above = claim.trail.above_since(proof.height(), proven);
        let apart = claim.trail.apart_since(&proof.trail);
        let since = above.into_iter().chain(apart).min();
        let is_over = since.is_some_and(|since| until.is_over(since + CONTEST_TIME));
        if !is_over && best.is_none_or(|best| height(claim) > height(best)) {
            best = Some(claim);
        }
    }
    best
}

/// Tells whether the owner's node has a block, or two others have it.
fn is_agreed(voices: &Voices, proof: &Proof) -> bool {
    let is_node = |origin: ProofOrigin| origin.source == SourceId::Node;
    voices.with(proof.tip()).any(is_node) || voices.with(proof.tip()).count() > 1
}

/// Tells whether somebody has said something else than what is shown for too long.
fn contested(voices: &Voices, best: Option<&Proof>, shown: &Trail, until: &mut Until) -> bool {
    let claims = voices.claims().map(|claim| (&claim.trail, CONTEST_TIME));
    // Who has an older block of the chain that is kept says nothing against it.
    let strangers = voices
        .present()
        .filter(|proof| proof.standing == ChainPosition::Loose);
    let proofs = strangers.map(|proof| (&proof.trail, RIVAL_TIME));
    let mut is_contested = false;
    for (voice, patience) in claims.chain(proofs) {
        // What is known from an earlier run has said nothing yet.
        let since = match shown.height() {
            Some(_) => voice.apart_since(shown),
            None => voice.since(),
        };
        is_contested |= since.is_some_and(|since| until.is_over(since + patience));
    }
    let hashes = best.map(|best| (best.hash, best.height()));
    for rival in voices.present() {
        let is_rival =
            hashes.is_some_and(|(hash, height)| rival.hash != hash && is_as_high(rival, height));
        let since = rival.trail.since().filter(|_| is_rival);
        is_contested |= since.is_some_and(|since| until.is_over(since + RIVAL_TIME));
    }
    is_contested
}

/// Tells whether a block could stand in the place of the best one.
fn is_as_high(rival: &Proof, best: u32) -> bool {
    match rival.standing {
        ChainPosition::InChain | ChainPosition::Loose => rival.height() == best,
        ChainPosition::Beside => rival.height() >= best,
    }
}

/// Tells whether nobody has said anything new for too long.
fn is_old(
    shown: &Datum<u32>,
    trail: &Trail,
    made: Option<u32>,
    now: Now,
    until: &mut Until,
) -> bool {
    let Some(since) = trail.since() else {
        return true;
    };
    // The age of the value, and the time since a source of this run said something new: both count.
    let by_age = shown.old_from(TIP_AGE_MAX, now);
    let by_age = by_age.is_some_and(|old| until.is_over(old));
    let by_voice = until.is_over(since + TIP_AGE_MAX);
    let left = now.utc.zip(made).map(|(utc, made)| {
        let fresh_ms = i64::from(made) * 1000 + TIP_AGE_MAX.as_millis() as i64;
        Duration::from_millis(fresh_ms.saturating_sub(utc.unix_ms).max(0).unsigned_abs())
    });
    let by_time = left.is_some_and(|left| until.is_over(now.uptime + left));
    by_age || by_voice || by_time
}
