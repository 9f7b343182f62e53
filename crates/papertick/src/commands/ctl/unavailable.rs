//! Explains why a clock answers 404 for an operation.

use api::operation::{Guard, Operation};
use http::StatusCode;
use runtime::printable::one_line;
use serde_json::Value;

use crate::commands::client::{ClientRequest, ClientResponse, ClockClient, Payload};

/// The error of a clock for an unknown path.
const NOT_FOUND: &str = "not found";

/// Whether the clock does not have the requested path, or another server has answered with a page.
pub(super) fn is_not_found(response: &ClientResponse) -> bool {
    let is_unknown = |document: Value| document["error"] == NOT_FOUND;
    response.status == StatusCode::NOT_FOUND && response.json().is_none_or(is_unknown)
}

/// Why the clock has answered 404. `None` if the reason cannot be found out.
pub(super) fn reason(
    client: &mut ClockClient,
    operation: &Operation,
    response: &ClientResponse,
) -> Option<String> {
    let command = operation.command();
    let reason = find_reason(client, operation, response)?;
    Some(format!("this clock does not have `{command}`: {reason}"))
}

fn find_reason(
    client: &mut ClockClient,
    operation: &Operation,
    response: &ClientResponse,
) -> Option<String> {
    let is_portal = operation.guard == Guard::Portal;
    let Some(settings) = get(client, "/api/settings") else {
        if response.json().is_none() || !client.prefix().is_empty() {
            return Some(format!("is {} its address?", client.url()));
        }
        let reason =
            "it has no network and is an access point, which only serves the page to join one";
        return (!is_portal).then(|| reason.into());
    };
    if is_portal {
        return Some("it has joined a network; only a clock without one is an access point".into());
    }
    let path = operation.endpoints.first()?.path;
    if path.starts_with("/sim/") {
        let Some(bench) = get(client, "/sim/state") else {
            return Some("only a simulated board has a bench".into());
        };
        let is_demo = !bench["demo_relay"].is_null();
        return if is_demo {
            None
        } else {
            Some("only `papertick demo` has a simulated market".into())
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
fn get(client: &mut ClockClient, path: &str) -> Option<Value> {
    let request = ClientRequest::new("GET", path, Payload::Nothing);
    client.send(&request).ok()?.accepted().ok()?.json()
}
