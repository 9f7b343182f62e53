//! Operations on remote displays, and the operations of the TRMNL protocol.

use alloc::string::String;

use super::responses::{BAD_REQUEST, UNAVAILABLE};
use crate::{
    documents::{
        ErrorBody,
        displays::{
            DisplayChange, DisplayList, RemoteDisplay, TrmnlDisplay, TrmnlLog, TrmnlScreen,
            TrmnlSetup,
        },
    },
    limits::DISPLAY_LOG_BODY_MAX,
    operation::{Guard, Operation, by_program, changing_get, delete, get, patch, post},
    shape::{Shape, received, sent},
};

/// The display does not exist.
const UNKNOWN: (u16, Shape) = (404, sent::<ErrorBody>());

const FULL: (u16, Shape) = (409, sent::<ErrorBody>());

/// The token is missing or too short.
const NO_TOKEN: (u16, Shape) = (401, sent::<ErrorBody>());

// The open operations check the token of the display themselves.
pub(super) const OPERATIONS: &[Operation] = &[
    by_program("List the remote displays", &[get("/api/displays")])
        .answers(&[(200, sent::<DisplayList>())]),
    by_program(
        "Add a remote display. The owner enters its token in the display",
        &[post("/api/displays")],
    )
    .command_words("display add")
    .body(received::<DisplayChange>())
    .answers(&[
        (200, sent::<RemoteDisplay>()),
        BAD_REQUEST,
        FULL,
        UNAVAILABLE,
    ]),
    // The path of the next operation matches this path, too, so this operation comes first.
    by_program(
        "Draw the picture that a remote display would get now",
        &[get("/api/displays/{id}.png").path_parameter(received::<String>())],
    )
    .command_words("display picture")
    .answers(&[(200, Shape::Png), (304, Shape::Empty), UNKNOWN, UNAVAILABLE]),
    by_program(
        "Change or approve a remote display",
        &[patch("/api/displays/{id}").path_parameter(received::<String>())],
    )
    .command_words("display change")
    .body(received::<DisplayChange>())
    .answers(&[(200, sent::<RemoteDisplay>()), BAD_REQUEST, UNKNOWN, FULL]),
    by_program(
        "Remove a remote display",
        &[delete("/api/displays/{id}").path_parameter(received::<String>())],
    )
    .command_words("display remove")
    .answers(&[(200, Shape::Empty), UNKNOWN]),
    by_program(
        "TRMNL: register a display and get its token",
        &[changing_get("/api/setup")],
    )
    .command_words("trmnl setup")
    .guard(Guard::Open)
    .answers(&[
        (200, sent::<TrmnlSetup>()),
        BAD_REQUEST,
        UNKNOWN,
        UNAVAILABLE,
    ]),
    by_program(
        "TRMNL: get the address of the next picture",
        &[changing_get("/api/display")],
    )
    .command_words("trmnl display")
    .guard(Guard::Open)
    .answers(&[(200, sent::<TrmnlDisplay>()), NO_TOKEN, FULL, UNAVAILABLE]),
    by_program(
        "TRMNL: get the address of the current picture",
        &[get("/api/current_screen")],
    )
    .command_words("trmnl current-screen")
    .guard(Guard::Open)
    .answers(&[(200, sent::<TrmnlScreen>()), NO_TOKEN, UNKNOWN, UNAVAILABLE]),
    by_program("TRMNL: store log lines of a display", &[post("/api/log")])
        .command_words("trmnl log")
        .guard(Guard::Open)
        .body(received::<TrmnlLog>())
        .body_max(DISPLAY_LOG_BODY_MAX)
        .answers(&[(204, Shape::Empty), BAD_REQUEST, NO_TOKEN, UNKNOWN]),
    by_program(
        "Get the picture of a remote display; only the display knows the address",
        &[get("/display/{picture}.png").path_parameter(received::<String>())],
    )
    .command_words("trmnl picture")
    .guard(Guard::Open)
    .answers(&[(200, Shape::Png), (304, Shape::Empty), UNKNOWN, UNAVAILABLE]),
];
