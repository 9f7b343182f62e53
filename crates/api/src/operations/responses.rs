//! Responses that several groups of operations share.

use crate::{
    documents::ErrorBody,
    shape::{Shape, sent},
};

/// Success without a body.
pub(super) const OK: (u16, Shape) = (200, Shape::Empty);

/// The request cannot be parsed.
pub(super) const BAD_REQUEST: (u16, Shape) = (400, sent::<ErrorBody>());

/// The clock lacks a part that the request needs, or the part is not ready.
pub(super) const UNAVAILABLE: (u16, Shape) = (503, sent::<ErrorBody>());
