//! Every entity of Home Assistant is tested with the clock's documents: its template must render a state that is valid for
//! its platform, and the device must execute its commands.

use std::collections::BTreeMap;

use api::mqtt::{
    commands::{self, CommandAction},
    discovery, documents,
    topics::{self, Lamp, QuietHoursBound},
};
use device::{
    device::Device,
    input::Input,
    mqtt::Broker,
    request::{Changed, Request},
};
use market::{
    Observation,
    source_id::SourceId,
    units::{Currency, FeeRate, Price},
};
use minijinja::{Environment, Error, ErrorKind, context};
use serde_json::{Value, json};

use crate::{
    clock::{BOARD, now},
    mqtt::{broker, clock, components, program},
};

/// Templates with the functions of Home Assistant that the clock uses.
fn templates() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.add_filter("as_datetime", |seconds: i64| format!("{seconds} s"));
    environment.set_unknown_method_callback(|_, value, method, arguments| {
        let [argument] = arguments else {
            return Err(Error::from(ErrorKind::MissingArgument));
        };
        match method {
            "get" => value.get_item(argument),
            "index" => {
                let place = value.try_iter()?.position(|item| item == *argument);
                place
                    .map(minijinja::Value::from)
                    .ok_or(ErrorKind::InvalidOperation.into())
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    });
    environment
}

fn render(template: &str, context: minijinja::Value) -> String {
    let rendered = templates().render_str(template, context);
    rendered.unwrap_or_else(|error| panic!("{template}: {error:#}"))
}

/// Documents of a clock, by their topics below the clock's level.
fn documents_of(clock: &Device, broker: &Broker) -> BTreeMap<String, Value> {
    let view = clock.view();
    let mut documents = BTreeMap::from([
        ("info".into(), documents::info(&view, &program(), broker)),
        ("state".into(), documents::state(&view, &[])),
        ("market".into(), documents::market(&view, now(9))),
        (
            "settings".into(),
            documents::settings(&view, &program().identity),
        ),
        (
            "host".into(),
            documents::host(&view, Some(1_770_000_000), 12_345),
        ),
        (
            "update".into(),
            documents::update(&view, &program()).unwrap(),
        ),
    ]);
    let lamps = [
        (Lamp::Strip, "light/strip".into()),
        (Lamp::Frontlight, "light/front".into()),
    ];
    let leds = (0..view.board.leds).map(|led| (Lamp::Led(led), format!("light/{}", led + 1)));
    for (lamp, leaf) in lamps.into_iter().chain(leds) {
        documents.insert(leaf, documents::lamp(lamp, &view).unwrap());
    }
    documents
}

/// Checks that a state is valid for the platform; some states may be unknown.
fn check(key: &str, component: &Value, state: &str) {
    let is_unknown = state.eq_ignore_ascii_case("none");
    let number = || {
        state
            .parse::<f64>()
            .unwrap_or_else(|_| panic!("{key}: {state:?}"))
    };
    let text = |member: &str| component[member].as_str();
    match component["p"].as_str().unwrap() {
        "sensor" => {
            assert!(
                (1..=255).contains(&state.chars().count()),
                "{key}: {state:?}"
            );
            if text("unit_of_meas").is_some() && !is_unknown {
                number();
            }
            if text("dev_cla") == Some("timestamp") {
                assert!(is_unknown || state.ends_with(" s"), "{key}: {state:?}");
            }
        }
        "binary_sensor" | "switch" => {
            assert!(["ON", "OFF"].contains(&state), "{key}: {state:?}");
        }
        "select" => {
            let options = component["ops"].as_array().unwrap();
            let is_option = options.iter().any(|option| option == state);
            assert!(
                is_option || is_unknown && key == "currency",
                "{key}: {state:?}"
            );
        }
        "number" => {
            let range = component["min"].as_f64().unwrap()..=component["max"].as_f64().unwrap();
            assert!(range.contains(&number()), "{key}: {state:?}");
        }
        "text" | "time" => {
            let mut parts = state.split(':').map(|part| part.parse::<u32>().unwrap());
            let time = (parts.next().unwrap(), parts.next().unwrap());
            assert!(time.0 < 24 && time.1 < 60, "{key}: {state:?}");
        }
        "update" => {
            let state: Value = serde_json::from_str(state).unwrap();
            assert!(state["installed_version"].is_string(), "{key}: {state}");
        }
        "light" => {
            let state: Value = serde_json::from_str(state).unwrap();
            assert!(
                ["ON", "OFF"].map(Value::from).contains(&state["state"]),
                "{key}: {state}"
            );
        }
        other => panic!("{key}: {other} has a state"),
    }
}

/// Commands that Home Assistant may send for an entity.
fn commands(component: &Value) -> Vec<String> {
    let text = |member: &str| component[member].as_str().map(String::from);
    let by_template = |value: Value| match text("cmd_tpl") {
        Some(template) => render(&template, context! { value }),
        None => value.as_str().unwrap_or_default().into(),
    };
    match component["p"].as_str().unwrap() {
        "switch" => ["pl_on", "pl_off"].into_iter().filter_map(text).collect(),
        "button" => text("pl_prs").into_iter().collect(),
        "update" => text("pl_inst").into_iter().collect(),
        "select" => {
            let options = component["ops"].as_array().unwrap().iter().cloned();
            options.map(by_template).collect()
        }
        "number" => ["min", "max"]
            .map(|end| by_template(component[end].clone()))
            .into(),
        "text" if component.get("ptrn").is_some() => vec!["7:05".into(), "23:59".into()],
        "time" => vec!["07:05:00".into()],
        "text" | "notify" => vec![by_template(json!("So \"it\" is: é{}"))],
        "light" => vec![r#"{"state":"ON"}"#.into(), r#"{"state":"OFF"}"#.into()],
        _ => Vec::new(),
    }
}

/// Executes a command on a copy of the clock.
fn execute(clock: &Device, broker: &Broker, topic: &str, payload: &str) {
    let mut clock = clock.clone();
    let parsed = topics::parse(topic, broker).unwrap_or_else(|| panic!("{topic}"));
    let command = commands::parse(parsed, payload.as_bytes(), &clock.view()).unwrap();
    let action = command
        .action
        .unwrap_or_else(|answer| panic!("{topic} {payload}: {answer:?}"));
    let CommandAction::Device(calls) = action else {
        return assert!(topic.ends_with("/cmd/firmware/auto_update"), "{topic}");
    };
    for call in calls {
        let reply = clock
            .handle(Input::Request(call.request), now(20))
            .reply
            .unwrap();
        let answer = call.reply_format.answer(reply, &clock.view());
        assert_eq!(answer.status, 200, "{topic} {payload}: {answer:?}");
    }
}

/// All present entities, including those with their own discovery message.
fn entities(clock: &Device, broker: &Broker) -> BTreeMap<String, Value> {
    let view = clock.view();
    let mut entities = components(&view, broker);
    for (bound, key) in [
        (QuietHoursBound::From, "quiet_from"),
        (QuietHoursBound::Until, "quiet_until"),
    ] {
        let mut entity = discovery::quiet_hours(bound, &view, &program(), broker);
        entity["p"] = "time".into();
        entities.insert(key.into(), entity);
    }
    entities.retain(|_, entity| entity.get("name").is_some());
    entities
}

/// A clock without values, and one with a height, a price and a fee rate.
fn clocks() -> [Device; 2] {
    let fresh = clock(BOARD);
    let mut informed = fresh.clone();
    let observations = vec![
        Observation::Block(900_000),
        Observation::Price(Currency::USD, Price::parse("64000.5").unwrap()),
        Observation::Fee(FeeRate { micros: 12_000_000 }),
    ];
    informed.handle(Input::Observed(SourceId::Relay, observations), now(2));
    let screen = Request::ShowScreen(20);
    assert_eq!(
        informed.handle(Input::Request(screen), now(15)).reply,
        Some(Ok(Changed::default()))
    );
    [fresh, informed]
}

/// The state of an entity with this document on its topic.
fn state_of(entity: &Value, document: &Value) -> String {
    match entity["val_tpl"].as_str() {
        Some(template) => render(template, context! { value_json => document }),
        None => document.to_string(),
    }
}

/// Topic of an entity's state below the clock's level. `None` if it has no state.
fn leaf_of(entity: &Value) -> Option<&str> {
    let topic = entity["stat_t"].as_str()?;
    Some(topic.strip_prefix("papertick/papertick-aabbcc/").unwrap())
}

#[test]
fn every_state_is_valid_for_its_platform() {
    for clock in clocks() {
        let broker = broker(&clock);
        let documents = documents_of(&clock, &broker);
        for (key, entity) in entities(&clock, &broker) {
            let Some(leaf) = leaf_of(&entity).filter(|leaf| !leaf.starts_with("event")) else {
                continue;
            };
            let document = documents
                .get(leaf)
                .unwrap_or_else(|| panic!("{key}: {leaf}"));
            check(&key, &entity, &state_of(&entity, document));
        }
    }
}

#[test]
fn every_command_of_an_entity_is_executed() {
    let [_, clock] = clocks();
    let broker = broker(&clock);
    for (key, entity) in entities(&clock, &broker) {
        let payloads = commands(&entity);
        let Some(topic) = entity["cmd_t"].as_str() else {
            assert!(payloads.is_empty(), "{key}");
            continue;
        };
        assert!(!payloads.is_empty(), "{key}");
        assert_eq!(entity["qos"], 1, "{key}");
        for payload in payloads {
            execute(&clock, &broker, topic, &payload);
        }
    }
}

#[test]
fn values_are_read_from_their_documents() {
    let [_, clock] = clocks();
    let broker = broker(&clock);
    let entities = entities(&clock, &broker);
    let documents = documents_of(&clock, &broker);
    for (key, expected) in [
        ("height", "900000"),
        ("fee_rate", "12.00"),
        ("price_usd", "64000.50"),
        ("sats_usd", "1562"),
        ("screen_name", "Ticker"),
        ("currency_code", "USD"),
        ("version", "4.0.0"),
        ("started_at", "1770000000 s"),
        ("free_memory", "12345"),
    ] {
        let entity = &entities[key];
        let document = &documents[leaf_of(entity).unwrap()];
        assert_eq!(state_of(entity, document), expected, "{key}");
    }
}

#[test]
fn states_are_read_from_their_members() {
    let [clock, _] = clocks();
    let entities = entities(&clock, &broker(&clock));
    let hours = json!({ "dnd": { "startTime": "22:15", "endTime": "6:45" } });
    #[rustfmt::skip]
    let rows = [
        ("says", json!({ "says": "Block 900,000." }), "Block 900,000."),
        ("light_level", json!({ "lightLevel": 15.8 }), "15.8"),
        ("last_block", json!({ "tipTime": 1_770_000_000 }), "1770000000 s"),
        ("address", json!({ "link": { "ip": "192.0.2.7" } }), "192.0.2.7"),
        ("nostr_relay", json!({ "nostrRelay": "wss://relay" }), "wss://relay"),
        ("mqtt_dropped", json!({ "mqttDropped": 3 }), "3"),
        ("update_state", json!({ "isOTAUpdating": true }), "updating"),
        ("update_state", json!({ "isOTAUpdating": false }), "idle"),
        ("safe_mode_reason", json!({ "safeMode": "it ended unexpectedly" }), "it ended unexpectedly"),
        ("safe_mode_reason", json!({ "safeMode": null }), "none"),
        ("time_per_screen", json!({ "timerSeconds": 90 }), "1.5"),
        ("quiet_from", hours.clone(), "22:15:00"),
        ("quiet_until", hours.clone(), "06:45:00"),
        ("quiet_from_text", hours.clone(), "22:15"),
        ("quiet_until_text", hours, "06:45"),
    ];
    for (key, document, expected) in rows {
        assert_eq!(state_of(&entities[key], &document), expected, "{key}");
    }
}

#[test]
fn signal_strength_exists_only_with_a_radio() {
    let [clock, _] = clocks();
    let mut view = clock.view();
    let broker = broker(&clock);
    for managed in [true, false] {
        view.link.managed = managed;
        let components = components(&view, &broker);
        let is_present = components["signal"].get("name").is_some();
        assert_eq!(is_present, managed);
        if managed {
            assert_eq!(
                state_of(&components["signal"], &json!({ "rssi": -61 })),
                "-61"
            );
        }
    }
}

#[test]
fn each_flag_is_that_of_its_name() {
    let [clock, _] = clocks();
    let broker = broker(&clock);
    let entities = entities(&clock, &broker);
    let sources = ["price", "blocks", "V2", "nostr", "nwc"];
    let nothing = json!({
        "dnd": { "active": false, "enabled": false, "dndTimeEnabled": false },
        "timerRunning": false,
        "connectionStatus": sources.map(|name| (name, false)).into_iter().collect::<BTreeMap<_, _>>(),
        "stale": false, "disputed": false, "updating": false, "isOTAUpdating": false,
        "panelFaults": [], "safeMode": null,
    });
    for (key, place, value) in [
        ("dnd_active", "/dnd/active", json!(true)),
        ("rotating", "/timerRunning", json!(true)),
        ("price_source", "/connectionStatus/price", json!(true)),
        ("block_source", "/connectionStatus/blocks", json!(true)),
        ("relay", "/connectionStatus/V2", json!(true)),
        ("nostr", "/connectionStatus/nostr", json!(true)),
        ("wallet", "/connectionStatus/nwc", json!(true)),
        ("stale", "/stale", json!(true)),
        ("panel_fault", "/panelFaults", json!([2])),
        (
            "safe_mode",
            "/safeMode",
            json!("it ended unexpectedly 3 times"),
        ),
        // Nothing is on because of these.
        ("", "/disputed", json!(true)),
        ("", "/dnd/enabled", json!(true)),
        ("", "/dnd/dndTimeEnabled", json!(true)),
    ] {
        let mut document = nothing.clone();
        *document.pointer_mut(place).unwrap() = value;
        let flags = entities
            .iter()
            .filter(|(_, entity)| entity["p"] == "binary_sensor");
        let on = flags.filter(|(_, entity)| state_of(entity, &document) == "ON");
        let on: Vec<&str> = on.map(|(key, _)| key.as_str()).collect();
        let expected: Vec<&str> = [key].into_iter().filter(|key| !key.is_empty()).collect();
        assert_eq!(on, expected, "{place}");
    }
}

/// Each entity: key, platform, name, class or `-`, unit or `-`, category or `-`, whether it is enabled by default, and the
/// topic of its commands.
const SEEN: &str = include_str!("entities.txt");

#[test]
fn entities_have_these_names_classes_and_units() {
    let [clock, _] = clocks();
    let all = entities(&clock, &broker(&clock));
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let row = |(key, entity): (&String, &Value)| {
        let fields =
            ["p", "name", "dev_cla", "unit_of_meas", "ent_cat"].map(|name| word(&entity[name]));
        let shown = if entity["en"] == false { "hidden" } else { "shown" };
        let command = word(&entity["cmd_t"]);
        let command = command.rsplit_once("aabbcc/").map_or("-", |(_, leaf)| leaf);
        format!("{key} | {} | {shown} | {command}\n", fields.join(" | "))
    };
    let table: String = all.iter().map(row).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/words/entities.txt");
        return std::fs::write(path, table).unwrap();
    }
    assert_eq!(
        table, SEEN,
        "run with UPDATE_EXPECT=1 and check the changes"
    );
}

#[test]
fn a_switch_for_muting_is_on_if_the_light_is_not_muted() {
    let [clock, _] = clocks();
    let entities = entities(&clock, &broker(&clock));
    for (key, name, is_mute) in [
        ("set_disable_leds", "disableLeds", true),
        ("set_mow_mode", "mowMode", false),
    ] {
        let switch = &entities[key];
        for (payload, state, value) in [("pl_on", "ON", !is_mute), ("pl_off", "OFF", is_mute)] {
            assert_eq!(switch[payload], format!("{{\"{name}\": {value}}}"));
            let document = json!({ name: value });
            assert_eq!(state_of(switch, &document), state, "{name} {value}");
        }
    }
    assert_eq!(entities["strip"]["bri_scl"], 255);
    assert_eq!(entities["frontlight"]["bri_scl"], 4095);
}
