//! Operations that change what program and page run.

use super::words::{BAD, LACKING, param};
use crate::{
    operation::{Guard, Operation, Param, ProgramOperation, old, post, serves},
    shape::Shape,
};

const DIGEST: &[Param] = &[param("sha256", Shape::Digest, "SHA-256 of the image.")];

const UPLOADED: &[(u16, Shape)] = &[
    (200, Shape::Uploaded),
    BAD,
    (403, Shape::Error),
    (411, Shape::Error),
    (413, Shape::Oversize),
    (500, Shape::Error),
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
        (200, Shape::Message),
        (403, Shape::Error),
        (500, Shape::Error),
        (503, Shape::Message),
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
