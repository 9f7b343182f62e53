//! `screens`: visibility and order.

use device::{rotation, screens::SCREENS, settings::Settings};
use serde_json::{Value, json};

use crate::bench;

/// Screens that are available without optional features, in the default order.
fn plain() -> Vec<u16> {
    Settings::default().available_screens()
}

/// All screens in the default order.
fn all() -> Vec<u16> {
    SCREENS.iter().map(|screen| screen.id).collect()
}

fn outcome(stored: &Settings, screens: &Value) -> String {
    match bench::send(stored, &json!({ "screens": screens }).to_string()) {
        Ok(_) => "ok".into(),
        Err(rejection) => rejection.to_string(),
    }
}

/// A new order with these ids.
fn reorder(ids: &[u16]) -> Value {
    ids.iter()
        .enumerate()
        .map(|(order, id)| json!({ "id": id, "order": order, "enabled": true }))
        .collect()
}

fn reversed(ids: &[u16]) -> Vec<u16> {
    ids.iter().rev().copied().collect()
}

fn listed(settings: &Settings) -> Vec<u16> {
    let document = bench::get(settings);
    let screens = document.get("screens").and_then(Value::as_array).unwrap();
    screens
        .iter()
        .map(|screen| screen["id"].as_u64().unwrap().try_into().unwrap())
        .collect()
}

fn with_miner() -> Settings {
    Settings {
        miner_enabled: true,
        ..Settings::default()
    }
}

#[test]
fn a_board_has_what_the_same_change_makes_available() {
    let stored = Settings::default();
    let change = |body: &Value| match bench::send(&stored, &body.to_string()) {
        Ok(patched) => {
            let slots = patched.settings.board().into_iter();
            let ids: Vec<String> = slots
                .map(|slot| format!("{}{}", slot.screen, slot.currency.map_or("", |_| ":")))
                .collect();
            ids.join(",")
        }
        Err(rejection) => rejection.hint(),
    };
    let takes = "boardScreens takes a list of 2 to 8 ids of screens, such as `20`, or `20:EUR` for one in a currency";
    let rows = [
        (json!({}), "20:,3,0,10:,6,4".into()),
        (
            json!({ "boardScreens": [80, 0], "minerEnabled": true }),
            "80,0".into(),
        ),
        (
            json!({ "boardScreens": [80, 0] }),
            format!("{takes}: the feature of a screen is off"),
        ),
        (
            json!({ "boardScreens": ["20:GBP", 0], "actCurrencies": ["GBP"] }),
            "20:,0".into(),
        ),
        (
            json!({ "boardScreens": ["20:EUR", 0], "actCurrencies": ["GBP"] }),
            format!("{takes}: a currency is not in actCurrencies"),
        ),
        (
            json!({ "boardScreens": [0] }),
            format!("{takes}: there are too few or too many"),
        ),
    ];
    for (body, wanted) in rows {
        assert_eq!(change(&body), wanted, "{body}");
    }
    let board_screens = [80, 20].map(rotation::RotationSlot::plain).into();
    let off = Settings {
        board_screens,
        ..Settings::default()
    };
    assert_eq!(off.board().len(), 1, "a screen that is off is left out");
    let off = Settings {
        board_screens: [80, 81].map(rotation::RotationSlot::plain).into(),
        ..off
    };
    assert_eq!(off.board(), [rotation::RotationSlot::plain(0)]);
}

#[test]
fn entries_are_checked_in_their_order() {
    #[rustfmt::skip]
    let rows = [
        (json!([]), "ok"),
        (json!([{ "id": 0 }]), "ok"),
        (json!([{ "id": 0, "enabled": false }, { "id": 81, "enabled": true }]), "ok"),
        (json!([{ "id": 0.0, "enabled": false, "name": 5 }]), "ok"),
        (json!({}), "screens:bad_type"),
        (json!(null), "screens:bad_type"),
        (json!("0,3"), "screens:bad_type"),
        (json!([5]), "screens:bad_entry"),
        (json!([{}]), "screens:bad_entry"),
        (json!([{ "id": "0", "enabled": true }]), "screens:bad_entry"),
        (json!([{ "id": null }]), "screens:bad_entry"),
        (json!([{ "id": 0, "enabled": "yes" }]), "screens:bad_entry"),
        (json!([{ "id": 0, "order": "1" }]), "screens:bad_entry"),
        (json!([{ "id": 1, "enabled": true }]), "screens:unknown_id"),
        (json!([{ "id": -1 }]), "screens:unknown_id"),
        (json!([{ "id": 0.5 }]), "screens:unknown_id"),
        (json!([{ "id": 65536 }]), "screens:unknown_id"),
        (json!([{ "id": 1e300 }]), "screens:unknown_id"),
        (json!([{ "id": 0 }, { "id": 0 }]), "screens:dup_id"),
        (json!([{ "id": 0, "order": 0 }, { "id": 3 }]), "screens:partial_order"),
        (json!([{ "id": 0, "order": 0 }, 5]), "screens:partial_order"),
        (json!([{ "id": 0, "order": 0 }, { "id": 3, "order": "1" }]), "screens:partial_order"),
        (json!([{ "id": 0, "order": 1 }]), "screens:order_range"),
        (json!([{ "id": 0, "order": -1 }]), "screens:order_range"),
        (json!([{ "id": 0, "order": 0.5 }]), "screens:order_range"),
        (json!([{ "id": 1, "order": 9 }]), "screens:unknown_id"),
        (json!([{ "id": 0, "order": 9 }, { "id": 1, "order": 0 }]), "screens:order_range"),
        (json!([{ "id": 0, "order": 0 }, { "id": 0, "order": 0 }]), "screens:dup_id"),
        (json!([{ "id": 0, "order": 0 }, { "id": 3, "order": 0 }]), "screens:dup_order"),
        (json!([{ "id": 0, "order": 0 }]), "screens:incomplete"),
        (reorder(&plain()[1..]), "screens:incomplete"),
        (reorder(&plain()), "ok"),
        (reorder(&all()), "ok"),
    ];
    for (screens, expected) in rows {
        assert_eq!(
            outcome(&Settings::default(), &screens),
            expected,
            "{screens}"
        );
    }
}

