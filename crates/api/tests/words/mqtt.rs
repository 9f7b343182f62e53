//! MQTT: discovery messages follow the rules of Home Assistant, topics and commands are parsed, documents have the
//! documented members and no secrets.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use api::{
    answer::Answer,
    mqtt::{
        commands::{self, CommandAction},
        discovery,
        documents::{self, ProgramInfo, SettingsReport},
        topics::{self, IncomingTopic, Lamp, QuietHoursBound, RetainedTopic, Scope},
    },
};
use device::{
    board::BoardSpec,
    device::Device,
    event_log::DeviceEvent,
    input::{Contacts, Input, LinkEvent, UpdateEvent},
    lights::Rgb,
    memory::Memory,
    mqtt::{Broker, MqttPlan},
    releases::{Release, ReleaseCheck, ReleaseVerdict},
    request::{FrontlightCommand, Request},
    secret::{Endpoint, Secret},
    settings::{
        Settings,
        emit::BuildIdentity,
        reject::{Rejection, TextFault},
    },
    view::View,
};
use market::{
    Direction, Observation, Payment, Zap,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Price, Sats},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    clock::{BARE, BOARD, now},
    operation_table::{PORTAL_ROWS, ROWS},
};

/// Members of a component of each platform, in addition to [`COMMON_MEMBERS`]. Home Assistant ignores other members.
#[rustfmt::skip]
const MEMBERS: &[(&str, &str)] = &[
    ("sensor", "stat_t val_tpl unit_of_meas dev_cla stat_cla"),
    ("binary_sensor", "stat_t val_tpl dev_cla"),
    ("switch", "stat_t val_tpl cmd_t pl_on pl_off stat_on stat_off"),
    ("select", "stat_t val_tpl cmd_t cmd_tpl ops"),
    ("number", "stat_t val_tpl cmd_t cmd_tpl min max step mode unit_of_meas"),
    ("button", "cmd_t pl_prs dev_cla"),
    ("text", "stat_t val_tpl cmd_t cmd_tpl min max ptrn"),
    ("update", "stat_t cmd_t pl_inst dev_cla"),
    ("notify", "cmd_t cmd_tpl"),
    ("image", "img_t cont_type"),
    ("event", "stat_t evt_typ dev_cla"),
    ("light", "schema stat_t cmd_t sup_clrm brightness bri_scl effect fx_list"),
    ("time", "stat_t val_tpl cmd_t"),
];

/// Members that a component of any platform may have.
const COMMON_MEMBERS: &str = "p name uniq_id def_ent_id ent_cat en ic qos";

/// Members of the discovery message. Home Assistant rejects the device if there is a member that it does not know.
const ROOT_MEMBERS: &str = "dev o avty_t cmps";

/// Device classes that all versions of Home Assistant know.
const DEVICE_CLASSES: &str = "timestamp illuminance signal_strength connectivity problem restart identify button running data_size firmware";

pub(crate) fn settings() -> Settings {
    Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("me:planted@broker"),
        mqtt_pass: Secret::new("planted-pass"),
        mqtt_key: Secret::new("planted-key"),
        mqtt_groups: "shop,hall".into(),
        // A token, which only GET shows.
        mining_pool_name: "braiins".into(),
        mining_pool_user: Secret::new("planted-token"),
        ..Settings::default()
    }
}

pub(crate) fn clock(board: BoardSpec) -> Device {
    let mut clock = Device::new(board, settings(), Memory::default(), now(0));
    let identity = LinkEvent::Identity {
        suffix: "aabbcc".into(),
        password: Secret::default(),
    };
    for event in [LinkEvent::Unmanaged, identity] {
        clock.handle(Input::Linked(event), now(1));
    }
    clock
}

pub(crate) fn broker(clock: &Device) -> Arc<Broker> {
    match clock.desired().mqtt {
        MqttPlan::On(broker) => broker,
        other @ (MqttPlan::Off | MqttPlan::Paused) => panic!("{other:?}"),
    }
}

pub(crate) fn program() -> ProgramInfo {
    ProgramInfo {
        identity: BuildIdentity {
            git_tag: "4.0.0".into(),
            ..BuildIdentity::default()
        },
        page_url: "http://192.0.2.7/".into(),
        updatable_version: Some("4.2.0".into()),
    }
}

/// The state of a clock with all parts, and the state of its connection to the broker.
fn full() -> (View, Arc<Broker>) {
    let clock = clock(BOARD);
    (clock.view(), broker(&clock))
}

/// Components of the discovery message by their keys.
pub(crate) fn components(view: &View, broker: &Broker) -> BTreeMap<String, Value> {
    let document = discovery::device(view, &program(), broker);
    let expected: BTreeSet<&str> = ROOT_MEMBERS.split(' ').collect();
    let members: BTreeSet<&str> = document
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(members, expected);
    let components = document["cmps"].as_object().unwrap().clone();
    components.into_iter().collect()
}

fn is_valid_id(id: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.bytes().all(is_letter)
}

