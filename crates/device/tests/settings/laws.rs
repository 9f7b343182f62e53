//! Properties that hold for all settings and all bodies.

use device::{
    screens::SCREENS,
    settings::{
        Key, SPECS, Settings,
        reject::Rejection,
        spec::{Apply, Spec},
        store, transfer,
    },
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

use crate::bench;

/// A value that may or may not be valid for a row.
fn value_for(spec: &'static Spec) -> BoxedStrategy<Value> {
    let control = spec.kind.control();
    let number = |member: &str| u32::try_from(control[member].as_u64().unwrap()).unwrap();
    let suited: BoxedStrategy<Value> = match control["control"].as_str().unwrap() {
        "switch" => any::<bool>().prop_map(Value::from).boxed(),
        "number" | "slider" => (number("min")..=number("max"))
            .prop_map(Value::from)
            .boxed(),
        "select" => (0..control["options"].as_array().unwrap().len())
            .prop_map(Value::from)
            .boxed(),
        "color" => (0..=0xFF_FF_FFu32).prop_map(Value::from).boxed(),
        "text" if spec.kind.words() == "host" => "([a-z]{0,3}:[a-z*/:]{0,5}@)?[a-z/.:]{0,20}"
            .prop_map(Value::from)
            .boxed(),
        "text" if spec.key == Key::http_auth_user => {
            "[ -9;-~é]{0,30}".prop_map(Value::from).boxed()
        }
        "text" if spec.key == Key::update_pin => {
            "([1-9]{1,2}\\.[1-9]{1,2}\\.[1-9]{1,2}(-[a-z]{1,3})?)?"
                .prop_map(Value::from)
                .boxed()
        }
        "text" if spec.kind.is_text() => "[ -~é]{0,30}".prop_map(Value::from).boxed(),
        "text" => Just(json!([3])).boxed(),
        "password" => "[ -~é]{0,30}".prop_map(Value::from).boxed(),
        "choice" => prop::sample::select(spec.kind.catalogue().unwrap())
            .prop_map(Value::from)
            .boxed(),
        "key" if spec.key == Key::nostr_pub_key => "([0-9a-f]{64})?".prop_map(Value::from).boxed(),
        "key" => "([0-9a-fA-F]{64})?".prop_map(Value::from).boxed(),
        "url" if control["schemes"][0] == "wss" => {
            "(wss?://([a-z]{0,3}:[a-z*/:]{0,5}@)?[a-z/.]{0,20})?"
                .prop_map(Value::from)
                .boxed()
        }
        "url" => "(https?://([a-z]{0,3}:[a-z*/:]{0,5}@)?[a-z/.]{0,20})?"
            .prop_map(Value::from)
            .boxed(),
        "zone" => prop::sample::select(vec!["UTC", "Asia/Tokyo", "Europe/London"])
            .prop_map(Value::from)
            .boxed(),
        "txPower" => (-1..=80i32).prop_map(Value::from).boxed(),
        "urls" => vec("(wss?://([a-z]:[a-c*]{0,4}@)?[a-c]{1,2})?", 0..5)
            .prop_map(Value::from)
            .boxed(),
        "keys" => vec("(AB|ab|cd){32}|", 0..4).prop_map(Value::from).boxed(),
        "texts" => vec(vec("[A-C]{0,3}", 1..8), 0..4)
            .prop_map(|texts| json!(texts))
            .boxed(),
        "currencies" => prop::sample::subsequence(vec!["GBP", "USD", "XXX", "JPY"], 0..4)
            .prop_map(|codes| json!(codes))
            .boxed(),
        "board" => prop::sample::subsequence(vec!["20", "3", "10:USD", "20:JPY", "81"], 2..5)
            .prop_map(|slots| json!(slots))
            .boxed(),
        "several" => prop::sample::subsequence(vec!["coinbase", "gemini", "bitstamp"], 0..3)
            .prop_map(|names| json!(names))
            .boxed(),
        other => panic!("{}: no test values for {other}", spec.name),
    };
    prop_oneof![30 => suited, 1 => odd()].boxed()
}

/// A value of any type.
fn odd() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,300}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{ "id": 0, "order": 0 }])),
        Just(json!({ "startHour": 5 })),
    ]
    .boxed()
}

fn screens() -> BoxedStrategy<Value> {
    let ids: Vec<u16> = SCREENS.iter().map(|screen| screen.id).collect();
    (
        prop_oneof![Just(ids.len()), 0..ids.len()],
        Just(ids).prop_shuffle(),
        any::<bool>(),
        any::<u16>(),
    )
        .prop_map(|(count, ids, ordered, switches)| {
            let entries = ids.into_iter().take(count).enumerate().map(|(order, id)| {
                let enabled = switches & (1 << order) != 0;
                if ordered {
                    json!({ "id": id, "enabled": enabled, "order": order })
                } else {
                    json!({ "id": id, "enabled": enabled })
                }
            });
            entries.collect::<Value>()
        })
        .boxed()
}

fn dnd() -> BoxedStrategy<Value> {
    (any::<bool>(), any::<bool>(), 0..25u32, 0..61u32, 0..25u32, 0..61u32)
        .prop_map(|(enabled, timed, start_hour, start_minute, end_hour, end_minute)| {
            json!({
                "enabled": enabled, "dndTimeEnabled": timed, "startHour": start_hour, "startMinute": start_minute,
                "endHour": end_hour, "endMinute": end_minute,
            })
        })
        .boxed()
}

