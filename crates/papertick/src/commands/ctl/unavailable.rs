//! Why a clock answers that it does not know an operation.

use api::{
    operation::{Guard, Operation, ProgramOperation},
    operations::path_of,
};
use http::StatusCode;
use runtime::printable::one_line;
use serde_json::Value;

use crate::commands::client::{Ask, ClientResponse, ClockClient, Payload};

/// What a clock answers on a path that leads nowhere.
const UNKNOWN: &str = "not found";

/// Whether the clock knows nothing at the path that was asked for.
pub(super) fn is_unknown(reply: &ClientResponse) -> bool {
    let error = || Some(reply.json()?["error"].as_str()? == UNKNOWN);
    reply.status == StatusCode::NOT_FOUND && error().unwrap_or_default()
}

/// Why it cannot do an operation; `None` if it does not say enough of itself.
pub(super) fn reason(client: &mut ClockClient, operation: &Operation) -> Option<String> {
    let command = operation.command();
    let why = why(client, operation)?;
    Some(format!("this clock cannot do `{command}`: {why}"))
}

fn why(client: &mut ClockClient, operation: &Operation) -> Option<String> {
    let is_portal = operation.guard == Guard::Portal;
    let Some(settings) = get(client, ProgramOperation::Settings) else {
        let words = "it has no network and is an access point, which only has a page to join one";
        return (!is_portal).then(|| words.into());
    };
    if is_portal {
        return Some("it has joined a network; only a clock without one is an access point".into());
    }
    let path = operation.endpoints.first()?.path;
    if path.starts_with("/sim/") {
        let Some(bench) = get(client, ProgramOperation::BenchState) else {
            return Some("its board is real, only a simulated one has a bench".into());
        };
        let is_demo = !bench["demo_relay"].is_null();
        return match is_demo {
            true => None,
            false => Some("only `papertick demo` has a market of its own".into()),
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
    Some(format!("its version {version} does not know it"))
}

/// A document of the clock; `None` if it has none.
fn get(client: &mut ClockClient, service: ProgramOperation) -> Option<Value> {
    let ask = Ask::new("GET", path_of(service), Payload::Nothing);
    client.ask(&ask).ok()?.accepted().ok()?.json()
}
