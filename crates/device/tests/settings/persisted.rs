//! The stored form: reading it never fails.

use device::{
    canvas::{CanvasSpec, Depth, Layout, Turn},
    displays::{Display, DisplayContent, TokenDigest},
    settings::{
        Settings,
        store::{self, Finding, Note},
    },
};
use serde_json::{Map, Value, json};

/// Reads the default settings with some members replaced; `null` removes a member.
fn read(changes: &Value) -> (Settings, Vec<Note>) {
    let mut stored = store::to_json(&Settings::default());
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            stored.shift_remove(name)
        } else {
            stored.insert(name.clone(), value.clone())
        };
    }
    store::from_json(&stored)
}

fn note(name: &'static str, what: Finding) -> Note {
    Note { name, what }
}

#[test]
fn nothing_stored_gives_the_defaults() {
    let (settings, notes) = store::from_json(&Map::new());
    assert_eq!(settings, Settings::default());
    assert!(notes.iter().all(|note| note.what == Finding::Missing));
}

#[test]
fn settings_of_an_older_version_count_as_welcomed() {
    let older = json!({ "version": 1, "digitFontPx": 200 });
    let (settings, _) = store::from_json(older.as_object().unwrap());
    assert!(settings.welcomed && !Settings::default().welcomed);
}

/// No member has its default, and each of them is in the stored form.
#[test]
fn a_display_survives_being_stored() {
    for (is_sized, dark) in [(true, true), (false, false)] {
        let display = Display {
            id: "14023D".into(),
            name: "Hall".into(),
            token: TokenDigest::new([7; 32]),
            mac: Some("AB:CD:EF:12:34:56".into()),
            canvas: CanvasSpec {
                width: 600,
                height: 801,
                turn: Turn::ThreeQuarters,
                depth: Depth::Two,
                layout: Layout::Column,
                dark: Some(dark),
            },
            is_sized,
            is_rotated: !is_sized,
            content: DisplayContent::Rotation,
            screens: vec![40, 3],
            interval_min: 60,
        };
        assert_eq!(Display::from_json(&display.to_json()), Some(display));
    }
}

#[test]
fn unusable_values_give_the_default_and_a_note() {
    let rows = [
        ("digitFontPx", json!(79)),
        ("digitFontPx", json!("180")),
        ("priceSymMode", json!(3)),
        ("fontName", json!("nope")),
        ("tzString", json!("Mars/Olympus")),
        ("nostrRelay", json!("http://x")),
        ("nostrRelays", json!(["wss://x", "http://x"])),
        ("nostrRelays", json!("wss://x")),
        ("nostrZapPubkeys", json!(["ab"])),
        ("nostrPubKey", json!("AB".repeat(32))),
        ("hostnamePrefix", json!("a\u{0}b")),
        ("poolLogosUrl", json!("x".repeat(300))),
        ("invertedColor", json!(1)),
        ("txPower", json!(79)),
        ("txPower", json!("x")),
        ("actCurrencies", json!("USD")),
        ("actCurrencies", json!(["usd"])),
        ("screenOrder", json!("0,3")),
        ("httpAuthPass", json!("x".repeat(600))),
        ("httpAuthPass", json!(5)),
        ("miningPoolName", json!(5)),
        ("minSecPriceUpd", json!(-1)),
    ];
    for (name, value) in rows {
        let (settings, notes) = read(&json!({ name: value }));
        assert_eq!(settings, Settings::default(), "{name}: {value}");
        assert_eq!(notes, [note(name, Finding::Unusable)], "{name}: {value}");
    }
}

#[test]
fn usable_parts_of_a_value_are_kept() {
    let (settings, notes) = read(&json!({
        "screenOrder": [40, 1, 0, 40, -1, "x"],
        "screensHidden": [90, 7, 0],
        "actCurrencies": ["EUR", "EUR"],
        "poolLogosUrl": "https://a/",
        "miningPoolName": "gone_pool",
        "unheard": {},
    }));
    assert_eq!(notes, []);
    assert_eq!(
        (settings.screen_order, settings.screens_hidden),
        (vec![40, 0], vec![90, 0])
    );
    assert_eq!(settings.act_currencies.len(), 1);
    assert_eq!(
        (
            settings.pool_logos_url.expose(),
            settings.mining_pool_name.as_str()
        ),
        ("https://a", "gone_pool")
    );
}

