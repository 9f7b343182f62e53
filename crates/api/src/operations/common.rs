//! Responses and parameters that several groups share.

use crate::{
    documents::{ErrorBody, screens::Scale},
    operation::Param,
    shape::{Shape, received, sent},
};

/// Success without a body.
pub(super) const OK: (u16, Shape) = (200, Shape::Empty);

/// The request cannot be parsed.
pub(super) const BAD_REQUEST: (u16, Shape) = (400, sent::<ErrorBody>());

/// The clock lacks a part that the request needs, or the part is not ready.
pub(super) const UNAVAILABLE: (u16, Shape) = (503, sent::<ErrorBody>());

/// Scale of a picture.
pub(super) const SCALE: &[Param] = &[scale()];

/// Scale of a picture.
pub(super) const fn scale() -> Param {
    param(
        "scale",
        received::<Scale>(),
        "Picture pixels per panel pixel, 1 to 8.",
    )
}

/// A query parameter.
pub(super) const fn param(name: &'static str, shape: Shape, doc: &'static str) -> Param {
    Param { name, shape, doc }
}
