//! The sources: which should run, what they have reported, and how each of them is.

mod plan;
mod roster;
mod upstream;

pub use plan::*;
pub use roster::MissingFeeds;
pub use upstream::{MarketChange, Truth, Upstream, chain_name};
