//! Operations that change what program and page run.

use super::words::{BAD, LACKING, param};
use crate::{
    documents::{
        ErrorBody, MessageBody,
        updates::{Digest, Oversize, Uploaded},
    },
    operation::{Guard, Operation, Param, ProgramOperation, old, post, serves},
    shape::{Shape, received, sent},
};

const DIGEST: &[Param] = &[param(
    "sha256",
    received::<Digest>(),
    "SHA-256 of the image.",
)];

const UPLOADED: &[(u16, Shape)] = &[
    (200, sent::<Uploaded>()),
    BAD,
    (403, sent::<ErrorBody>()),
    (411, sent::<ErrorBody>()),
    (413, sent::<Oversize>()),
    (500, sent::<ErrorBody>()),
    LACKING,
];

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "Fetch and install the newest release that the clock takes",
        ProgramOperation::AutoUpdate,
        &[
            post("/api/firmware/auto_update"),
            old("/api/firmware/auto_update"),
        ],
    )
    .called("update auto")
    .answers(&[
        (200, sent::<MessageBody>()),
        (403, sent::<ErrorBody>()),
        (500, sent::<ErrorBody>()),
        (503, sent::<MessageBody>()),
    ]),
    serves(
        "Install a firmware image",
        ProgramOperation::Firmware,
        &[post("/upload/firmware").asks(DIGEST)],
    )
    .called("update firmware")
    .guarded(Guard::Upload)
    .takes(Shape::Image)
    .answers(UPLOADED),
    serves(
        "Install a web bundle",
        ProgramOperation::WebBundle,
        &[post("/upload/webui")],
    )
    .called("update page")
    .guarded(Guard::Upload)
    .takes(Shape::Image)
    .answers(UPLOADED),
];
