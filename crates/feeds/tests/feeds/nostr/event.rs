//! Verification of events, and all kinds of forgery.

use feeds::{
    malformed::Malformed,
    nostr::{
        event::{NostrEvent, VerifiedEvent},
        frame::{RelayMessage, message},
    },
};
use proptest::{prelude::*, sample::Index};
use serde_json::json;

use super::{AUTHOR, signed};
use crate::support::hex;

fn tags(tags: &[&[&str]]) -> Vec<Vec<String>> {
    let owned = |tag: &&[&str]| tag.iter().map(|part| (*part).to_owned()).collect();
    tags.iter().map(owned).collect()
}

fn event_a() -> NostrEvent {
    NostrEvent {
        id: "b95087a58d5bec716ba3a005f1b5be89f95cd304a53d9bcb926ddc717353894d".into(),
        pubkey: AUTHOR.into(),
        created_at: 1_714_000_000,
        kind: 30078,
        tags: tags(&[&["d", "blockheight"]]),
        content: "870124".into(),
        sig: "93475a1ca8e579cb6025d9746fd4a6bbbcd34145732f61e77425c23d96c42c13\
              b1f85a8effa4d7f4c30f9e6f89f3a8d82f42db81ef49123806a6b1194a59d943"
            .into(),
    }
}

fn event_b() -> NostrEvent {
    NostrEvent {
        id: "9b1c9326ebcbca59c629615686a001b993135208f054f308770a00595eaa301f".into(),
        pubkey: AUTHOR.into(),
        created_at: 1_714_000_100,
        kind: 9735,
        tags: tags(&[
            &["p", "recipient"],
            &["amount", "21000"],
            &["bolt11", "lnbc210n1pjexample"],
        ]),
        content: "thanks!".into(),
        sig: "d13cf3bbae0512e16666a767e842bc149448d1bcc9ef95607e4813850ca79064\
              8d873cac934644a2ba941d7aefb0ec9325a927a3a7fd3d07c4330ad1c98470d5"
            .into(),
    }
}

#[test]
fn signed_events_verify() {
    let a = VerifiedEvent::verify(event_a()).unwrap();
    assert_eq!(
        (a.kind(), a.created_at(), a.content()),
        (30078, 1_714_000_000, "870124")
    );
    assert_eq!(a.tag_value("d"), Some("blockheight"));
    assert_eq!(hex(a.author()), AUTHOR);
    assert_eq!(hex(a.id()), event_a().id);
    let b = VerifiedEvent::verify(event_b()).unwrap();
    assert_eq!(b.tag_value("bolt11"), Some("lnbc210n1pjexample"));
    assert_eq!(b.tag("amount").unwrap(), ["21000"]);
    assert_eq!(b.tag_value("e"), None);
    let upper = NostrEvent {
        id: event_a().id.to_uppercase(),
        pubkey: event_a().pubkey.to_uppercase(),
        sig: event_a().sig.to_uppercase(),
        ..event_a()
    };
    assert_eq!(VerifiedEvent::verify(upper), Ok(a));
}

#[test]
fn forged_events_do_not_verify() {
    let shorter = |text: &str| text[1..].to_owned();
    let no_hex = |text: &str| format!("g{}", &text[1..]);
    let flipped = |text: &str| {
        let last = if text.ends_with('0') { '1' } else { '0' };
        format!("{}{last}", &text[..text.len() - 1])
    };
    for a in [event_a(), event_b()] {
        #[rustfmt::skip]
        let rows = [
            (NostrEvent { content: "870125".into(),..a.clone() }, "id"),
            (NostrEvent { tags: tags(&[&["d", "medianFee"]]),..a.clone() }, "id"),
            (NostrEvent { pubkey: flipped(&a.pubkey),..a.clone() }, "id"),
            (NostrEvent { sig: flipped(&a.sig),..a.clone() }, "signature"),
            (NostrEvent { sig: "00".repeat(64),..a.clone() }, "signature"),
            (NostrEvent { id: shorter(&a.id),..a.clone() }, "hex"),
            (NostrEvent { pubkey: no_hex(&a.pubkey),..a.clone() }, "hex"),
            (NostrEvent { sig: shorter(&a.sig),..a.clone() }, "hex"),
            (NostrEvent { kind: 95271,..a.clone() }, "kind"),
            (NostrEvent { tags: vec![vec![]],..a.clone() }, "tags"),
            (NostrEvent::default(), "hex"),
        ];
        for (forged, reason) in rows {
            assert_eq!(
                VerifiedEvent::verify(forged.clone()),
                Err(Malformed(reason)),
                "{forged:?}"
            );
        }
    }
}

#[test]
fn a_key_off_the_curve_signs_nothing() {
    // The id is valid, so only the key is wrong.
    let key = "ff".repeat(32);
    let canonical = format!(r#"[0,"{key}",5,1,[],""]"#);
    let id = sha256(canonical.as_bytes());
    let forged = NostrEvent {
        id: hex(&id),
        pubkey: key,
        created_at: 5,
        kind: 1,
        sig: "11".repeat(64),
        ..NostrEvent::default()
    };
    assert_eq!(VerifiedEvent::verify(forged), Err(Malformed("signature")));
}

#[test]
fn the_id_is_the_hash_of_the_canonical_form() {
    let canonical = format!(r#"[0,"{AUTHOR}",1714000000,30078,[["d","blockheight"]],"870124"]"#);
    assert_eq!(hex(&sha256(canonical.as_bytes())), event_a().id);
    let event = signed(9, 1, &[], "a\"b\\c\nd\re\tf\u{8}g\u{c}hü");
    let canonical = format!(r#"[0,"{AUTHOR}",9,1,[],"a\"b\\c\nd\re\tf\bg\fhü"]"#);
    assert_eq!(hex(&sha256(canonical.as_bytes())), event.id);
    // A relay may escape more characters than the canonical form.
    let escaped = json!(["EVENT", "s", event])
        .to_string()
        .replace('ü', "\\u00fc");
    let Ok(RelayMessage::Event { event: read, .. }) = message(escaped.as_bytes()) else {
        panic!("{escaped}");
    };
    assert!(VerifiedEvent::verify(read).is_ok());
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).into()
}

proptest! {
    #[test]
    fn another_library_verifies_the_same_events(
        kind in any::<u16>(),
        created_at in 0..1u64 << 53,
        content in any::<String>(),
        tag in proptest::collection::vec(any::<String>(), 1..4),
        member in 0..8usize,
        at in any::<Index>(),
    ) {
        let tag: Vec<&str> = tag.iter().map(String::as_str).collect();
        let mut event = signed(created_at, kind, &[&tag], &content);
        // Half of the events are changed after signing.
        let hex_member = match member {
            0 => Some(&mut event.id),
            1 => Some(&mut event.pubkey),
            2 => Some(&mut event.sig),
            3 => { event.content.push('x'); None }
            _ => None,
        };
        if let Some(text) = hex_member {
            let at = at.index(text.len());
            let other = if &text[at..=at] == "0" { "1" } else { "0" };
            text.replace_range(at..=at, other);
        }
        let text = serde_json::to_string(&event).unwrap();
        let is_valid = serde_json::from_str::<::nostr::event::Event>(&text)
            .is_ok_and(|event| event.verify().is_ok());
        prop_assert_eq!(VerifiedEvent::verify(event).is_ok(), is_valid, "{}", text);
    }
}
