//! Which release a clock takes: releases are handed out in stages, to a channel, to a share of all clocks, to those
//! that wait for just this version.

use device::releases::{Channel, Release as Seen, Rule, Verdict};
use semver::Version;
use sha2::{Digest, Sha256};

use crate::release::{Release, is_newer};

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

/// Tells whether a clock that runs a version takes another one.
pub fn judge(rule: &Rule, version: &Version, running: &Version) -> Verdict {
    let fits_channel = match rule.channel {
        Channel::Stable => version.pre.is_empty(),
        Channel::Preview => true,
    };
    // Builds of one version are one release.
    let is_pinned = |pin: &Version| version.cmp_precedence(pin).is_eq();
    let fits_pin =
        rule.pin.is_empty() || Version::parse(&rule.pin).is_ok_and(|pin| is_pinned(&pin));
    if !is_newer(version, running) {
        Verdict::NotNewer
    } else if !fits_channel {
        Verdict::Channel
    } else if !fits_pin {
        Verdict::Pin
    } else if number(&rule.id, version) >= rule.share {
        Verdict::Share
    } else {
        Verdict::Taken
    }
}

/// The newest release that a clock takes; if it takes none, the newest of those that come closest to it. None if none
/// names a version.
pub fn choose<'a>(
    releases: &'a [Release],
    rule: &Rule,
    running: &Version,
) -> Option<(&'a Release, Seen)> {
    let versions = releases
        .iter()
        .filter_map(|release| Some((release, release.version()?)));
    let judged = versions.map(|(release, version)| {
        let verdict = judge(rule, &version, running);
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
fn closeness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NotNewer => 0,
        Verdict::Channel => 1,
        Verdict::Pin | Verdict::Share | Verdict::Failed => 2,
        Verdict::Taken => 3,
    }
}
