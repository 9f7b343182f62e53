//! The sources: which should run, what they have reported, and how each of them is.

mod plan;
mod upstream;

pub use plan::*;
pub use upstream::{Claimed, MarketChange, MissingFeeds, Truth, Upstream, chain_name};
