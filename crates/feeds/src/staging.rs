//! Which release a clock takes: releases are handed out in stages, to a channel, to a share of all clocks, to those
//! that wait for just this version.

use device::releases::{Release as Seen, ReleaseChannel, ReleaseRule, ReleaseVerdict};
use semver::Version;
use sha2::{Digest, Sha256};

use crate::release::{ListedRelease, is_newer};

/// Numbers that a clock can have for a release.
const NUMBERS: u32 = 100;

/// The number of a clock for a release, 0..=99: the first four bytes, big end first, of the SHA-256 of its host name, a
/// space and the version, modulo 100. So each release begins with other clocks, and a clock that was among the first
/// tenth is among the first half.
pub fn number(id: &str, version: &Version) -> u8 {
    let digest = Sha256::digest(format!("{id} {version}"));
    let first = digest.first_chunk().copied().unwrap_or_default();
    u8::try_from(u32::from_be_bytes(first) % NUMBERS).unwrap_or(u8::MAX)
}

/// A clock, as far as it matters for releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here<'a> {
    /// The version that runs.
    pub running: &'a Version,
    /// Name of the image that is for it.
    pub image: &'a str,
    /// Versions that are taken only if somebody asks for them, and why.
    pub shunned: &'a [(Version, ReleaseVerdict)],
}

/// Tells whether a clock takes a release of this version.
pub fn judge(
    rule: &ReleaseRule,
    release: &ListedRelease,
    version: &Version,
    here: &Here<'_>,
) -> ReleaseVerdict {
    let fits_channel = match rule.channel {
        ReleaseChannel::Stable => version.pre.is_empty() && !release.is_preview,
        ReleaseChannel::Preview => true,
    };
    // Builds of one version are one release.
    let is_it = |other: &Version| version.cmp_precedence(other).is_eq();
    let fits_pin = rule.pin.is_empty() || Version::parse(&rule.pin).is_ok_and(|pin| is_it(&pin));
    let mut shunned = here.shunned.iter();
    if !is_newer(version, here.running) {
        ReleaseVerdict::NotNewer
    } else if !fits_channel {
        ReleaseVerdict::Channel
    } else if !fits_pin {
        ReleaseVerdict::Pin
    } else if number(&rule.id, version) >= rule.share {
        ReleaseVerdict::Share
    } else if release.image(here.image).is_none() {
        ReleaseVerdict::NoImage
    } else {
        let shunned = shunned.find(|(other, _)| is_it(other));
        shunned.map_or(ReleaseVerdict::Taken, |(_, why)| *why)
    }
}

/// The newest release that a clock takes; if it takes none, the newest of those that come closest to it. None if none
/// names a version.
pub fn choose<'a>(
    releases: &'a [ListedRelease],
    rule: &ReleaseRule,
    here: &Here<'_>,
) -> Option<(&'a ListedRelease, Seen)> {
    let versions = releases
        .iter()
        .filter_map(|release| Some((release, release.version()?)));
    let judged = versions.map(|(release, version)| {
        let verdict = judge(rule, release, &version, here);
        (release, version, verdict)
    });
    let chosen = judged.max_by(|(_, version, verdict), (_, other, others)| {
        let by_verdict = closeness(*verdict).cmp(&closeness(*others));
        by_verdict.then_with(|| version.cmp_precedence(other))
    });
    chosen.map(|(release, version, verdict)| {
        let seen = Seen {
            number: number(&rule.id, &version),
            version: version.to_string(),
            title: release.title.clone(),
            page: release.page.clone(),
            verdict,
        };
        (release, seen)
    })
}

/// How close a release is to being taken.
fn closeness(verdict: ReleaseVerdict) -> u8 {
    match verdict {
        ReleaseVerdict::NotNewer => 0,
        ReleaseVerdict::Channel => 1,
        ReleaseVerdict::Pin | ReleaseVerdict::Share | ReleaseVerdict::NoImage => 2,
        // That one is taken if somebody asks for it.
        ReleaseVerdict::Failed | ReleaseVerdict::Left | ReleaseVerdict::Unsigned => 3,
        ReleaseVerdict::Taken => 4,
    }
}
