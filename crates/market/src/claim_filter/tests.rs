//! Claims against a table of heights and times.

use super::*;

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

fn at(secs: u64, unix_secs: Option<u64>) -> Now {
    Now {
        uptime: Duration::from_secs(secs),
        utc: unix_secs.and_then(|secs| UtcTime::plausible(i64::try_from(secs).ok()? * 1000)),
    }
}

/// A height that was reported at the start.
fn known(height: u32) -> Option<Datum<u32>> {
    (height > 0).then_some(Datum {
        value: height,
        source: SourceId::Relay,
        seen: Seen::At(Duration::ZERO),
    })
}

fn check(before: u32, secs: u64, claimed: u32, verdict: ClaimVerdict) {
    let mut filter = ClaimFilter::default();
    let known = known(before);
    let checked = filter.check(known.as_ref(), SourceId::Relay, claimed, at(secs, None));
    assert_eq!(checked, verdict, "{before} -> {claimed} after {secs} s");
}

#[test]
fn heights_are_checked_as_in_the_table() {
    for claimed in [1, 900_000, 2_000_000] {
        check(0, 0, claimed, ClaimVerdict::First);
    }
    for before in [0, 1, 900_000, 4_000_000_000] {
        check(before, 0, 0, ClaimVerdict::Lower);
    }
    check(900_000, 0, 900_000, ClaimVerdict::Same);
    for claimed in [900_001, 900_010, 900_050, 900_100] {
        check(900_000, 0, claimed, ClaimVerdict::Block);
    }
    for (secs, claimed, verdict) in [
        (599, 900_101, ClaimVerdict::Ahead),
        (600, 900_101, ClaimVerdict::CatchUp),
        (60 * MINUTE, 900_106, ClaimVerdict::CatchUp),
        (60 * MINUTE, 900_107, ClaimVerdict::Ahead),
        (365 * DAY, 900_000 + 365 * 144, ClaimVerdict::CatchUp),
        (365 * DAY, 960_000, ClaimVerdict::Ahead),
        (0, 4_000_000_000, ClaimVerdict::Ahead),
    ] {
        check(900_000, secs, claimed, verdict);
    }
    for claimed in [899_999, 899_994, 800_000, 1] {
        check(900_000, 0, claimed, ClaimVerdict::Lower);
    }
}

/// Checks claims of (source, height, s), all ahead of time. All but the last one must be refused.
fn check_claims(claims: &[(SourceId, u32, u64)], accepted: bool) {
    let mut filter = ClaimFilter::default();
    let known = known(900_000);
    let checked: alloc::vec::Vec<ClaimVerdict> = claims
        .iter()
        .map(|&(source, height, secs)| filter.check(known.as_ref(), source, height, at(secs, None)))
        .collect();
    let (last, before) = checked.split_last().expect("there is a claim");
    assert!(
        before.iter().all(|verdict| *verdict == ClaimVerdict::Ahead),
        "{claims:?}: {checked:?}"
    );
    let expected = if accepted { ClaimVerdict::CatchUp } else { ClaimVerdict::Ahead };
    assert_eq!(*last, expected, "{claims:?}");
}

#[test]
fn a_claim_ahead_of_time_needs_a_confirmation() {
    let (relay, nostr) = (SourceId::Relay, SourceId::Nostr);
    #[rustfmt::skip]
    let rows = [
        (&[(relay, 901_000, 0)][..], false),
        (&[(relay, 901_000, 0), (nostr, 901_001, 1)], true),
        (&[(relay, 901_000, 0), (nostr, 901_101, 1)], false),
        // Growing over time.
        (&[(relay, 901_000, 0), (relay, 901_001, 60), (relay, 901_002, 120)], true),
        (&[(relay, 901_000, 0), (relay, 901_000, 60), (relay, 901_000, 120)], false),
        // A counter.
        (&[(relay, 901_000, 0), (relay, 901_001, 1), (relay, 901_002, 2)], false),
        (&[(relay, 901_000, 0), (relay, 901_001, 1), (relay, 901_002, 60), (relay, 901_003, 61), (relay, 901_004, 120)], true),
        // Faster than a chain grows.
        (&[(relay, 901_000, 0), (relay, 902_000, 60), (relay, 903_000, 120)], false),
        (&[(relay, 901_002, 0), (relay, 901_001, 60), (relay, 901_002, 120)], false),
        // An impossible height is not confirmed.
        (&[(relay, u32::MAX, 0), (nostr, u32::MAX, 1)], false),
    ];
    for (claims, accepted) in rows {
        check_claims(claims, accepted);
    }
}

#[test]
fn an_absurd_known_height_is_corrected() {
    let mut filter = ClaimFilter::default();
    let absurd = known(2_000_000);
    let mut check = |height| filter.check(absurd.as_ref(), SourceId::Relay, height, at(0, None));
    assert_eq!(check(900_000), ClaimVerdict::Lower);
    assert_eq!(check(900_000), ClaimVerdict::Lower);
    assert_eq!(check(900_001), ClaimVerdict::Lower);
    assert_eq!(check(900_002), ClaimVerdict::Corrected);
}

#[test]
fn a_height_of_an_earlier_run_is_replaced_by_that_of_another_chain() {
    let earlier = Datum {
        value: 950_000,
        source: SourceId::Relay,
        seen: Seen::Before(None),
    };
    let check = |claimed| {
        let mut filter = ClaimFilter::default();
        filter.check(Some(&earlier), SourceId::Relay, claimed, at(0, None))
    };
    assert_eq!(check(949_999), ClaimVerdict::Lower);
    assert_eq!(check(800_000), ClaimVerdict::Corrected);
    assert_eq!(check(950_001), ClaimVerdict::Block);
}
