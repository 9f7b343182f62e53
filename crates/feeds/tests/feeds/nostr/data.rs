//! Data events: contents, staleness of each slot, authors.

use device::secret::Secret;
use feeds::{
    malformed::Malformed,
    nostr::{
        data::DataFeed,
        event::{Signer, VerifiedEvent},
        frame,
    },
};
use market::Observation;

use super::{AUTHOR, verified};
use crate::support::{fee, precise, price};

fn feed() -> DataFeed {
    DataFeed::new(AUTHOR).unwrap()
}

#[test]
fn subscription() {
    let request = frame::subscribe("x", &DataFeed::filter(&AUTHOR.to_uppercase()));
    assert_eq!(
        request,
        format!(r#"["REQ","x",{{"kinds":[30078],"authors":["{AUTHOR}"]}}]"#)
    );
    assert!(DataFeed::new("").is_none());
    assert!(DataFeed::new(&AUTHOR[1..]).is_none());
}

#[test]
fn contents() {
    #[rustfmt::skip]
    let rows = [
        ("blockheight", "870124", Ok(vec![Observation::Block(870_124)])),
        ("blockheight", "4294967295", Ok(vec![Observation::Block(u32::MAX)])),
        ("blockheight", "4294967296", Err("height")),
        ("blockheight", "-1", Err("height")),
        ("blockheight", " 1", Err("height")),
        ("blockheight", "", Err("height")),
        ("medianFee", "12.75", Ok(vec![fee("13"), precise("12.75")])),
        ("medianFee", "12.5", Ok(vec![fee("13"), precise("12.5")])),
        ("medianFee", "+2.4", Ok(vec![fee("2"), precise("2.4")])),
        ("medianFee", "-2", Err("fee")),
        ("medianFee", "1e1", Err("fee")),
        ("medianFee", "1.2.3", Err("fee")),
        ("medianFee", "abc", Err("fee")),
        ("medianFee", "", Err("fee")),
        ("medianFee", ".", Err("fee")),
        ("price:USD", "64321.50", Ok(vec![price("USD", "64321.50")])),
        ("price:USD", "", Err("price")),
        ("price:USD", "0", Err("price")),
        ("price:USD", "soon", Err("price")),
        ("price:", "5", Err("slot")),
        ("price:usd", "5", Err("slot")),
        ("", "5", Err("slot")),
        ("weather", "5", Ok(vec![])),
    ];
    for (slot, content, observations) in rows {
        let event = verified(
            100,
            30078,
            &[&["d", slot], &["source", "priceAggregate"]],
            content,
        );
        assert_eq!(
            feed().accept(&event),
            observations.map_err(Malformed),
            "{slot} {content}"
        );
    }
    assert_eq!(
        feed().accept(&verified(100, 30078, &[], "5")),
        Err(Malformed("slot"))
    );
    assert_eq!(
        feed().accept(&verified(100, 30078, &[&["d"]], "5")),
        Err(Malformed("slot"))
    );
    let other_kind = verified(100, 1, &[&["d", "blockheight"]], "870124");
    assert_eq!(feed().accept(&other_kind), Err(Malformed("kind")));
}

#[test]
fn older_events_of_a_slot_are_ignored() {
    let mut feed = feed();
    let mut accept = |created_at, slot, content| {
        feed.accept(&verified(created_at, 30078, &[&["d", slot]], content))
    };
    assert_eq!(
        accept(100, "blockheight", "7"),
        Ok(vec![Observation::Block(7)])
    );
    assert_eq!(accept(99, "blockheight", "6"), Ok(vec![]));
    assert_eq!(
        accept(100, "blockheight", "8"),
        Ok(vec![Observation::Block(8)]),
        "equal is not older"
    );
    assert_eq!(
        accept(50, "price:USD", "5"),
        Ok(vec![price("USD", "5")]),
        "each slot has its own age"
    );
    assert_eq!(accept(40, "price:EUR", "4"), Ok(vec![price("EUR", "4")]));
    assert_eq!(accept(200, "blockheight", "oops"), Err(Malformed("height")));
    assert_eq!(
        accept(150, "blockheight", "9"),
        Ok(vec![Observation::Block(9)]),
        "what was not read has no age"
    );
}

#[test]
fn a_repeated_event_counts_once() {
    let mut feed = feed();
    let mut accept = |created_at, content| {
        feed.accept(&verified(
            created_at,
            30078,
            &[&["d", "blockheight"]],
            content,
        ))
    };
    assert_eq!(accept(100, "7"), Ok(vec![Observation::Block(7)]));
    assert_eq!(accept(100, "7"), Ok(vec![]));
    assert_eq!(accept(100, "8"), Ok(vec![Observation::Block(8)]));
    assert_eq!(accept(100, "7"), Ok(vec![]));
}

#[test]
fn other_authors_are_refused() {
    let other_author = Signer::new(&Secret::new("01".repeat(32))).unwrap();
    let claim = other_author.sign(100, 30078, &[&["d", "blockheight"]], "1".into(), &[0; 32]);
    let event = VerifiedEvent::verify(claim).unwrap();
    assert_eq!(feed().accept(&event), Err(Malformed("author")));
}
