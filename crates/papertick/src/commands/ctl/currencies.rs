//! Refuses a request with an unknown currency, and names it. The clock would ignore the currency, or refuse it without its
//! name.

use api::{
    documents::{screens::CurrencyChoice, settings::SettingsChange},
    shape::Shape,
};
use device::settings::Key;
use serde_json::Value;

use crate::{
    commands::client::{ClientRequest, ClockClient, Payload},
    failure::Failure,
};

/// Checks the currencies of a request.
///
/// # Errors
/// The clock does not have one of them.
pub(super) fn check(
    client: &mut ClockClient,
    shape: Shape,
    request: &ClientRequest,
) -> Result<(), Failure> {
    let Payload::Json(body) = &request.payload else {
        return Ok(());
    };
    let active = Key::act_currencies.name();
    let (wanted, list, what) = if shape.is::<SettingsChange>() {
        (
            codes(&body[active]),
            "availableCurrencies",
            "offers no prices in",
        )
    } else if shape.is::<CurrencyChoice>() {
        let code = body["c"].as_str().map(str::to_ascii_uppercase);
        (
            code.into_iter().collect(),
            active,
            "does not rotate through",
        )
    } else {
        return Ok(());
    };
    if wanted.is_empty() {
        return Ok(());
    }
    let settings = ClientRequest::new("GET", "/api/settings", Payload::Nothing);
    let settings = client
        .send(&settings)?
        .accepted()?
        .json()
        .unwrap_or_default();
    let known = codes(&settings[list]);
    match wanted.iter().find(|code| !known.contains(code)) {
        Some(unknown) if !known.is_empty() => Err(Failure::refused(format!(
            "the clock {what} `{unknown}`, only {}",
            known.join(", ")
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The texts of a list.
fn codes(list: &Value) -> Vec<String> {
    let codes = list.as_array().into_iter().flatten();
    codes.filter_map(Value::as_str).map(String::from).collect()
}
