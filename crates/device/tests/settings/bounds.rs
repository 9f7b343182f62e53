//! Every row at its bounds, beyond them, and with values of other types.

use device::settings::{
    Key, SPECS, Settings,
    spec::{Access, Apply, Spec},
};
use serde_json::{Map, Value, json};

use crate::bench;

const LOWER: &str = "b5127a08cf33616274800a4387881a9f98e04b9c37116e92de5250498635c422";
const UPPER: &str = "B5127A08CF33616274800A4387881A9F98E04B9C37116E92DE5250498635C422";

/// The example of NIP-19.
const NPUB: &str = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
const NPUB_HEX: &str = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";

/// Expected result of a value.
enum Expect {
    /// Accepted and stored as this value.
    Stored(Value),
    /// Refused with this token; `*` stands for the key.
    Token(&'static str),
}

use Expect::{Stored, Token};

fn same(value: Value) -> (Value, Expect) {
    (value.clone(), Stored(value))
}

fn refused(value: Value, token: &'static str) -> (Value, Expect) {
    (value, Token(token))
}

/// Values of all other JSON types.
fn of_other_types(own: &Value) -> Vec<Value> {
    let all = [
        json!(null),
        json!(true),
        json!(7),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({ "a": 1 }),
    ];
    let kind = |value: &Value| {
        (
            value.is_boolean(),
            value.is_number(),
            value.is_string(),
            value.is_array(),
        )
    };
    all.into_iter()
        .filter(|value| kind(value) != kind(own))
        .collect()
}

fn numbers(min: u32, max: u32) -> Vec<(Value, Expect)> {
    let mut rows = vec![
        same(json!(min)),
        same(json!(max)),
        (json!(f64::from(max)), Stored(json!(max))),
        refused(json!(i64::from(min) - 1), "range:*"),
        refused(json!(i64::from(max) + 1), "range:*"),
        refused(json!(-1e300), "range:*"),
        refused(json!(u64::MAX), "range:*"),
        refused(
            serde_json::from_str(&format!("{max}.5")).unwrap(),
            "range:*",
        ),
    ];
    if min < max {
        rows.push((
            serde_json::from_str(&format!("{min}.5")).unwrap(),
            Stored(json!(min)),
        ));
    }
    rows
}

fn texts() -> Vec<(Value, Expect)> {
    vec![
        same(json!("")),
        same(json!("x".repeat(256))),
        same(json!("é".repeat(128))),
        same(json!("日本\u{a0}\u{2028}")),
        refused(json!("x".repeat(257)), "*:bad_type"),
        refused(json!("é".repeat(129)), "*:bad_type"),
        refused(json!("a\u{1f}"), "*:bad_type"),
        refused(json!("\u{0}"), "*:bad_type"),
        refused(json!("a\nb"), "*:bad_type"),
        refused(json!("\u{7f}"), "*:bad_type"),
    ]
}

fn values(spec: &Spec) -> Vec<(Value, Expect)> {
    let too_long = refused(json!(format!("http://{}", "x".repeat(250))), "*:bad_type");
    let control = spec.kind.control();
    let number = |member: &str| u32::try_from(control[member].as_u64().unwrap()).unwrap();
    match control["control"].as_str().unwrap() {
        "switch" => vec![same(json!(true)), same(json!(false))],
        "number" | "slider" => numbers(number("min"), number("max")),
        "select" => {
            let options = control["options"].as_array().unwrap().len();
            numbers(0, u32::try_from(options - 1).unwrap())
        }
        "color" => numbers(0, 0xFF_FF_FF),
        "text" if spec.key == Key::http_auth_user => {
            let colon = refused(json!("sat:oshi"), "*:bad_type");
            texts().into_iter().chain([colon]).collect()
        }
        "text" if spec.kind.words() == "a topic" => vec![
            same(json!("home/clocks")),
            same(json!("x".repeat(128))),
            same(json!("a b/$c/é")),
            refused(json!(""), "*:bad_type"),
            refused(json!("x".repeat(129)), "*:bad_type"),
            refused(json!("a\u{0}"), "*:bad_type"),
            refused(json!("a/+"), "*:bad_type"),
            refused(json!("#"), "*:bad_type"),
            refused(json!("/a"), "*:bad_type"),
            refused(json!("a//b"), "*:bad_type"),
            refused(json!("$SYS/a"), "*:bad_type"),
        ],
        "text" if spec.key == Key::update_pin => vec![
            same(json!("")),
            same(json!("4.3.0")),
            same(json!("0.10.0-rc.1")),
            same(json!(format!("4.3.0-{}", "x".repeat(26)))),
            refused(json!(format!("4.3.0-{}", "x".repeat(27))), "*:bad_type"),
            refused(json!("v4.3.0"), "*:bad_type"),
            refused(json!("4.3"), "*:bad_type"),
            refused(json!("4.3.0.1"), "*:bad_type"),
            refused(json!("4.03.0"), "*:bad_type"),
            refused(json!("4.3.0-"), "*:bad_type"),
            refused(json!("4.3.0-a..b"), "*:bad_type"),
            refused(json!("4.3.0+build"), "*:bad_type"),
            refused(json!("4.3.-1"), "*:bad_type"),
            refused(json!(4.3), "*:bad_type"),
        ],
        "text" if spec.key == Key::mqtt_groups => vec![
            same(json!("")),
            same(json!("shop,hall-2,First_Floor")),
            (json!(" a, b,,a "), Stored(json!("a,b"))),
            same(json!("1,2,3,4,5,6,7,8")),
            refused(json!("1,2,3,4,5,6,7,8,9"), "*:bad_length"),
            same(json!("x".repeat(30))),
            refused(json!("x".repeat(31)), "*:bad_type"),
            refused(json!("a/b"), "*:bad_type"),
            refused(json!("+"), "*:bad_type"),
            refused(json!("a b"), "*:bad_type"),
        ],
        // Accepted texts are tested separately.
        "text" if spec.kind.words().ends_with("in PEM form") => vec![
            same(json!("")),
            refused(json!("x"), "*:bad_type"),
            refused(json!(" ".repeat(4097)), "*:bad_type"),
        ],
        "text" if spec.key == Key::node_host => vec![
            same(json!("x".repeat(128))),
            refused(json!("x".repeat(129)), "*:bad_type"),
            refused(json!(1), "*:bad_type"),
        ],
        "text" => texts(),
        // Passwords are stored as hashes and tested separately.
        "password" => {
            let refusals = texts()
                .into_iter()
                .filter(|(_, expect)| matches!(expect, Token(_)));
            refusals.chain([(json!(""), Stored(json!("")))]).collect()
        }
        "choice" => {
            let ids = spec.kind.catalogue().unwrap();
            let known = ids.iter().map(|id| same(json!(id)));
            let upper = ids
                .iter()
                .map(|id| refused(json!(id.to_uppercase()), "*:unknown"));
            let others = [
                refused(json!(""), "*:unknown"),
                refused(json!("nope"), "*:unknown"),
                too_long,
            ];
            known.chain(upper).chain(others).collect()
        }
        "key" => {
            let upper = if spec.key == Key::nostr_pub_key {
                refused(json!(UPPER), "*:bad_hex")
            } else {
                same(json!(UPPER))
            };
            let short = refused(json!(&LOWER[1..]), "*:bad_hex");
            let long = refused(json!(format!("{LOWER}0")), "*:bad_hex");
            let letter = refused(json!(LOWER.replace('b', "g")), "*:bad_hex");
            let typo = refused(json!(NPUB.replace('z', "x")), "*:bad_hex");
            vec![
                (json!(NPUB), Stored(json!(NPUB_HEX))),
                typo,
                same(json!("")),
                same(json!(LOWER)),
                upper,
                short,
                long,
                letter,
                too_long,
            ]
        }
        "url" if control["schemes"] == json!(["wss", "ws"]) => vec![
            same(json!("")),
            same(json!("ws://a")),
            same(json!("wss://a:7000/x?y=z")),
            refused(json!("http://a"), "*:bad_scheme"),
            refused(json!("relay.example"), "*:bad_scheme"),
            refused(json!("wss:a"), "*:bad_scheme"),
            too_long,
        ],
        "url" if control["schemes"] == json!(["https", "http"]) => vec![
            same(json!("")),
            same(json!("http://a")),
            same(json!("https://a:80/x?y=z")),
            refused(json!("ftp://a"), "*:bad_scheme"),
            refused(json!("javascript:alert(1)"), "*:bad_scheme"),
            refused(json!("//a"), "*:bad_scheme"),
            too_long,
        ],
        "zone" => vec![
            same(json!("UTC")),
            same(json!("Europe/Brussels")),
            same(json!("America/New_York")),
            same(json!("Asia/Tokyo")),
            same(json!("Pacific/Auckland")),
            same(json!("America/Argentina/ComodRivadavia")),
            refused(json!(""), "*:unknown"),
            refused(json!("Not/A_Real_Zone"), "*:unknown"),
            refused(json!(" UTC"), "*:unknown"),
            refused(json!("UTC "), "*:unknown"),
            refused(json!("europe/amsterdam"), "*:unknown"),
            refused(json!("Etc/Unknown"), "*:unknown"),
            refused(json!("../../etc/passwd"), "*:unknown"),
            too_long,
        ],
        "texts" => vec![
            same(json!([])),
            same(json!([["A", "", "TOP/LOW"], ["mdi:bell"]])),
            same(json!(vec![vec!["x".repeat(32); 8]; 1])),
            (json!([["A"], ["", ""], [], ["A"]]), Stored(json!([["A"]]))),
            refused(json!([["x".repeat(33)]]), "*:bad_type"),
            refused(json!([["a\u{0}"]]), "*:bad_type"),
            refused(json!([vec!["x"; 9]]), "*:bad_length"),
            refused(json!(vec![["x"]; 11]), "*:bad_length"),
            refused(json!([[1]]), "*:bad_type"),
            refused(json!(["x"]), "*:bad_type"),
            refused(json!("x"), "*:bad_type"),
        ],
        "board" => vec![
            same(json!(["0", "3"])),
            same(json!([
                "20:EUR", "20", "20:JPY", "10:USD", "30", "40", "4", "6"
            ])),
            (json!([3, "6"]), Stored(json!(["3", "6"]))),
            refused(json!([]), "*:bad_length"),
            refused(json!(["0"]), "*:bad_length"),
            refused(
                json!(["0", "3", "4", "40", "10", "20", "30", "6", "20:EUR"]),
                "*:bad_length",
            ),
            refused(json!(["0", "1"]), "*:unknown_id"),
            refused(json!(["0", 99_999]), "*:bad_entry"),
            refused(json!(["0", "x"]), "*:bad_entry"),
            refused(json!(["0", "20:eur"]), "*:bad_entry"),
            refused(json!(["0", "3:EUR"]), "*:bad_entry"),
            refused(json!(["0", { "id": 3 }]), "*:bad_entry"),
            refused(json!(["0", "81"]), "*:screen_off"),
            refused(json!(["0", "20:GBP"]), "*:currency_not_active"),
            refused(json!(["0", "3", "0"]), "*:dup_id"),
            refused(json!(["20", "20:USD"]), "*:dup_id"),
            refused(json!("0,3"), "*:bad_type"),
        ],
        "several" => vec![
            same(json!([])),
            same(json!(["gemini"])),
            same(json!(["bitfinex", "coinbase"])),
            (json!(["gemini", "", "gemini"]), Stored(json!(["gemini"]))),
            refused(json!(["kraken"]), "*:unknown"),
            refused(json!(["Coinbase"]), "*:unknown"),
            refused(json!(["relay"]), "*:unknown"),
            refused(json!(vec!["gemini"; 9]), "*:bad_length"),
            refused(json!([1]), "*:bad_type"),
            refused(json!("gemini"), "*:bad_type"),
        ],
        "txPower" | "currencies" | "urls" | "keys" => Vec::new(),
        other => panic!("{}: no test values for {other}", spec.name),
    }
}

fn check(spec: &Spec, name: &str, value: &Value, expect: &Expect) {
    let stored = Settings::default();
    let body: Map<String, Value> = [(name.to_string(), value.clone())].into_iter().collect();
    let outcome = bench::patch(&stored, &body);
    match expect {
        Token(token) => {
            let outcome = outcome
                .map(|_| "accepted")
                .map_err(|rejection| rejection.to_string());
            assert_eq!(outcome, Err(token.replace('*', name)), "{name}: {value}");
        }
        Stored(expected) => {
            let patched =
                outcome.unwrap_or_else(|rejection| panic!("{name}: {value}: {rejection}"));
            assert_eq!(&patched.settings.get(spec.key), expected, "{name}: {value}");
            let reboot = spec.apply == Apply::Reboot && patched.settings != stored;
            assert_eq!(patched.changed.reboot_required, reboot, "{name}: {value}");
        }
    }
}

#[test]
fn every_row_checks_its_bounds() {
    let written = SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadWrite | Access::WriteOnly));
    let alone =
        |spec: &&Spec| !["proxyEnabled", "mqttEnabled", "httpAuthEnabled"].contains(&spec.name);
    for spec in written.filter(alone) {
        for name in [Some(spec.name), spec.alias].into_iter().flatten() {
            for (value, expect) in values(spec) {
                check(spec, name, &value, &expect);
            }
            let own = Settings::default().get(spec.key);
            let own = if own.is_null() { json!(0) } else { own };
            for value in of_other_types(&own) {
                check(spec, name, &value, &Token("*:bad_type"));
            }
        }
    }
}

#[test]
fn read_only_rows_ignore_any_value() {
    for spec in SPECS
        .iter()
        .filter(|spec| matches!(spec.access, Access::ReadOnly | Access::Internal))
    {
        for value in [
            json!(null),
            json!(true),
            json!(-1),
            json!(1),
            json!("x"),
            json!([3]),
            json!({}),
        ] {
            check(
                spec,
                spec.name,
                &value,
                &Stored(Settings::default().get(spec.key)),
            );
        }
    }
}

#[test]
fn trailing_slashes_of_a_base_url_are_removed() {
    let rows = [
        (r#"{"poolLogosUrl": "https://a/b///"}"#, "https://a/b"),
        (r#"{"poolLogosUrl": "https://a"}"#, "https://a"),
        (r#"{"poolLogosUrl": "https://"}"#, "https://"),
    ];
    for (body, expected) in rows {
        assert_eq!(
            bench::send(&Settings::default(), body)
                .unwrap()
                .settings
                .pool_logos_url
                .expose(),
            expected
        );
    }
    let patched = bench::send(&Settings::default(), r#"{"gitReleaseUrl": "https://a/"}"#).unwrap();
    assert_eq!(patched.settings.git_release_url.expose(), "https://a/");
}
