//! The page, the descriptions of the interface, and what machines ask for.

use alloc::string::String;

use super::{
    state::FRAME,
    words::{BAD, LACKING, param},
};
use crate::{
    documents::{
        ErrorBody,
        page::{Health, Manifest, OpenApiDocument},
    },
    operation::{Guard, Operation, Param, ProgramOperation, by_program, get},
    shape::{Shape, received, sent},
};

const TEXT: &[Param] = &[param(
    "text",
    received::<String>(),
    "The text, 1 to 256 bytes.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program("The page", ProgramOperation::Page, &[get("/")])
        .command_words("page")
        .guard(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    by_program(
        "Versions of the page",
        ProgramOperation::Manifest,
        &[get("/manifest.json")],
    )
    .guard(Guard::Open)
    .answers(&[(200, sent::<Manifest>()), (304, Shape::Empty)]),
    by_program(
        "Only the clock, for a whole screen",
        ProgramOperation::Glass,
        &[get("/glass").query(FRAME)],
    )
    .guard(Guard::Open)
    .answers(&[
        (200, Shape::Html),
        (304, Shape::Empty),
        BAD,
        (409, sent::<ErrorBody>()),
        LACKING,
    ]),
    by_program(
        "A text as a QR code, one pixel per module",
        ProgramOperation::Qr,
        &[get("/api/qr.png").query(TEXT)],
    )
    .answers(&[(200, Shape::Png), BAD]),
    by_program(
        "This description, for people",
        ProgramOperation::Page,
        &[get("/docs")],
    )
    .guard(Guard::Open)
    .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    by_program(
        "This description, for programs",
        ProgramOperation::OpenApi,
        &[get("/openapi.json")],
    )
    .guard(Guard::Open)
    .answers(&[(200, sent::<OpenApiDocument>()), (304, Shape::Empty)]),
    by_program(
        "The server answers",
        ProgramOperation::Health,
        &[get("/healthz")],
    )
    .command_words("health")
    .guard(Guard::Open)
    .also_in_portal()
    .answers(&[(200, sent::<Health>())]),
    by_program("The clock runs", ProgramOperation::Ready, &[get("/readyz")])
        .command_words("ready")
        .guard(Guard::Open)
        .also_in_portal()
        .answers(&[(200, sent::<Health>()), (503, sent::<Health>())]),
    by_program(
        "Figures for a monitoring system",
        ProgramOperation::Metrics,
        &[get("/metrics")],
    )
    .guard(Guard::Monitoring)
    .answers(&[(200, Shape::Metrics)]),
];
