//! Each setting changes an observable output, and only outputs of its components.

use std::collections::BTreeSet;

use device::settings::{
    SPECS, Settings,
    spec::{Access, Apply, Component, Spec},
};
use serde_json::{Map, Value, json};

use crate::{
    bench,
    twins::{Part, Twins},
};

/// Where a setting takes effect if not in the outputs of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The HTTP server; tested there.
    Server,
    /// The log.
    Log,
    /// The time client; tested there.
    Time,
    /// Pictures for other screens.
    Frames,
    /// A board with one panel.
    OnePanel,
    /// Nowhere: the setting is stored because clients send it back.
    Nowhere,
}

const ELSEWHERE: &[(&str, Place)] = &[
    ("mcapBigChar", Place::Nowhere),
    ("keptTexts", Place::Nowhere),
    ("boardScreens", Place::Frames),
    ("panelLayout", Place::OnePanel),
    ("welcomed", Place::Nowhere),
    ("httpAuthEnabled", Place::Server),
    ("httpAuthUser", Place::Server),
    ("httpAuthPass", Place::Server),
    ("metricsOpen", Place::Server),
    ("otaPass", Place::Server),
    ("enableDebugLog", Place::Log),
    ("timeServers", Place::Time),
];

/// Key, body with its preconditions, and body that changes it; keys without a row are toggled.
#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
    ("fontName", "{}", r#"{"fontName": "inter"}"#),
    ("timerSeconds", "{}", r#"{"timePerScreen": 1}"#),
    ("screenOrder", "{}", "reversed"),
    ("hostnamePrefix", "{}", r#"{"hostnamePrefix": "kitchen"}"#),
    ("txPower", "{}", r#"{"txPower": 20}"#),
    ("wifiConfigured", "{}", "never provisioned"),
    ("priceWitnesses", "{}", r#"{"priceWitnesses": ["bitstamp"]}"#),
    ("minSecPriceUpd", "{}", r#"{"minSecPriceUpd": 600}"#),
    ("decimalShareDot", r#"{"suffixPrice": true}"#, r#"{"decimalShareDot": true}"#),
    ("boardScreens", "{}", r#"{"boardScreens": ["20", "0"]}"#),
    ("keptTexts", "{}", r#"{"keptTexts": [["HODL"]]}"#),
    ("satsVariant", r#"{"priceSymMode": 1}"#, r#"{"satsVariant": 3}"#),
    ("proxyEnabled", r#"{"proxyType": 1, "proxyHost": "p"}"#, r#"{"proxyEnabled": true}"#),
    ("mqttHost", "{}", r#"{"mqttHost": "other"}"#),
    ("mqttCa", "{}", PEM_CA),
    ("mqttCert", "{}", PEM_CERT),
    ("mqttKey", "{}", PEM_KEY),
    ("mqttUser", "{}", r#"{"mqttUser": "me"}"#),
    ("mqttPass", "{}", r#"{"mqttPass": "pw"}"#),
    ("mqttClientId", "{}", r#"{"mqttClientId": "me"}"#),
    ("mqttBase", "{}", r#"{"mqttBase": "home/clocks"}"#),
    ("mqttGroups", "{}", r#"{"mqttGroups": "shop"}"#),
    ("haPrefix", "{}", r#"{"haPrefix": "ha"}"#),
    ("haStatusTopic", "{}", r#"{"haStatusTopic": "ha/status"}"#),
    ("proxyType", PROXY, r#"{"proxyType": 1}"#),
    ("proxyHost", PROXY, r#"{"proxyHost": "q"}"#),
    ("proxyPort", PROXY, r#"{"proxyPort": 1}"#),
    ("proxyUser", PROXY, r#"{"proxyUser": "me"}"#),
    ("proxyPass", PROXY, r#"{"proxyPass": "pw"}"#),
    ("proxyBypass", PROXY, r#"{"proxyBypass": ""}"#),
    ("nodeKind", NODE, r#"{"nodeKind": 1}"#),
    ("nodeHost", NODE, r#"{"nodeHost": "m"}"#),
    ("nodePort", NODE, r#"{"nodePort": 7}"#),
    ("nodeTls", NODE, r#"{"nodeTls": true}"#),
    ("proofPeerMax", "{}", r#"{"proofPeerMax": 2}"#),
    ("proofPeers", "{}", r#"{"proofPeers": ["n:7"]}"#),
    ("timeServers", "{}", r#"{"timeServers": ["n:7"]}"#),
    ("dataSource", "{}", r#"{"dataSource": 1}"#),
    ("explorerInstance", r#"{"dataSource": 1}"#, r#"{"explorerInstance": "e"}"#),
    ("explorerSecure", r#"{"dataSource": 1}"#, r#"{"explorerSecure": false}"#),
    ("ceEndpoint", r#"{"dataSource": 3}"#, r#"{"ceEndpoint": "c"}"#),
    ("ceDisableSSL", r#"{"dataSource": 3}"#, r#"{"ceDisableSSL": true}"#),
    ("actCurrencies", "{}", r#"{"actCurrencies": ["GBP", "USD"]}"#),
    ("ledFlashOnUpd", "{}", r#"{"ledFlashOnUpd": true}"#),
    ("blockFlashColor", r#"{"ledFlashOnUpd": true}"#, r#"{"blockFlashColor": 255}"#),
    ("flMaxBrightness", "{}", r#"{"flMaxBrightness": 500}"#),
    ("flEffectDelay", "{}", r#"{"flEffectDelay": 100}"#),
    ("luxLightToggle", r#"{"flAlwaysOn": false}"#, r#"{"luxLightToggle": 5}"#),
    ("flAlwaysOn", "{}", r#"{"flAlwaysOn": false}"#),
    ("flOffOnDnd", r#"{"dnd": {"enabled": true}}"#, r#"{"flOffOnDnd": false}"#),
    ("dndEnabled", "{}", r#"{"dnd": {"enabled": true}}"#),
    ("dndTimeEnabled", "{}", r#"{"dnd": {"dndTimeEnabled": true}}"#),
    ("dndStartHour", SCHEDULE, r#"{"dnd": {"startHour": 20, "startMinute": 0, "endHour": 7, "endMinute": 0}}"#),
    ("dndStartMin", SCHEDULE, r#"{"dnd": {"startHour": 22, "startMinute": 30, "endHour": 7, "endMinute": 0}}"#),
    ("dndEndHour", SCHEDULE, r#"{"dnd": {"startHour": 22, "startMinute": 0, "endHour": 5, "endMinute": 0}}"#),
    ("dndEndMin", SCHEDULE, r#"{"dnd": {"startHour": 22, "startMinute": 0, "endHour": 7, "endMinute": 30}}"#),
    ("tzString", SCHEDULE, r#"{"tzString": "Asia/Tokyo"}"#),
    ("miningPoolName", "{}", r#"{"miningPoolName": "ocean"}"#),
    ("miningPoolUser", "{}", r#"{"miningPoolUser": "me"}"#),
    ("poolWorker", "{}", r#"{"poolWorker": "w"}"#),
    ("localPoolHost", r#"{"miningPoolName": "local_public_pool"}"#, r#"{"localPoolHost": "h:1"}"#),
    ("poolPollSec", "{}", r#"{"poolPollSec": 3600}"#),
    ("poolLogosUrl", "{}", r#"{"poolLogosUrl": ""}"#),
    ("minerHostname", "{}", r#"{"minerHostname": "m"}"#),
    ("minerPollSec", "{}", r#"{"minerPollSec": 300}"#),
    ("nostrRelay", r#"{"dataSource": 2}"#, r#"{"nostrRelay": "wss://other"}"#),
    ("nostrPubKey", r#"{"dataSource": 2}"#, r#"{"nostrPubKey": ""}"#),
    ("nostrRelays", r#"{"dataSource": 2}"#, r#"{"nostrRelays": ["wss://another"]}"#),
    ("nostrZapPubkey", "{}", r#"{"nostrZapPubkey": ""}"#),
    ("nostrZapPubkeys", "{}", r#"{"nostrZapPubkeys": ["642317135fd4c4205323b9dea8af3270657e62d51dc31a657c0ec8aab31c6288"]}"#),
    ("scrnRestoreZap", r#"{"timePerScreen": 0.25}"#, r#"{"scrnRestoreZap": false}"#),
    ("nwcUri", "{}", r#"{"nwcUri": ""}"#),
    ("nwcRefreshSecs", "{}", r#"{"nwcRefreshSecs": 15}"#),
    ("httpAuthEnabled", r#"{"httpAuthPass": "pw"}"#, r#"{"httpAuthEnabled": true}"#),
    ("httpAuthUser", "{}", r#"{"httpAuthUser": "me"}"#),
    ("httpAuthPass", "{}", r#"{"httpAuthPass": "pw"}"#),
    ("otaPass", "{}", r#"{"otaPass": "pw"}"#),
    ("gitReleaseUrl", "{}", r#"{"gitReleaseUrl": "https://others"}"#),
    ("updatePin", "{}", r#"{"updatePin": "4.3.0"}"#),
];

const PEM_CA: &str = r#"{"mqttCa": "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----"}"#;
const PEM_CERT: &str =
    r#"{"mqttCert": "-----BEGIN CERTIFICATE-----QUJD-----END CERTIFICATE-----"}"#;
const PEM_KEY: &str = r#"{"mqttKey": "-----BEGIN PRIVATE KEY-----QUJD-----END PRIVATE KEY-----"}"#;
const PROXY: &str = r#"{"proxyEnabled": true, "proxyType": 4, "proxyHost": "p"}"#;

/// A node with all settings.
const NODE: &str = r#"{"nodeKind": 2, "nodeHost": "n"}"#;

const SCHEDULE: &str = r#"{"dnd": {"dndTimeEnabled": true}}"#;

/// All features on, so that every setting has an effect.
const FEATURES: &str = r#"{
    "miningPoolStats": true, "minerEnabled": true, "nwcEnabled": true, "nostrZapNotify": true,
    "nostrZapPubkey": "b5127a08cf33616274800a4387881a9f98e04b9c37116e92de5250498635c422",
    "nwcUri": "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss%3A%2F%2Fr&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c",
    "screens": [{"id": 90, "enabled": true}],
    "mqttEnabled": true, "mqttHost": "broker", "mqttTls": true,
    "gitReleaseUrl": "https://releases"
}"#;

fn with(stored: &Settings, body: &str) -> Settings {
    // Clients cannot write this setting.
    if body == "never provisioned" {
        return Settings {
            wifi_configured: false,
            ..stored.clone()
        };
    }
    let mut body: Map<String, Value> = match body {
        "reversed" => {
            let mut ids = stored.rotation_order();
            ids.reverse();
            let entry = |(order, id)| json!({ "id": id, "order": order });
            let screens: Value = ids.into_iter().enumerate().map(entry).collect();
            [("screens".to_string(), screens)].into_iter().collect()
        }
        body => bench::object(body),
    };
    body.retain(|_, value| !value.is_null());
    bench::patch(stored, &body)
        .unwrap_or_else(|token| panic!("{body:?}: {token}"))
        .settings
}

/// The other value of a setting without its own case.
fn toggled(spec: &Spec, stored: &Settings) -> String {
    let control = spec.kind.control();
    let other = match (control["control"].as_str().unwrap(), stored.get(spec.key)) {
        (_, Value::Bool(on)) => Value::from(!on),
        ("number" | "slider", value) if value == control["max"] => control["min"].clone(),
        ("number" | "slider", _) => control["max"].clone(),
        ("select", value) => json!(u32::from(value == 0)),
        (control, value) => panic!("{} needs a case of its own: {control} {value}", spec.name),
    };
    json!({ spec.name: other }).to_string()
}

fn differences(spec: &Spec) -> BTreeSet<Part> {
    let case = CASES.iter().find(|(name, ..)| *name == spec.name);
    let provisioned = Settings {
        wifi_configured: true,
        ..Settings::default()
    };
    let preset = case.map_or("{}", |(_, preset, _)| preset);
    let base = with(&with(&provisioned, FEATURES), preset);
    let change = case.map_or_else(
        || toggled(spec, &base),
        |(_, _, change)| (*change).to_string(),
    );
    let changed = with(&base, &change);
    assert!(
        base.get(spec.key) != changed.get(spec.key),
        "{} did not change",
        spec.name
    );
    let mut found = BTreeSet::new();
    for scenario in [Twins::run_a_day, Twins::run_without_network] {
        let mut twins = Twins::new([base.clone(), changed.clone()]);
        scenario(&mut twins);
        found.extend(twins.differ);
    }
    found
}

fn allowed(components: &[Component]) -> BTreeSet<Part> {
    let parts = components.iter().flat_map(|component| match component {
        Component::Panels | Component::Rotation => vec![Part::Picture],
        Component::Strip => vec![Part::Strip],
        Component::Frontlight => vec![Part::Frontlight],
        Component::Sources => vec![Part::Sources],
        Component::Outbound => vec![Part::Route],
        Component::Advert => vec![Part::Advert],
        Component::Wifi => vec![Part::Wifi, Part::Effects],
        Component::Update => vec![Part::Releases],
        Component::Mqtt => vec![Part::Mqtt],
    });
    parts.collect()
}

/// Checks every second row, so that two tests share the work.
fn check(half: usize) {
    let mut wrong = Vec::new();
    let acts_here = |spec: &&Spec| !ELSEWHERE.iter().any(|(name, _)| *name == spec.name);
    let rows = SPECS
        .iter()
        .filter(|spec| spec.access != Access::Internal)
        .filter(acts_here);
    for spec in rows.skip(half).step_by(2) {
        let found = differences(spec);
        if found.is_empty() {
            wrong.push(format!("{} changes nothing", spec.name));
        }
        if let Apply::Live(components) = spec.apply {
            let surplus: Vec<Part> = found.difference(&allowed(components)).copied().collect();
            if !surplus.is_empty() {
                wrong.push(format!(
                    "{} changes {surplus:?}, but its row names {components:?}",
                    spec.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn even_rows_change_exactly_their_components() {
    check(0);
}

#[test]
fn odd_rows_change_exactly_their_components() {
    check(1);
}

#[test]
fn settings_that_act_elsewhere_change_no_output() {
    for (name, place) in ELSEWHERE {
        let spec = SPECS.iter().find(|spec| spec.name == *name);
        let spec = spec.unwrap_or_else(|| panic!("{name} has no row"));
        assert_eq!(differences(spec), BTreeSet::new(), "{name}: {place:?}");
    }
}
