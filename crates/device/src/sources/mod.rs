//! The sources: which should run, what they have reported, and their states.

mod plan;
mod roster;
mod route;
mod truth;
mod upstream;

pub use plan::*;
pub use roster::{MissingFeeds, Roster};
pub use route::{Proxy, ProxyKind, Route};
pub use truth::Truth;
pub use upstream::{MarketChange, Upstream, chain_name};
