//! Query parameters that several groups of operations share.

use crate::{
    documents::screens::Scale,
    operation::Param,
    shape::{Shape, received},
};

pub(super) const SCALE: &[Param] = &[scale()];

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
