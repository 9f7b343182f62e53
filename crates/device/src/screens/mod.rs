//! What the panels show: the catalogue of screens and the function behind each.

pub mod catalog;
pub mod scene;

pub mod block_height;
pub mod clock;
pub mod market_cap;
pub mod sats_per_currency;
pub mod ticker;

pub mod decimal;
pub mod issuance;
pub mod price_layout;
pub mod row;
pub mod signs;
pub mod suffix;

pub use catalog::{SCREENS, Screen};
pub use scene::Scene;
