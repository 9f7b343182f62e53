//! The clock at a broker: what it tells Home Assistant is held to rules that are kept as data, and what comes from the
//! broker is read into what the device is asked.

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
        documents::{self, About, Report},
        topics::{self, Incoming, Lamp, QuietHoursBound, RetainedTopic, Scope},
    },
    operations,
};
use device::{
    board::BoardSpec,
    device::Device,
    happenings::Happening,
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
    Direction, HeightState, Observation, Payment, Tip, Zap,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Price, Sats},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::clock::{BARE, BOARD, now};

/// Members that a component of a platform may have, besides those of all: a member that a platform does not know is
/// passed over by it, and so does nothing.
const MEMBERS: &[(&str, &str)] = &[
    ("sensor", "stat_t val_tpl unit_of_meas dev_cla stat_cla"),
    ("binary_sensor", "stat_t val_tpl dev_cla"),
    (
        "switch",
        "stat_t val_tpl cmd_t pl_on pl_off stat_on stat_off",
    ),
    ("select", "stat_t val_tpl cmd_t cmd_tpl ops"),
    (
        "number",
        "stat_t val_tpl cmd_t cmd_tpl min max step mode unit_of_meas",
    ),
    ("button", "cmd_t pl_prs dev_cla"),
    ("text", "stat_t val_tpl cmd_t cmd_tpl min max ptrn"),
    ("update", "stat_t cmd_t pl_inst dev_cla"),
    ("notify", "cmd_t cmd_tpl"),
    ("image", "img_t cont_type"),
    ("event", "stat_t evt_typ dev_cla"),
    (
        "light",
        "schema stat_t cmd_t sup_clrm brightness bri_scl effect fx_list",
    ),
    ("time", "stat_t val_tpl cmd_t"),
];

/// Members that a component of any platform may have.
const OF_ALL: &str = "p name uniq_id def_ent_id ent_cat en ic qos";

/// Members of the whole document: one more, and versions that do not know it refuse the clock.
const OF_THE_DOCUMENT: &str = "dev o avty_t cmps";

/// Classes that all versions know.
const CLASSES: &str = "timestamp illuminance signal_strength connectivity problem restart identify button running data_size firmware";

