//! What comes from the sources: their values with source and age, which heights are believed, which currencies there are,
//! how each source is, and which should run.
//!
//! `voices` is what the sources say of the height, `height` has the rules for claims, `headers` the chain that is kept,
//! `proof` what headers prove that do not reach it, and `verdict` makes of all of it what is shown, and `doubts` what the
//! glass marks of it.
//! `quotes` does the same for prices, of which the primary source tells one and `venues` are witnesses; `fees` chooses
//! the fee rate.
//! `figures` are those of the owner's own pool, miner and wallet.
//! `upstream` owns the others: nothing outside changes what is known but through [`Upstream`].

mod doubts;
mod fees;
mod figures;
mod headers;
mod height;
pub mod observation;
mod offer;
mod price_book;
mod proof;
mod quotes;
mod since;
mod source_id;
mod source_state;
pub mod sources;
mod time_truth;
mod truth;
mod until;
mod upstream;
pub mod values;
pub mod venues;
mod verdict;
mod voices;

pub use figures::{Figure, FigureIdentity, Polled, polled_age_max};
pub use headers::{HeadersReach, Judged, MESSAGE_HEADERS_MAX, Reorganisations};
pub use observation::{Connection, Direction, MinerStats, Observation, Payment, PoolStats, Zap};
pub use proof::ChainSpec;
pub use quotes::{PriceState, PriceTruth, QuoteVerdict, Voice};
pub use source_state::SourceState;
pub use time_truth::{TimeState, TimeTruth};
pub use truth::{Doubt, Doubts, HeightState, HeightTruth, Proven};
pub use upstream::{Claimed, MarketChange, MissingFeeds, Truth, Upstream, chain_name};
pub use values::{Datum, Fee, Market, Prices, Seen};
pub use voices::{ProofOrigin, Tip};
