//! Operations on remote displays, and the protocol of TRMNL, which they speak.

use alloc::string::String;

use super::words::{BAD, LACKING};
use crate::{
    documents::{
        ErrorBody,
        displays::{
            DisplayChange, DisplayList, RemoteDisplay, TrmnlDisplay, TrmnlLog, TrmnlScreen,
            TrmnlSetup,
        },
    },
    limits::DISPLAY_LOG_BODY_MAX,
    operation::{
        Guard, Operation, ProgramOperation, by_program, changing_get, delete, get, patch, post,
    },
    shape::{Shape, received, sent},
};

/// There is no such display.
const UNKNOWN: (u16, Shape) = (404, sent::<ErrorBody>());

/// There is no room for it.
const FULL: (u16, Shape) = (409, sent::<ErrorBody>());

/// The token is missing or too short.
const NO_TOKEN: (u16, Shape) = (401, sent::<ErrorBody>());

// Those with a guard of their own check the token of the display.
pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "Remote displays",
        ProgramOperation::Displays,
        &[get("/api/displays")],
    )
    .answers(&[(200, sent::<DisplayList>())]),
    by_program(
        "Add a remote display. The owner enters its token in the display",
        ProgramOperation::AddDisplay,
        &[post("/api/displays")],
    )
    .command_words("display add")
    .body(received::<DisplayChange>())
    .answers(&[(200, sent::<RemoteDisplay>()), BAD, FULL, LACKING]),
    // The path of the next operation matches this path, too, so this operation comes first.
    by_program(
        "The picture that a remote display would get now",
        ProgramOperation::DisplayPreview,
        &[get("/api/displays/{id}.png").path_parameter(received::<String>())],
    )
    .command_words("display picture")
    .answers(&[(200, Shape::Png), (304, Shape::Empty), UNKNOWN, LACKING]),
    by_program(
        "Change or approve a remote display",
        ProgramOperation::ChangeDisplay,
        &[patch("/api/displays/{id}").path_parameter(received::<String>())],
    )
    .command_words("display change")
    .body(received::<DisplayChange>())
    .answers(&[(200, sent::<RemoteDisplay>()), BAD, UNKNOWN, FULL]),
    by_program(
        "Remove a remote display",
        ProgramOperation::RemoveDisplay,
        &[delete("/api/displays/{id}").path_parameter(received::<String>())],
    )
    .command_words("display remove")
    .answers(&[(200, Shape::Empty), UNKNOWN]),
    by_program(
        "A TRMNL asks for a token",
        ProgramOperation::TrmnlSetup,
        &[changing_get("/api/setup")],
    )
    .command_words("trmnl setup")
    .guard(Guard::Open)
    .answers(&[(200, sent::<TrmnlSetup>()), BAD, UNKNOWN, LACKING]),
    by_program(
        "A TRMNL asks for a picture",
        ProgramOperation::TrmnlDisplay,
        &[changing_get("/api/display")],
    )
    .command_words("trmnl display")
    .guard(Guard::Open)
    .answers(&[(200, sent::<TrmnlDisplay>()), NO_TOKEN, FULL, LACKING]),
    by_program(
        "A client asks what a TRMNL shows",
        ProgramOperation::TrmnlCurrentScreen,
        &[get("/api/current_screen")],
    )
    .command_words("trmnl current-screen")
    .guard(Guard::Open)
    .answers(&[(200, sent::<TrmnlScreen>()), NO_TOKEN, UNKNOWN, LACKING]),
    by_program(
        "A TRMNL sends its log",
        ProgramOperation::TrmnlLog,
        &[post("/api/log")],
    )
    .command_words("trmnl log")
    .guard(Guard::Open)
    .body(received::<TrmnlLog>())
    .body_max(DISPLAY_LOG_BODY_MAX)
    .answers(&[(204, Shape::Empty), BAD, NO_TOKEN, UNKNOWN]),
    by_program(
        "The picture of a remote display, at an address that only the display knows",
        ProgramOperation::DisplayPicture,
        &[get("/display/{picture}.png").path_parameter(received::<String>())],
    )
    .command_words("trmnl picture")
    .guard(Guard::Open)
    .answers(&[(200, Shape::Png), (304, Shape::Empty), UNKNOWN, LACKING]),
];