pub(crate) fn settings() -> Settings {
    Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new("me:planted@broker"),
        mqtt_pass: Secret::new("planted-pass"),
        mqtt_key: Secret::new("planted-key"),
        mqtt_groups: "shop,hall".into(),
        // A token, which GET shows and nothing else.
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

pub(crate) fn about() -> About {
    About {
        identity: BuildIdentity {
            git_tag: "4.0.0".into(),
            ..BuildIdentity::default()
        },
        page: "http://192.0.2.7/".into(),
        updatable: Some("4.2.0".into()),
    }
}

/// A board with everything, and its broker.
fn full() -> (View, Arc<Broker>) {
    let clock = clock(BOARD);
    (clock.view(), broker(&clock))
}

pub(crate) fn components(view: &View, broker: &Broker) -> BTreeMap<String, Value> {
    let document = discovery::device(view, &about(), broker);
    let members: BTreeSet<&str> = OF_THE_DOCUMENT.split(' ').collect();
    let found: BTreeSet<&str> = document
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(found, members);
    let components = document["cmps"].as_object().unwrap().clone();
    components.into_iter().collect()
}

fn is_legal(id: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.bytes().all(is_letter)
}

fn check(key: &str, component: &Value) {
    let component = component.as_object().unwrap();
    let platform = component["p"].as_str().unwrap();
    let rows = MEMBERS.iter().find(|(name, _)| *name == platform);
    let (_, own) = rows.unwrap_or_else(|| panic!("{key}: no platform {platform}"));
    for (member, value) in component {
        let mut known = own.split(' ').chain(OF_ALL.split(' '));
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
    assert!(is_legal(text("uniq_id").unwrap()), "{key}");
    let id = text("def_ent_id").unwrap();
    assert!(
        id.starts_with(&format!("{platform}.papertick_aabbcc_")),
        "{id}"
    );
    if ["sensor", "binary_sensor"].contains(&platform) {
        assert_ne!(text("ent_cat"), Some("config"), "{key} cannot be changed");
    }
    if let Some(class) = text("dev_cla") {
        assert!(
            CLASSES.split(' ').any(|known| known == class),
            "{key}: {class}"
        );
    }
    if let Some(options) = component.get("ops") {
        let options = options.as_array().unwrap();
        assert!(!options.is_empty(), "{key}");
        // It stands for a value that is not known.
        let is_none = |option: &Value| option.as_str().unwrap().eq_ignore_ascii_case("none");
        assert!(!options.iter().any(is_none), "{key}");
    }
    // Braces that do not match make a template that is none.
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
fn the_discovery_keeps_the_rules_of_home_assistant() {
    let (view, broker) = full();
    let is_there = RetainedTopic::Status.topic(&broker).unwrap();
    let whole = discovery::device(&view, &about(), &broker);
    assert_eq!(whole["avty_t"], is_there.as_str());
    let components = components(&view, &broker);
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    let present = components
        .iter()
        .filter(|(_, component)| component.get("name").is_some());
    for (key, component) in present.clone() {
        assert!(is_legal(key), "{key}");
        check(key, component);
        assert!(ids.insert(component["uniq_id"].to_string()), "{key}");
        let name = (component["p"].clone(), component["name"].clone());
        assert!(names.insert(format!("{name:?}")), "{key}: {name:?}");
    }
    assert!(present.count() >= 60, "{}", ids.len());
    for edge in [QuietHoursBound::From, QuietHoursBound::Until] {
        let mut document = discovery::quiet(edge, &view, &about(), &broker);
        assert_eq!(document["avty_t"], is_there.as_str());
        for whole in ["dev", "avty_t"] {
            assert!(document.as_object_mut().unwrap().remove(whole).is_some());
        }
        document["p"] = "time".into();
        check("quiet", &document);
    }
    let size = discovery::device(&view, &about(), &broker)
        .to_string()
        .len();
    assert!(size < 32 * 1024, "{size} bytes");
}

#[test]
fn a_clock_has_no_entities_for_parts_that_it_lacks() {
    let bare = clock(BARE);
    let (bare, its_broker) = (bare.view(), broker(&bare));
    let (view, broker) = full();
    let (all, few) = (components(&view, &broker), components(&bare, &its_broker));
    let lacking = |key: &str| {
        few.get(key)
            .is_none_or(|component| component.get("name").is_none())
    };
    for key in [
        "strip",
        "frontlight",
        "flash",
        "light_level",
        "set_fl_disable",
    ] {
        assert!(all[key].get("name").is_some(), "{key}");
        assert!(lacking(key), "{key}");
        // Whoever knew it from before forgets it.
        let forgotten = few[key]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>();
        assert_eq!(forgotten, ["p"], "{key}");
    }
    assert_eq!(all["price_usd"]["name"], "Price USD");
    assert_eq!(all["price_gbp"], json!({ "p": "sensor" }));

    // So is a currency that is on offer no longer.
    let mut clock = clock(BOARD);
    let offer = Observation::Currencies(vec![Currency::USD]);
    clock.handle(Input::Observed(SourceId::Relay, vec![offer]), now(2));
    let after = components(&clock.view(), &broker);
    for key in ["price_gbp", "sats_gbp"] {
        assert_eq!(after[key], json!({ "p": "sensor" }), "{key}");
    }
}

#[test]
fn what_is_told_seldom_must_arrive() {
    let seldom = [
        RetainedTopic::Discovery,
        RetainedTopic::QuietFrom,
        RetainedTopic::QuietUntil,
        RetainedTopic::Status,
        RetainedTopic::Info,
        RetainedTopic::Update,
        RetainedTopic::Settings,
        RetainedTopic::Reported,
    ];
    for level in RetainedTopic::all(BOARD.leds) {
        let expected = seldom.contains(&level);
        assert_eq!(level.must_arrive(), expected, "{level:?}");
    }
}

#[test]
fn every_component_is_about_a_level_that_is_told() {
    let (view, broker) = full();
    let levels = RetainedTopic::all(view.board.leds).into_iter();
    let mut told: BTreeSet<String> = levels.filter_map(|level| level.topic(&broker)).collect();
    told.extend([
        topics::event(&Happening::Block { height: 1 }, &broker),
        topics::event(
            &Happening::Button {
                button: None,
                held: true,
            },
            &broker,
        ),
    ]);
    for (key, component) in components(&view, &broker) {
        for member in ["stat_t", "img_t"] {
            let topic = component.get(member).and_then(Value::as_str);
            assert!(
                topic.is_none_or(|topic| told.contains(topic)),
                "{key}: {topic:?}"
            );
        }
        if let Some(topic) = component.get("cmd_t").and_then(Value::as_str) {
            let incoming = topics::read(topic, &broker).unwrap_or_else(|| panic!("{topic}"));
            let payloads = ["pl_on", "pl_prs", "pl_inst"].map(|member| component.get(member));
            let payload = payloads.into_iter().flatten().next();
            let payload = payload.and_then(Value::as_str).unwrap_or_default();
            let wish = commands::read(incoming, payload.as_bytes(), &view);
            let refused = wish.unwrap().work.err().map(|answer| answer.status);
            if let Incoming::Command(_, name) = incoming {
                let is_known = operations::all().any(|row| row.name() == Some(name));
                assert!(is_known, "{key}: {topic}");
            }
            if !payload.is_empty() {
                assert_eq!(refused, None, "{key}: {payload}");
            }
        }
    }
}

#[test]
fn topics_are_read_back() {
    let (_, broker) = full();
    let rows = [
        (
            "papertick/papertick-aabbcc/cmd/show/text",
            Some(Incoming::Command(Scope::Own, "show/text")),
        ),
        (
            "papertick/papertick-aabbcc/set",
            Some(Incoming::Set(Scope::Own)),
        ),
        (
            "papertick/papertick-aabbcc/desired",
            Some(Incoming::Desired(Scope::Own)),
        ),
        (
            "papertick/papertick-aabbcc/light/strip/set",
            Some(Incoming::Lamp(Lamp::Strip)),
        ),
        (
            "papertick/papertick-aabbcc/light/2/set",
            Some(Incoming::Lamp(Lamp::Led(1))),
        ),
        (
            "papertick/papertick-aabbcc/light/front/set",
            Some(Incoming::Lamp(Lamp::Frontlight)),
        ),
        (
            "papertick/papertick-aabbcc/quiet/from/set",
            Some(Incoming::Quiet(QuietHoursBound::From)),
        ),
        (
            "papertick/group/all/cmd/restart",
            Some(Incoming::Command(Scope::Group("all"), "restart")),
        ),
        (
            "papertick/group/hall/desired",
            Some(Incoming::Desired(Scope::Group("hall"))),
        ),
        ("homeassistant/status", Some(Incoming::HomeAssistant)),
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
        assert_eq!(topics::read(topic, &broker), expected, "{topic}");
    }
    let filters = topics::filters(&broker).join(" ");
    for filter in [
        "papertick/papertick-aabbcc/cmd/#",
        "papertick/group/hall/set",
        "papertick/group/all/desired",
        "homeassistant/status",
    ] {
        assert!(filters.contains(filter), "{filter}");
    }
}

#[test]
fn of_what_stands_at_the_broker_only_settings_count() {
    let (_, broker) = full();
    for (filter, stands, is_asked) in [
        ("papertick/papertick-aabbcc/desired", true, false),
        ("papertick/group/all/desired", true, false),
        ("papertick/papertick-aabbcc/cmd/#", false, true),
        ("papertick/group/all/set", false, true),
        ("homeassistant/status", false, false),
    ] {
        let told = (topics::stands(filter), topics::is_asked(filter, &broker));
        assert_eq!(told, (stands, is_asked), "{filter}");
    }
}

#[test]
fn answers_name_what_was_asked() {
    for (incoming, expected) in [
        (
            Incoming::Command(Scope::Own, "show/text"),
            Some("show/text"),
        ),
        (Incoming::Set(Scope::Group("all")), Some("set")),
        (Incoming::Lamp(Lamp::Strip), Some("light/strip")),
        (Incoming::Lamp(Lamp::Led(1)), Some("light/2")),
        (Incoming::Quiet(QuietHoursBound::From), Some("quiet/from")),
        (Incoming::Desired(Scope::Own), None),
        (Incoming::HomeAssistant, None),
    ] {
        let said = format!("{incoming:?}");
        assert_eq!(commands::name(incoming).as_deref(), expected, "{said}");
    }
}

#[test]
fn answers_go_where_nobody_takes_them_for_something_else() {
    let (_, broker) = full();
    for (topic, may) in [
        ("tools/answers/7", true),
        ("papertickle", true),
        ("homeassistants/x", true),
        ("papertick", false),
        ("papertick/papertick-ddeeff/cmd/restart", false),
        ("homeassistant/device/x/config", false),
        ("homeassistant/status", false),
        ("$SYS/x", false),
        ("a/#", false),
        ("a/+/b", false),
        ("", false),
    ] {
        assert_eq!(topics::may_answer_on(topic, &broker), may, "{topic}");
    }
    assert!(!topics::may_answer_on(&"x".repeat(257), &broker));
}

/// What the device is asked whose strip has one LED that is lit.
fn wished(topic: &str, payload: &str) -> String {
    let lit = Rgb {
        red: 1,
        green: 2,
        blue: 3,
    };
    wished_at(vec![Rgb::BLACK, lit], topic, payload)
}

/// What the device is asked whose strip shows this, as `Debug` prints it, or status and reason.
fn wished_at(lights: Vec<Rgb>, topic: &str, payload: &str) -> String {
    let (mut view, broker) = full();
    view.lights = lights;
    let wish = commands::read(
        topics::read(topic, &broker).unwrap(),
        payload.as_bytes(),
        &view,
    )
    .unwrap();
    let spread = if wish.is_spread { " spread" } else { "" };
    match wish.work {
        Ok(CommandAction::NewestRelease) => format!("NewestRelease{spread}"),
        Ok(CommandAction::Device(asked)) => {
            let requests: Vec<String> = asked
                .iter()
                .map(|asked| format!("{:?}", asked.request))
                .collect();
            format!("{}{spread}", requests.join("; "))
        }
        Err(Answer { status, body, .. }) => {
            format!("{status} {}", body.unwrap()["error"].as_str().unwrap())
        }
    }
}

#[test]
fn what_comes_from_the_broker_is_what_comes_over_http() {
    let rows = [
        (
            "papertick-aabbcc/cmd/show/screen",
            r#"{"s": 3}"#,
            "ShowScreen(3)",
        ),
        ("papertick-aabbcc/cmd/show/screen", "", "400 missing s"),
        ("papertick-aabbcc/cmd/screen/next", "PRESS", "Next"),
        ("papertick-aabbcc/cmd/show/nothing", "", "404 not found"),
        ("papertick-aabbcc/cmd/status", "", "404 not found"),
        ("papertick-aabbcc/cmd/", "", "404 not found"),
        ("papertick-aabbcc/set", "{", "400 json"),
        ("papertick-aabbcc/set", "[]", "400 not_object"),
        (
            "papertick-aabbcc/set",
            r#"{"mowMode": true}"#,
            r#"Patch(Patch { keys: ["mowMode"], .. })"#,
        ),
        (
            "group/shop/set",
            r#"{"mowMode": true}"#,
            r#"Patch(Patch { keys: ["mowMode"], .. })"#,
        ),
        ("papertick-aabbcc/cmd/restart", "", "Restart"),
        (
            "papertick-aabbcc/cmd/firmware/auto_update",
            "{}",
            "NewestRelease",
        ),
        ("group/all/cmd/restart", "", "Restart spread"),
        (
            "papertick-aabbcc/cmd/factory_reset",
            r#"{"confirm": "factory_reset"}"#,
            "FactoryReset",
        ),
        (
            "group/all/cmd/factory_reset",
            r#"{"confirm": "factory_reset"}"#,
            "403 not for groups",
        ),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "OFF"}"#,
            "SetLights([])",
        ),
        ("papertick-aabbcc/light/strip/set", r#"{"state": "ON"}"#, ""),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "ON", "color": {"r": 255, "g": 0, "b": 1}}"#,
            "SetLightsColor(Rgb { red: 255, green: 0, blue: 1 })",
        ),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "ON", "brightness": 300}"#,
            r#"Patch(Patch { keys: ["ledBrightness"], .. })"#,
        ),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "ON", "effect": "rainbow"}"#,
            "PlayEffect(Rainbow)",
        ),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "ON", "effect": "disco"}"#,
            "400 unknown effect",
        ),
        (
            "papertick-aabbcc/light/strip/set",
            r#"{"state": "ON", "color": {"r": 256}}"#,
            "400 bad color",
        ),
        ("papertick-aabbcc/light/strip/set", "{}", "400 bad state"),
        ("papertick-aabbcc/light/strip/set", "ON", "400 bad json"),
        (
            "papertick-aabbcc/light/1/set",
            r#"{"state": "ON"}"#,
            "SetLights([Rgb { red: 255, green: 255, blue: 255 }, Rgb { red: 1, green: 2, blue: 3 }])",
        ),
        (
            "papertick-aabbcc/light/1/set",
            r#"{"state": "ON", "color": {"r": 9, "g": 8, "b": 7}}"#,
            "SetLights([Rgb { red: 9, green: 8, blue: 7 }, Rgb { red: 1, green: 2, blue: 3 }])",
        ),
        // One that is lit keeps its colour.
        (
            "papertick-aabbcc/light/2/set",
            r#"{"state": "ON"}"#,
            "SetLights([Rgb { red: 0, green: 0, blue: 0 }, Rgb { red: 1, green: 2, blue: 3 }])",
        ),
        (
            "papertick-aabbcc/light/2/set",
            r#"{"state": "OFF"}"#,
            "SetLights([Rgb { red: 0, green: 0, blue: 0 }, Rgb { red: 0, green: 0, blue: 0 }])",
        ),
        (
            "papertick-aabbcc/light/9/set",
            r#"{"state": "ON"}"#,
            "404 not found",
        ),
        (
            "papertick-aabbcc/light/front/set",
            r#"{"state": "ON", "brightness": 9000}"#,
            "Frontlight(On); Frontlight(Brightness(4095))",
        ),
        (
            "papertick-aabbcc/light/front/set",
            r#"{"state": "OFF"}"#,
            "Frontlight(Off)",
        ),
        (
            "papertick-aabbcc/light/front/set",
            r#"{"state": "ON", "brightness": -1}"#,
            "400 out of range",
        ),
        (
            "papertick-aabbcc/quiet/from/set",
            "21:05:00",
            r#"Patch(Patch { keys: ["dnd"], .. })"#,
        ),
        ("papertick-aabbcc/quiet/until/set", "late", "400 bad time"),
    ];
    for (topic, payload, expected) in rows {
        let topic = format!("papertick/{topic}");
        assert_eq!(wished(&topic, payload), expected, "{topic} {payload}");
    }
    let long = "x".repeat(5000);
    let topic = "papertick/papertick-aabbcc/cmd/show/text";
    assert_eq!(wished(topic, &long), "413 too large");
}