/// Checks a component by the rules of Home Assistant.
fn check(key: &str, component: &Value) {
    let component = component.as_object().unwrap();
    let platform = component["p"].as_str().unwrap();
    let rows = MEMBERS.iter().find(|(name, _)| *name == platform);
    let (_, own) = rows.unwrap_or_else(|| panic!("{key}: no platform {platform}"));
    for (member, value) in component {
        let mut known = own.split(' ').chain(COMMON_MEMBERS.split(' '));
        assert!(
            known.any(|name| name == member),
            "{key}: {platform} has no {member}"
        );
        if member.ends_with("_t") {
            let topic = value.as_str().unwrap();
            assert!(
                topic.starts_with("papertick/papertick-aabbcc/"),
                "{key}: {topic}"
            );
            assert!(!topic.contains(['+', '#']), "{key}: {topic}");
        }
    }
    let text = |member: &str| component.get(member).and_then(Value::as_str);
    assert!(
        text("name").is_some_and(|name| (1..=60).contains(&name.len())),
        "{key}"
    );
    assert!(is_valid_id(text("uniq_id").unwrap()), "{key}");
    let id = text("def_ent_id").unwrap();
    assert!(
        id.starts_with(&format!("{platform}.papertick_aabbcc_")),
        "{id}"
    );
    if ["sensor", "binary_sensor"].contains(&platform) {
        assert_ne!(
            text("ent_cat"),
            Some("config"),
            "{key} is not for configuration"
        );
    }
    if let Some(class) = text("dev_cla") {
        assert!(
            DEVICE_CLASSES.split(' ').any(|known| known == class),
            "{key}: {class}"
        );
    }
    if let Some(options) = component.get("ops") {
        let options = options.as_array().unwrap();
        assert!(!options.is_empty(), "{key}");
        // Home Assistant reads this option as an unknown state.
        let is_none = |option: &Value| option.as_str().unwrap().eq_ignore_ascii_case("none");
        assert!(!options.iter().any(is_none), "{key}");
    }
    // A template with unbalanced braces is invalid.
    for template in ["val_tpl", "cmd_tpl"].into_iter().filter_map(text) {
        assert_eq!(
            template.matches('{').count(),
            template.matches('}').count(),
            "{template}"
        );
    }
    for payload in ["pl_on", "pl_off", "pl_prs", "pl_inst"]
        .into_iter()
        .filter_map(text)
    {
        assert!(
            serde_json::from_str::<Value>(payload).is_ok(),
            "{key}: {payload}"
        );
    }
}

#[test]
fn discovery_follows_the_rules_of_home_assistant() {
    let (view, broker) = full();
    let status = RetainedTopic::Status.name(&broker).unwrap();
    let document = discovery::device(&view, &program(), &broker);
    assert_eq!(document["avty_t"], status.as_str());
    let size = document.to_string().len();
    assert!(size < 32 * 1024, "{size} bytes");
    let components = components(&view, &broker);
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    let present = components
        .iter()
        .filter(|(_, component)| component.get("name").is_some());
    for (key, component) in present {
        assert!(is_valid_id(key), "{key}");
        check(key, component);
        assert!(ids.insert(component["uniq_id"].to_string()), "{key}");
        let name = (component["p"].clone(), component["name"].clone());
        assert!(names.insert(format!("{name:?}")), "{key}: {name:?}");
    }
    for bound in [QuietHoursBound::From, QuietHoursBound::Until] {
        let mut document = discovery::quiet_hours(bound, &view, &program(), &broker);
        assert_eq!(document["avty_t"], status.as_str());
        for member in ["dev", "avty_t"] {
            assert!(document.as_object_mut().unwrap().remove(member).is_some());
        }
        document["p"] = "time".into();
        check("quiet", &document);
    }
}

#[test]
fn entities_of_missing_parts_and_currencies_are_removed() {
    let bare = clock(BARE);
    let (bare, bare_broker) = (bare.view(), broker(&bare));
    let (view, broker) = full();
    let (all, few) = (components(&view, &broker), components(&bare, &bare_broker));
    for key in [
        "strip",
        "frontlight",
        "flash",
        "light_level",
        "set_fl_disable",
    ] {
        assert!(all[key].get("name").is_some(), "{key}");
        // The platform alone removes an entity.
        let members: Vec<&String> = few[key].as_object().unwrap().keys().collect();
        assert_eq!(members, ["p"], "{key}");
    }
    assert_eq!(all["price_usd"]["name"], "Price USD");
    assert_eq!(all["price_gbp"], json!({ "p": "sensor" }));

    // The source has fewer currencies now.
    let mut clock = clock(BOARD);
    let offer = Observation::Currencies(vec![Currency::USD]);
    clock.handle(Input::Observed(SourceId::Relay, vec![offer]), now(2));
    let after = components(&clock.view(), &broker);
    for key in ["price_gbp", "sats_gbp"] {
        assert_eq!(after[key], json!({ "p": "sensor" }), "{key}");
    }
}

