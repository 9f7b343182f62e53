//! Every operation of the table and every setting has a command.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::collections::BTreeSet;

use api::{
    operation::{BodyRule, OperationHandler},
    operations::all,
};
use device::settings::{SPECS, VIRTUAL, spec::Access};
use serde_json::json;

use super::*;
use crate::{
    cli::{self, Command as Cli},
    failure::Code,
};

fn parsed(line: &str) -> Result<CtlArgs, Failure> {
    let words = line.split_whitespace().map(std::ffi::OsString::from);
    let command = cli::parse(words)?;
    let Cli::Ctl(args) = command else {
        panic!("{line}: {command:?}")
    };
    Ok(args)
}

fn request_of(line: &str) -> Result<ClientRequest, Failure> {
    let args = parsed(line)?;
    grammar::request(args.operation, &args.matches)
}

/// Commands with arguments and their requests.
#[rustfmt::skip]
const LINES: &[(&str, &str)] = &[
    ("panel 3", "GET /api/panels/3.png"),
    ("panels --scale 2", "GET /api/panels.png?scale=2"),
    ("events --bench 1", "GET /events?bench=1"),
    ("sim panels --scale 2", "GET /sim/panels.png?scale=2"),
    ("set ledBrightness=3", "PATCH /api/settings {\"ledBrightness\":3}"),
    ("preview fontName=inter --scale 2", "POST /api/preview.png?scale=2 {\"fontName\":\"inter\"}"),
    ("show screen 20", "POST /api/show/screen {\"s\":20}"),
    ("show screen block-height", "POST /api/show/screen {\"s\":0}"),
    ("show currency EUR", "POST /api/show/currency {\"c\":\"EUR\"}"),
    ("show text HODL", "POST /api/show/text {\"t\":\"HODL\"}"),
    ("show custom A/B 21", "POST /api/show/custom [\"A/B\",\"21\"]"),
    ("show preview A/B 21 --scale 2", "POST /api/show/preview.png?scale=2 [\"A/B\",\"21\"]"),
    ("preview --s 20 fontName=inter", "POST /api/preview.png?s=20 {\"fontName\":\"inter\"}"),
    ("simulate-zap 21", "POST /api/action/simulate_zap {\"amount_sats\":21}"),
    ("display add name=Hall", "POST /api/displays {\"name\":\"Hall\"}"),
    ("display change 917F0B state=approved depth=4", "PATCH /api/displays/917F0B {\"state\":\"approved\",\"depth\":4}"),
    ("display remove 917F0B", "DELETE /api/displays/917F0B"),
    ("display picture 917F0B", "GET /api/displays/917F0B.png"),
    ("trmnl log {\"log\":[\"x\"]}", "POST /api/log {\"log\":[\"x\"]}"),
    ("trmnl picture 0123", "GET /display/0123.png"),
    ("lights color #FF8800", "POST /api/lights/color {\"c\":\"#FF8800\"}"),
    ("lights set FF8800", "POST /api/lights/set [{\"hex\":\"FF8800\"}]"),
    ("lights effect rainbow", "POST /api/lights/effect {\"name\":\"rainbow\"}"),
    ("frontlight brightness 7", "POST /api/frontlight/brightness {\"b\":7}"),
    ("frontlight set 1 2", "POST /api/frontlight/set [1,2]"),
    ("factory-reset factory_reset", "POST /api/factory_reset {\"confirm\":\"factory_reset\"}"),
    ("tx-power -1", "POST /api/wifi_set_tx_power {\"txPower\":-1}"),
    ("update firmware clock.img", "POST /upload/firmware clock.img"),
    ("update firmware --sha256 ab clock.img", "POST /upload/firmware?sha256=ab clock.img"),
    ("update page page.img", "POST /upload/webui page.img"),
    ("diag heap-trace start 9", "POST /api/diag/heap_trace/start {\"cap\":9}"),
    ("sim buttons 1,2 ms=5", "POST /sim/buttons {\"press\":[1,2],\"ms\":5}"),
    ("sim lux 0.5", "POST /sim/lux {\"lux\":0.5}"),
    ("sim wifi down", "POST /sim/wifi {\"link\":\"down\"}"),
    ("sim power cycle", "POST /sim/power {\"action\":\"cycle\"}"),
    ("sim market block", "POST /sim/market {\"event\":\"block\"}"),
    ("sim panel 3 none", "POST /sim/panel {\"panel\":3,\"fault\":\"none\"}"),
    ("join Home pw=horse", "POST /save {\"ssid\":\"Home\",\"pw\":\"horse\"}"),
];

fn text_of(request: &ClientRequest) -> String {
    let payload = match &request.payload {
        Payload::Nothing => String::new(),
        Payload::Json(value) => format!(" {value}"),
        Payload::File(path) => format!(" {}", path.display()),
    };
    format!("{} {}{payload}", request.method, request.path)
}

#[test]
fn update_auto_has_the_timeout_of_updates() {
    for (line, is_update) in [("update auto", true), ("status", false), ("restart", false)] {
        let request = request_of(&format!("papertick ctl {line}"));
        let request = request.unwrap_or_else(|failure| panic!("{line}: {failure}"));
        assert_eq!(request.is_update, is_update, "{line}");
    }
}