#[test]
fn a_change_of_visibility_keeps_the_order() {
    let body =
        r#"{"screens": [{"id": 0, "enabled": false}, {"id": 90, "enabled": true}, {"id": 3}]}"#;
    let settings = bench::send(&Settings::default(), body).unwrap().settings;
    assert!(
        !settings.is_screen_enabled(0)
            && settings.is_screen_enabled(90)
            && settings.is_screen_enabled(3)
    );
    assert!(settings.screen_order.is_empty());
    assert!(!Settings::default().is_screen_enabled(90));
}

/// The screens in the order of the rotation.
fn rotation_order(settings: &Settings) -> Vec<u16> {
    let mut ids = Vec::new();
    for entry in rotation::sequence(settings) {
        if !ids.contains(&entry.slot.screen) {
            ids.push(entry.slot.screen);
        }
    }
    ids
}

#[test]
fn the_order_of_get_is_that_of_the_rotation() {
    let everything = Settings {
        mining_pool_stats: true,
        mining_pool_name: "ocean".into(),
        nwc_enabled: true,
        proof_screen: true,
        change_screen: true,
        ..with_miner()
    };
    assert_eq!(listed(&everything), all());
    for fresh in [Settings::default(), with_miner(), everything] {
        assert_eq!(listed(&fresh), rotation_order(&fresh));
        let ids = reversed(&rotation_order(&fresh));
        let body = json!({ "screens": reorder(&ids) }).to_string();
        let chosen = bench::send(&fresh, &body).unwrap().settings;
        assert_eq!(listed(&chosen), rotation_order(&chosen));
        let more = Settings {
            mining_pool_stats: true,
            nwc_enabled: true,
            ..chosen
        };
        assert_eq!(
            listed(&more),
            rotation_order(&more),
            "with features that are enabled later"
        );
    }
}

#[test]
fn sending_back_the_order_of_get_stores_it() {
    let fresh = Settings::default();
    let document = bench::get(&fresh);
    let body = json!({ "screens": document.get("screens") }).to_string();
    let chosen = bench::send(&fresh, &body).unwrap().settings;
    assert_eq!(chosen.screen_order, plain());
    assert_eq!(listed(&chosen), listed(&fresh));
    let again = bench::send(&chosen, &body).unwrap().settings;
    assert_eq!(again, chosen);
}

#[test]
fn get_returns_the_order_that_was_sent() {
    let ids = reversed(&plain());
    let body = json!({ "screens": reorder(&ids) }).to_string();
    let settings = bench::send(&Settings::default(), &body).unwrap().settings;
    assert_eq!(settings.screen_order, ids);
    assert_eq!(listed(&settings), ids);
    let document = bench::get(&settings);
    let joined: Vec<String> = ids.iter().map(u16::to_string).collect();
    assert_eq!(
        document.get("screenOrder"),
        Some(&Value::from(joined.join(",")))
    );
    let place = ids.iter().position(|id| *id == 40).unwrap();
    assert_eq!(
        document["screens"][place],
        json!({ "id": 40, "name": "Bitcoin Supply", "enabled": true, "order": place })
    );
}

#[test]
fn unavailable_screens_keep_their_places() {
    let optional = with_miner().available_screens();
    let optional = optional.iter().filter(|id| !plain().contains(id));
    let with_optional = |mut ids: Vec<u16>| {
        for (index, id) in optional.clone().enumerate() {
            ids.insert(2 * index, *id);
        }
        ids
    };
    let order = with_optional(plain());
    let body = json!({ "screens": reorder(&order) }).to_string();
    let settings = bench::send(&with_miner(), &body).unwrap().settings;
    let without = Settings {
        miner_enabled: false,
        ..settings.clone()
    };
    assert_eq!(listed(&without), plain());
    let body = json!({ "screens": reorder(&reversed(&plain())) }).to_string();
    let reordered = bench::send(&without, &body).unwrap().settings;
    let back = Settings {
        miner_enabled: true,
        ..reordered
    };
    assert_eq!(listed(&back), with_optional(reversed(&plain())));
}

#[test]
fn features_may_change_in_the_same_body() {
    let listed = reorder(&plain());
    let on = json!({ "bitaxeEnabled": true, "screens": listed, "nwcEnabled": true }).to_string();
    assert!(bench::send(&Settings::default(), &on).is_ok());
    let ids = with_miner().available_screens();
    let off = json!({ "screens": reorder(&ids), "minerEnabled": false }).to_string();
    assert!(bench::send(&with_miner(), &off).is_ok());
    let stays_on = json!({ "screens": listed }).to_string();
    let refused = bench::send(&with_miner(), &stays_on).unwrap_err();
    assert_eq!(refused.to_string(), "screens:incomplete");
}

#[test]
fn the_earnings_screen_is_available_for_pools_that_publish_earnings() {
    let available = |pool: &str| {
        let settings = Settings {
            mining_pool_stats: true,
            mining_pool_name: pool.into(),
            ..Settings::default()
        };
        (
            settings.is_screen_available(70),
            settings.is_screen_available(71),
        )
    };
    assert_eq!(available("ocean"), (true, true));
    assert_eq!(available("ckpool"), (true, false));
    assert_eq!(available("gone_pool"), (true, false));
    assert!(!Settings::default().is_screen_available(70));
    assert!(!Settings::default().is_screen_available(7));
}
