//! What rows of several groups say alike.

use crate::{operation::Param, shape::Shape};

/// Done, and nothing else to say.
pub(super) const OK: (u16, Shape) = (200, Shape::Empty);

/// What the client gave cannot be understood.
pub(super) const BAD: (u16, Shape) = (400, Shape::Error);

/// What it takes is not there.
pub(super) const LACKING: (u16, Shape) = (503, Shape::Error);

/// How large a picture is to be.
pub(super) const SCALE: &[Param] = &[scale()];

/// How large a picture is to be.
pub(super) const fn scale() -> Param {
    param("scale", Shape::Scale, "Pixels per pixel, 1 to 8.")
}

/// A value in the query.
pub(super) const fn param(name: &'static str, shape: Shape, doc: &'static str) -> Param {
    Param { name, shape, doc }
}
