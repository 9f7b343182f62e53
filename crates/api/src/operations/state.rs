//! Operations that tell how the clock is.

use alloc::string::String;

use super::words::{BAD, LACKING, SCALE, param};
use crate::{
    answer::Answer,
    documents::ErrorBody,
    operation::{
        Guard, Operation, Param, ProgramOperation, by_program, from_view, get, web_socket,
    },
    shape::{Shape, received, sent},
    status::{Status, SystemStatus, Widget},
};

const WATCHED: &[Param] = &[param(
    "bench",
    received::<String>(),
    "Given, with whatever value: tells the signals of a simulated board too, as `event: bench`.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "State of the clock",
        ProgramOperation::Status,
        &[get("/api/status")],
    )
    .answers(&[(200, sent::<Status>())]),
    by_program(
        "State of the hardware",
        ProgramOperation::System,
        &[get("/api/system/status"), get("/api/system_status")],
    )
    .command_words("system")
    .answers(&[(200, sent::<SystemStatus>())]),
    // Open: the home server reads it without a password, and its values are public.
    from_view(
        "Four values for the page of a home server",
        |view| Answer::json(&Widget::of(view)),
        &[get("/api/widget")],
    )
    .guard(Guard::Open)
    .answers(&[(200, sent::<Widget>())]),
    by_program(
        "Follow the clock",
        ProgramOperation::Events,
        &[get("/events").query(WATCHED)],
    )
    .answers(&[(200, Shape::Events), LACKING]),
    by_program(
        "All panels as one picture",
        ProgramOperation::Panels,
        &[get("/api/panels.png").query(SCALE)],
    )
    .answers(&[(200, Shape::Png), (304, Shape::Empty), BAD]),
    by_program(
        "One panel as a picture, pixel by pixel",
        ProgramOperation::Panel,
        &[get("/api/panels/{i}.png").path_parameter(received::<u64>())],
    )
    .command_words("panel")
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        (404, sent::<ErrorBody>()),
    ]),
    by_program(
        "Watch the panels over a web socket",
        ProgramOperation::Preview,
        &[web_socket("/api/preview/ws")],
    )
    .command_words("watch")
    .answers(&[(101, Shape::Empty), (426, sent::<ErrorBody>()), LACKING]),
];
