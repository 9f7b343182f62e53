//! What comes from the sources: their values with source and age, which heights are believed, which currencies there are,
//! how each source is, and which should run.
//!
//! `upstream` owns the others: nothing outside changes what is known but through [`Upstream`].

mod height;
pub mod observation;
mod offer;
mod source_state;
pub mod sources;
mod upstream;
pub mod values;

pub use observation::{Connection, Direction, MinerStats, Observation, Payment, PoolStats, Zap};
pub use source_state::SourceState;
pub use upstream::{Missing, News, Upstream};
pub use values::{Datum, Fee, Market, Prices, Seen};
