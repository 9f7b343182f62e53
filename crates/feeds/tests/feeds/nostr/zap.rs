//! Zap receipts: amounts, gates of age and repetition.

use feeds::{
    malformed::Malformed,
    nostr::{
        event::VerifiedEvent,
        frame,
        recent::Recent,
        zap::{REMEMBERED, ShownZaps, ZapFeed},
    },
};
use market::{Zap, now::UtcTime, units::Sats};

use super::{AUTHOR, bolt11::invoice, verified};

const NOW: Option<UtcTime> = Some(UtcTime {
    unix_ms: 10_000_000,
});

/// What one event says to a listener who has heard nothing yet.
fn first_heard(event: &VerifiedEvent) -> Result<Option<Zap>, Malformed> {
    ZapFeed::new(&[AUTHOR])
        .unwrap()
        .accept(event, NOW, &mut ShownZaps::default())
}

fn shown(amount: u64, message: &str) -> Result<Option<Zap>, Malformed> {
    Ok(Some(Zap {
        amount: Sats(amount),
        message: message.into(),
    }))
}

#[test]
fn subscription() {
    let request = |now| frame::subscribe("z", &ZapFeed::filter(&[AUTHOR], now));
    assert_eq!(
        request(NOW),
        format!(r##"["REQ","z",{{"kinds":[9735],"#p":["{AUTHOR}"],"since":9100,"limit":1}}]"##)
    );
    assert_eq!(
        request(None),
        format!(r##"["REQ","z",{{"kinds":[9735],"#p":["{AUTHOR}"],"limit":1}}]"##)
    );
    assert!(ZapFeed::new(&[AUTHOR, "npub1"]).is_none());
}

#[test]
fn amounts() {
    let p: &[&str] = &["p", AUTHOR];
    let paid = invoice("lnbc210n");
    let free = invoice("lnbc");
    let request = r#"{"kind":9734,"content":"from the request","tags":[["relays","wss://x"],["amount","42000"]]}"#;
    for (tags, content, expected) in [
        (
            &[
                p,
                &["amount", "21000"],
                &["bolt11", "lnbc210n1pjexample"],
                &["description", r#"{"kind":9734}"#],
                &["preimage", "00"],
            ][..],
            "onward and upward!",
            shown(21, "onward and upward!"),
        ),
        (&[p], "", Err(Malformed("amount"))),
        (&[p, &["bolt11", &paid]], "", shown(21, "")),
        (
            &[
                p,
                &["bolt11", &paid],
                &["description", request],
                &["amount", "1000"],
            ],
            "",
            shown(21, "from the request"),
        ),
        (
            &[
                p,
                &["bolt11", &free],
                &["description", request],
                &["amount", "1000"],
            ],
            "",
            shown(42, "from the request"),
        ),
        (
            &[p, &["description", request], &["amount", "1000"]],
            "mine",
            shown(42, "mine"),
        ),
        (
            &[p, &["description", "oops"], &["amount", "1999"]],
            "",
            shown(1, ""),
        ),
        (&[p, &["amount", "1000"]], "", shown(1, "")),
        (&[p, &["amount", "999"]], "", Ok(None)),
        (&[p, &["amount", "0"]], "", Ok(None)),
        (&[p, &["amount", "-5000"]], "", Err(Malformed("amount"))),
        (&[p, &["amount", ""]], "", Err(Malformed("amount"))),
        (&[p, &["amount"]], "", Err(Malformed("amount"))),
        (
            &[p, &["amount", "99999999999999999999"]],
            "",
            Err(Malformed("amount")),
        ),
        (
            &[&["p", "recipient"], &["amount", "21000"]],
            "",
            Err(Malformed("recipient")),
        ),
        (
            &[&["p"], &["amount", "21000"]],
            "",
            Err(Malformed("recipient")),
        ),
        (&[&["amount", "21000"]], "", Err(Malformed("recipient"))),
    ] {
        let event = verified(9_900, 9735, tags, content);
        assert_eq!(first_heard(&event), expected, "{tags:?}");
    }
    let other_kind = verified(9_900, 1, &[p, &["amount", "21000"]], "");
    assert_eq!(first_heard(&other_kind), Err(Malformed("kind")));
    let long = verified(9_900, 9735, &[p, &["amount", "21000"]], &"ü".repeat(5_000));
    assert_eq!(
        first_heard(&long).unwrap().unwrap().message.chars().count(),
        512
    );
}

#[test]
fn several_recipients_are_listened_for() {
    let [one, other, stranger] = [AUTHOR.to_string(), "ab".repeat(32), "cd".repeat(32)];
    let both = [one.clone(), other.to_uppercase()];
    let request = frame::subscribe("z", &ZapFeed::filter(&both, None));
    assert_eq!(
        request,
        format!(r##"["REQ","z",{{"kinds":[9735],"#p":["{one}","{other}"],"limit":1}}]"##)
    );
    let feed = ZapFeed::new(&both).unwrap();
    for (recipient, is_heard) in [(&one, true), (&other, true), (&stranger, false)] {
        let tags: &[&[&str]] = &[&["p", recipient], &["amount", "21000"]];
        let event = verified(9_900, 9735, tags, "");
        let heard = feed.accept(&event, NOW, &mut nothing());
        assert_eq!(heard.is_ok(), is_heard, "{recipient}");
    }
}

/// A zap of 21 sats with a message that makes its id differ.
fn hear(shown: &mut ShownZaps, created_at: u64, message: &str, now: Option<UtcTime>) -> bool {
    let event = verified(
        created_at,
        9735,
        &[&["p", AUTHOR], &["amount", "21000"]],
        message,
    );
    let feed = ZapFeed::new(&[AUTHOR]).unwrap();
    feed.accept(&event, now, shown).unwrap().is_some()
}

fn nothing() -> ShownZaps {
    ShownZaps::default()
}

#[test]
fn ages() {
    for (created_at, is_shown) in [
        (9_100, true),
        (9_099, false),
        (10_050, true),
        (10_000, true),
        (0, false),
    ] {
        assert_eq!(
            hear(&mut nothing(), created_at, "", NOW),
            is_shown,
            "{created_at}"
        );
        assert!(
            hear(&mut nothing(), created_at, "", None),
            "no clock, no age"
        );
    }
}

#[test]
fn each_of_several_zaps_is_shown_whatever_the_second_and_the_order() {
    let mut shown = nothing();
    for (created_at, message) in [
        (9_500, "first"),
        (9_500, "same second"),
        (9_501, "next"),
        (9_500, "late"),
    ] {
        assert!(hear(&mut shown, created_at, message, NOW), "{message}");
    }
    for (created_at, message) in [(9_500, "first"), (9_500, "same second"), (9_501, "next")] {
        assert!(!hear(&mut shown, created_at, message, NOW), "{message}");
    }
}

#[test]
fn what_was_forgotten_is_not_shown_again() {
    let mut shown = nothing();
    let made = |number: usize| 9_500 + u64::try_from(number).unwrap();
    for number in 0..=REMEMBERED {
        assert!(hear(&mut shown, made(number), "", NOW), "{number}");
    }
    for number in 0..=REMEMBERED {
        assert!(!hear(&mut shown, made(number), "", NOW), "{number}");
    }
    assert!(hear(&mut shown, made(1), "late", NOW), "newer than that");
}

#[test]
fn a_receipt_from_the_future_does_not_silence_others() {
    let mut shown = nothing();
    assert!(hear(&mut shown, 4_000_000_000, "future", NOW));
    assert!(
        !hear(&mut shown, 4_000_000_000, "future", NOW),
        "but it is shown once"
    );
    for number in 0..REMEMBERED {
        assert!(hear(&mut shown, 9_900, &number.to_string(), NOW));
    }
    let later = UtcTime {
        unix_ms: 10_060_000,
    };
    assert!(hear(&mut shown, 10_055, "present", Some(later)));
}

#[test]
fn a_receipt_from_the_future_brings_nothing_back_that_was_forgotten() {
    let mut shown = nothing();
    assert!(hear(&mut shown, 4_000_000_000, "future", NOW));
    // With the last of these it is forgotten, with the next one the first of them.
    for number in 0..REMEMBERED {
        assert!(hear(&mut shown, 9_900, &number.to_string(), NOW));
    }
    assert!(hear(
        &mut shown,
        10_001,
        "next",
        Some(UtcTime {
            unix_ms: 10_001_000
        })
    ));
    let repeated = hear(
        &mut shown,
        9_900,
        "0",
        Some(UtcTime {
            unix_ms: 10_002_000,
        }),
    );
    assert!(!repeated, "a relay sends the first of them again");
}

#[test]
fn a_clock_that_went_back_does_not_silence_others() {
    let mut shown = nothing();
    let ahead = UtcTime {
        unix_ms: 900_000_000,
    };
    for number in 0..=REMEMBERED {
        assert!(hear(&mut shown, 900_000, &number.to_string(), Some(ahead)));
    }
    assert!(hear(&mut shown, 9_990, "right", NOW));
    let last = REMEMBERED.to_string();
    assert!(!hear(&mut shown, 900_000, &last, NOW), "it is known");
}

#[test]
fn two_listeners_show_a_receipt_once() {
    let mut shown = nothing();
    let event = verified(
        9_500,
        9735,
        &[&["p", AUTHOR], &["amount", "21000"]],
        "from two relays",
    );
    let [one, other] = [ZapFeed::new(&[AUTHOR]), ZapFeed::new(&[AUTHOR])].map(Option::unwrap);
    assert!(one.accept(&event, NOW, &mut shown).unwrap().is_some());
    assert!(other.accept(&event, NOW, &mut shown).unwrap().is_none());
}

#[test]
fn repetitions() {
    let mut shown = nothing();
    assert!(hear(&mut shown, 9_500, "a", None));
    assert!(!hear(&mut shown, 9_500, "a", None));
    assert!(hear(&mut shown, 9_500, "b", None));
    assert!(!hear(&mut shown, 9_500, "a", None));
}

#[test]
fn a_bounded_memory_forgets_the_oldest_first() {
    let mut recent: Recent<usize, REMEMBERED> = Recent::default();
    assert!(recent.insert(1));
    assert!(!recent.insert(1));
    let mut recent: Recent<usize, REMEMBERED> = Recent::default();
    assert!((0..=REMEMBERED).all(|id| recent.insert(id)));
    assert!(!recent.insert(REMEMBERED));
    assert!(!recent.insert(REMEMBERED - 1));
    assert!(recent.insert(0));
    let mut recent: Recent<usize, REMEMBERED> = Recent::default();
    assert!((0..3 * REMEMBERED).all(|id| recent.insert(id)));
    assert!((0..2 * REMEMBERED).all(|id| recent.insert(id)));
}
