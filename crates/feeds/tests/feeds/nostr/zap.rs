//! Zap receipts: amounts, limits of age, and repetition.

use feeds::{
    malformed::Malformed,
    nostr::{
        event::VerifiedEvent,
        frame,
        zap::{REMEMBERED, ShownZaps, ZapFeed},
    },
};
use market::{Zap, now::UtcTime, units::Sats};

use super::{AUTHOR, bolt11::invoice, verified};

const NOW: Option<UtcTime> = Some(UtcTime {
    unix_ms: 10_000_000,
});

/// The zap of an event for a feed without history.
fn first_zap(event: &VerifiedEvent) -> Result<Option<Zap>, Malformed> {
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
    #[rustfmt::skip]
    let rows = [
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
        (&[p, &["bolt11", &paid], &["description", request], &["amount", "1000"]], "", shown(21, "from the request")),
        (&[p, &["bolt11", &free], &["description", request], &["amount", "1000"]], "", shown(42, "from the request")),
        (&[p, &["description", request], &["amount", "1000"]], "mine", shown(42, "mine")),
        (&[p, &["description", "oops"], &["amount", "1999"]], "", shown(1, "")),
        (&[p, &["amount", "1000"]], "", shown(1, "")),
        (&[p, &["amount", "999"]], "", Ok(None)),
        (&[p, &["amount", "0"]], "", Ok(None)),
        (&[p, &["amount", "-5000"]], "", Err(Malformed("amount"))),
        (&[p, &["amount", ""]], "", Err(Malformed("amount"))),
        (&[p, &["amount"]], "", Err(Malformed("amount"))),
        (&[p, &["amount", "99999999999999999999"]], "", Err(Malformed("amount"))),
        (&[&["p", "recipient"], &["amount", "21000"]], "", Err(Malformed("recipient"))),
        (&[&["p"], &["amount", "21000"]], "", Err(Malformed("recipient"))),
        (&[&["amount", "21000"]], "", Err(Malformed("recipient"))),
    ];
    for (tags, content, expected) in rows {
        let event = verified(9_900, 9735, tags, content);
        assert_eq!(first_zap(&event), expected, "{tags:?}");
    }
    let other_kind = verified(9_900, 1, &[p, &["amount", "21000"]], "");
    assert_eq!(first_zap(&other_kind), Err(Malformed("kind")));
    let long = verified(9_900, 9735, &[p, &["amount", "21000"]], &"ü".repeat(5_000));
    assert_eq!(
        first_zap(&long).unwrap().unwrap().message.chars().count(),
        512
    );
}

#[test]
fn several_recipients_are_accepted() {
    let [one, other, unknown] = [AUTHOR.to_string(), "ab".repeat(32), "cd".repeat(32)];
    let both = [one.clone(), other.to_uppercase()];
    let request = frame::subscribe("z", &ZapFeed::filter(&both, None));
    assert_eq!(
        request,
        format!(r##"["REQ","z",{{"kinds":[9735],"#p":["{one}","{other}"],"limit":1}}]"##)
    );
    let feed = ZapFeed::new(&both).unwrap();
    for (recipient, is_accepted) in [(&one, true), (&other, true), (&unknown, false)] {
        let tags: &[&[&str]] = &[&["p", recipient], &["amount", "21000"]];
        let event = verified(9_900, 9735, tags, "");
        let zap = feed.accept(&event, NOW, &mut none_shown());
        assert_eq!(zap.is_ok(), is_accepted, "{recipient}");
    }
}

/// Accepts a zap of 21 sats with a message that makes its id unique; returns whether it is shown.
fn accept(shown: &mut ShownZaps, created_at: u64, message: &str, now: Option<UtcTime>) -> bool {
    let event = verified(
        created_at,
        9735,
        &[&["p", AUTHOR], &["amount", "21000"]],
        message,
    );
    let feed = ZapFeed::new(&[AUTHOR]).unwrap();
    feed.accept(&event, now, shown).unwrap().is_some()
}

fn none_shown() -> ShownZaps {
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
            accept(&mut none_shown(), created_at, "", NOW),
            is_shown,
            "{created_at}"
        );
        assert!(
            accept(&mut none_shown(), created_at, "", None),
            "no clock, no age"
        );
    }
}

#[test]
fn zaps_of_one_second_are_all_shown_in_any_order() {
    let mut shown = none_shown();
    for (created_at, message) in [
        (9_500, "first"),
        (9_500, "same second"),
        (9_501, "next"),
        (9_500, "late"),
    ] {
        assert!(accept(&mut shown, created_at, message, NOW), "{message}");
    }
    for (created_at, message) in [(9_500, "first"), (9_500, "same second"), (9_501, "next")] {
        assert!(!accept(&mut shown, created_at, message, NOW), "{message}");
    }
}

#[test]
fn a_dropped_receipt_is_not_shown_again() {
    let mut shown = none_shown();
    let made = |number: usize| 9_500 + u64::try_from(number).unwrap();
    for number in 0..=REMEMBERED {
        assert!(accept(&mut shown, made(number), "", NOW), "{number}");
    }
    for number in 0..=REMEMBERED {
        assert!(!accept(&mut shown, made(number), "", NOW), "{number}");
    }
    assert!(
        accept(&mut shown, made(1), "late", NOW),
        "the receipt is newer than the dropped ones"
    );
}

#[test]
fn a_receipt_from_the_future_does_not_suppress_others() {
    let mut shown = none_shown();
    assert!(accept(&mut shown, 4_000_000_000, "future", NOW));
    assert!(
        !accept(&mut shown, 4_000_000_000, "future", NOW),
        "but it is shown once"
    );
    for number in 0..REMEMBERED {
        assert!(accept(&mut shown, 9_900, &number.to_string(), NOW));
    }
    let later = UtcTime {
        unix_ms: 10_060_000,
    };
    assert!(accept(&mut shown, 10_055, "present", Some(later)));
}

#[test]
fn a_receipt_from_the_future_brings_no_dropped_one_back() {
    let mut shown = none_shown();
    assert!(accept(&mut shown, 4_000_000_000, "future", NOW));
    // The last of these drops the future receipt, and the next one the first of these.
    for number in 0..REMEMBERED {
        assert!(accept(&mut shown, 9_900, &number.to_string(), NOW));
    }
    assert!(accept(
        &mut shown,
        10_001,
        "next",
        Some(UtcTime {
            unix_ms: 10_001_000
        })
    ));
    let repeated = accept(
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
fn a_clock_that_was_set_back_suppresses_no_receipt() {
    let mut shown = none_shown();
    let ahead = UtcTime {
        unix_ms: 900_000_000,
    };
    for number in 0..=REMEMBERED {
        assert!(accept(
            &mut shown,
            900_000,
            &number.to_string(),
            Some(ahead)
        ));
    }
    assert!(accept(&mut shown, 9_990, "right", NOW));
    let last = REMEMBERED.to_string();
    assert!(
        !accept(&mut shown, 900_000, &last, NOW),
        "the receipt was shown before"
    );
}

#[test]
fn two_feeds_show_a_receipt_once() {
    let mut shown = none_shown();
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