#[test]
fn topics_are_parsed() {
    let (_, broker) = full();
    #[rustfmt::skip]
    let rows = [
        ("papertick/papertick-aabbcc/cmd/show/text", Some(IncomingTopic::Command(Scope::Own, "show/text"))),
        ("papertick/papertick-aabbcc/set", Some(IncomingTopic::SettingsChange(Scope::Own))),
        ("papertick/papertick-aabbcc/desired", Some(IncomingTopic::RetainedSettings(Scope::Own))),
        ("papertick/papertick-aabbcc/light/strip/set", Some(IncomingTopic::Lamp(Lamp::Strip))),
        ("papertick/papertick-aabbcc/light/2/set", Some(IncomingTopic::Lamp(Lamp::Led(1)))),
        ("papertick/papertick-aabbcc/light/front/set", Some(IncomingTopic::Lamp(Lamp::Frontlight))),
        ("papertick/papertick-aabbcc/quiet/from/set", Some(IncomingTopic::QuietHours(QuietHoursBound::From))),
        ("papertick/group/all/cmd/restart", Some(IncomingTopic::Command(Scope::Group("all"), "restart"))),
        ("papertick/group/hall/desired", Some(IncomingTopic::RetainedSettings(Scope::Group("hall")))),
        ("homeassistant/status", Some(IncomingTopic::HomeAssistantStatus)),
        ("papertick/papertick-aabbcc/light/0/set", None),
        ("papertick/papertick-aabbcc/light/strip", None),
        ("papertick/papertick-aabbcc/state", None),
        ("papertick/group/kitchen/set", None),
        ("papertick/papertick-aabbccd/set", None),
        ("papertick/papertick-ddeeff/set", None),
        ("paper/papertick-aabbcc/set", None),
        ("", None),
        ("/", None),
    ];
    for (topic, expected) in rows {
        assert_eq!(topics::parse(topic, &broker), expected, "{topic}");
    }
}

#[test]
fn response_topics_are_unused_ones_below_the_clocks_level() {
    let (_, broker) = full();
    for (topic, is_allowed) in [
        ("papertick/papertick-aabbcc/answers/7", true),
        ("papertick/papertick-aabbcc/result", true),
        ("papertick/papertick-aabbcc/states", true),
        ("papertick/papertick-aabbcc/state", false),
        ("papertick/papertick-aabbcc/event/button", false),
        ("papertick/papertick-aabbcc/light/1", false),
        ("papertick/papertick-aabbcc/cmd/restart", false),
        ("papertick/papertick-aabbcc/set", false),
        ("papertick/papertick-aabbcc/a/#", false),
        ("papertick/papertick-aabbcc/+", false),
        ("papertick/papertick-aabbcc/", false),
        ("papertick/papertick-aabbcc", false),
        ("papertick/papertick-aabbccd/x", false),
        ("papertick/group/shop/cmd/restart", false),
        ("tools/answers/7", false),
        ("papertick", false),
        ("papertick/papertick-ddeeff/cmd/restart", false),
        ("homeassistant/device/x/config", false),
        ("homeassistant/status", false),
        ("$SYS/x", false),
        ("", false),
    ] {
        assert_eq!(
            topics::is_response_topic_allowed(topic, &broker),
            is_allowed,
            "{topic}"
        );
    }
    assert!(!topics::is_response_topic_allowed(
        &format!("papertick/papertick-aabbcc/{}", "x".repeat(230)),
        &broker
    ));
}

/// The result of parsing a command, if the strip has one lit LED.
fn parsed(topic: &str, payload: &str) -> String {
    let lit = Rgb {
        red: 1,
        green: 2,
        blue: 3,
    };
    parsed_with(vec![Rgb::BLACK, lit], topic, payload)
}

/// The result of parsing a command, if the strip has these colours: the requests as `Debug` prints them, or status and
/// error.
fn parsed_with(lights: Vec<Rgb>, topic: &str, payload: &str) -> String {
    let (mut view, broker) = full();
    view.lights = lights;
    let topic = topics::parse(topic, &broker).unwrap();
    let command = commands::parse(topic, payload.as_bytes(), &view).unwrap();
    let delayed = if command.is_delayed { " delayed" } else { "" };
    match command.action {
        Ok(CommandAction::InstallNewestRelease) => format!("InstallNewestRelease{delayed}"),
        Ok(CommandAction::Device(calls)) => {
            let requests = calls.iter().map(|call| format!("{:?}", call.request));
            let requests: Vec<String> = requests.collect();
            format!("{}{delayed}", requests.join("; "))
        }
        Err(Answer { status, body, .. }) => {
            format!("{status} {}", body.unwrap()["error"].as_str().unwrap())
        }
    }
}

/// MQTT has the operations of the device, and the update.
#[test]
fn commands_have_the_effects_of_http_requests() {
    for (request, body, _, effect, _) in ROWS.iter().chain(PORTAL_ROWS) {
        let (method, path) = request.split_once(' ').unwrap();
        let name = path.strip_prefix("/api/").filter(|_| method != "GET");
        let Some(name) = name.filter(|name| !name.contains('?')) else {
            continue;
        };
        let is_of_the_program = ["200", "404", "501 heap_trace not built in"].contains(effect);
        let expected = match name {
            "firmware/auto_update" => "InstallNewestRelease",
            _ if is_of_the_program => "404 not found",
            _ => effect,
        };
        let topic = format!("papertick/papertick-aabbcc/cmd/{name}");
        assert_eq!(parsed(&topic, body), expected, "{request} {body}");
    }
}

