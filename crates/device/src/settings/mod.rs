//! The settings: one table drives checking, reading, writing, storing and documenting.
//!
//! `table` holds the rows, from which `values` and `specs` are made; `spec` defines the parts of a row, `kinds` the
//! types of settings, `fonts` and `pools` the catalogues that rows refer to. `patch` applies changes, `emit` makes the
//! document of GET, `store` the stored form, `transfer` the export and import, `docs` and `schema` the documentation.
//! *Stored* settings are what clients see; *active* settings are in effect.

pub mod data_source;
mod field;
pub mod fonts;
pub mod pools;
pub mod proof_mode;
pub mod reject;
pub mod spec;
mod specs;
mod table;
mod values;

pub mod kinds;
mod npub;
mod number;

pub mod emit;
pub mod pairing;
pub mod patch;
mod read;
mod running_settings;

mod legacy;
mod migrations;
mod password_binding;
pub mod store;
pub mod transfer;

pub mod docs;
pub mod facts;
pub mod form;
pub mod schema;

pub use running_settings::RunningSettings;
pub use spec::Virtual;
pub use specs::{SPECS, VIRTUAL};
pub use values::{Key, Settings};

pub use crate::limits::TEXT_MAX;
