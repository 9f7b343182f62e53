//! The page, the descriptions of the interface, and what machines ask for.

use crate::{
    documents::page::{Health, Manifest, OpenApiDocument},
    operation::{Guard, Operation, ProgramOperation, get, serves},
    shape::{Shape, sent},
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
    .answers(&[(200, sent::<Manifest>()), (304, Shape::Empty)]),
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
    .answers(&[(200, sent::<OpenApiDocument>()), (304, Shape::Empty)]),
    serves(
        "The server answers",
        ProgramOperation::Health,
        &[get("/healthz")],
    )
    .called("health")
    .guarded(Guard::Open)
    .always()
    .answers(&[(200, sent::<Health>())]),
    serves("The clock runs", ProgramOperation::Ready, &[get("/readyz")])
        .called("ready")
        .guarded(Guard::Open)
        .always()
        .answers(&[(200, sent::<Health>()), (503, sent::<Health>())]),
    serves(
        "Figures for a monitoring system",
        ProgramOperation::Metrics,
        &[get("/metrics")],
    )
    .guarded(Guard::Monitoring)
    .answers(&[(200, Shape::Metrics)]),
];
