//! From what sources report to what is believed: heights, prices, fee rates and the time.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers.
//! `observation` is what a source reports and `values` what is known, with source and age.
//! Heights: `voices` has the claims and proofs of each source, `height` the rules for claims, `headers` the chain that is
//! kept, `proof` headers that do not reach it; `verdict` decides which height is shown and `doubts` how it is marked;
//! `heights` has all of them.
//! Prices: `quotes` decides between the primary source and the `venues` that witness it; `price_book` has all currencies.
//! `fees` chooses the fee rate, `figures` are those of the owner's pool, miner and wallet.
#![no_std]

extern crate alloc;

pub mod doubts;
pub mod fees;
pub mod figures;
pub mod headers;
pub mod height;
pub mod heights;
pub mod limits;
pub mod logo;
pub mod mark;
pub mod now;
pub mod observation;
pub mod offer;
pub mod price_book;
pub mod proof;
pub mod quotes;
pub mod since;
pub mod source_id;
pub mod source_state;
pub mod time_truth;
pub mod truth;
pub mod units;
pub mod until;
pub mod values;
pub mod venues;
pub mod verdict;
pub mod voices;

pub use figures::{Figure, FigureIdentity, Polled, polled_age_max};
pub use headers::{HeadersReach, Judged, MESSAGE_HEADERS_MAX, Reorganisations};
pub use observation::{Connection, Direction, MinerStats, Observation, Payment, PoolStats, Zap};
pub use proof::ChainSpec;
pub use quotes::{PriceState, PriceTruth, QuoteVerdict, Voice};
pub use source_state::SourceState;
pub use time_truth::{TimeState, TimeTruth};
pub use truth::{Doubt, Doubts, HeightState, HeightTruth, Proven};
pub use values::{Datum, Fee, Market, Prices, Seen};
pub use voices::{ProofOrigin, Tip};
