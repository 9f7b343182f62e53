//! The panels as pictures.

use http::StatusCode;

use super::{
    answer::{self, Response},
    call::Call,
};

/// All panels side by side.
pub(crate) fn all(_call: &Call) -> Response {
    answer::error(StatusCode::SERVICE_UNAVAILABLE, "no pictures")
}

/// One panel.
pub(crate) fn one(call: &Call) -> Response {
    all(call)
}
