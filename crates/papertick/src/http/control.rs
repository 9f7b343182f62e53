//! Operations without arguments, and how the device's replies are told.

use device::{
    request::{Refusal, Reply, Request},
    settings::reject::Rejection,
};
use http::StatusCode;
use serde_json::json;

use super::{
    State,
    answer::{self, Response},
    call::Call,
    status,
};

/// Asks the device and tells its reply.
pub(crate) async fn ask(state: &State, request: Request) -> Response {
    match state.services.inbox.ask(request).await {
        Ok(reply) => tell(reply),
        Err(stopped) => answer::error(StatusCode::SERVICE_UNAVAILABLE, &stopped.to_string()),
    }
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

/// Refuses a change of settings with its token.
pub(crate) fn rejected(rejection: &Rejection) -> Response {
    answer::bad_request(&rejection.to_string())
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
}
