//! Messages to and from a relay, as tables.

use feeds::{
    malformed::Malformed,
    nostr::frame::{self, Filter, RelayMessage},
};

use super::signed;

#[test]
fn messages_to_a_relay() {
    for (message, text) in [
        (
            frame::subscribe(
                "s1",
                &Filter {
                    kinds: vec![30078],
                    authors: vec!["deadbeef".into()],
                    ..Filter::default()
                },
            ),
            r##"["REQ","s1",{"kinds":[30078],"authors":["deadbeef"]}]"##,
        ),
        (
            frame::subscribe(
                "zap-sub",
                &Filter {
                    kinds: vec![9735],
                    recipients: vec!["aabbcc".into()],
                    ..Filter::default()
                },
            ),
            r##"["REQ","zap-sub",{"kinds":[9735],"#p":["aabbcc"]}]"##,
        ),
        (
            frame::subscribe(
                "all",
                &Filter {
                    kinds: vec![1, 2],
                    authors: vec!["a".into()],
                    recipients: vec!["b".into()],
                    since: Some(5),
                    limit: Some(1),
                },
            ),
            r##"["REQ","all",{"kinds":[1,2],"authors":["a"],"#p":["b"],"since":5,"limit":1}]"##,
        ),
        (frame::close("s1"), r#"["CLOSE","s1"]"#),
    ] {
        assert_eq!(message, text);
    }
    let event = signed(5, 1, &[&["t", "x"]], "hello");
    let text = frame::publish(&event);
    let member = |name: &str| text.find(&format!("\"{name}\":")).unwrap();
    let order = [
        "id",
        "pubkey",
        "created_at",
        "kind",
        "tags",
        "content",
        "sig",
    ]
    .map(member);
    assert!(
        text.starts_with(r#"["EVENT",{"id":"#) && order.is_sorted(),
        "{text}"
    );
}

#[test]
fn messages_from_a_relay() {
    #[rustfmt::skip]
    let rows = [
        (r#"["EOSE","sub1"]"#, RelayMessage::EndOfStored { subscription: "sub1".into() }),
        (r#"["NOTICE","rate-limited"]"#, RelayMessage::Notice("rate-limited".into())),
        (r#"["CLOSED","s1","auth-required: no"]"#, RelayMessage::Closed { subscription: "s1".into(), reason: "auth-required: no".into() }),
        (r#"["CLOSED","s1"]"#, RelayMessage::Closed { subscription: "s1".into(), reason: String::new() }),
        (r#"["OK","ab",false,"blocked: no"]"#, RelayMessage::Taken { id: "ab".into(), accepted: false, reason: "blocked: no".into() }),
        (r#"["AUTH","challenge"]"#, RelayMessage::Other),
        (r#"["COUNT","s1",{"count":5}]"#, RelayMessage::Other),
    ];
    for (text, message) in rows {
        assert_eq!(frame::message(text.as_bytes()), Ok(message), "{text}");
    }
    for (text, reason) in [
        ("", "json"),
        ("[", "json"),
        (r#"["EVENT","s1","#, "json"),
        ("not json", "json"),
        ("{}", "message"),
        ("[]", "message"),
        ("[5]", "message"),
        (r#"["EOSE"]"#, "message"),
        (r#"["EVENT","s1"]"#, "message"),
        (r#"["EVENT","s1",5]"#, "message"),
        (r#"["EVENT","s1",{"tags":[[5]]}]"#, "message"),
        (r#"["EVENT","s1",{"tags":["d"]}]"#, "message"),
        (r#"["EVENT","s1",{"created_at":-5}]"#, "message"),
        (r#"["EVENT","s1",{"kind":"1"}]"#, "message"),
        (r#"["EVENT","s1",{"id":"a","id":"b"}]"#, "message"),
    ] {
        assert_eq!(
            frame::message(text.as_bytes()),
            Err(Malformed(reason)),
            "{text}"
        );
    }
    let long = vec![b' '; frame::FRAME_MAX + 1];
    assert_eq!(frame::message(&long), Err(Malformed("too-long")));
    let nested = "[".repeat(100_000);
    assert!(frame::message(nested.as_bytes()).is_err());
}

#[test]
fn an_event_may_be_spread_over_lines() {
    let text = r#"
        [ "EVENT" , "sub1" ,
          { "kind" : 30078, "created_at": 5, "unknown": {"x": [1]},
            "tags" : [ [ "d" , "blockheight" ] ],
            "content" : "870124", "pubkey": "aa", "id": "bb", "sig": "cc" } , "more" ]
    "#;
    let Ok(RelayMessage::Event {
        subscription,
        event,
    }) = frame::message(text.as_bytes())
    else {
        panic!("no event");
    };
    assert_eq!(subscription, "sub1");
    assert_eq!(
        (event.kind, event.created_at, event.content.as_str()),
        (30078, 5, "870124")
    );
    assert_eq!(event.tags, [["d", "blockheight"]]);
    assert_eq!(
        (event.pubkey.as_str(), event.id.as_str(), event.sig.as_str()),
        ("aa", "bb", "cc")
    );
}
