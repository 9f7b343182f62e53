//! Operations by which a clock that is an access point joins a network.

use super::words::LACKING;
use crate::{
    operation::{Guard, Operation, ProgramOperation, get, post, serves},
    shape::Shape,
};

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "Networks in reach",
        ProgramOperation::Scan,
        &[get("/scan"), get("/api/scan")],
    )
    .may_fail()
    .guarded(Guard::Portal)
    .answers(&[(200, Shape::Networks)]),
    serves(
        "Join a network",
        ProgramOperation::Join,
        &[post("/save"), post("/api/wifi")],
    )
    .called("join")
    .guarded(Guard::Portal)
    .takes(Shape::Credentials)
    .answers(&[
        (200, Shape::Joined),
        (400, Shape::Error),
        (401, Shape::NotJoined),
        (422, Shape::NotJoined),
        (500, Shape::NotJoined),
        (503, Shape::NotJoined),
        LACKING,
    ]),
];
