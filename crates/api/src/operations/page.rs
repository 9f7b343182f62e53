//! The page, the descriptions of the interface, and what machines ask for.

use crate::{
    operation::{Guard, Operation, ProgramOperation, get, serves},
    shape::Shape,
};

pub(super) const OPERATIONS: &[Operation] = &[
    serves("The page", ProgramOperation::Page, &[get("/")])
        .called("page")
        .guarded(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    serves(
        "Versions of the page",
        ProgramOperation::Manifest,
        &[get("/manifest.json")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Manifest), (304, Shape::Empty)]),
    serves(
        "This description, for people",
        ProgramOperation::Page,
        &[get("/docs")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    serves(
        "This description, for programs",
        ProgramOperation::OpenApi,
        &[get("/openapi.json")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Json), (304, Shape::Empty)]),
    serves(
        "The server answers",
        ProgramOperation::Health,
        &[get("/healthz")],
    )
    .called("health")
    .guarded(Guard::Open)
    .always()
    .answers(&[(200, Shape::Health)]),
    serves("The clock runs", ProgramOperation::Ready, &[get("/readyz")])
        .called("ready")
        .guarded(Guard::Open)
        .always()
        .answers(&[(200, Shape::Health), (503, Shape::Health)]),
    serves(
        "Figures for a monitoring system",
        ProgramOperation::Metrics,
        &[get("/metrics")],
    )
    .guarded(Guard::Monitoring)
    .answers(&[(200, Shape::Metrics)]),
];
