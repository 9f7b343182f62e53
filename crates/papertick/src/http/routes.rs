//! The table of all operations: router, guards and the API description are made of it.

use std::pin::Pin;

use http::Method;

use super::{
    answer::{self, Response},
    call::Call,
    control, events, lights, panels, settings, show, status,
};

/// One operation.
pub(crate) struct Route {
    /// Method.
    pub(crate) method: Method,
    /// Path; one part of it may be open, as in `{id}`.
    pub(crate) path: &'static str,
    /// Who may use it.
    pub(crate) guard: Guard,
    /// It changes something, whatever its method.
    pub(crate) changes: bool,
    /// What it does.
    pub(crate) summary: &'static str,
    /// Who does it.
    pub(crate) handler: Handler,
}

/// Who may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Everybody.
    Open,
    /// Who knows the credentials of the control interface.
    Control,
    /// Who knows the password for uploads.
    Upload,
    /// Everybody, while the clock is an access point.
    Portal,
}

/// An answer that is on its way.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Who answers.
pub(crate) enum Handler {
    /// Answers from what is known.
    Now(fn(&Call) -> Response),
    /// Reads a body or asks the device.
    Later(fn(Call) -> Pending),
}

/// Makes a handler of an async function.
macro_rules! later {
    ($handler:path) => {
        Handler::Later(|call| Box::pin($handler(call)))
    };
}

const fn get(path: &'static str, summary: &'static str, handler: fn(&Call) -> Response) -> Route {
    Route {
        method: Method::GET,
        path,
        guard: Guard::Control,
        changes: false,
        summary,
        handler: Handler::Now(handler),
    }
}

const fn change(
    method: Method,
    path: &'static str,
    summary: &'static str,
    handler: Handler,
) -> Route {
    Route {
        method,
        path,
        guard: Guard::Control,
        changes: true,
        summary,
        handler,
    }
}

const fn post(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    change(Method::POST, path, summary, handler)
}

/// An operation in the form older clients know.
const fn old(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    change(Method::GET, path, summary, handler)
}

/// All operations.
pub(crate) static ROUTES: &[Route] = &[
    get("/api/status", "State of the clock", |call| {
        answer::json_bytes(call.state.status().text)
    }),
    get(
        "/api/system/status",
        "State of the hardware",
        status::system_status,
    ),
    get(
        "/api/system_status",
        "State of the hardware",
        status::system_status,
    ),
    get("/api/settings", "All settings", |call| {
        answer::json_bytes(call.state.settings())
    }),
    change(
        Method::PATCH,
        "/api/settings",
        "Change settings",
        later!(settings::patch),
    ),
    change(
        Method::PATCH,
        "/api/json/settings",
        "Change settings",
        later!(settings::patch),
    ),
    post(
        "/api/json/settings",
        "Change settings",
        later!(settings::patch),
    ),
    get("/events", "Follow the clock", events::follow),
    get("/api/panels.png", "All panels as one picture", panels::all),
    get("/api/panels/{i}.png", "One panel as a picture", panels::one),
    post("/api/show/screen", "Show a screen", later!(show::screen)),
    old(
        "/api/show/screen/{id}",
        "Show a screen",
        later!(show::screen_in_path),
    ),
    post(
        "/api/show/currency",
        "Show prices in a currency",
        later!(show::currency),
    ),
    old(
        "/api/show/currency/{code}",
        "Show prices in a currency",
        later!(show::currency_in_path),
    ),
    post("/api/show/text", "Show a text", later!(show::text)),
    old(
        "/api/show/text/{text}",
        "Show a text",
        later!(show::text_in_path),
    ),
    post(
        "/api/show/custom",
        "Show a text per panel",
        later!(show::custom),
    ),
    post(
        "/api/screen/next",
        "Show the next screen",
        later!(control::next),
    ),
    post(
        "/api/screen/previous",
        "Show the previous screen",
        later!(control::previous),
    ),
    post(
        "/api/action/pause",
        "Stop the rotation",
        later!(control::pause),
    ),
    old(
        "/api/action/pause",
        "Stop or start the rotation",
        later!(control::toggle_pause),
    ),
    post(
        "/api/action/timer_restart",
        "Start the rotation anew",
        later!(control::timer_restart),
    ),
    old(
        "/api/action/timer_restart",
        "Start the rotation anew",
        later!(control::timer_restart),
    ),
    post(
        "/api/full_refresh",
        "Refresh all panels fully",
        later!(control::full_refresh),
    ),
    old(
        "/api/full_refresh",
        "Refresh all panels fully",
        later!(control::full_refresh),
    ),
    post(
        "/api/restart",
        "Restart the clock",
        later!(control::restart),
    ),
    old(
        "/api/restart",
        "Restart the clock",
        later!(control::restart),
    ),
    get("/api/lights", "Colours of the LED strip", lights::read),
];
