//! `papertick wiring report`: what a running clock knows of its panels, to report how they work.

use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;

use crate::{
    commands::{
        client::{ClientRequest, ClockClient, Payload, target::ClockTarget},
        ctl::{arguments::plain, summary::duration},
    },
    failure::Failure,
    standard_output::print,
};

/// The flags of `wiring report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    target: ClockTarget,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  papertick wiring report
  papertick wiring report --host papertick-1a2b3c.local:8080

The text has no secrets and no addresses.";

/// Prints versions, board, and the refreshes of each panel.
///
/// # Errors
/// The clock does not answer.
pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let mut client = args.target.client()?;
    let settings = document(&mut client, "/api/settings")?;
    let status = document(&mut client, "/api/status")?;
    print(&text(&settings, &status))
}

fn document(client: &mut ClockClient, path: &str) -> Result<Value, Failure> {
    let request = ClientRequest::new("GET", path, Payload::Nothing);
    let document = client.send(&request)?.accepted()?.json();
    document
        .ok_or_else(|| Failure::failed(format!("this is no papertick clock: {path} is not JSON")))
}

fn text(settings: &Value, status: &Value) -> String {
    let seconds = |value: &Value| duration(value.as_u64().unwrap_or_default());
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "papertick {} ({}), for {}\n{}",
        plain(&settings["gitTag"]),
        plain(&settings["gitRev"]),
        seconds(&status["espUptime"]),
        plain(&settings["hwRev"]),
    );
    for (index, panel) in status["panels"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let refreshes = &panel["refreshes"];
        let took = |member: &str| match refreshes[member].as_u64() {
            Some(millis) => format!(" (the last took {millis} ms)"),
            None => String::new(),
        };
        let last_full = match &refreshes["fullAgeSec"] {
            Value::Null => "no full refresh".into(),
            age => format!("full {} ago", seconds(age)),
        };
        let fault = match panel["fault"].as_str() {
            Some(fault) => format!("fault {fault}"),
            None => "no fault".into(),
        };
        let _ = writeln!(
            text,
            "panel {}: {} full{}, {} partial{}, {} failed; {last_full}, {} partial since; {fault}",
            index + 1,
            refreshes["full"],
            took("fullMs"),
            refreshes["partial"],
            took("partialMs"),
            refreshes["failed"],
            panel["partials"],
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_has_versions_board_and_refreshes() {
        let settings = json!({
            "gitTag": "4.0.0", "gitRev": "4.0.0-1a2b3c4", "hwRev": "Waveshare 7.5 in V2", "mqttPass": "secret"
        });
        let refreshes = json!({
            "full": 12, "partial": 340, "failed": 1, "fullAgeSec": 3700, "fullMs": 3600, "partialMs": 750
        });
        let new = json!({ "full": 0, "partial": 0, "failed": 2 });
        let status = json!({
            "espUptime": 90_061,
            "panels": [
                { "partials": 14, "fault": null, "refreshes": refreshes },
                { "partials": 0, "fault": "slow", "refreshes": new },
            ],
        });
        expect![[r"
            papertick 4.0.0 (4.0.0-1a2b3c4), for 1 d 1 h
            Waveshare 7.5 in V2
            panel 1: 12 full (the last took 3600 ms), 340 partial (the last took 750 ms), 1 failed; full 1 h 1 min ago, 14 partial since; no fault
            panel 2: 0 full, 0 partial, 2 failed; no full refresh, 0 partial since; fault slow
        "]]
        .assert_eq(&text(&settings, &status));
    }
}
