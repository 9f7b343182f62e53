//! Operations by which a clock that is an access point joins a network.

use super::words::LACKING;
use crate::{
    documents::{
        ErrorBody,
        access_point::{Joined, NetworkCredentials, Networks, NotJoined},
    },
    operation::{Guard, Operation, ProgramOperation, get, post, serves},
    shape::{received, sent},
};

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "Networks in reach",
        ProgramOperation::Scan,
        &[get("/scan"), get("/api/scan")],
    )
    .may_fail()
    .guarded(Guard::Portal)
    .answers(&[(200, sent::<Networks>())]),
    serves(
        "Join a network",
        ProgramOperation::Join,
        &[post("/save"), post("/api/wifi")],
    )
    .called("join")
    .guarded(Guard::Portal)
    .takes(received::<NetworkCredentials>())
    .answers(&[
        (200, sent::<Joined>()),
        (400, sent::<ErrorBody>()),
        (401, sent::<NotJoined>()),
        (422, sent::<NotJoined>()),
        (500, sent::<NotJoined>()),
        LACKING,
    ]),
];
