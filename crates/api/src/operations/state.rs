//! Operations that tell how the clock is.

use alloc::string::String;

use super::words::{BAD, LACKING, SCALE, param};
use crate::{
    answer::Answer,
    documents::ErrorBody,
    operation::{Guard, Operation, Param, ProgramOperation, get, serves, tells, watch},
    shape::{Shape, received, sent},
    status::{Status, SystemStatus, Widget},
};

const WATCHED: &[Param] = &[param(
    "bench",
    received::<String>(),
    "Given, with whatever value: tells the signals of a simulated board too, as `event: bench`.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "State of the clock",
        ProgramOperation::Status,
        &[get("/api/status")],
    )
    .answers(&[(200, sent::<Status>())]),
    serves(
        "State of the hardware",
        ProgramOperation::System,
        &[get("/api/system/status"), get("/api/system_status")],
    )
    .called("system")
    .answers(&[(200, sent::<SystemStatus>())]),
    // Open: the home server reads it without a password, and its values are public.
    tells(
        "Four values for the page of a home server",
        |view| Answer::json(&Widget::of(view)),
        &[get("/api/widget")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, sent::<Widget>())]),
    serves(
        "Follow the clock",
        ProgramOperation::Events,
        &[get("/events").asks(WATCHED)],
    )
    .answers(&[(200, Shape::Events), LACKING]),
    serves(
        "All panels as one picture",
        ProgramOperation::Panels,
        &[get("/api/panels.png").asks(SCALE)],
    )
    .answers(&[(200, Shape::Png), (304, Shape::Empty), BAD]),
    serves(
        "One panel as a picture, pixel by pixel",
        ProgramOperation::Panel,
        &[get("/api/panels/{i}.png").open(received::<u64>())],
    )
    .called("panel")
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        (404, sent::<ErrorBody>()),
    ]),
    serves(
        "Watch the panels over a web socket",
        ProgramOperation::Preview,
        &[watch("/api/preview/ws")],
    )
    .called("watch")
    .answers(&[(101, Shape::Empty), (426, sent::<ErrorBody>()), LACKING]),
];
