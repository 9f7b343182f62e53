//! Operations that tell how the clock is.

use super::words::{BAD, LACKING, SCALE, param};
use crate::{
    answer::Answer,
    operation::{Guard, Operation, Param, ProgramOperation, get, serves, tells, watch},
    shape::Shape,
    status::Widget,
};

const WATCHED: &[Param] = &[param(
    "bench",
    Shape::Text,
    "Given, with whatever value: tells the signals of a simulated board too, as `event: bench`.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "State of the clock",
        ProgramOperation::Status,
        &[get("/api/status")],
    )
    .answers(&[(200, Shape::Status)]),
    serves(
        "State of the hardware",
        ProgramOperation::System,
        &[get("/api/system/status"), get("/api/system_status")],
    )
    .called("system")
    .answers(&[(200, Shape::System)]),
    // Open: the home server reads it without a password, and its values are public.
    tells(
        "Four values for the page of a home server",
        |view| Answer::json(&Widget::of(view)),
        &[get("/api/widget")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Widget)]),
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
        &[get("/api/panels/{i}.png").open(Shape::Integer)],
    )
    .called("panel")
    .answers(&[(200, Shape::Png), (304, Shape::Empty), (404, Shape::Error)]),
    serves(
        "Watch the panels over a web socket",
        ProgramOperation::Preview,
        &[watch("/api/preview/ws")],
    )
    .called("watch")
    .answers(&[(101, Shape::Empty), (426, Shape::Error), LACKING]),
];
