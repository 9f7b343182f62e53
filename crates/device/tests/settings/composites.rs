//! Composite keys except `screens`.

use device::{
    request::Patch,
    secret::Secret,
    settings::{
        Settings,
        patch::{self, Catalogue},
    },
};
use market::units::Currency;
use serde_json::{Value, json};

use crate::{
    bench,
    patching::{after, check, outcome},
};

#[test]
fn colours_follow_the_polarity() {
    let colours = |body| {
        let document = bench::get(&after(&[body]));
        ["invertedColor", "fgColor", "bgColor"].map(|name| document[name].clone())
    };
    let dark_on_light = [json!(false), json!(0), json!(0xFFFF)];
    let light_on_dark = [json!(true), json!(0xFFFF), json!(0)];
    assert_eq!(colours("{}"), dark_on_light);
    assert_eq!(colours(r#"{"invertedColor": true}"#), light_on_dark);
    assert_eq!(colours(r#"{"invertedColor": false}"#), dark_on_light);
    check(&[
        (r#"{"invertedColor": 1}"#, "invertedColor:bad_type"),
        (r#"{"invertedColor": null}"#, "invertedColor:bad_type"),
    ]);
}

#[test]
fn the_period_is_in_minutes() {
    let seconds =
        |minutes: &str| after(&[&format!(r#"{{"timePerScreen": {minutes}}}"#)]).timer_seconds;
    let rows = [
        ("0", 0),
        ("1", 60),
        ("0.5", 30),
        ("2.3333333333333335", 140),
        ("60", 3600),
        ("61", 3600),
        ("1e9", 3600),
    ];
    for (minutes, expected) in rows {
        assert_eq!(seconds(minutes), expected, "{minutes}");
    }
    check(&[
        (r#"{"timePerScreen": -1}"#, "range:timePerScreen"),
        (r#"{"timePerScreen": -0.5}"#, "range:timePerScreen"),
        (r#"{"timePerScreen": "30"}"#, "timePerScreen:bad_type"),
        (r#"{"timePerScreen": null}"#, "timePerScreen:bad_type"),
    ]);
}

#[test]
fn the_transmit_power_has_a_range_and_a_value_that_clears_it() {
    let power = |number: &str| {
        after(&[r#"{"txPower": 20}"#, &format!(r#"{{"txPower": {number}}}"#)]).tx_power
    };
    let rows = [
        ("-1", Some(-1)),
        ("0", Some(0)),
        ("78", Some(78)),
        ("77.5", Some(77)),
        ("80", None),
        ("80.0", None),
    ];
    for (number, expected) in rows {
        assert_eq!(power(number), expected, "{number}");
    }
    check(&[
        (r#"{"txPower": -2}"#, "range:txPower"),
        (r#"{"txPower": 79}"#, "range:txPower"),
        (r#"{"txPower": 78.5}"#, "range:txPower"),
        (r#"{"txPower": 80.5}"#, "range:txPower"),
        (r#"{"txPower": 81}"#, "range:txPower"),
        (r#"{"txPower": "10"}"#, "txPower:bad_type"),
        (r#"{"txPower": null}"#, "txPower:bad_type"),
    ]);
}

#[test]
fn currencies_are_stored_once_each_if_they_are_offered() {
    let codes = |list: &str| {
        let settings = after(&[&format!(r#"{{"actCurrencies": {list}}}"#)]);
        settings
            .act_currencies
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let rows = [
        (r#"["GBP", "USD"]"#, "GBP,USD"),
        (r#"["GBP", "XXX", "usd", "", "EUR", "GBP"]"#, "GBP,EUR"),
        ("[]", ""),
    ];
    for (list, expected) in rows {
        assert_eq!(codes(list), expected, "{list}");
    }
    check(&[
        (r#"{"actCurrencies": ["USD", 1]}"#, "currency:not_string"),
        (r#"{"actCurrencies": [null]}"#, "currency:not_string"),
        (r#"{"actCurrencies": "USD,EUR"}"#, "actCurrencies:bad_type"),
        (r#"{"actCurrencies": null}"#, "actCurrencies:bad_type"),
    ]);
    assert_eq!(
        after(&[r#"{"actCurrencies": []}"#]).currencies(),
        [Currency::USD]
    );
}

#[test]
fn a_chosen_currency_that_is_not_offered_stays_chosen() {
    let list = |codes: &str| -> Vec<Currency> {
        codes
            .split_terminator(',')
            .filter_map(Currency::parse)
            .collect()
    };
    // Stored, offered, sent by a client, stored afterwards.
    let rows = [
        ("USD,EUR,JPY", "USD,GBP", "USD", "USD,EUR,JPY"),
        ("EUR,USD", "USD,GBP", "USD,GBP", "USD,GBP,EUR"),
        ("EUR,USD", "USD,GBP", "", "EUR"),
        ("EUR,USD", "GBP", "", "EUR,USD"),
        ("EUR,USD", "GBP", "GBP", "GBP,EUR,USD"),
        ("EUR,USD", "GBP,USD", "EUR,GBP", "EUR,GBP"),
        ("EUR,USD", "EUR,USD,GBP", "GBP", "GBP"),
        ("EUR,USD", "EUR,USD,GBP", "SEK", ""),
    ];
    for (stored, offered, sent, stored_after) in rows {
        let settings = Settings {
            act_currencies: list(stored),
            ..Settings::default()
        };
        let catalogue = Catalogue {
            currencies: list(offered),
            ..bench::catalogue(&settings)
        };
        let codes: Vec<&str> = sent.split_terminator(',').collect();
        let patch = Patch {
            body: bench::object(&json!({ "actCurrencies": codes }).to_string()),
            ..Patch::default()
        };
        let patched = patch::apply(&settings, &patch, &catalogue).unwrap();
        assert_eq!(
            patched.settings.act_currencies,
            list(stored_after),
            "{stored} stored, {offered} offered, {sent} sent"
        );
    }
}

#[test]
fn further_relays_and_keys_are_lists() {
    let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
    let (hex, other) = (
        "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e",
        "AB".repeat(32),
    );
    let settings = after(&[&json!({
        "nostrRelays": ["wss://a", "", "ws://b/x", "wss://a"],
        "nostrZapPubkeys": [npub, other, "", hex.to_uppercase(), other.to_lowercase()],
    })
    .to_string()]);
    let document = bench::get(&settings);
    assert_eq!(document["nostrRelays"], json!(["wss://a", "ws://b/x"]));
    assert_eq!(document["nostrZapPubkeys"], json!([hex, other]));
    // The first relay and the first key are separate settings.
    assert_eq!(document["nostrRelay"], "wss://relay.primal.net");
    assert_eq!(document["nostrZapPubkey"], "");
    let cleared = r#"{"nostrRelays": [], "nostrZapPubkeys": []}"#;
    assert_eq!(
        bench::send(&settings, cleared).unwrap().settings,
        Settings::default()
    );

    let many =
        |name: &str, count: usize, entry: &str| json!({ name: vec![entry; count] }).to_string();
    #[rustfmt::skip]
    let rows = [
        (many("nostrRelays", 8, "wss://a"), "reboot"),
        (many("nostrRelays", 9, "wss://a"), "nostrRelays:bad_length"),
        (many("nostrRelays", 9, ""), "ok"),
        (many("nostrZapPubkeys", 8, npub), "ok"),
        (many("nostrZapPubkeys", 9, npub), "nostrZapPubkeys:bad_length"),
        (many("nostrRelays", 1, "https://a"), "nostrRelays:bad_scheme"),
        (many("nostrRelays", 1, "relay"), "nostrRelays:bad_scheme"),
        (many("nostrRelays", 1, "wss://a\n"), "nostrRelays:bad_type"),
        (many("nostrRelays", 1, &format!("wss://{}", "x".repeat(251))), "nostrRelays:bad_type"),
        (many("nostrZapPubkeys", 1, &hex[1..]), "nostrZapPubkeys:bad_hex"),
        (many("nostrZapPubkeys", 1, &npub.replace('z', "x")), "nostrZapPubkeys:bad_hex"),
        (json!({ "nostrRelays": ["wss://a", 1] }).to_string(), "nostrRelays:bad_type"),
        (json!({ "nostrRelays": "wss://a" }).to_string(), "nostrRelays:bad_type"),
        (json!({ "nostrRelays": null }).to_string(), "nostrRelays:bad_type"),
        (json!({ "nostrZapPubkeys": [null] }).to_string(), "nostrZapPubkeys:bad_type"),
        (json!({ "nostrZapPubkeys": {} }).to_string(), "nostrZapPubkeys:bad_type"),
    ];
    for (body, expected) in rows {
        assert_eq!(outcome(&Settings::default(), &body), expected, "{body}");
    }
}

#[test]
fn a_masked_password_in_a_list_is_restored_at_any_position() {
    let stored = after(&[r#"{"nostrRelays": ["wss://a:1@x", "wss://b:2@y", "wss://a:3@x"]}"#]);
    let masked = ["wss://a:***@x", "wss://b:***@y", "wss://a:***@x"];
    assert_eq!(bench::get(&stored)["nostrRelays"], json!(masked));
    #[rustfmt::skip]
    let rows = [
        (vec![masked[0], masked[1], masked[2]], vec!["wss://a:1@x", "wss://b:2@y", "wss://a:3@x"]),
        (vec![masked[1], "wss://new", masked[0]], vec!["wss://b:2@y", "wss://new", "wss://a:1@x"]),
        (vec![masked[0], "wss://c:***@z"], vec!["wss://a:1@x", "wss://c@z"]),
    ];
    for (sent, expected) in rows {
        let patched = bench::send(&stored, &json!({ "nostrRelays": sent }).to_string()).unwrap();
        let stored_after = patched.settings.get(device::settings::Key::nostr_relays);
        assert_eq!(stored_after, json!(expected), "{sent:?}");
    }
}

#[test]
fn the_schedule_is_stored_completely_or_not_at_all() {
    let dnd = |object: &str| {
        let settings = after(&[&format!(r#"{{"dnd": {object}}}"#)]);
        let times = [
            settings.dnd_start_hour,
            settings.dnd_start_min,
            settings.dnd_end_hour,
            settings.dnd_end_min,
        ];
        (settings.dnd_enabled, settings.dnd_time_enabled, times)
    };
    #[rustfmt::skip]
    let rows = [
        ("{}", (false, false, [22, 0, 7, 0])),
        (r#"{"enabled": true}"#, (true, false, [22, 0, 7, 0])),
        (r#"{"dndTimeEnabled": true, "other": 5}"#, (false, true, [22, 0, 7, 0])),
        (r#"{"timeBasedEnabled": true}"#, (false, true, [22, 0, 7, 0])),
        (r#"{"startHour": 1, "startMinute": 2, "endHour": 3}"#, (false, false, [22, 0, 7, 0])),
        (r#"{"startHour": 99}"#, (false, false, [22, 0, 7, 0])),
        (r#"{"startHour": 1, "startMinute": 2, "endHour": 3, "endMinute": 4}"#, (false, false, [1, 2, 3, 4])),
        (
            r#"{"enabled": true, "dndTimeEnabled": true, "startHour": 23, "startMinute": 59, "endHour": 0, "endMinute": 0}"#,
            (true, true, [23, 59, 0, 0]),
        ),
    ];
    for (object, expected) in rows {
        assert_eq!(dnd(object), expected, "{object}");
    }
    #[rustfmt::skip]
    let rows = &[
        (r#"{"dnd": {"startHour": 24, "startMinute": 0, "endHour": 0, "endMinute": 0}}"#, "dnd:range"),
        (r#"{"dnd": {"startHour": 0, "startMinute": 60, "endHour": 0, "endMinute": 0}}"#, "dnd:range"),
        (r#"{"dnd": {"startHour": 0, "startMinute": 0, "endHour": -1, "endMinute": 0}}"#, "dnd:range"),
        (r#"{"dnd": {"startHour": 0, "startMinute": 0, "endHour": 0, "endMinute": 60}}"#, "dnd:range"),
        (r#"{"dnd": {"enabled": true, "startHour": 0, "startMinute": 0, "endHour": 0, "endMinute": 60}}"#, "dnd:range"),
        (r#"{"dnd": {"enabled": 1}}"#, "dnd.enabled:bad_type"),
        (r#"{"dnd": {"dndTimeEnabled": null}}"#, "dnd.dndTimeEnabled:bad_type"),
        (r#"{"dnd": {"timeBasedEnabled": "on"}}"#, "dnd.timeBasedEnabled:bad_type"),
        (r#"{"dnd": {"startHour": "7"}}"#, "dnd.startHour:bad_type"),
        (r#"{"dnd": true}"#, "dnd:bad_type"),
        (r#"{"dnd": null}"#, "dnd:bad_type"),
    ];
    check(rows);
}

#[test]
fn of_two_names_of_the_schedule_the_changed_one_counts() {
    let bodies = [(false, true), (true, false), (true, true), (false, false)];
    for stored in [false, true] {
        for (first, second) in bodies {
            let settings = after(&[
                &format!(r#"{{"dnd": {{"dndTimeEnabled": {stored}}}}}"#),
                &format!(
                    r#"{{"dnd": {{"dndTimeEnabled": {first}, "timeBasedEnabled": {second}}}}}"#
                ),
            ]);
            let changed = first != stored || second != stored;
            assert_eq!(settings.dnd_time_enabled, stored != changed, "{stored}");
        }
    }
}

#[test]
fn the_key_of_a_pool_is_not_sent_to_another_pool() {
    let key = r#"{"miningPoolName": "viabtc", "miningPoolUser": "my-key"}"#;
    let with_key = after(&[key]);
    assert_eq!(with_key.mining_pool_user.expose(), "my-key");
    let document = bench::get(&with_key);
    assert_eq!(document.get("miningPoolUser"), None);
    assert_eq!(document.get("miningPoolUserSet"), Some(&Value::Bool(true)));

    let plain = after(&[key, r#"{"miningPoolName": "ocean"}"#]);
    assert!(plain.mining_pool_user.is_empty());
    let document = bench::get(&plain);
    assert_eq!(document.get("miningPoolUser"), Some(&Value::from("")));
    assert_eq!(document.get("miningPoolUserSet"), None);

    let renamed = after(&[
        key,
        r#"{"miningPoolName": "ocean", "miningPoolUser": "me"}"#,
    ]);
    assert_eq!(
        bench::get(&renamed).get("miningPoolUser"),
        Some(&Value::from("me"))
    );
    let name = r#"{"miningPoolName": "ocean", "miningPoolUser": "me"}"#;
    let back = after(&[
        name,
        r#"{"miningPoolName": "viabtc"}"#,
        r#"{"miningPoolName": "braiins"}"#,
    ]);
    assert_eq!(back.mining_pool_user, Secret::new("me"));
    let hidden = bench::get(&after(&[name, r#"{"miningPoolName": "foundry_usa"}"#]));
    assert_eq!(
        (
            hidden.get("miningPoolUser"),
            hidden.get("miningPoolUserSet")
        ),
        (None, Some(&Value::Bool(true)))
    );
    let unset = bench::get(&after(&[r#"{"miningPoolName": "foundry_usa"}"#]));
    assert_eq!(unset.get("miningPoolUserSet"), Some(&Value::Bool(false)));
}

#[test]
fn a_dropped_pool_is_tolerated() {
    let stored = Settings {
        mining_pool_name: "gone_pool".into(),
        ..Settings::default()
    };
    assert_eq!(
        outcome(
            &stored,
            r#"{"miningPoolName": "gone_pool", "mowMode": true}"#
        ),
        "ok"
    );
    assert_eq!(
        outcome(&stored, r#"{"miningPoolName": "other_gone"}"#),
        "miningPoolName:unknown"
    );
    assert_eq!(stored.pool(), None);
}