#[test]
fn a_proxy_without_a_host_is_off() {
    let (settings, notes) = read(&json!({ "proxyEnabled": true }));
    assert!(!settings.proxy_enabled);
    assert_eq!(notes, [note("proxyEnabled", Finding::Unusable)]);
}

#[test]
fn values_of_retired_names_are_used() {
    #[rustfmt::skip]
    let rows = [
        (json!({ "decimalShareDot": null, "suffixShareDot": true }), "decimalShareDot", "suffixShareDot", json!(true)),
        (json!({ "priceSymMode": null, "useSatsSymbol": true }), "priceSymMode", "useSatsSymbol", json!(1)),
        (json!({ "priceSymMode": null, "useBtcSymbol": true }), "priceSymMode", "useBtcSymbol", json!(2)),
        (json!({ "priceSymMode": null, "useSatsSymbol": true, "useBtcSymbol": true }), "priceSymMode", "useSatsSymbol", json!(1)),
        (json!({ "satsVariant": null, "sats_variant": 3 }), "satsVariant", "sats_variant", json!(3)),
        (json!({ "explorerInstance": null, "mempoolInstance": "m" }), "explorerInstance", "mempoolInstance", json!("m")),
    ];
    for (changes, name, from, expected) in rows {
        let (settings, notes) = read(&changes);
        assert_eq!(
            store::to_json(&settings).get(name),
            Some(&expected),
            "{changes}"
        );
        assert_eq!(notes, [note(name, Finding::Renamed(from))], "{changes}");
    }
}

#[test]
fn current_names_override_retired_names() {
    let rows = [
        json!({ "decimalShareDot": false, "suffixShareDot": true }),
        json!({ "priceSymMode": 0, "useSatsSymbol": true, "useBtcSymbol": true }),
        json!({ "gmtOffset": 3600, "tzOffset": 60 }),
    ];
    for changes in rows {
        assert_eq!(read(&changes), (Settings::default(), vec![]), "{changes}");
    }
    let (settings, notes) =
        read(&json!({ "priceSymMode": null, "useSatsSymbol": false, "useBtcSymbol": 0 }));
    assert_eq!(
        (settings, notes),
        (
            Settings::default(),
            vec![note("priceSymMode", Finding::Missing)]
        )
    );
    let (settings, notes) = read(&json!({ "satsVariant": null, "sats_variant": 16 }));
    assert_eq!(
        (settings, notes),
        (
            Settings::default(),
            vec![note("satsVariant", Finding::Unusable)]
        )
    );
}

#[test]
fn retired_fonts_fall_back_to_the_default() {
    for id in ["dejavu", "azeretSemiBold"] {
        let (settings, notes) = read(&json!({ "fontName": id }));
        assert_eq!(settings.font_name, "antonio");
        assert_eq!(notes, [note("fontName", Finding::Retired)]);
    }
}

#[test]
fn nodes_of_retired_protocols_become_peers() {
    for kind in [3, 4] {
        let (settings, _) = read(&json!({
            "nodeKind": kind, "nodeHost": "n", "nodePort": 8332, "nodeUser": "me", "nodePass": "x",
        }));
        assert_eq!((settings.node_kind, settings.node_port), (1, 0));
        assert_eq!(settings.node_host.expose(), "n");
    }
}

#[test]
fn known_settings_of_a_newer_version_are_read() {
    let (settings, notes) =
        read(&json!({ "version": store::VERSION + 1, "mowMode": true, "fromTheFuture": 1 }));
    assert!(settings.mow_mode);
    assert_eq!(notes, [note("version", Finding::Newer)]);
}

#[test]
fn notes_never_contain_values() {
    let (_, notes) = read(&json!({ "proxyPass": "planted\n", "nwcUri": ["planted"] }));
    let texts: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2);
    assert!(
        !texts.join(" ").contains("planted") && !format!("{notes:?}").contains("planted"),
        "{texts:?}"
    );
}
