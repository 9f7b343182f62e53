//! Operations to join a network while the clock is an access point.

use super::responses::UNAVAILABLE;
use crate::{
    documents::{
        ErrorBody,
        access_point::{Joined, NetworkCredentials, Networks, NotJoined},
    },
    operation::{Guard, Operation, by_program, get, post},
    shape::{received, sent},
};

pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "List the Wi-Fi networks in range",
        &[get("/scan"), get("/api/scan")],
    )
    .may_fail()
    .guard(Guard::Portal)
    .answers(&[(200, sent::<Networks>())]),
    by_program("Join a Wi-Fi network", &[post("/save"), post("/api/wifi")])
        .command_words("join")
        .guard(Guard::Portal)
        .body(received::<NetworkCredentials>())
        .answers(&[
            (200, sent::<Joined>()),
            (400, sent::<ErrorBody>()),
            (401, sent::<NotJoined>()),
            (422, sent::<NotJoined>()),
            (500, sent::<NotJoined>()),
            UNAVAILABLE,
        ]),
];
