//! Operations that help to find what is wrong.

use super::words::param;
use crate::{
    operation::{Operation, Param, ProgramOperation, delete, get, post, serves},
    shape::Shape,
};

const RECORDS: &[Param] = &[param("cap", Shape::Integer, "Records to keep, 1 to 4096.")];

const NOT_BUILT_IN: (u16, Shape) = (501, Shape::Error);

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "The last lines of the log",
        ProgramOperation::Log,
        &[get("/api/log")],
    )
    .answers(&[(200, Shape::Log)]),
    serves(
        "The last crash dump",
        ProgramOperation::Coredump,
        &[get("/api/coredump")],
    )
    .may_fail()
    .answers(&[(200, Shape::Bytes), (404, Shape::Error)]),
    serves(
        "Forget the last crash dump",
        ProgramOperation::ForgetCoredump,
        &[delete("/api/coredump")],
    )
    .called("coredump forget")
    .answers(&[(200, Shape::Empty), (500, Shape::Error)]),
    serves(
        "Start tracing allocations",
        ProgramOperation::StartTrace,
        &[post("/api/diag/heap_trace/start").asks(RECORDS)],
    )
    .may_take(Shape::TraceSize)
    .answers(&[(200, Shape::TraceStarted), NOT_BUILT_IN]),
    serves(
        "Stop tracing allocations",
        ProgramOperation::StopTrace,
        &[post("/api/diag/heap_trace/stop")],
    )
    .answers(&[(200, Shape::Trace), (409, Shape::Error), NOT_BUILT_IN]),
    serves(
        "Memory by kind",
        ProgramOperation::Heap,
        &[get("/api/diag/heap")],
    )
    .answers(&[(200, Shape::Heap)]),
];
