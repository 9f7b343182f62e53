//! Operations that install a program or a page.

use super::{
    params::param,
    responses::{BAD_REQUEST, UNAVAILABLE},
};
use crate::{
    documents::{
        ErrorBody, MessageBody,
        updates::{Digest, Oversize, Uploaded},
    },
    operation::{Guard, Operation, Param, by_program, deprecated_get, post},
    shape::{Shape, received, sent},
};

const DIGEST: &[Param] = &[param(
    "sha256",
    received::<Digest>(),
    "SHA-256 of the image.",
)];

const UPLOADED: &[(u16, Shape)] = &[
    (200, sent::<Uploaded>()),
    BAD_REQUEST,
    (403, sent::<ErrorBody>()),
    (411, sent::<ErrorBody>()),
    (413, sent::<Oversize>()),
    (500, sent::<ErrorBody>()),
    UNAVAILABLE,
];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "Download and install the newest suitable release",
        &[
            post("/api/firmware/auto_update"),
            deprecated_get("/api/firmware/auto_update"),
        ],
    )
    .command_words("update auto")
    .answers(&[
        (200, sent::<MessageBody>()),
        (403, sent::<ErrorBody>()),
        (500, sent::<ErrorBody>()),
        (503, sent::<MessageBody>()),
    ]),
    by_program(
        "Install a firmware image",
        &[post("/upload/firmware").query(DIGEST)],
    )
    .command_words("update firmware")
    .guard(Guard::Upload)
    .body(Shape::Image)
    .answers(UPLOADED),
    by_program("Install a web bundle", &[post("/upload/webui")])
        .command_words("update page")
        .guard(Guard::Upload)
        .body(Shape::Image)
        .answers(UPLOADED),
];
