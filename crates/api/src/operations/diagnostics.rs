//! Operations for troubleshooting.

use super::params::param;
use crate::{
    documents::{
        ErrorBody,
        diagnostics::{HeapStatus, HeapTrace, Log, TraceSize, TraceStarted},
    },
    operation::{Operation, Param, by_program, delete, get, post},
    shape::{Shape, received, sent},
};

const RECORDS: &[Param] = &[param(
    "cap",
    received::<u64>(),
    "Records to keep, 1 to 4096.",
)];

const NOT_BUILT_IN: (u16, Shape) = (501, sent::<ErrorBody>());

pub(super) const OPERATIONS: &[Operation] = &[
    by_program("Get the last lines of the log", &[get("/api/log")])
        .answers(&[(200, sent::<Log>())]),
    by_program("Download the last crash dump", &[get("/api/coredump")])
        .may_fail()
        .answers(&[(200, Shape::Bytes), (404, sent::<ErrorBody>())]),
    by_program("Delete the last crash dump", &[delete("/api/coredump")])
        .command_words("coredump forget")
        .answers(&[(200, Shape::Empty), (500, sent::<ErrorBody>())]),
    by_program(
        "Start tracing allocations",
        &[post("/api/diag/heap_trace/start").query(RECORDS)],
    )
    .optional_body(received::<TraceSize>())
    .answers(&[(200, sent::<TraceStarted>()), NOT_BUILT_IN]),
    by_program(
        "Stop tracing allocations and list those that were not freed",
        &[post("/api/diag/heap_trace/stop")],
    )
    .answers(&[
        (200, sent::<HeapTrace>()),
        (409, sent::<ErrorBody>()),
        NOT_BUILT_IN,
    ]),
    by_program("Get the memory by kind", &[get("/api/diag/heap")])
        .answers(&[(200, sent::<HeapStatus>())]),
];