#[test]
fn a_dark_strip_that_is_switched_on_is_white() {
    let topic = "papertick/papertick-aabbcc/light/strip/set";
    assert_eq!(
        wished_at(vec![Rgb::BLACK; 4], topic, r#"{"state": "ON"}"#),
        "SetLightsColor(Rgb { red: 255, green: 255, blue: 255 })"
    );
}

#[test]
fn what_the_clock_is_is_told_by_the_names_of_its_members() {
    let clock = clock(BOARD);
    let (mut view, broker) = (clock.view(), broker(&clock));
    view.hostname = "hall-1a2b3c".into();
    view.link.ip = "192.0.2.8".into();
    let about = About {
        identity: BuildIdentity {
            git_tag: "4.0.0".into(),
            git_rev: "4.0.0-abc1234".into(),
            ..BuildIdentity::default()
        },
        ..about()
    };
    let mut info = documents::info(&view, &about, &broker);
    for (member, count) in [("screens", 8), ("fonts", 3), ("pools", 8)] {
        let listed = info[member].take();
        assert!(listed.as_array().unwrap().len() >= count, "{listed}");
    }
    let told = documents::info(&view, &about, &broker);
    let has = |member: &str, value: &Value| told[member].as_array().unwrap().contains(value);
    assert!(has("screens", &json!({ "id": 3, "name": "Time" })));
    let ids = |view: &View| -> Vec<Value> {
        let info = documents::info(view, &about, &broker);
        let screens = info["screens"].as_array().unwrap().iter();
        screens.map(|screen| screen["id"].clone()).collect()
    };
    assert_eq!(ids(&view), [0, 3, 4, 40, 10, 20, 30, 6]);
    let mut mines = clock.view();
    Arc::make_mut(&mut mines.active).miner_enabled = true;
    assert_eq!(ids(&mines), [0, 3, 4, 40, 80, 81, 10, 20, 30, 6]);
    assert!(has("fonts", &json!("antonio")) && has("pools", &json!("braiins")));
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
        discovery::device(&view, &about, &broker)["dev"],
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
fn retained_settings_are_parsed_and_contain_no_secret() {
    let (view, _) = full();
    let read = |payload: &str| match commands::retained_settings(payload.as_bytes(), &view) {
        Ok(Some(retained)) => format!(
            "{} {:?}",
            retained.rev,
            retained.settings.keys().collect::<Vec<_>>()
        ),
        Ok(None) => "none".into(),
        Err(invalid) => format!("{}! {}", invalid.rev, invalid.reason),
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
        assert_eq!(read(payload), expected, "{payload}");
    }
    let long = format!(r#"{{"rev": "{}", "settings": {{}}}}"#, "x".repeat(65));
    assert_eq!(read(&long), "! rev:bad_type");
}

#[test]
fn documents_say_how_the_clock_is_and_hold_no_secret() {
    let mut clock = clock(BOARD);
    let learned = vec![
        Observation::Block(900_000),
        Observation::Price(Currency::USD, Price::parse("64000.5").unwrap()),
    ];
    clock.handle(Input::Observed(SourceId::Relay, learned), now(2));
    let up = vec![Observation::Connection(market::Connection::Up)];
    clock.handle(Input::Observed(SourceId::Relay, up), now(2));
    let (view, broker) = (clock.view(), broker(&clock));
    let market = documents::market(&view, now(3));
    assert_eq!(
        market["height"],
        json!({ "value": 900_000, "source": "relay", "time": null })
    );
    assert_eq!(market["prices"]["USD"]["value"], "64000.50");
    let state = documents::state(&view, &[]);
    assert_eq!(
        (&state["currentScreen"], &state["market"]),
        (&json!(view.current_screen), &Value::Null)
    );
    let settings = documents::settings(&view, &about().identity);
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
    let info = documents::info(&view, &about(), &broker);
    assert_eq!(info["groups"], json!(["all", "shop", "hall"]));
    for document in [
        market,
        state,
        settings,
        info,
        discovery::device(&view, &about(), &broker),
    ] {
        assert!(!document.to_string().contains("planted"), "{document}");
    }
    assert!(!format!("{broker:?}").contains("planted"));
}

#[test]
fn values_of_the_market_have_the_second_at_which_they_were_learned() {
    let at = |secs: u64| Now {
        utc: UtcTime::plausible(1_770_000_000_999 + secs.cast_signed() * 1000),
        ..now(secs)
    };
    let mut clock = clock(BOARD);
    for (secs, learned) in [
        (10, Observation::Block(900_000)),
        (20, Observation::Fee(FeeRate { micros: 12_000_000 })),
        (
            30,
            Observation::Price(Currency::USD, Price::parse("64000.5").unwrap()),
        ),
    ] {
        clock.handle(Input::Observed(SourceId::Relay, vec![learned]), at(secs));
    }
    let market = documents::market(&clock.view(), at(100));
    let told = |value: Value, time: i64| json!({ "value": value, "source": "relay", "time": time });
    assert_eq!(
        market,
        json!({
            "height": told(900_000.into(), 1_770_000_010),
            "feeRate": told("12.00".into(), 1_770_000_020),
            "prices": { "USD": told("64000.50".into(), 1_770_000_030) },
        })
    );
}

#[test]
fn a_lamp_is_on_if_any_of_it_is_lit() {
    const GREEN: Rgb = Rgb {
        red: 0,
        green: 200,
        blue: 5,
    };
    let (mut view, _) = full();
    for (lights, lamp, expected) in [
        ([Rgb::BLACK; 4], Lamp::Strip, Some(Rgb::BLACK)),
        ([GREEN; 4], Lamp::Strip, Some(GREEN)),
        // One of them alone, which is not the first.
        (
            [Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK],
            Lamp::Strip,
            Some(GREEN),
        ),
        (
            [Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK],
            Lamp::Led(2),
            Some(GREEN),
        ),
        (
            [Rgb::BLACK, Rgb::BLACK, GREEN, Rgb::BLACK],
            Lamp::Led(0),
            Some(Rgb::BLACK),
        ),
        ([GREEN; 4], Lamp::Led(4), None),
    ] {
        view.lights = lights.into();
        let told = documents::lamp(lamp, &view);
        let expected = expected.map(|Rgb { red, green, blue }| {
            let word = if green > 0 { "ON" } else { "OFF" };
            (word.into(), json!({ "r": red, "g": green, "b": blue }))
        });
        let told = told.map(|told| (told["state"].clone(), told["color"].clone()));
        assert_eq!(told, expected, "{lights:?} {lamp:?}");
    }
}

#[test]
fn what_happens_is_told_by_its_word() {
    let mut clock = clock(BOARD);
    let zap = Request::SimulateZap(Zap {
        amount: Sats(21),
        message: "hello".into(),
    });
    clock.handle(Input::Asked(zap), now(2));
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
    let (happened, missed) = view.happenings.since(0);
    let is_refresh = |one: &&Happening| **one == Happening::Refresh;
    let told: Vec<(String, Value)> = happened
        .filter(|one| !is_refresh(one))
        .map(|one| (topics::event(one, &broker), documents::event(one)))
        .collect();
    let own = |leaf: &str| format!("papertick/papertick-aabbcc/{leaf}");
    assert_eq!(missed, 0);
    assert_eq!(
        told,
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
fn an_answer_carries_the_id_of_who_asked() {
    let rejected = Answer::bad_request("missing s");
    let told = documents::result("show/screen", Some(&json!("a7")), &rejected);
    assert_eq!(
        told,
        json!({ "cmd": "show/screen", "id": "a7", "status": 400, "error": "missing s" })
    );
    let list = Answer::json(&json!([1]));
    let told = documents::result("lights/set", None, &list);
    assert_eq!(
        told,
        json!({ "cmd": "lights/set", "id": null, "status": 200, "body": [1] })
    );
    // Nothing in a document passes for the answer itself.
    let sly = Answer::json(&json!({ "status": 500, "cmd": "x", "msg": "y" }));
    let told = documents::result("restart", None, &sly);
    assert_eq!(
        told,
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
fn the_id_of_who_asks_is_a_text_or_a_number() {
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
        assert_eq!(commands::caller(payload.as_bytes()), expected, "{payload}");
    }
    assert_eq!(commands::caller(b"PRESS"), None);
    assert_eq!(commands::caller(b"{}"), None);
}

#[test]
fn a_report_tells_of_every_scope() {
    let (mut view, _) = full();
    let report = |scope: &str, rev: &str, error: Option<&str>| Report {
        scope: scope.into(),
        rev: rev.into(),
        error: error.map(Into::into),
    };
    assert_eq!(documents::reported(&[], &view), None);
    let reports = [
        report("all", "1", Some("range:mqttPort")),
        report("own", "2", None),
    ];
    let told = documents::reported(&reports, &view).unwrap();
    let own = json!({ "rev": "2", "applied": true, "error": null, "rebootRequired": false });
    let all =
        json!({ "rev": "1", "applied": false, "error": "range:mqttPort", "rebootRequired": false });
    assert_eq!((&told["rev"], &told["scope"]), (&json!("2"), &json!("own")));
    assert_eq!(told["scopes"], json!({ "all": all, "own": own }));
    // What was wished for waits for a restart.
    view.restart_for = vec!["dataSource"];
    let told = documents::reported(&reports, &view).unwrap();
    for report in [&told, &told["scopes"]["own"], &told["scopes"]["all"]] {
        assert_eq!(report["rebootRequired"], true, "{told}");
    }
}

proptest! {
    #[test]
    fn anything_from_a_broker_is_answered(topic in "(papertick|homeassistant)/(papertick-aabbcc|group|status)(/[a-z/]{0,20})?", payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let (view, broker) = full();
        if let Some(incoming) = topics::read(&topic, &broker) {
            let _ = commands::read(incoming, &payload, &view);
        }
        let _ = commands::retained_settings(&payload, &view);
    }
}

#[test]
fn what_home_assistant_may_send_as_a_text_is_taken() {
    for letter in ["\\u0416", "\\ud83d\\ude00"] {
        let body = format!(r#"{{"t": "{}"}}"#, letter.repeat(255));
        let wish = wished("papertick/papertick-aabbcc/cmd/show/text", &body);
        assert!(wish.starts_with("ShowText"), "{wish}");
    }
}

#[test]
fn a_group_does_one_after_the_other_what_all_at_once_would_hurt() {
    for (name, is_spread) in [
        ("restart", true),
        ("restart_datasources", true),
        ("firmware/auto_update", true),
        ("identify", false),
    ] {
        for (scope, is_group) in [("group/all", true), ("papertick-aabbcc", false)] {
            let wish = wished(&format!("papertick/{scope}/cmd/{name}"), "");
            assert_eq!(wish.ends_with(" spread"), is_spread && is_group, "{wish}");
        }
    }
}

#[test]
fn the_state_does_not_follow_from_what_the_broker_takes() {
    let (mut view, _) = full();
    let before = documents::state(&view, &[]);
    let broker = view.mqtt.as_mut().unwrap();
    broker.drop("too-large", 1);
    assert_eq!(documents::state(&view, &[]), before);
}

fn told(clock: &Device) -> Vec<Value> {
    let view = clock.view();
    let (happened, _) = view.happenings.since(0);
    happened.map(documents::event).collect()
}

#[test]
fn a_full_refresh_and_what_goes_wrong_are_told_once() {
    let mut clock = clock(BOARD);
    clock.handle(Input::Tick, now(20));
    let before = told(&clock).len();
    let mut news = |input: Input, at: u64| {
        clock.handle(input, now(at));
        clock.handle(Input::Tick, now(at + 1));
        told(&clock).split_off(before)
    };
    let refresh = json!({ "event_type": "refresh" });
    let expected = [refresh];
    assert_eq!(news(Input::Asked(Request::FullRefresh), 21), expected);
    let warning = json!({ "event_type": "warning", "text": "the disk is full" });
    let noticed = || Input::Noticed("the disk is full".into());
    let expected = [expected.as_slice(), &[warning]].concat();
    assert_eq!(news(noticed(), 23), expected);
    assert_eq!(news(noticed(), 25), expected, "it is known");
    clock.stored(Err("no space".into()));
    clock.stored(Err("no space".into()));
    let warning = json!({ "event_type": "warning", "text": "nothing can be stored: no space" });
    assert_eq!(
        told(&clock).split_off(before),
        [expected.as_slice(), &[warning]].concat()
    );
    let failed = UpdateEvent::Failed("it did not come whole".into());
    clock.handle(Input::Uploaded(failed), now(28));
    let warning =
        json!({ "event_type": "warning", "text": "an update was given up: it did not come whole" });
    assert_eq!(told(&clock).last(), Some(&warning));
    let safe = Input::SafeMode("it broke off three times".into());
    clock.handle(safe, now(30));
    let warning = json!({ "event_type": "warning", "text": "safe mode: it broke off three times" });
    assert!(told(&clock).contains(&warning));
}

/// What Home Assistant has taken of the state of an update since it knows devices (2024.12): with any other member, or
/// one of another type, it takes nothing of all and says so in its log each time. Older ones look at no types.
fn check_update(update: &Value) {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    for (member, value) in update.as_object().unwrap() {
        let is_taken = match member.as_str() {
            "installed_version" | "latest_version" | "title" => is_text(value),
            "release_url" => value.as_str().is_some_and(has_host),
            "in_progress" => value.is_boolean(),
            "update_percentage" => {
                value.is_null() || value.as_u64().is_some_and(|percent| percent <= 100)
            }
            _ => false,
        };
        assert!(is_taken, "{member}: {value}");
    }
    // Without it nothing is known of the rest.
    assert!(update.get("installed_version").is_some_and(is_text));
    // A percentage alone would say that it is under way.
    let percent = &update["update_percentage"];
    assert_eq!(percent.is_null(), update["in_progress"] == false);
}

/// An address that has a host.
fn has_host(url: &str) -> bool {
    let rest = url.split_once("://").map(|(_, rest)| rest);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Says where the clock looks for releases.
fn follow_releases(clock: &mut Device) {
    let feed = json!({ "gitReleaseUrl": "https://feed.example/" });
    let Value::Object(body) = feed else { panic!() };
    let patch = device::request::Patch {
        body,
        ..Default::default()
    };
    clock.handle(Input::Asked(Request::Patch(patch)), now(2));
}

/// Shows the clock a release of 4.3.0.
fn see_release(clock: &mut Device, title: &str, page: &str, verdict: ReleaseVerdict) {
    let release = Release {
        version: "4.3.0".into(),
        title: title.into(),
        page: page.into(),
        number: 91,
        verdict,
    };
    clock.handle(Input::Looked(ReleaseCheck::Found(release)), now(3));
}

#[test]
fn the_state_of_an_update_is_what_every_home_assistant_takes() {
    let mut clock = clock(BOARD);
    follow_releases(&mut clock);
    let check = |clock: &Device| check_update(&documents::update(&clock.view(), &about()).unwrap());
    check(&clock);
    for verdict in ReleaseVerdict::ALL {
        for (title, page) in [("Winter", "https://example.org/"), ("", "")] {
            see_release(&mut clock, title, page, verdict);
            check(&clock);
        }
    }
    clock.handle(
        Input::Looked(ReleaseCheck::Failed("no list".into())),
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
fn the_update_is_offered_only_if_the_clock_takes_it_and_goes_with_the_means_for_it() {
    let mut clock = clock(BOARD);
    let saw = |clock: &mut Device, verdict| {
        see_release(clock, "Winter", "https://example.org/", verdict);
        documents::update(&clock.view(), &about()).unwrap()
    };
    let nothing =
        json!({ "installed_version": "4.2.0", "in_progress": false, "update_percentage": null });
    assert_eq!(documents::update(&clock.view(), &about()), Some(nothing));
    follow_releases(&mut clock);
    let offered = saw(&mut clock, ReleaseVerdict::Taken);
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
            saw(&mut clock, verdict)["latest_version"],
            latest,
            "{verdict:?}"
        );
    }
    let kept = saw(&mut clock, ReleaseVerdict::Share);
    assert_eq!(
        (&kept["latest_version"], &kept["title"]),
        (&json!("4.2.0"), &Value::Null)
    );
    assert_eq!(
        documents::state(&clock.view(), &[])["release"]["why"],
        "share"
    );
    for upload in [UpdateEvent::Started, UpdateEvent::Progress(42)] {
        clock.handle(Input::Uploaded(upload), now(4));
    }
    let under_way = documents::update(&clock.view(), &about()).unwrap();
    assert_eq!(
        (&under_way["in_progress"], &under_way["update_percentage"]),
        (&json!(true), &json!(42))
    );

    let (view, broker) = (clock.view(), broker(&clock));
    assert_eq!(components(&view, &broker)["firmware"]["name"], "Firmware");
    let without = About {
        updatable: None,
        ..about()
    };
    // The owner may have switched updates off.
    let mut closed = clock.view();
    Arc::make_mut(&mut closed.active).ota_enabled = false;
    for (view, about) in [(&view, &without), (&closed, &about())] {
        assert_eq!(documents::update(view, about), None);
        let document = discovery::device(view, about, &broker);
        assert_eq!(document["cmps"]["firmware"], json!({ "p": "update" }));
    }
}

#[test]
fn a_frontlight_is_told_as_it_shines_and_as_bright_as_it_would() {
    let mut device = clock(BOARD);
    for (command, state) in [
        (FrontlightCommand::Off, "OFF"),
        (FrontlightCommand::Brightness(1_024), "OFF"),
        (FrontlightCommand::On, "ON"),
    ] {
        device.handle(Input::Asked(Request::Frontlight(command)), now(30));
        let told = documents::lamp(Lamp::Frontlight, &device.view()).unwrap();
        assert_eq!(told["state"], state);
    }
    let told = documents::lamp(Lamp::Frontlight, &device.view()).unwrap();
    assert_eq!(told["brightness"], 1_024);
}

#[test]
fn what_is_proven_is_told_to_home_assistant() {
    let (mut view, _) = full();
    view.truth.height = HeightState::Alone;
    view.truth.proven = Some(Tip {
        height: 900_000,
        hash: "00".repeat(32).parse().unwrap(),
        time: 1_770_000_000,
    });
    let state = documents::state(&view, &[]);
    let told = (&state["height"], &state["tipTime"]);
    assert_eq!(told, (&json!("alone"), &json!(1_770_000_000)));
}
