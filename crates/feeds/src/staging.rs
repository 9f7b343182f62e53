//! Decides which release a clock installs. Releases are staged: by channel, by a share of all clocks, and by a pinned
//! version.

use device::releases::{Release as Seen, ReleaseChannel, ReleaseRule, ReleaseVerdict};
use semver::Version;
use sha2::{Digest, Sha256};

use crate::release::{ListedRelease, is_newer};

/// Buckets of clocks for a staged release.
const NUMBERS: u32 = 100;

/// The bucket of a clock for a release, 0..=99: the first four bytes, big endian, of the SHA-256 of its host name, a
/// space and the version, modulo 100. Each release starts with other clocks, and a larger share includes the clocks of
/// a smaller one.
pub fn number(id: &str, version: &Version) -> u8 {
    let digest = Sha256::digest(format!("{id} {version}"));
    let first = digest.first_chunk().copied().unwrap_or_default();
    u8::try_from(u32::from_be_bytes(first) % NUMBERS).unwrap_or(u8::MAX)
}

/// The properties of this clock that matter for releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here<'a> {
    pub running: &'a Version,
    pub image: &'a str,
    /// Versions that are installed only on request, and why.
    pub excluded: &'a [(Version, ReleaseVerdict)],
}

/// Decides whether the clock installs a release of this version.
pub fn judge(
    rule: &ReleaseRule,
    release: &ListedRelease,
    version: &Version,
    here: &Here<'_>,
) -> ReleaseVerdict {
    let fits_channel = match rule.channel {
        ReleaseChannel::Stable => version.pre.is_empty() && !release.is_prerelease,
        ReleaseChannel::Preview => true,
    };
    // Build metadata does not matter.
    let is_it = |other: &Version| version.cmp_precedence(other).is_eq();
    let fits_pin = rule.pin.is_empty() || Version::parse(&rule.pin).is_ok_and(|pin| is_it(&pin));
    let mut excluded = here.excluded.iter();
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
        let excluded = excluded.find(|(other, _)| is_it(other));
        excluded.map_or(ReleaseVerdict::Taken, |(_, why)| *why)
    }
}

/// The newest release that the clock installs; if there is none, the newest of those that come closest. `None` if no
/// release has a version.
pub fn choose<'a>(
    releases: &'a [ListedRelease],
    rule: &ReleaseRule,
    here: &Here<'_>,
) -> Option<(&'a ListedRelease, Seen)> {
    let versions = releases
        .iter()
        .filter_map(|release| Some((release, release.version()?)));
    let candidates = versions.map(|(release, version)| {
        let verdict = judge(rule, release, &version, here);
        (release, version, verdict)
    });
    let chosen = candidates.max_by(|(_, version, verdict), (_, other, others)| {
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

/// How close a release is to being installed.
fn closeness(verdict: ReleaseVerdict) -> u8 {
    match verdict {
        ReleaseVerdict::NotNewer => 0,
        ReleaseVerdict::Channel => 1,
        ReleaseVerdict::Pin | ReleaseVerdict::Share | ReleaseVerdict::NoImage => 2,
        // The owner may request it.
        ReleaseVerdict::Failed | ReleaseVerdict::Left | ReleaseVerdict::Unsigned => 3,
        ReleaseVerdict::Taken => 4,
    }
}
