//! From the reports of sources to the values that are shown: heights, prices, fee rates and the time.
//!
//! This crate is pure: no I/O, no clock, no threads, no random numbers.
//! `observation` is what a source reports and `values` what is known, with source and age.
//! Heights: `height_reports` has the claims and proofs of all sources, `claim_filter` the rules for claims, `header_chain` the
//! chain of headers, `header_run` headers that do not link to it; `height_verdict` decides which height is shown; `heights`
//! combines them and decides how the height is marked.
//! Prices: `quotes` decides between the primary source and its witnesses, the `venues`; `price_book` has all currencies.
//! `fees` chooses the fee rate, `figures` are those of the owner's pool, miner and wallet.
//! Types of values have a stored form by serde; `lenient` reads stored values of which some may be unusable.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

mod claim_filter;
mod condition_timer;
pub mod fees;
pub mod figures;
mod header_chain;
mod header_run;
mod height_history;
mod height_proof;
mod height_reports;
mod height_verdict;
pub mod heights;
pub mod lenient;
pub mod limits;
pub mod logo;
pub mod mark;
mod next_deadline;
pub mod now;
pub mod observation;
pub mod offer;
pub mod price_book;
pub mod quotes;
pub mod source_id;
pub mod source_state;
pub mod time_truth;
pub mod truth;
pub mod units;
pub mod values;
pub mod venues;

pub use figures::{Figure, FigureIdentity, Polled, polled_age_max};
pub use header_chain::{
    ChainSpec, HeadersReach, HeadersReply, MESSAGE_HEADERS_MAX, Reorganisations,
};
pub use height_proof::{ProofOrigin, Tip};
pub use height_verdict::HeightPolicy;
pub use observation::{Connection, Direction, MinerStats, Observation, Payment, PoolStats, Zap};
pub use quotes::{JudgedQuote, PriceState, PriceTruth, QuoteVerdict};
pub use source_state::SourceState;
pub use time_truth::{TimeState, TimeTruth};
pub use truth::{HeightState, HeightTruth, MarkReason, MarkReasons, Proven};
pub use values::{Datum, Fee, Market, Prices, Seen};
