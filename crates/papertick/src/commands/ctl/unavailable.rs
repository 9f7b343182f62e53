//! Explains why a clock answers 404 for an operation.

use api::{
    operation::{Guard, Operation, ProgramOperation},
    operations::path_of,
};
use http::StatusCode;
use runtime::printable::one_line;
use serde_json::Value;

use crate::commands::client::{ClientRequest, ClientResponse, ClockClient, Payload};

/// The error of a clock for an unknown path.
const NOT_FOUND: &str = "not found";

/// Whether the clock does not have the requested path.
pub(super) fn is_not_found(response: &ClientResponse) -> bool {
    let error = || Some(response.json()?["error"].as_str()? == NOT_FOUND);
    response.status == StatusCode::NOT_FOUND && error().unwrap_or_default()
}

/// Why the clock does not have an operation. `None` if the reason cannot be found out.
pub(super) fn reason(client: &mut ClockClient, operation: &Operation) -> Option<String> {
    let command = operation.command();
    let reason = find_reason(client, operation)?;
    Some(format!("this clock does not have `{command}`: {reason}"))
}

fn find_reason(client: &mut ClockClient, operation: &Operation) -> Option<String> {
    let is_portal = operation.guard == Guard::Portal;
    let Some(settings) = get(client, ProgramOperation::Settings) else {
        let reason = match client.prefix() {
            "" => {
                "it has no network and is an access point, which only serves the page to join one"
                    .to_string()
            }
            prefix => format!("is `{prefix}` in its address right?"),
        };
        return (!is_portal).then_some(reason);
    };
    if is_portal {
        return Some("it has joined a network; only a clock without one is an access point".into());
    }
    let path = operation.endpoints.first()?.path;
    if path.starts_with("/sim/") {
        let Some(bench) = get(client, ProgramOperation::BenchState) else {
            return Some("only a simulated board has a bench".into());
        };
        let is_demo = !bench["demo_relay"].is_null();
        return match is_demo {
            true => None,
            false => Some("only `papertick demo` has a simulated market".into()),
        };
    }
    if path.contains("frontlight") && settings["hasFrontlight"] == false {
        return Some("its board has no frontlight".into());
    }
    if path.contains("/panels/") {
        let count = settings["numScreens"].as_u64()?;
        let last = count.saturating_sub(1);
        return Some(format!("it has {count} panels, 0 to {last}"));
    }
    let version = one_line(settings["gitTag"].as_str()?);
    Some(format!("it is unknown to version {version}"))
}

/// Gets a document of the clock. `None` if the request fails.
fn get(client: &mut ClockClient, operation: ProgramOperation) -> Option<Value> {
    let request = ClientRequest::new("GET", path_of(operation), Payload::Nothing);
    client.send(&request).ok()?.accepted().ok()?.json()
}
