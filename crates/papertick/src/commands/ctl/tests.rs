//! Every operation of the table and every setting has a command.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{collections::BTreeSet, io::Write as _};

use api::operations::all;
use device::settings::{SPECS, VIRTUAL, spec::Access};
use serde_json::json;

use super::*;
#[path = "../../../../api/tests/operations/mod.rs"]
mod operation_table;
use operation_table::{PORTAL_ROWS, ROWS};

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
    let rows = ROWS.iter().chain(PORTAL_ROWS);
    for (expected, body, words, ..) in rows.filter(|row| !row.2.is_empty()) {
        let line = format!("papertick ctl {words}");
        let request = request_of(&line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
        let expected = format!("{expected} {body}");
        assert_eq!(text_of(&request), expected.trim_end(), "{line}");
        reached.insert(parsed(&line).unwrap().operation.command());
    }
    for operation in all() {
        let words = operation.command();
        let line = match CommandKind::of(operation) {
            CommandKind::Plain => {
                assert!(reached.contains(&words), "no row for {words}");
                continue;
            }
            CommandKind::Settings | CommandKind::Watch | CommandKind::Backup => words.clone(),
            CommandKind::Restore => format!("{words} file.json"),
        };
        let args = parsed(&format!("papertick ctl {line}")).unwrap();
        assert_eq!(args.operation.command(), words);
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
            Some(_) if name == "tzString" => json!("UTC"),
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
        ("papertick ctl shwo", "did you mean `show`?"),
        ("papertick ctl show", "show"),
        ("papertick ctl show scren", "`screen`?"),
        (
            "papertick ctl set tzString=GMT+1",
            "did you mean `Etc/GMT+1`?",
        ),
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
fn an_empty_command_lists_the_groups() {
    let failure = request_of("papertick ctl").unwrap_err();
    assert_eq!(failure.code, Code::Usage);
    for line in [
        "\n  Lights        lights, frontlight, dnd\n",
        "\n  Screens       show, ",
    ] {
        assert!(failure.message.contains(line), "{failure}");
    }
}

#[test]
fn help_lists_the_values() {
    for (line, parts) in [
        ("show screen", &["block-height", "number 20"][..]),
        ("show currency", &["USD, EUR"]),
        ("lights effect", &["rainbow"]),
        ("lights color", &["`RRGGBB`, `#RRGGBB` or `off`."]),
        ("lights set", &["#RRGGBB for each LED"]),
        ("frontlight brightness", &["0 to 65535"]),
        ("sim panel", &["busy-stuck"]),
    ] {
        let line = format!("papertick ctl {line} --help");
        let words = line.split(' ').map(std::ffi::OsString::from);
        let Ok(Cli::Print(help)) = cli::parse(words) else {
            panic!("{line}")
        };
        for part in parts {
            assert!(help.contains(part), "{line}: {help}");
        }
        assert!(help.contains("Example:"), "{line}: {help}");
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
