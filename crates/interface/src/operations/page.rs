//! The page, the descriptions of the interface, and what machines ask for.

use crate::{
    operation::{Guard, Operation, Service, get, serves},
    shape::Shape,
};

pub(super) const OPERATIONS: &[Operation] = &[
    serves("The page", Service::Page, &[get("/")])
        .called("page")
        .guarded(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    serves(
        "Versions of the page",
        Service::Manifest,
        &[get("/manifest.json")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Manifest), (304, Shape::Empty)]),
    serves(
        "This description, for people",
        Service::Page,
        &[get("/docs")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    serves(
        "This description, for programs",
        Service::OpenApi,
        &[get("/openapi.json")],
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Json), (304, Shape::Empty)]),
    serves("The server answers", Service::Health, &[get("/healthz")])
        .called("health")
        .guarded(Guard::Open)
        .always()
        .answers(&[(200, Shape::Health)]),
    serves("The clock runs", Service::Ready, &[get("/readyz")])
        .called("ready")
        .guarded(Guard::Open)
        .always()
        .answers(&[(200, Shape::Health), (503, Shape::Health)]),
    serves(
        "Figures for a monitoring system",
        Service::Metrics,
        &[get("/metrics")],
    )
    .guarded(Guard::Monitoring)
    .answers(&[(200, Shape::Metrics)]),
];
