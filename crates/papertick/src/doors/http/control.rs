//! Operations without arguments, and how the device's replies are told.

use device::{
    request::{Refusal, Reply, Request},
    settings::reject::Rejection,
};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    State,
    answer::{self, Response},
    call::{Call, Received, SMALL_BODY_MAX},
    parse::whole_number,
    status,
};
use crate::inbox::Stopped;

/// Asks the device and tells its reply.
pub(crate) async fn ask(state: &State, request: Request) -> Response {
    match reply(state, request).await {
        Ok(reply) => tell(reply),
        Err(stopped) => stopped,
    }
}

/// Asks the device.
///
/// # Errors
/// The device has stopped; the answer says so.
pub(crate) async fn reply(state: &State, request: Request) -> Result<Reply, Response> {
    let stopped =
        |stopped: Stopped| answer::error(StatusCode::SERVICE_UNAVAILABLE, &stopped.to_string());
    state.services.inbox.ask(request).await.map_err(stopped)
}

/// Tells a reply of the device.
pub(crate) fn tell(reply: Reply) -> Response {
    match reply {
        Reply::Done => answer::done(),
        Reply::RebootRequired => answer::json(&json!({ "rebootRequired": true })),
        Reply::Rejected(rejection) => rejected(&rejection),
        Reply::Refused(refusal) => refused(refusal),
        Reply::Lights(colours) => answer::json(&status::lights(&colours)),
    }
}

/// Refuses a change of settings with its token, and with words where that does not tell all.
pub(crate) fn rejected(rejection: &Rejection) -> Response {
    let mut body = json!({ "error": rejection.to_string() });
    if let Some(hint) = rejection.hint() {
        body["msg"] = hint.into();
    }
    answer::json_with(StatusCode::BAD_REQUEST, &body)
}

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::UnknownScreen => answer::bad_request("unknown screen id"),
        Refusal::UnavailableScreen(id) => answer::error(
            StatusCode::CONFLICT,
            &format!("screen {id} unavailable for active pool"),
        ),
        Refusal::CurrencyNotActive => answer::error(StatusCode::NOT_FOUND, "currency not active"),
        Refusal::NoLeds => answer::error(StatusCode::SERVICE_UNAVAILABLE, "leds not available"),
        Refusal::NoFrontlight => answer::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "frontlight not present on this board",
        ),
        Refusal::WrongCount => answer::bad_request("count mismatch"),
        Refusal::OutOfRange => answer::bad_request("out of range"),
        Refusal::UpdateRunning => answer::message(
            StatusCode::SERVICE_UNAVAILABLE,
            "Update already in progress",
        ),
        Refusal::NotStored => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "not stored"),
        Refusal::Erasing => answer::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "everything is being erased",
        ),
        Refusal::NotErased => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "not erased"),
    }
}

/// Makes a handler that asks one thing, whatever the body says.
macro_rules! asks {
    ($($(#[doc = $doc:literal])+ $name:ident => $request:expr;)+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) async fn $name(call: Call) -> Response {
                ask(&call.state, $request).await
            }
        )+
    };
}

asks! {
    /// Shows the next screen.
    next => Request::Next;
    /// Shows the previous screen.
    previous => Request::Previous;
    /// Stops the rotation.
    pause => Request::Pause;
    /// Stops or starts the rotation.
    toggle_pause => Request::TogglePause;
    /// Starts the rotation and its period anew.
    timer_restart => Request::RestartTimer;
    /// Refreshes all panels fully.
    full_refresh => Request::FullRefresh;
    /// Restarts the clock.
    restart => Request::Restart;
    /// Makes the clock recognisable.
    identify => Request::Identify;
    /// Stops all data sources.
    stop_sources => Request::StopSources;
    /// Stops and starts all data sources.
    restart_sources => Request::RestartSources;
    /// Switches Do Not Disturb on.
    dnd_on => Request::SetDnd(true);
    /// Switches Do Not Disturb off.
    dnd_off => Request::SetDnd(false);
}

/// Wipes every setting, if that is really meant.
pub(crate) async fn factory_reset(mut call: Call) -> Response {
    let body = call.json(SMALL_BODY_MAX).await;
    let word = body.as_ref().and_then(|body| body.get("confirm")?.as_str());
    if word != Some("factory_reset") {
        return answer::bad_request("confirmation required");
    }
    match reply(&call.state, Request::FactoryReset).await {
        Ok(Reply::Done) => answer::message(StatusCode::OK, "factory reset scheduled"),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}

/// Forgets the pool logos and fetches them again.
pub(crate) async fn clear_logos(call: Call) -> Response {
    let known = usize::from(call.view.market.pool_logo.is_some());
    match reply(&call.state, Request::ClearPoolLogos).await {
        Ok(Reply::Done) => answer::json(&json!({ "removed": known })),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}

/// Sets the transmit power of the radio.
pub(crate) async fn tx_power(mut call: Call) -> Response {
    let named = match call.body(SMALL_BODY_MAX).await {
        Received::Whole(body) => match serde_json::from_slice::<Value>(&body) {
            Ok(body) => body
                .get("txPower")
                .and_then(whole_number)
                .ok_or("txPower missing"),
            Err(_) => Err("bad json"),
        },
        Received::Nothing | Received::TooLarge | Received::Broken => Err("bad body"),
    };
    let queried = || call.query("txPower")?.trim().parse().ok();
    let quarter_dbm = match named.or_else(|reason| queried().ok_or(reason)) {
        Ok(quarter_dbm) => quarter_dbm,
        Err(reason) => return answer::bad_request(reason),
    };
    match reply(&call.state, Request::SetTxPower(quarter_dbm)).await {
        Ok(Reply::Done) => answer::json(&json!({ "setTxPower": "ok" })),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}
