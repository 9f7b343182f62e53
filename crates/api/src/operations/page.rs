//! The page, the description of the interface, and endpoints for monitoring.

use super::{
    params::param,
    responses::{BAD_REQUEST, UNAVAILABLE},
    state::FRAME,
};
use crate::{
    documents::{
        ErrorBody,
        page::{Health, Manifest, OpenApiDocument},
        screens::QrText,
    },
    operation::{Guard, Operation, Param, by_program, get},
    shape::{Shape, received, sent},
};

const TEXT: &[Param] = &[param(
    "text",
    received::<QrText>(),
    "Text to encode, 1 to 256 bytes.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program("The page", &[get("/")])
        .command_words("page")
        .guard(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    by_program("Get the versions of the page", &[get("/manifest.json")])
        .guard(Guard::Open)
        .answers(&[(200, sent::<Manifest>()), (304, Shape::Empty)]),
    by_program(
        "Show only the clock, in full screen",
        &[get("/glass").query(FRAME)],
    )
    .guard(Guard::Open)
    .answers(&[
        (200, Shape::Html),
        (304, Shape::Empty),
        BAD_REQUEST,
        (409, sent::<ErrorBody>()),
        UNAVAILABLE,
    ]),
    by_program(
        "Draw a text as a QR code, one pixel per module",
        &[get("/api/qr.png").query(TEXT)],
    )
    .answers(&[(200, Shape::Png), BAD_REQUEST]),
    by_program("Read this description as a page", &[get("/docs")])
        .guard(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    by_program(
        "Get this description as an OpenAPI document",
        &[get("/openapi.json")],
    )
    .guard(Guard::Open)
    .answers(&[(200, sent::<OpenApiDocument>()), (304, Shape::Empty)]),
    by_program("Liveness check: the server answers", &[get("/healthz")])
        .command_words("health")
        .guard(Guard::Open)
        .also_in_portal()
        .answers(&[(200, sent::<Health>())]),
    by_program("Readiness check: the clock runs", &[get("/readyz")])
        .command_words("ready")
        .guard(Guard::Open)
        .also_in_portal()
        .answers(&[(200, sent::<Health>()), (503, sent::<Health>())]),
    by_program("Get metrics for a monitoring system", &[get("/metrics")])
        .guard(Guard::Monitoring)
        .answers(&[(200, Shape::Metrics)]),
];