/// One member of a body.
fn member() -> BoxedStrategy<(String, Value)> {
    let row = prop::sample::select((0..SPECS.len()).collect::<Vec<_>>()).prop_flat_map(|row| {
        let spec = &SPECS[row];
        let names: Vec<&str> = [Some(spec.name), spec.alias]
            .into_iter()
            .flatten()
            .collect();
        (
            prop::sample::select(names).prop_map(String::from),
            value_for(spec),
        )
    });
    prop_oneof![
        12 => row,
        1 => (Just("screens".to_string()), prop_oneof![4 => screens(), 1 => odd()]),
        1 => (Just("dnd".to_string()), prop_oneof![4 => dnd(), 1 => odd()]),
        1 => (Just("timePerScreen".to_string()), prop_oneof![4 => (0.0..70.0f64).prop_map(Value::from), 1 => odd()]),
        1 => ("[a-zA-Z]{1,12}", odd()),
    ]
    .boxed()
}

fn body() -> impl Strategy<Value = Map<String, Value>> {
    vec(member(), 0..12).prop_map(|members| members.into_iter().collect())
}

/// Settings after these bodies.
fn settled(bodies: &[Map<String, Value>]) -> Settings {
    bodies.iter().fold(Settings::default(), |stored, body| {
        match bench::patch(&stored, body) {
            Ok(patched) => patched.settings,
            Err(_) => stored,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_body_changes_only_its_members_and_lists_those_that_need_a_restart(bodies in vec(body(), 0..6), last in body()) {
        let stored = settled(&bodies);
        let before = stored.clone();
        let outcome = bench::patch(&stored, &last);
        prop_assert_eq!(&stored, &before);
        if let Ok(patched) = outcome {
            let reboots = SPECS.iter().filter(|spec| spec.apply == Apply::Reboot);
            let changed = reboots.filter(|spec| patched.settings.get(spec.key) != before.get(spec.key)).count();
            prop_assert_eq!(patched.changed.reboot_required, changed > 0);
        }
    }

    #[test]
    fn the_document_of_get_is_accepted_and_changes_nothing(bodies in vec(body(), 0..12)) {
        let stored = settled(&bodies);
        let patched = bench::patch(&stored, &bench::get(&stored));
        let patched = patched.map_err(|rejection| TestCaseError::fail(rejection.to_string()))?;
        // The order of GET becomes the owner's choice; the rotation stays the same.
        let screens = |settings: &Settings| bench::get(settings).get("screens").cloned();
        prop_assert_eq!(screens(&patched.settings), screens(&stored));
        let order = stored.screen_order.clone();
        let otherwise = Settings { screen_order: order, ..patched.settings.clone() };
        prop_assert_eq!(&otherwise, &stored);
        let again = bench::patch(&patched.settings, &bench::get(&patched.settings));
        prop_assert_eq!(again.map(|again| again.settings), Ok(patched.settings.clone()));
        prop_assert!(!patched.changed.reboot_required);
    }

    #[test]
    fn stored_settings_are_read_back(bodies in vec(body(), 0..12)) {
        let stored = settled(&bodies);
        prop_assert_eq!(store::from_json(&store::to_json(&stored)), (stored, vec![]));
    }

    #[test]
    fn export_and_import_transfer_all_settings(here in vec(body(), 0..6), there in vec(body(), 0..6)) {
        let (here, there) = (settled(&here), settled(&there));
        let import = transfer::import(&here, &transfer::with_secrets(&there));
        prop_assert_eq!((&import.unknown, &import.missing, &import.notes, &import.refused), (&vec![], &vec![], &vec![], &vec![]));
        let expected = Settings { wifi_configured: here.wifi_configured, ..there.clone() };
        prop_assert_eq!(&import.settings, &expected);
        prop_assert_eq!(import.changes.is_empty(), expected == here);
        // An export without secrets restores a clock that has the same secrets.
        let again = transfer::import(&expected, &transfer::without_secrets(&there));
        prop_assert_eq!((again.settings, again.changes), (expected, vec![]));
    }

    #[test]
    fn imported_settings_are_valid(members in vec(member(), 0..40), here in vec(body(), 0..4)) {
        let stored = settled(&here);
        let import = transfer::import(&stored, &members.into_iter().collect());
        if import.refused.is_empty() {
            prop_assert_eq!(store::from_json(&store::to_json(&import.settings)), (import.settings.clone(), vec![]));
            let patched = bench::patch(&import.settings, &bench::get(&import.settings));
            prop_assert_eq!(patched.map(|_| ()), Ok(()));
        }
    }

    #[test]
    fn any_stored_document_gives_valid_settings(members in vec(member(), 0..40), shred in vec((any::<prop::sample::Index>(), odd()), 0..10)) {
        let mut disk: Map<String, Value> = members.into_iter().collect();
        for (index, value) in shred {
            disk.insert(SPECS[index.index(SPECS.len())].name.into(), value);
        }
        let (settings, _) = store::from_json(&disk);
        prop_assert_eq!(store::from_json(&store::to_json(&settings)), (settings.clone(), vec![]));
        let patched = bench::patch(&settings, &bench::get(&settings));
        // A missing required password stays required; the next change must set it.
        let keyless = settings.http_auth_enabled && settings.http_auth_pass.is_empty();
        let expected = if keyless { Err(Rejection::BadLength("httpAuthPass".into())) } else { Ok(()) };
        prop_assert_eq!(patched.map(|_| ()), expected);
    }

    #[test]
    fn only_live_rows_become_active_at_once(bodies in vec(body(), 0..12)) {
        let stored = settled(&bodies);
        let mut active = Settings::default();
        active.take_live(&stored);
        for spec in SPECS {
            let from = if spec.apply == Apply::Reboot { &Settings::default() } else { &stored };
            prop_assert_eq!(active.get(spec.key), from.get(spec.key));
        }
    }
}
