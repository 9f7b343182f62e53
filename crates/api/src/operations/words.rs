//! What rows of several groups say alike.

use crate::{
    documents::{ErrorBody, screens::Scale},
    operation::Param,
    shape::{Shape, received, sent},
};

/// Done, and nothing else to say.
pub(super) const OK: (u16, Shape) = (200, Shape::Empty);

/// What the client gave cannot be understood.
pub(super) const BAD: (u16, Shape) = (400, sent::<ErrorBody>());

/// What it takes is not there.
pub(super) const LACKING: (u16, Shape) = (503, sent::<ErrorBody>());

/// How large a picture is to be.
pub(super) const SCALE: &[Param] = &[scale()];

/// How large a picture is to be.
pub(super) const fn scale() -> Param {
    param("scale", received::<Scale>(), "Pixels per pixel, 1 to 8.")
}

/// A value in the query.
pub(super) const fn param(name: &'static str, shape: Shape, doc: &'static str) -> Param {
    Param { name, shape, doc }
}