#[test]
fn every_operation_is_a_command() {
    let mut reached = BTreeSet::new();
    for (line, expected) in LINES {
        let line = format!("papertick ctl {line}");
        let request = request_of(&line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
        assert_eq!(text_of(&request), *expected, "{line}");
        reached.insert(parsed(&line).unwrap().operation.command());
    }
    for operation in all() {
        let words = operation.command();
        let endpoint = operation.endpoints.first().unwrap();
        let needs = endpoint.path.contains('{') || matches!(operation.body, BodyRule::Required(_));
        match CommandKind::of(operation) {
            CommandKind::Plain if needs => assert!(reached.contains(&words), "no line for {words}"),
            CommandKind::Plain if matches!(operation.body, BodyRule::Optional(shape) if shape == Shape::Image) =>
                {}
            CommandKind::Plain => {
                let request = request_of(&format!("papertick ctl {words}")).unwrap();
                assert_eq!(
                    (request.method, &*request.path),
                    (endpoint.method.name(), endpoint.path)
                );
            }
            CommandKind::Settings | CommandKind::Watch | CommandKind::Backup => {
                let args = parsed(&format!("papertick ctl {words}")).unwrap();
                assert_eq!(args.operation.command(), words);
            }
            CommandKind::Restore => {
                let args = parsed(&format!("papertick ctl {words} file.json")).unwrap();
                assert_eq!(args.operation.command(), words);
            }
        }
        let _: &OperationHandler = &operation.handler;
    }
}

#[test]
fn every_example_parses() {
    for example in grammar::EXAMPLES {
        let line = format!("papertick ctl {example}");
        let args = parsed(&line).unwrap();
        if CommandKind::of(args.operation) == CommandKind::Plain {
            let request = request_of(&line);
            assert!(request.is_ok(), "{line}: {request:?}");
        }
    }
}

#[test]
fn every_setting_can_be_set() {
    let written = SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadWrite | Access::WriteOnly))
        .map(|spec| (spec.name, spec.kind));
    let composed = VIRTUAL.iter().map(|row| (row.name, row.kind));
    let mut count = 0;
    for (name, kind) in written.chain(composed) {
        let value = match kind.schema()["type"].as_str() {
            Some("boolean") => json!(true),
            Some("integer" | "number") => json!(60),
            Some("array") => json!([]),
            Some("object") => json!({}),
            Some(_) | None => json!("x"),
        };
        let text = arguments::plain(&value);
        let request = request_of(&format!("papertick ctl set {name}={text}")).unwrap();
        let Payload::Json(body) = &request.payload else {
            panic!("{name}")
        };
        assert_eq!(body[name], value, "{name}");
        count += 1;
    }
    assert!(count > 70, "{count}");
}

#[test]
fn mistakes_name_the_thing() {
    for (line, part) in [
        ("papertick ctl", "COMMAND"),
        ("papertick ctl shwo", "did you mean `show`?"),
        ("papertick ctl show", "show"),
        ("papertick ctl show scren", "`screen`?"),
        ("papertick ctl set fontname=x", "did you mean `fontName`?"),
        ("papertick ctl set fontName", "ctl set fontName=…"),
        (
            "papertick ctl set timerSeconds=5",
            "can only be read: set `timePerScreen` instead",
        ),
        ("papertick ctl set numScreens=5", "can only be read"),
        ("papertick ctl set foo=1", "docs/settings.md"),
        ("papertick ctl show screen tikcer", "did you mean `ticker`?"),
        (
            "papertick ctl factory-reset",
            "it takes confirm=factory_reset",
        ),
        ("papertick ctl set", "KEY=VALUE"),
        ("papertick ctl lights effect disco", "rainbow"),
        ("papertick ctl update firmware", "FILE"),
        ("papertick ctl panel", "I"),
        ("papertick ctl status --hots x", "did you mean `--host`?"),
    ] {
        let failure = request_of(line).unwrap_err();
        assert_eq!(failure.code, Code::Usage, "{line}");
        assert!(failure.message.contains(part), "{line}: {failure}");
        assert!(!failure.message.contains('\n'), "{line}: {failure}");
    }
}

#[test]
fn every_command_has_a_description() {
    fn walk(command: &Command, path: &str) {
        for command in command.get_subcommands() {
            let path = format!("{path} {}", command.get_name());
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let words = path.trim_start();
            match all().find(|operation| operation.command() == words) {
                Some(operation) => assert_eq!(about, operation.summary, "{path}"),
                None => assert!(!about.is_empty() && !about.contains(';'), "{path}: {about}"),
            }
            walk(command, &path);
        }
    }
    let command = CtlArgs::augment_args(Command::new("ctl").about("ClientRequest a clock"));
    let mut parent = Command::new("papertick").subcommand(command);
    parent.build();
    let ctl = parent.find_subcommand("ctl").unwrap();
    assert_eq!(
        ctl.get_about().unwrap().to_string(),
        "ClientRequest a clock"
    );
    walk(ctl, "");
}

#[test]
fn flags_may_come_before_or_after_the_command() {
    for line in [
        "papertick ctl --json --host clock:81 status",
        "papertick ctl status --json --host clock:81",
        "papertick ctl show --host clock:81 screen 20 --json",
    ] {
        let args = parsed(line).unwrap();
        assert!(args.common.json, "{line}");
        let client = args.common.target.client().unwrap();
        assert_eq!(client.url(), "http://clock:81", "{line}");
    }
}

#[test]
fn a_secret_can_come_from_a_file() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"correct horse\n").unwrap();
    let line = format!("papertick ctl set otaPass=@{}", file.path().display());
    let request = request_of(&line).unwrap();
    assert_eq!(
        request.payload,
        Payload::Json(json!({ "otaPass": "correct horse" }))
    );
    let request = request_of("papertick ctl set hostnamePrefix=@x").unwrap();
    assert_eq!(
        request.payload,
        Payload::Json(json!({ "hostnamePrefix": "@x" }))
    );
}