#[test]
fn commands_are_parsed() {
    #[rustfmt::skip]
    let rows = [
        ("papertick-aabbcc/cmd/screen/next", "PRESS", "Next"),
        ("papertick-aabbcc/cmd/show/nothing", "", "404 not found"),
        ("papertick-aabbcc/cmd/status", "", "404 not found"),
        ("papertick-aabbcc/cmd/", "", "404 not found"),
        ("papertick-aabbcc/set", "{", "400 json"),
        ("papertick-aabbcc/set", "[]", "400 not_object"),
        ("papertick-aabbcc/set", r#"{"mowMode": true}"#, r#"Patch(Patch { keys: ["mowMode"], .. })"#),
        ("group/shop/set", r#"{"mowMode": true}"#, r#"Patch(Patch { keys: ["mowMode"], .. })"#),
        ("group/all/cmd/restart", "", "Restart delayed"),
        ("group/all/cmd/identify", "", "Identify"),
        ("group/all/cmd/factory_reset", r#"{"confirm": "factory_reset"}"#, "403 not for groups"),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "OFF"}"#, "SetLights([])"),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON"}"#, ""),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON", "color": {"r": 255, "g": 0, "b": 1}}"#, "SetLightsColor(Rgb { red: 255, green: 0, blue: 1 })"),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON", "brightness": 300}"#, r#"Patch(Patch { keys: ["ledBrightness"], .. })"#),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON", "effect": "rainbow"}"#, "PlayEffect(Rainbow)"),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON", "effect": "disco"}"#, "400 unknown effect"),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON", "color": {"r": 256}}"#, "400 bad color"),
        ("papertick-aabbcc/light/strip/set", "{}", "400 bad state"),
        ("papertick-aabbcc/light/strip/set", "ON", "400 bad json"),
        ("papertick-aabbcc/light/1/set", r#"{"state": "ON"}"#, "SetLights([Rgb { red: 255, green: 255, blue: 255 }, Rgb { red: 1, green: 2, blue: 3 }])"),
        ("papertick-aabbcc/light/1/set", r#"{"state": "ON", "color": {"r": 9, "g": 8, "b": 7}}"#, "SetLights([Rgb { red: 9, green: 8, blue: 7 }, Rgb { red: 1, green: 2, blue: 3 }])"),
        // A lit LED keeps its colour.
        ("papertick-aabbcc/light/2/set", r#"{"state": "ON"}"#, "SetLights([Rgb { red: 0, green: 0, blue: 0 }, Rgb { red: 1, green: 2, blue: 3 }])"),
        ("papertick-aabbcc/light/2/set", r#"{"state": "OFF"}"#, "SetLights([Rgb { red: 0, green: 0, blue: 0 }, Rgb { red: 0, green: 0, blue: 0 }])"),
        ("papertick-aabbcc/light/9/set", r#"{"state": "ON"}"#, "404 not found"),
        ("papertick-aabbcc/light/front/set", r#"{"state": "ON", "brightness": 9000}"#, "Frontlight(On); Frontlight(Brightness(4095))"),
        ("papertick-aabbcc/light/front/set", r#"{"state": "OFF"}"#, "Frontlight(Off)"),
        ("papertick-aabbcc/light/front/set", r#"{"state": "ON", "brightness": -1}"#, "400 out of range"),
        ("papertick-aabbcc/quiet/from/set", "21:05:00", r#"Patch(Patch { keys: ["dnd"], .. })"#),
        ("papertick-aabbcc/quiet/until/set", "late", "400 bad time"),
    ];
    for (topic, payload, expected) in rows {
        let topic = format!("papertick/{topic}");
        assert_eq!(parsed(&topic, payload), expected, "{topic} {payload}");
    }
    let long = "x".repeat(5000);
    let topic = "papertick/papertick-aabbcc/cmd/show/text";
    assert_eq!(parsed(topic, &long), "413 too large");
}

#[test]
fn a_dark_strip_becomes_white() {
    let topic = "papertick/papertick-aabbcc/light/strip/set";
    assert_eq!(
        parsed_with(vec![Rgb::BLACK; 4], topic, r#"{"state": "ON"}"#),
        "SetLightsColor(Rgb { red: 255, green: 255, blue: 255 })"
    );
}

#[test]
fn info_has_the_documented_members() {
    let clock = clock(BOARD);
    let (mut view, broker) = (clock.view(), broker(&clock));
    view.hostname = "hall-1a2b3c".into();
    view.link.ip = "192.0.2.8".into();
    let program = ProgramInfo {
        identity: BuildIdentity {
            git_tag: "4.0.0".into(),
            git_rev: "4.0.0-abc1234".into(),
            ..BuildIdentity::default()
        },
        ..program()
    };
    let mut info = documents::info(&view, &program, &broker);
    for (member, entry) in [
        ("screens", json!({ "id": 3, "name": "Time" })),
        ("fonts", json!("antonio")),
        ("pools", json!("braiins")),
    ] {
        let list = info[member].take();
        assert!(list.as_array().unwrap().contains(&entry), "{list}");
    }
    // Only available screens are listed.
    let has_miner_screen = |view: &View| {
        let info = documents::info(view, &program, &broker);
        let mut screens = info["screens"].as_array().unwrap().iter();
        screens.any(|screen| screen["id"] == 80)
    };
    let mut with_miner = clock.view();
    Arc::make_mut(&mut with_miner.settings.active).miner_enabled = true;
    assert!(!has_miner_screen(&view) && has_miner_screen(&with_miner));
    assert_eq!(
        info,
        json!({
            "name": "papertick-aabbcc",
            "hostname": "hall-1a2b3c",
            "board": BOARD.id,
            "hwRev": BOARD.hardware,
            "gitTag": "4.0.0",
            "gitRev": "4.0.0-abc1234",
            "ip": "192.0.2.8",
            "page": "http://192.0.2.7/",
            "panels": 7,
            "leds": 4,
            "hasFrontlight": true,
            "groups": broker.groups,
            "screens": null,
            "fonts": null,
            "pools": null,
            "currencies": ["USD", "EUR", "GBP", "CAD", "CHF", "AUD", "JPY"],
        })
    );
    assert_eq!(
        discovery::device(&view, &program, &broker)["dev"],
        json!({
            "ids": ["papertick-aabbcc"],
            "name": "papertick-aabbcc",
            "mf": "papertick",
            "mdl": BOARD.name,
            "hw": BOARD.hardware,
            "sw": "4.0.0",
            "cu": "http://192.0.2.7/",
        })
    );
}

#[test]
fn retained_settings_are_parsed_and_must_not_contain_secrets() {
    let (view, _) = full();
    let parse = |payload: &str| match commands::parse_retained_settings(payload.as_bytes(), &view) {
        Ok(Some(retained)) => format!(
            "{} {:?}",
            retained.rev,
            retained.settings.keys().collect::<Vec<_>>()
        ),
        Ok(None) => "none".into(),
        Err(invalid) => format!("{}! {}", invalid.rev, invalid.error),
    };
    for (payload, expected) in [
        ("", "none"),
        (
            r#"{"rev": "a", "settings": {"mowMode": true}}"#,
            r#"a ["mowMode"]"#,
        ),
        (r#"{"rev": 7, "settings": {}}"#, "7 []"),
        ("{", "! json"),
        ("[]", "! not_object"),
        (r#"{"settings": {}}"#, " []"),
        (r#"{"rev": "", "settings": {}}"#, "! rev:bad_type"),
        (r#"{"rev": "a"}"#, "a! settings:bad_type"),
        (r#"{"rev": 7, "settings": 7}"#, "7! settings:bad_type"),
        (
            r#"{"rev": "a", "settings": {"mqttPass": "x"}}"#,
            "a! mqttPass:secret",
        ),
        (
            r#"{"rev": "a", "settings": {"httpAuthPass": "x"}}"#,
            "a! httpAuthPass:secret",
        ),
        (
            r#"{"rev": "a", "settings": {"nostrRelay": "wss://me:pw@relay"}}"#,
            "a! nostrRelay:secret",
        ),
        (
            r#"{"rev": "a", "settings": {"nostrRelay": "wss://relay"}}"#,
            r#"a ["nostrRelay"]"#,
        ),
        (
            r#"{"rev": "a", "settings": {"miningPoolName": "ocean", "miningPoolUser": "x"}}"#,
            r#"a ["miningPoolName", "miningPoolUser"]"#,
        ),
        (
            r#"{"rev": "a", "settings": {"miningPoolUser": "x"}}"#,
            "a! miningPoolUser:secret",
        ),
        (
            r#"{"rev": "a", "settings": {"miningPoolName": "viabtc", "miningPoolUser": "x"}}"#,
            "a! miningPoolUser:secret",
        ),
    ] {
        assert_eq!(parse(payload), expected, "{payload}");
    }
    let long = format!(r#"{{"rev": "{}", "settings": {{}}}}"#, "x".repeat(65));
    assert_eq!(parse(&long), "! rev:bad_type");
}

#[test]
fn documents_have_the_state_and_no_secret() {
    let mut clock = clock(BOARD);
    let observations = vec![
        Observation::Block(900_000),
        Observation::Price(Currency::USD, Price::parse("64000.5").unwrap()),
    ];
    clock.handle(Input::Observed(SourceId::Relay, observations), now(2));
    let up = vec![Observation::Connection(market::Connection::Up)];
    clock.handle(Input::Observed(SourceId::Relay, up), now(2));
    let (view, broker) = (clock.view(), broker(&clock));
    let market = documents::market(&view, now(3));
    // Without a time server the time is unknown.
    assert_eq!(
        market["height"],
        json!({ "value": 900_000, "source": "relay", "time": null })
    );
    let state = documents::state(&view, &[]);
    assert_eq!(
        (&state["currentScreen"], &state["market"]),
        (&json!(view.current_screen), &Value::Null)
    );
    let settings = documents::settings(&view, &program().identity);
    assert_eq!(
        (&settings["mqttPassSet"], &settings["mqttBase"]),
        (&json!(true), &json!("papertick"))
    );
    assert_eq!(
        (&settings["blockHeight"], &settings["mqttPass"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&settings["miningPoolUserSet"], &settings["miningPoolUser"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(state["sources"], json!({ "relay": true }));
    let lost = vec![Observation::Connection(market::Connection::Connecting)];
    clock.handle(Input::Observed(SourceId::Relay, lost), now(2));
    let state = documents::state(&clock.view(), &[]);
    assert_eq!(state["sources"], json!({ "relay": false }));
    let info = documents::info(&view, &program(), &broker);
    assert_eq!(info["groups"], json!(["all", "shop", "hall"]));
    for document in [
        market,
        state,
        settings,
        info,
        discovery::device(&view, &program(), &broker),
    ] {
        assert!(!document.to_string().contains("planted"), "{document}");
    }
    assert!(!format!("{broker:?}").contains("planted"));
}

#[test]
fn market_values_have_the_time_at_which_they_were_received() {
    let at = |secs: u64| Now {
        utc: UtcTime::plausible(1_770_000_000_999 + secs.cast_signed() * 1000),
        ..now(secs)
    };
    let mut clock = clock(BOARD);
    for (secs, observation) in [
        (10, Observation::Block(900_000)),
        (20, Observation::Fee(FeeRate { micros: 12_000_000 })),
        (
            30,
            Observation::Price(Currency::USD, Price::parse("64000.5").unwrap()),
        ),
    ] {
        clock.handle(
            Input::Observed(SourceId::Relay, vec![observation]),
            at(secs),
        );
    }
    let market = documents::market(&clock.view(), at(100));
    let entry =
        |value: Value, time: i64| json!({ "value": value, "source": "relay", "time": time });
    assert_eq!(
        market,
        json!({
            "height": entry(900_000.into(), 1_770_000_010),
            "feeRate": entry("12.00".into(), 1_770_000_020),
            "prices": { "USD": entry("64000.50".into(), 1_770_000_030) },
        })
    );
}

#[test]
fn the_strip_is_on_if_any_led_is_lit() {
    const GREEN: Rgb = Rgb {
        red: 0,
        green: 200,
        blue: 5,
    };
    let (mut view, _) = full();
    #[rustfmt::skip]
    let rows = [
        ([Rgb::BLACK; 4], Lamp::Strip, Some(Rgb::BLACK)),
        ([GREEN; 4], Lamp::Strip, Some(GREEN)),
        // The first LED is dark.
        ([Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK], Lamp::Strip, Some(GREEN)),
        ([Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK], Lamp::Led(2), Some(GREEN)),
        ([Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK], Lamp::Led(0), Some(Rgb::BLACK)),
        ([GREEN; 4], Lamp::Led(4), None),
    ];
    for (lights, lamp, expected) in rows {
        view.lights = lights.into();
        let state = documents::lamp(lamp, &view);
        let expected = expected.map(|Rgb { red, green, blue }| {
            let word = if green > 0 { "ON" } else { "OFF" };
            (word.into(), json!({ "r": red, "g": green, "b": blue }))
        });
        let state = state.map(|state| (state["state"].clone(), state["color"].clone()));
        assert_eq!(state, expected, "{lights:?} {lamp:?}");
    }
}

#[test]
fn events_have_the_documented_members() {
    let mut clock = clock(BOARD);
    let zap = Request::SimulateZap(Zap {
        amount: Sats(21),
        message: "hello".into(),
    });
    clock.handle(Input::Request(zap), now(2));
    for direction in [Some(Direction::Received), Some(Direction::Sent), None] {
        let payment = Payment {
            direction,
            amount: Msats(21_500),
        };
        let paid = vec![Observation::Payment(payment)];
        clock.handle(Input::Observed(SourceId::Wallet, paid), now(3));
    }
    // The second button is held, the first one is not.
    for (down, ms) in [(2, 4000), (0, 5000), (1, 6000), (0, 6100)] {
        let at = Duration::from_millis(ms);
        let contacts = Input::Pressed(Contacts { down, at });
        clock.handle(contacts, now(ms.div_ceil(1000)));
    }
    clock.handle(Input::Tick, now(8));
    let (view, broker) = (clock.view(), broker(&clock));
    let (log, missed) = view.event_log.since(0);
    let events: Vec<(String, Value)> = log
        .filter(|event| **event != DeviceEvent::Refresh)
        .map(|event| {
            let topic = topics::event_topic(event, &broker);
            (topic, documents::event(event))
        })
        .collect();
    let own = |leaf: &str| format!("papertick/papertick-aabbcc/{leaf}");
    assert_eq!(missed, 0);
    assert_eq!(
        events,
        [
            (
                own("event"),
                json!({ "event_type": "zap", "sats": 21, "message": "hello" })
            ),
            (
                own("event"),
                json!({ "event_type": "payment", "sats": 21, "direction": "received" })
            ),
            (
                own("event"),
                json!({ "event_type": "payment", "sats": 21, "direction": "sent" })
            ),
            (
                own("event"),
                json!({ "event_type": "payment", "sats": 21, "direction": null })
            ),
            (
                own("event/button"),
                json!({ "event_type": "long_press", "button": 2 })
            ),
            (
                own("event/button"),
                json!({ "event_type": "press", "button": 1 })
            ),
        ]
    );
}

#[test]
fn a_result_has_the_request_id_and_the_body() {
    let rejected = Answer::bad_request("missing s");
    let result = documents::result("show/screen", Some(&json!("a7")), &rejected);
    assert_eq!(
        result,
        json!({ "cmd": "show/screen", "id": "a7", "status": 400, "error": "missing s" })
    );
    let list = Answer::json(&json!([1]));
    let result = documents::result("lights/set", None, &list);
    assert_eq!(
        result,
        json!({ "cmd": "lights/set", "id": null, "status": 200, "body": [1] })
    );
    // A member of the body does not replace one of the result.
    let body = Answer::json(&json!({ "status": 500, "cmd": "x", "msg": "y" }));
    let result = documents::result("restart", None, &body);
    assert_eq!(
        result,
        json!({ "cmd": "restart", "id": null, "status": 200, "msg": "y" })
    );
    let refused = Answer::rejected(&Rejection::BadText(
        "mqttBase".into(),
        TextFault::TooLong(9),
    ));
    assert_eq!(
        documents::result("set", None, &refused),
        json!({
            "cmd": "set",
            "id": null,
            "status": 400,
            "error": "mqttBase:bad_type",
            "msg": "mqttBase takes at most 9 bytes",
        })
    );
}

#[test]
fn a_request_id_is_a_string_or_a_number() {
    let (longest, longer) = ("x".repeat(64), "x".repeat(65));
    for (id, expected) in [
        (json!("a7"), Some(json!("a7"))),
        (json!(""), Some(json!(""))),
        (json!(7), Some(json!(7))),
        (json!(longest), Some(json!(longest))),
        (json!(longer), None),
        (Value::Null, None),
        (json!(true), None),
        (json!(["a7"]), None),
        (json!({ "a": 7 }), None),
    ] {
        let payload = json!({ "id": id, "s": 1 }).to_string();
        assert_eq!(
            commands::request_id(payload.as_bytes()),
            expected,
            "{payload}"
        );
    }
    assert_eq!(commands::request_id(b"PRESS"), None);
    assert_eq!(commands::request_id(b"{}"), None);
}

#[test]
fn reported_has_every_scope() {
    let (mut view, _) = full();
    let report = |scope: &str, rev: &str, error: Option<&str>| SettingsReport {
        scope: scope.into(),
        rev: rev.into(),
        error: error.map(Into::into),
    };
    assert_eq!(documents::reported(&[], &view), None);
    let reports = [
        report("all", "1", Some("range:mqttPort")),
        report("own", "2", None),
    ];
    let document = documents::reported(&reports, &view).unwrap();
    let own = json!({ "rev": "2", "applied": true, "error": null, "rebootRequired": false });
    let all =
        json!({ "rev": "1", "applied": false, "error": "range:mqttPort", "rebootRequired": false });
    assert_eq!(
        (&document["rev"], &document["scope"]),
        (&json!("2"), &json!("own"))
    );
    assert_eq!(document["scopes"], json!({ "all": all, "own": own }));
    // A setting waits for a restart.
    Arc::make_mut(&mut view.settings.stored).data_source = 3;
    let document = documents::reported(&reports, &view).unwrap();
    for report in [
        &document,
        &document["scopes"]["own"],
        &document["scopes"]["all"],
    ] {
        assert_eq!(report["rebootRequired"], true, "{document}");
    }
}

proptest! {
    #[test]
    fn any_message_is_parsed(topic in "(papertick|homeassistant)/(papertick-aabbcc|group|status)(/[a-z/]{0,20})?", payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let (view, broker) = full();
        if let Some(topic) = topics::parse(&topic, &broker) {
            let _ = commands::parse(topic, &payload, &view);
        }
        let _ = commands::parse_retained_settings(&payload, &view);
    }
}

#[test]
fn the_longest_text_of_home_assistant_is_accepted() {
    for letter in ["\\u0416", "\\ud83d\\ude00"] {
        let body = format!(r#"{{"t": "{}"}}"#, letter.repeat(255));
        let request = parsed("papertick/papertick-aabbcc/cmd/show/text", &body);
        assert!(request.starts_with("ShowText"), "{request}");
    }
}

#[test]
fn dropped_messages_do_not_change_the_state() {
    let (mut view, _) = full();
    let before = documents::state(&view, &[]);
    let broker = view.mqtt.as_mut().unwrap();
    broker.drop("too-large", 1);
    assert_eq!(documents::state(&view, &[]), before);
}

fn events(clock: &Device) -> Vec<Value> {
    let view = clock.view();
    let (log, _) = view.event_log.since(0);
    log.map(documents::event).collect()
}

#[test]
fn refreshes_and_problems_are_events_once() {
    let mut clock = clock(BOARD);
    clock.handle(Input::Tick, now(20));
    let before = events(&clock).len();
    let refresh = json!({ "event_type": "refresh" });
    let warning = |text: &str| json!({ "event_type": "warning", "text": text });
    let noticed = || Input::StartupProblem("the disk is full".into());
    let failed = UpdateEvent::Failed("it did not come whole".into());
    let mut expected = Vec::new();
    let inputs = [
        (Input::Request(Request::FullRefresh), Some(refresh)),
        (noticed(), Some(warning("the disk is full"))),
        // The same problem again is not an event.
        (noticed(), None),
        (
            Input::Uploaded(failed),
            Some(warning("an update was given up: it did not come whole")),
        ),
        (
            Input::SafeMode("it ended unexpectedly three times".into()),
            Some(warning("safe mode: it ended unexpectedly three times")),
        ),
    ];
    for (at, (input, event)) in (21..).step_by(2).zip(inputs) {
        clock.handle(input, now(at));
        clock.handle(Input::Tick, now(at + 1));
        expected.extend(event);
        assert_eq!(events(&clock)[before..], expected);
    }
    for _ in 0..2 {
        clock.stored(Err("no space".into()));
    }
    expected.push(warning("nothing can be stored: no space"));
    assert_eq!(events(&clock)[before..], expected);
}

/// Checks the state of the update entity by the rules of Home Assistant since 2024.12: it ignores a state with an unknown
/// member, or with a member of a wrong type, and logs an error.
fn check_update(update: &Value) {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    for (member, value) in update.as_object().unwrap() {
        let is_valid = match member.as_str() {
            "installed_version" | "latest_version" | "title" => is_text(value),
            "release_url" => value.as_str().is_some_and(has_host),
            "in_progress" => value.is_boolean(),
            "update_percentage" => {
                value.is_null() || value.as_u64().is_some_and(|percent| percent <= 100)
            }
            _ => false,
        };
        assert!(is_valid, "{member}: {value}");
    }
    assert!(update.get("installed_version").is_some_and(is_text));
    // A percentage means that an update is in progress.
    let percent = &update["update_percentage"];
    assert_eq!(percent.is_null(), update["in_progress"] == false);
}

fn has_host(url: &str) -> bool {
    let rest = url.split_once("://").map(|(_, rest)| rest);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Sets the URL of the release list.
fn set_release_url(clock: &mut Device) {
    let feed = json!({ "gitReleaseUrl": "https://feed.example/" });
    let Value::Object(body) = feed else { panic!() };
    let patch = device::request::Patch {
        body,
        ..Default::default()
    };
    clock.handle(Input::Request(Request::Patch(patch)), now(2));
}

/// Reports the release 4.3.0 to the clock.
fn report_release(clock: &mut Device, title: &str, page: &str, verdict: ReleaseVerdict) {
    let release = Release {
        version: "4.3.0".into(),
        title: title.into(),
        page: page.into(),
        number: 91,
        verdict,
    };
    clock.handle(Input::ReleaseCheck(ReleaseCheck::Found(release)), now(3));
}

#[test]
fn update_states_follow_the_rules_of_home_assistant() {
    let mut clock = clock(BOARD);
    set_release_url(&mut clock);
    let check =
        |clock: &Device| check_update(&documents::update(&clock.view(), &program()).unwrap());
    check(&clock);
    for verdict in ReleaseVerdict::ALL {
        for (title, page) in [("Winter", "https://example.org/"), ("", "")] {
            report_release(&mut clock, title, page, verdict);
            check(&clock);
        }
    }
    clock.handle(
        Input::ReleaseCheck(ReleaseCheck::Failed("no list".into())),
        now(4),
    );
    check(&clock);
    for upload in [
        UpdateEvent::Started,
        UpdateEvent::Progress(0),
        UpdateEvent::Progress(42),
        UpdateEvent::Progress(100),
        UpdateEvent::Failed("it did not come whole".into()),
        UpdateEvent::Started,
        UpdateEvent::Verified,
    ] {
        clock.handle(Input::Uploaded(upload), now(5));
        check(&clock);
    }
}

#[test]
fn a_release_is_offered_only_if_the_clock_accepts_it() {
    let mut clock = clock(BOARD);
    let state_with = |clock: &mut Device, verdict| {
        report_release(clock, "Winter", "https://example.org/", verdict);
        documents::update(&clock.view(), &program()).unwrap()
    };
    let nothing =
        json!({ "installed_version": "4.2.0", "in_progress": false, "update_percentage": null });
    assert_eq!(documents::update(&clock.view(), &program()), Some(nothing));
    set_release_url(&mut clock);
    let offered = state_with(&mut clock, ReleaseVerdict::Taken);
    assert_eq!(
        (
            &offered["latest_version"],
            &offered["title"],
            &offered["release_url"]
        ),
        (
            &json!("4.3.0"),
            &json!("Winter"),
            &json!("https://example.org/")
        )
    );
    for verdict in ReleaseVerdict::ALL {
        let is_offered = [
            ReleaseVerdict::Taken,
            ReleaseVerdict::Failed,
            ReleaseVerdict::Left,
        ]
        .contains(&verdict);
        let latest = if is_offered { "4.3.0" } else { "4.2.0" };
        assert_eq!(
            state_with(&mut clock, verdict)["latest_version"],
            latest,
            "{verdict:?}"
        );
    }
    let refused = state_with(&mut clock, ReleaseVerdict::Share);
    assert_eq!(
        (&refused["latest_version"], &refused["title"]),
        (&json!("4.2.0"), &Value::Null)
    );
    assert_eq!(
        documents::state(&clock.view(), &[])["release"]["why"],
        "share"
    );
    for upload in [UpdateEvent::Started, UpdateEvent::Progress(42)] {
        clock.handle(Input::Uploaded(upload), now(4));
    }
    let updating = documents::update(&clock.view(), &program()).unwrap();
    assert_eq!(
        (&updating["in_progress"], &updating["update_percentage"]),
        (&json!(true), &json!(42))
    );

    let (view, broker) = (clock.view(), broker(&clock));
    assert_eq!(components(&view, &broker)["firmware"]["name"], "Firmware");
    let not_updatable = ProgramInfo {
        updatable_version: None,
        ..program()
    };
    let mut disabled = clock.view();
    Arc::make_mut(&mut disabled.settings.active).ota_enabled = false;
    for (view, program) in [(&view, &not_updatable), (&disabled, &program())] {
        assert_eq!(documents::update(view, program), None);
        let document = discovery::device(view, program, &broker);
        assert_eq!(document["cmps"]["firmware"], json!({ "p": "update" }));
    }
}

#[test]
fn a_frontlight_that_is_off_keeps_its_brightness() {
    let mut device = clock(BOARD);
    for (command, state) in [
        (FrontlightCommand::Off, "OFF"),
        (FrontlightCommand::Brightness(1_024), "OFF"),
        (FrontlightCommand::On, "ON"),
    ] {
        device.handle(Input::Request(Request::Frontlight(command)), now(30));
        let lamp = documents::lamp(Lamp::Frontlight, &device.view()).unwrap();
        assert_eq!(lamp["state"], state);
    }
    let lamp = documents::lamp(Lamp::Frontlight, &device.view()).unwrap();
    assert_eq!(lamp["brightness"], 1_024);
}
