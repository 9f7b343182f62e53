//! What the owner can change: one table drives checking, reading, writing, storing and documenting.
//!
//! `table` holds the rows, `spec` what a row says, `fonts` and `pools` the catalogues that rows refer to.

pub mod fonts;
pub mod pools;
pub mod reject;
pub mod spec;
mod table;

pub use table::{Key, SPECS, Settings};
