//! Table of commands: the parameters of a client, and the request to the device or the error.

use api::{
    answer::Answer,
    device_call::DeviceCall,
    operations::{self, all},
    parameters::Parameters,
};
use proptest::prelude::*;

use crate::clock::{BOARD, clock};

/// A request as `Debug` prints it, or status and reason.
fn read(name: &str, parameters: Parameters) -> String {
    let view = clock(BOARD).view();
    match operations::command(name, parameters, &view) {
        Ok(DeviceCall { request, .. }) => format!("{request:?}"),
        Err(Answer { status, body, .. }) => {
            let body = body.expect("a refusal has a reason");
            format!("{status} {}", body["error"].as_str().unwrap())
        }
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
fn query_parameters_replace_missing_members_of_the_body() {
    type Query = [(&'static str, &'static str)];
    let parameters = |body: &str, query: &Query| Parameters {
        query: query
            .iter()
            .map(|(name, value)| ((*name).to_string(), (*value).to_string()))
            .collect(),
        ..Parameters::body(body.as_bytes())
    };
    #[rustfmt::skip]
    let rows: &[(&str, &str, &Query, &str)] = &[
        ("show/screen", "", &[("s", " 3 ")], "ShowScreen(3)"),
        ("show/screen", r#"{"s":4}"#, &[("s", "3")], "ShowScreen(4)"),
        ("show/screen", "{", &[("s", "3"), ("s", "4")], "ShowScreen(3)"),
        ("show/screen", "", &[("s", "three")], "400 missing s"),
        ("show/text", "", &[("text", "A")], "ShowText(\"A\")"),
        ("show/text", "", &[("text", "A"), ("t", "B")], "ShowText(\"B\")"),
        ("wifi_set_tx_power", "{", &[("txPower", "80")], "SetTxPower(80)"),
    ];
    for (name, body, query, expected) in rows {
        let request = read(name, parameters(body, query));
        assert_eq!(request, *expected, "{name} {body} {query:?}");
    }
}

proptest! {
    #[test]
    fn any_body_is_parsed_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), json in "[\\[{]\"?(s|c|t|b|cells|hex|red|name)\"?[:,]?[-0-9a-f\"\\[\\]{}.]{0,20}") {
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
