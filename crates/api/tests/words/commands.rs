//! Commands: what a client gives on the left, what the device is asked on the right, or why it is not.

use std::collections::BTreeSet;

use api::{
    answer::Answer,
    asked::DeviceCall,
    given::Parameters,
    operation::OperationHandler,
    operations::{self, all},
};
use proptest::prelude::*;

use crate::clock::{BOARD, clock};

/// A request as `Debug` prints it, or status and reason.
fn read(name: &str, given: Parameters) -> String {
    let view = clock(BOARD).view();
    match operations::command(name, given, &view) {
        Ok(DeviceCall { request, .. }) => format!("{request:?}"),
        Err(Answer { status, body, .. }) => {
            let body = body.expect("a refusal has a reason");
            format!("{status} {}", body["error"].as_str().unwrap())
        }
    }
}

#[test]
fn a_body_says_what_is_wanted() {
    let rows = [
        ("show/screen", r#"{"s":3}"#, "ShowScreen(3)"),
        ("show/screen", r#"{"s":-1.9}"#, "ShowScreen(-1)"),
        ("show/screen", r#"{"s":1e300}"#, "400 missing s"),
        ("show/screen", r#"{"s":"3"}"#, "400 missing s"),
        ("show/screen", "", "400 missing s"),
        ("show/screen", "{", "400 missing s"),
        ("show/currency", r#"{"c":"usd"}"#, "ShowCurrency(USD)"),
        (
            "show/currency",
            r#"{"c":"dollar"}"#,
            "404 currency not active",
        ),
        ("show/currency", "", "404 missing c"),
        ("show/text", r#"{"t":"HODL"}"#, "ShowText(\"HODL\")"),
        ("show/text", r#"{"text":"HODL"}"#, "ShowText(\"HODL\")"),
        (
            "show/text",
            r#"{"t":1,"text":"HODL"}"#,
            "ShowText(\"HODL\")",
        ),
        ("show/text", "[]", "400 missing_text"),
        (
            "show/custom",
            r#"["A","1/2"]"#,
            r#"ShowCustom { cells: ["A", "1/2"], digit_px: None }"#,
        ),
        (
            "show/custom",
            r#"{"cells":["A"],"digitPx":220.5}"#,
            r#"ShowCustom { cells: ["A"], digit_px: Some(220) }"#,
        ),
        (
            "show/custom",
            r#"{"cells":[],"digitPx":19}"#,
            "ShowCustom { cells: [], digit_px: None }",
        ),
        ("show/custom", r#"["A",1]"#, "400 bad_json"),
        ("show/custom", r#"{"cells":1}"#, "400 bad_json"),
        ("show/custom", "{", "400 bad_json"),
        ("show/custom", "", "400 bad body"),
        ("screen/next", "", "Next"),
        ("screen/previous", "{}", "Previous"),
        ("action/pause", "not looked at", "Pause"),
        ("action/timer_restart", "", "RestartTimer"),
        ("full_refresh", "", "FullRefresh"),
        ("identify", "", "Identify"),
        ("restart", "", "Restart"),
        ("stop_datasources", "", "StopSources"),
        ("restart_datasources", "", "RestartSources"),
        (
            "restart_datasources",
            r#"{"source":"pool"}"#,
            "RestartSource(Pool)",
        ),
        (
            "restart_datasources",
            r#"{"source":"mqtt"}"#,
            "RestartBroker",
        ),
        (
            "restart_datasources",
            r#"{"source":"moon"}"#,
            "400 unknown source",
        ),
        (
            "restart_datasources",
            r#"{"source":1}"#,
            "400 unknown source",
        ),
        ("restart_datasources", "{", "400 bad json"),
        ("action/clear_pool_logos", "", "ClearPoolLogos"),
        ("dnd/enable", "", "SetDnd(true)"),
        ("dnd/disable", "", "SetDnd(false)"),
        (
            "action/simulate_zap",
            r#"{"amount_sats":-5,"message":""}"#,
            r#"SimulateZap(Zap { amount: Sats(0), message: "" })"#,
        ),
        (
            "action/simulate_zap",
            "",
            r#"SimulateZap(Zap { amount: Sats(21000), message: "test zap" })"#,
        ),
        (
            "factory_reset",
            r#"{"confirm":"factory_reset"}"#,
            "FactoryReset",
        ),
        (
            "factory_reset",
            r#"{"confirm":true}"#,
            "400 confirmation required",
        ),
        ("factory_reset", "", "400 confirmation required"),
        ("wifi_set_tx_power", r#"{"txPower":-1}"#, "SetTxPower(-1)"),
        ("wifi_set_tx_power", "{}", "400 txPower missing"),
        (
            "wifi_set_tx_power",
            r#"{"txPower":7.5}"#,
            "400 txPower missing",
        ),
        ("wifi_set_tx_power", "{", "400 bad json"),
        ("wifi_set_tx_power", "", "400 bad body"),
        ("lights/off", "", "SetLights([])"),
        (
            "lights/color",
            r##"{"c":"#0A0B0C"}"##,
            "SetLightsColor(Rgb { red: 10, green: 11, blue: 12 })",
        ),
        ("lights/color", r#"{"c":"red"}"#, "400 bad color"),
        ("lights/color", "", "400 missing c"),
        (
            "lights/set",
            r#"[{"hex":"FF0000"},{"red":1,"green":2,"blue":259}]"#,
            "SetLights([Rgb { red: 255, green: 0, blue: 0 }, Rgb { red: 1, green: 2, blue: 3 }])",
        ),
        (
            "lights/set",
            r#"{"red":1.9,"green":-1e300,"blue":-1}"#,
            "SetLights([Rgb { red: 1, green: 0, blue: 255 }, Rgb { red: 1, green: 0, blue: 255 }, Rgb { red: 1, green: 0, blue: 255 }, Rgb { red: 1, green: 0, blue: 255 }])",
        ),
        ("lights/set", r#"[{"hex":"off"},{}]"#, "400 bad hex"),
        ("lights/set", r#"[{"red":1},{}]"#, "400 missing fields"),
        ("lights/set", "[1,2]", "400 bad entry"),
        ("lights/set", "1", "400 bad json"),
        ("lights/set", "", "400 bad body"),
        (
            "lights/effect",
            r#"{"name":"rainbow"}"#,
            "PlayEffect(Rainbow)",
        ),
        ("lights/effect", r#"{"name":"disco"}"#, "400 unknown effect"),
        ("lights/effect", "[]", "400 name required"),
        ("frontlight/on", "", "Frontlight(On)"),
        ("frontlight/off", "", "Frontlight(Off)"),
        ("frontlight/flash", "", "Frontlight(Flash)"),
        (
            "frontlight/brightness",
            r#"{"b":65535}"#,
            "Frontlight(Brightness(65535))",
        ),
        (
            "frontlight/brightness",
            r#"{"b":65536}"#,
            "400 out of range",
        ),
        ("frontlight/brightness", r#"{"b":-1}"#, "400 out of range"),
        ("frontlight/brightness", "", "400 missing b"),
        ("frontlight/set", "[0,4095]", "Frontlight(Set([0, 4095]))"),
        ("frontlight/set", "[4096]", "400 duty out of range"),
        ("frontlight/set", "[-1]", "400 duty out of range"),
        ("frontlight/set", r#"["a"]"#, "400 bad entry"),
        ("frontlight/set", "{}", "400 bad json"),
        (
            "settings",
            r#"{"digitFontPx":1}"#,
            r#"Patch(Patch { keys: ["digitFontPx"], .. })"#,
        ),
        ("settings", "[]", "400 not_object"),
        ("settings", "{", "400 json"),
        ("settings", "", "400 bad body"),
        ("nothing", "{}", "404 not found"),
        // What is only read is no command.
        ("lights", "", "404 not found"),
        ("status", "", "404 not found"),
    ];
    for (name, body, expected) in rows {
        let told = read(name, Parameters::body(body.as_bytes()));
        assert_eq!(told, expected, "{name} {body}");
    }
}

#[test]
fn one_colour_is_that_of_all_leds() {
    let red = "Rgb { red: 255, green: 0, blue: 0 }";
    let expected = format!("SetLights([{}])", [red; 4].join(", "));
    for body in [r#"[{"hex":"FF0000"}]"#, r#"{"hex":"FF0000"}"#] {
        assert_eq!(
            read("lights/set", Parameters::body(body.as_bytes())),
            expected
        );
    }
}

#[test]
fn a_long_message_is_cut_between_letters() {
    let body = format!(r#"{{"message":"{}"}}"#, "é".repeat(200));
    let cut = "é".repeat(128);
    let expected = format!("SimulateZap(Zap {{ amount: Sats(21000), message: \"{cut}\" }})");
    assert_eq!(
        read("action/simulate_zap", Parameters::body(body.as_bytes())),
        expected
    );
}

#[test]
fn what_stands_beside_the_body_counts_where_that_says_nothing() {
    type Beside = [(&'static str, &'static str)];
    let given = |body: &str, beside: &Beside| Parameters {
        beside: beside
            .iter()
            .map(|(name, value)| ((*name).to_string(), (*value).to_string()))
            .collect(),
        ..Parameters::body(body.as_bytes())
    };
    let rows: &[(&str, &str, &Beside, &str)] = &[
        ("show/screen", "", &[("s", " 3 ")], "ShowScreen(3)"),
        ("show/screen", r#"{"s":4}"#, &[("s", "3")], "ShowScreen(4)"),
        (
            "show/screen",
            "{",
            &[("s", "3"), ("s", "4")],
            "ShowScreen(3)",
        ),
        ("show/screen", "", &[("s", "three")], "400 missing s"),
        ("show/text", "", &[("text", "A")], "ShowText(\"A\")"),
        (
            "show/text",
            "",
            &[("text", "A"), ("t", "B")],
            "ShowText(\"B\")",
        ),
        (
            "wifi_set_tx_power",
            "{",
            &[("txPower", "80")],
            "SetTxPower(80)",
        ),
    ];
    for (name, body, beside, expected) in rows {
        let told = read(name, given(body, beside));
        assert_eq!(told, *expected, "{name} {body} {beside:?}");
    }
}

#[test]
fn older_clients_write_it_into_the_path() {
    let rows = [
        ("show/screen", "3", "ShowScreen(3)"),
        ("show/screen", "three", "400 unknown screen id"),
        ("show/currency", "eur", "ShowCurrency(EUR)"),
        ("show/text", "HODL", "ShowText(\"HODL\")"),
        ("frontlight/brightness", "7", "Frontlight(Brightness(7))"),
        ("frontlight/brightness", "", "400 missing b"),
        (
            "lights/color",
            "off",
            "SetLightsColor(Rgb { red: 0, green: 0, blue: 0 })",
        ),
    ];
    for (name, part, expected) in rows {
        let given = Parameters {
            in_path: Some(part.to_string()),
            ..Parameters::default()
        };
        assert_eq!(read(name, given), expected, "{name} {part}");
    }
}

#[test]
fn a_command_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for operation in all() {
        assert!(!operation.forms.is_empty(), "{}", operation.summary);
        if let (OperationHandler::Asks(_), Some(name)) = (operation.act, operation.name()) {
            assert!(names.insert(name), "{name} is taken");
        }
    }
    assert!(
        names.contains("show/screen") && names.len() > 20,
        "{names:?}"
    );
}

proptest! {
    #[test]
    fn any_body_is_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), json in "[\\[{]\"?(s|c|t|b|cells|hex|red|name)\"?[:,]?[-0-9a-f\"\\[\\]{}.]{0,20}") {
        let view = clock(BOARD).view();
        let names = all().filter_map(|operation| operation.name());
        for name in names {
            for bytes in [&body[..], json.as_bytes()] {
                if let Err(answer) = operations::command(name, Parameters::body(bytes), &view) {
                    prop_assert!(answer.status >= 400);
                    prop_assert!(answer.body.is_some());
                }
            }
        }
    }
}
